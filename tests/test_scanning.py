"""Chunks are scanned once, however many hits they hold, and twice where that was not foreseen."""

from itertools import chain
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hooks import edit_batches, hamming_batches, multi_batches

import kmatch
from kmatch.engine.codes import Coding, Found
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.search.scan import Scanner
from kmatch.sequences.patterns import load_patterns


class Chunk:
    """`hits[i]` hits at each position from `begin` on."""

    def __init__(self, hits, begin=0):
        self.hits, self.begin, self.length = hits, begin, len(hits)

    def part(self, begin, end, engine):
        return Chunk(self.hits[begin:end], self.begin + begin)


class Scan:
    """A scan that gives up beyond its capacity; like a kernel's, it takes all lanes together."""

    LANES = 100

    def __init__(self, chunk, capacity):
        order = np.argsort(np.arange(chunk.length) % -(-chunk.length // self.LANES), kind="stable")
        codes, lost, seen = [], 0, 0
        for position in order.tolist():
            seen += 1
            codes += [10 * position + i for i in range(chunk.hits[position])]
            if len(codes) > capacity:
                lost = len(codes) - capacity
                break
        self.positions = seen
        codes = np.sort(np.array(codes[:capacity], np.int64))
        self._found = Found(codes, lost, seen / chunk.length)

    def found(self):
        return self._found


class Scans:
    """Starts Scans, and counts them and the positions they took."""

    def __init__(self):
        self.positions = self.started = 0

    def __call__(self, chunk, capacity):
        scan = Scan(chunk, capacity)
        self.started += 1
        self.positions += scan.positions
        return scan


lists = st.lists(st.integers(0, 9), min_size=1, max_size=60)


@given(st.lists(lists, min_size=1, max_size=5), st.integers(1, 40), st.sampled_from([1, 3]))
def test_all_codes_come_in_order(texts, capacity, queues):
    found = []
    engine = SimpleNamespace(queues=queues, capacity=capacity)
    scanner = Scanner(engine, Coding(10, 0))
    for chunk, codes in scanner.scan(map(Chunk, texts), Scans()):
        assert len(codes) <= max(capacity, 9 + 9)
        found.append((codes + 10 * chunk.begin).tolist())
    expected = [
        [10 * position + i for position, many in enumerate(hits) for i in range(many)]
        for hits in texts
    ]
    assert list(chain(*found)) == list(chain(*expected))


@pytest.mark.parametrize("each", [1, 4])
def test_a_dense_text_is_scanned_twice_at_the_most_and_then_once(each):
    scans = Scans()
    texts = [[each] * 4000] * 6
    scanner = Scanner(SimpleNamespace(queues=1, capacity=400), Coding(10, 0))
    parts = list(scanner.scan(map(Chunk, texts), scans))
    # Scans that are under way when the first is seen to be dense are given up as well.
    given_up = 4000 * 3
    assert scans.positions <= 24_000 + given_up
    assert scans.started <= 1.1 * len(parts) + 3


def dense_genome():
    random = np.random.default_rng(3)
    unit = "".join(random.choice(list("ACGT"), 40))
    sparse = "".join(random.choice(list("ACGT"), 60_000))
    return {"sparse": sparse, "dense": unit * 1500}


SEARCHES = {
    "hamming": (hamming_batches, {}),
    "multi": (multi_batches, {"way": "lookup"}),
    "edit": (edit_batches, {"way": "scan"}),
    "edit, filtered": (edit_batches, {"way": "filter"}),
    "beside a PAM": (multi_batches, {"pam": "N", "way": "sites"}),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_rows_scanned_do_not_grow_with_the_hits(name, monkeypatch):
    """Rows of chunks that kernels are given, and how often: the dense text against the sparse."""
    search, options = SEARCHES[name]
    texts = dense_genome()
    panel = load_patterns([texts["dense"][i : i + 20] for i in range(0, 40, 5)])
    rows = {}
    for kind, text in texts.items():
        started = []

        class Counting(CpuEngine):
            def start_scan(self, text, *arguments, started=started):
                started.append(text.words * text.rows)
                return super().start_scan(text, *arguments)

            def start_seeds(self, text, *arguments, started=started):
                started.append(text.words * text.rows)
                return super().start_seeds(text, *arguments)

            def start_edit(self, text, *arguments, started=started):
                started.append(text.words * text.rows)
                return super().start_edit(text, *arguments)

        monkeypatch.setattr("kmatch.engine.cpu.engine.CpuEngine", Counting)
        genome = kmatch.Genome.from_records([("r", text)])
        options |= {"device": "cpu", "chunk_length": 6000, "capacity": 2000}
        hits = sum(map(len, search(genome, panel, 3, **options)))
        rows[kind] = hits, sum(started), len(started)
        monkeypatch.undo()
    (few, sparse, _), (many, dense, launches) = rows["sparse"], rows["dense"]
    assert many > 100 * max(few, 10)
    assert dense <= 2.2 * sparse
    assert launches <= 10 * many / 2000 + 120
