"""The GPU's kernels in Numba's simulator, in processes of their own: it replaces numba.cuda."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SECONDS = 300  # the longest that one may take; a quarter of a minute is usual


@pytest.mark.parametrize("name", ["cuda", "cuda_parts", "published"])
def test_kernels_in_the_simulator(name):
    chosen = ("-m", "not gpu", "-p", "simulated", "-p", "no:cacheprovider", "-rs")
    command = (sys.executable, "-m", "pytest", *chosen, TESTS / f"test_{name}.py")
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout[-8000:]
    assert " passed" in done.stdout and "no usable GPU" not in done.stdout
