"""Liu et al. 2012: k mismatches, the sequential algorithm."""

import numpy as np

from kmatch.arrays import Bytes, Ints
from kmatch.jit.kernels import kernel
from kmatch.published.cpu import HostText


@kernel
def _sequential(text, pattern, k, result):
    for i in range(len(result)):
        mismatches = 0
        for j in range(len(pattern)):
            mismatches += (text[i + j] & pattern[j]) == 0
        result[i] = mismatches if mismatches <= k else -1


def sequential(text: HostText, pattern: Bytes, k: int) -> Ints:
    """The simple CPU algorithm of section V: ham(P, T_i) by Definition 2, one by one."""
    result = text.table(len(text.masks) - len(pattern) + 1)
    with text.timed():
        _sequential(text.masks, pattern, np.int32(k), result)
    return result
