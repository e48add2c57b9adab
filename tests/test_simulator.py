"""The GPU's kernels in Numba's simulator, in processes of their own: it replaces numba.cuda."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "simulator"
FILES = ("engine.py", "primers.py", "published.py", "several.py")
SECONDS = 300  # the longest that one may take; a quarter of a minute is usual


def test_no_file_is_left_out():
    assert {path.name for path in FOLDER.glob("*.py")} == {"conftest.py", *FILES}


@pytest.mark.parametrize("name", FILES)
def test_kernels_in_the_simulator(name):
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", FOLDER / name)
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout[-8000:]
    assert " passed" in done.stdout and " skipped" not in done.stdout
