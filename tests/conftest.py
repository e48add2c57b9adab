import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

# What runs tests in the background has them ignore signals that the tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Compiling wants as many, and Hypothesis no change during a test.
sys.setrecursionlimit(10_000)

settings.register_profile("kmatch", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("fresh", deadline=None, max_examples=200, print_blob=True)
settings.register_profile("round", settings.get_profile("fresh"), max_examples=5)  # scripts/fuzz
settings.load_profile("kmatch")


def pytest_configure():
    """Have derandomised examples not depend on the modules that a process happens to have imported.

    Hypothesis draws the constants of local modules too, and processes that share the tests out
    import these in different orders.
    """
    with suppress(ImportError):
        from hypothesis.internal.conjecture import providers

        if settings().derandomize and hasattr(providers, "is_local_module_file"):
            providers.is_local_module_file = lambda path: False


REAL = Path(os.environ.get("KMATCH_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
BUNDLED = Path(__file__).parents[1] / "examples" / "data"


pytest.register_assert_rewrite("support")


# The longest files come first, so that processes that share the files out end together.
LONG = (
    *("test_simulator.py", "test_fuzz.py", "test_scripts.py", "test_large.py", "test_messages.py"),
    *("test_searches.py", "test_docs.py", "test_formats.py", "test_cuda_compile.py"),
    *("test_scripts_gpu.py", "test_published.py"),
)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONG.index(name) if (name := item.path.name) in LONG else len(LONG))


def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu"):
        from kmatch.engine.cuda.driver import find_devices

        found, reason = find_devices()
        if not found:
            pytest.skip(f"no usable GPU: {reason}")


@pytest.fixture(autouse=True)
def sigint():
    """Take SIGINT back from what a test imports: dask_jobqueue sets a handler."""
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def real():
    """A function that gives the path of a real genome or table, or skips the test without it."""

    def find(name):
        for folder in (BUNDLED, REAL):
            if (folder / name).exists():
                return folder / name
        pytest.skip(f"{name} is not under {REAL}; KMATCH_TEST_DATA names another folder")

    return find
