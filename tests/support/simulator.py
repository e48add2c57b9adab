"""The files of tests/simulator, each run by a process: the simulator replaces numba.cuda."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "simulator"
FILES = sorted(path.name for path in FOLDER.glob("*.py"))
SECONDS = 900  # the longest that a test waits for one of them
_started = {}


def start():
    """Begin a process for each file of cases."""
    for name in FILES:
        said = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115  read when the test waits
        process = subprocess.Popen(
            (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", FOLDER / name),
            env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        _started[name] = process, said


def wait(name):
    """The exit status of a file's process, and the end of what it wrote."""
    process, said = _started[name]
    try:
        status = process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        status = f"not done after {SECONDS} s"
    said.seek(0)
    return status, said.read()[-8000:]


def stop():
    """End what is still running."""
    for process, said in _started.values():
        process.kill()
        process.wait()
        said.close()
