"""Running a kernel over a chunk until every hit has found room."""

from itertools import pairwise

import numpy as np

from kmatch.engine.geometry import LANES_PER_WORD

FIRST_KEYS = 1 << 16
MOST_KEYS = 1 << 16  # held at a time; a denser chunk is scanned a part of its lanes at a time


class KeyBuffer:
    """Room for hits that grows with what has been seen; no hit is ever dropped.

    tasks: parts of a chunk that a kernel counts apart; first, most: keys to have room for at first
    and at the most, where one lane does not need more.
    """

    def __init__(self, tasks, first=FIRST_KEYS, most=MOST_KEYS):
        self._tasks = tasks
        self._keys = np.empty((tasks, -(-first // tasks)), np.int64)
        self._most = most
        self._parts = 1  # in which a chunk was scanned last

    def scan(self, kernel, words):
        """Yield (keys, lane): a chunk's keys, sorted, array by array, and the lane up to which.

        kernel(lanes, keys, counts) is an engine's scan with its other arguments given.
        """
        yield from self._scan_parts(kernel, words, 0, LANES_PER_WORD * words, self._parts)

    def _scan_parts(self, kernel, words, first, last, parts):
        lanes, parts = last - first, min(parts, last - first)
        bounds = [first + lanes * part // parts for part in range(parts + 1)]
        for begin, end in pairwise(bounds):
            found, more = self._try_lanes(kernel, lane_mask(words, begin, end), end - begin)
            if found is not None:
                yield found, end
                continue
            self._parts = max(self._parts, more * LANES_PER_WORD * words // (end - begin))
            yield from self._scan_parts(kernel, words, begin, end, more)

    def _try_lanes(self, kernel, mask, lanes):
        """(keys, parts): the sorted keys of some lanes, or None, and in how many parts to scan
        these."""
        counts = np.zeros(self._tasks, np.int64)
        while True:
            kernel(mask, self._keys, counts)
            fullest = int(counts.max())
            if fullest <= self._keys.shape[1]:
                parts = [keys[:count] for keys, count in zip(self._keys, counts, strict=True)]
                found = np.concatenate(parts)  # a copy: the next scan writes here
                found.sort()
                return found, 1
            room = fullest + fullest // 4
            if fullest * self._tasks > self._most and lanes > 1:
                return None, max(-(-room * self._tasks // self._most), 2)
            self._keys = np.empty((self._tasks, room), np.int64)


def lane_mask(words, first, last):
    """uint64[words] with the bits of lanes first … last−1 set."""
    bits = np.zeros(LANES_PER_WORD * words, np.uint8)
    bits[first:last] = 1
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)
