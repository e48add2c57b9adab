import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("kmatch", derandomize=True, deadline=None, max_examples=150)
settings.load_profile("kmatch")

REAL = Path(os.environ.get("KMATCH_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
BUNDLED = Path(__file__).parents[1] / "examples" / "data"


@pytest.fixture
def real():
    """A function that gives the path of a real genome or table, or skips the test without it."""

    def find(name):
        for folder in (BUNDLED, REAL):
            if (folder / name).exists():
                return folder / name
        pytest.skip(f"{name} is not under {REAL}; KMATCH_TEST_DATA names another folder")

    return find
