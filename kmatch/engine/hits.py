"""Buffers for the codes of hits that kernels find in a chunk.

A hit code is an int64, (position·Q + query)·(k + 1) + distance with Q queries. The order of codes
is that of position, then query.
"""

from typing import NamedTuple

import numpy as np

NO_CODE = np.iinfo(np.int64).max


class HitBuffer(NamedTuple):
    """A buffer that threads take in blocks.

    codes: int64[c]; tally: int64[3], codes handed out in blocks, hits that did not fit, and the
    items of work that were begun when the first of these was seen, 0 where all were.
    """

    codes: np.ndarray
    tally: np.ndarray


class Found(NamedTuple):
    """What a kernel found: sorted codes, int64[n]; share: of the work that was done when the buffer
    was full, 1 where all was. With less the codes are a sample; `lost` more were seen.
    """

    codes: np.ndarray
    lost: int
    share: float


def make_buffer(capacity):
    """A HitBuffer for as many codes, whose memory is used as it fills."""
    return HitBuffer(np.empty(max(capacity, 1), np.int64), np.zeros(3, np.int64))
