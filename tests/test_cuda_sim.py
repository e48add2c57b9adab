"""The GPU's kernels in Numba's simulator, in a process of its own: it replaces numba.cuda."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("cases", ["cuda_cases.py", "cuda_published_cases.py"])
def test_kernels_in_the_simulator(cases):
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cases)
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        command, cwd=Path(__file__).parent, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
