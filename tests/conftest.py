import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# A shell that runs tests in the background has them ignore what the tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("kmatch", derandomize=True, deadline=None, max_examples=150)
settings.register_profile("fresh", deadline=None, max_examples=150, print_blob=True)
settings.load_profile("kmatch")

REAL = Path(os.environ.get("KMATCH_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
BUNDLED = Path(__file__).parents[1] / "examples" / "data"


pytest.register_assert_rewrite("support")


def _waits(item):
    return item.path.name == "test_simulator.py"


def pytest_collection_modifyitems(items):
    items.sort(key=_waits)


def pytest_collection_finish(session):
    if any(map(_waits, session.items)) and not session.config.option.collectonly:
        from support import simulator

        simulator.start()


def pytest_unconfigure():
    if started := sys.modules.get("support.simulator"):
        started.stop()


@pytest.fixture
def real():
    """A function that gives the path of a real genome or table, or skips the test without it."""

    def find(name):
        for folder in (BUNDLED, REAL):
            if (folder / name).exists():
                return folder / name
        pytest.skip(f"{name} is not under {REAL}; KMATCH_TEST_DATA names another folder")

    return find
