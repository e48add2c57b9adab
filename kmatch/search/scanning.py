"""Running a kernel over a chunk until every hit has found room."""

import numpy as np

from kmatch.engine.geometry import LANES_PER_WORD

FIRST_KEYS = 1 << 16
MOST_KEYS = 1 << 23  # keys held at a time; denser chunks are scanned a part of their lanes at a time
TASKS_PER_THREAD = 4


class KeyBuffer:
    """Room for hits that grows with what has been seen; no hit is ever dropped.

    scan(lanes, keys, counts) is the engine's kernel with all but its last three arguments given.
    """

    def __init__(self, threads, first=FIRST_KEYS, most=MOST_KEYS):
        self.tasks = TASKS_PER_THREAD * threads
        self.capacity = -(-first // self.tasks)
        self.most = most

    def scan(self, kernel, words):
        """Yield the chunk's keys, sorted, as arrays whose keys follow one another."""
        yield from self._scan_lanes(kernel, words, 0, LANES_PER_WORD * words)

    def _scan_lanes(self, kernel, words, first, last):
        lanes = lane_mask(words, first, last)
        counts = np.zeros(self.tasks, np.int64)
        while True:
            keys = np.empty((self.tasks, self.capacity), np.int64)
            kernel(lanes, keys, counts)
            fullest = int(counts.max())
            if fullest <= self.capacity:
                found = np.concatenate([keys[i, :count] for i, count in enumerate(counts)])
                found.sort()
                yield found
                return
            if fullest * self.tasks > self.most and last - first > 1:
                break
            self.capacity = fullest + fullest // 4
        middle = (first + last) // 2
        yield from self._scan_lanes(kernel, words, first, middle)
        yield from self._scan_lanes(kernel, words, middle, last)


def lane_mask(words, first, last):
    """uint64[words] with the bits of lanes first … last−1 set."""
    bits = np.zeros(LANES_PER_WORD * words, np.uint8)
    bits[first:last] = 1
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)
