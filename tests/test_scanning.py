"""Room for the keys of hits: all come, in few scans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmatch.search.scanning import KeyBuffer

WORDS = 2
LANES = 64 * WORDS


class Kernel:
    """Finds a number of hits in every lane, counted by tasks in turn."""

    def __init__(self, hits):
        self.hits, self.scans = hits, 0

    def __call__(self, lanes, keys, counts):
        self.scans += 1
        counts[:] = 0
        wanted = np.unpackbits(lanes.view(np.uint8), bitorder="little")
        for lane in np.flatnonzero(wanted):
            task = lane % len(counts)
            for i in range(self.hits[lane]):
                if counts[task] < keys.shape[1]:
                    keys[task, counts[task]] = 1000 * lane + i
                counts[task] += 1


@given(
    st.lists(st.integers(0, 9), min_size=LANES, max_size=LANES),
    st.integers(1, 3),
    st.integers(1, 40),
    st.integers(1, 40),
)
def test_all_keys_come_in_order(hits, tasks, first, most):
    buffer = KeyBuffer(tasks, first, most)
    expected = [1000 * lane + i for lane in range(LANES) for i in range(hits[lane])]
    for _ in range(2):  # the second chunk is parted as the first one was
        found = list(buffer.scan(Kernel(hits), WORDS))
        keys = np.concatenate([keys for keys, _ in found])
        assert keys.tolist() == expected
        ends = [end for _, end in found]
        assert ends == sorted(ends) and ends[-1] == LANES


@pytest.mark.parametrize("each", [1, 4])
def test_a_dense_chunk_is_parted_at_once(each):
    most, dense = LANES // 4, Kernel([each] * LANES)
    parts = 5 * each  # with a quarter more room than hits
    assert len(list(KeyBuffer(1, most, most).scan(dense, WORDS))) == parts
    assert dense.scans == 1 + parts
