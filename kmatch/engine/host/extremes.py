"""Largest numbers, for kernels.

To load a kernel that has NumPy's `max` in it, Numba imports SciPy where that is installed.
"""

from kmatch.jit import inlined


@inlined
def largest(numbers):
    """The largest of an array of integers, 0 if all are smaller."""
    most = 0
    for number in numbers:
        most = max(most, number)
    return most


@inlined
def longest(begins):
    """The largest distance between neighbours in an array that never decreases."""
    most = 0
    for i in range(1, len(begins)):
        most = max(most, begins[i] - begins[i - 1])
    return most
