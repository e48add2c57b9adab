"""The engine's kernels for the CPU as plain Python, slow but seen by coverage and debuggers.

With NUMBA_DISABLE_JIT=1 decorators leave functions as they are, but intrinsics, which are written
in LLVM's instructions, cannot be called. Here each has a double: a vector is an array of words.
"""

import inspect
import threading
from functools import cache

import numpy as np
from numba.core.extending import _Intrinsic

_lock = threading.Lock()


def _load(words):
    return lambda array, index: array[index : index + words].copy()


def _fill(words):
    return lambda word: np.full(words, word, np.uint64)


def _operate(table=None, name=None, plain=None):
    """A function of three bits by its truth table, as in `vectors`."""

    def operate(a, b, c):
        found = np.zeros_like(a)
        for number in range(8):
            if table >> number & 1:
                bits = (x if number >> place & 1 else ~x for x, place in ((a, 2), (b, 1), (c, 0)))
                found |= np.bitwise_and.reduce(list(bits))
        return found

    return operate


def _store(array, index, value):
    array[index : index + len(value)] = value


def _nonzero(value):
    return sum(1 << i for i, word in enumerate(value.tolist()) if word)


def _lowest(word):
    return (int(word) & -int(word)).bit_length() - 1


def _fetch_add(array, index, amount):
    with _lock:
        before = int(array[index])
        array[index] += amount
    return before


def _matching(backward):
    def matching(letters, at, mask):
        found = (letters[at : at + 64] & mask) != 0
        found = found[::-1] if backward else found
        return np.packbits(found, bitorder="little").view(np.uint64)[0]

    return matching


_MADE = {"load": _load, "fill": _fill, "operate": _operate, "matching": _matching}
_DOUBLES = {
    "store": _store,
    "nonzero": _nonzero,
    "lowest": _lowest,
    "fetch_add": _fetch_add,
    "width": lambda word: int(word).bit_length(),
    "_popcount": lambda word: int(word).bit_count(),
}


@cache
def _double(intrinsic):
    name = intrinsic._defn.__name__
    if name in _MADE:
        return _MADE[name](**inspect.getclosurevars(intrinsic._defn).nonlocals)
    return _DOUBLES[name]


def make_intrinsics_callable():
    """Have intrinsics run their doubles where plain Python calls them."""
    _Intrinsic.__call__ = lambda self, *arguments: _double(self)(*arguments)
