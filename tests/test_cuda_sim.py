"""The GPU's kernels in Numba's simulator, in processes of their own: it replaces numba.cuda.

The simulator takes minutes on one core: conftest.py has it started before all other tests, and
these, which wait for it, come last.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

CASES = ("cuda_cases.py", "cuda_primer_cases.py", "cuda_published_cases.py")
_started = {}


def start():
    """Run all files of cases, a process each."""
    for cases in CASES:
        said = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115  read when the test waits
        command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cases)
        environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
        process = subprocess.Popen(
            command,
            cwd=Path(__file__).parent,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        _started[cases] = process, said


def stop():
    """End what is still running."""
    for process, said in _started.values():
        process.kill()
        process.wait()
        said.close()


@pytest.mark.parametrize("cases", CASES)
def test_kernels_in_the_simulator(cases):
    process, said = _started[cases]
    failed = process.wait()
    said.seek(0)
    assert not failed, said.read()[-8000:]
