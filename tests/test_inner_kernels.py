"""A kernel that kernels call is linked into theirs; machine code is made where Python calls one."""

import os
import subprocess
import sys

import pytest

from kmatch.jit.numba_parts import AS_EXPECTED

KERNELS = """
import sys
from pathlib import Path

import numpy as np

from kmatch.jit.kernels import kernel
from kmatch.jit.numba_parts import on_compile
from kmatch.jit.folders import kernel_folders


@kernel
def checked(number):
    if number < 0:
        raise ValueError("below zero", number)
    return number + 1


@kernel
def summed(numbers):
    total = 0
    for number in numbers:
        total += checked(number)
    return total


@kernel
def doubled(numbers):
    return 2 * summed(numbers)


def refused(call, argument):
    try:
        call(argument)
    except ValueError as error:
        return error.args


compiled = []
with on_compile(compiled.append):
    print(doubled(np.arange(4)), refused(doubled, np.array([3, -5])), len(compiled))
    print(checked(7), refused(checked, -6), len(compiled))
files = [path.name.split(".")[-3] for path in kernel_folders()[0].glob("*.kernel")]
print(*sorted(files))
"""


NUMBERS = """
from kmatch.jit.kernels import kernel, kernel_by_number


@kernel
def called(number, pair, wanted):
    return number + pair[0] + pair[1] if wanted else 0


@kernel_by_number
def shifted(number, bits):
    return number << bits


@kernel
def calls(x):
    both = called(0, (1, x), True) + called(x, (x, x), False)
    return both + called(number=2, pair=(x, 3), wanted=x > 0) + shifted(x, 1) + shifted(x, 2)


print(calls(7), *(len(each.get_overload.__self__.signatures) for each in (called, shifted)))
"""


def run(folder, source):
    """What a module writes that has its kernels in a folder of its own."""
    (folder / "own.py").write_text(source)
    paths = {"NUMBA_CACHE_DIR": str(folder / "kernels"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "own.py"],
        cwd=folder,
        env=os.environ | paths,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.skipif(not AS_EXPECTED, reason="this Numba's parts are not those that kmatch knows")
def test_kernels_that_kernels_call_are_linked_into_theirs(tmp_path):
    """Also when they are loaded, and with errors that name a number."""
    for numbers in ((3, 4), (0, 0)):
        assert run(tmp_path, KERNELS) == [
            f"20 ('below zero', -5) {numbers[0]}",
            f"8 ('below zero', -6) {numbers[1]}",
            "cpu cpu inner inner",
        ]


@pytest.mark.skipif(not AS_EXPECTED, reason="this Numba's parts are not those that kmatch knows")
def test_numbers_written_out_in_a_call_are_no_reason_to_compile_again(tmp_path):
    """But where kernels are compiled for them."""
    assert run(tmp_path, NUMBERS) == [f"{8 + 0 + 12 + 14 + 28} 1 2"]
