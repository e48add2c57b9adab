"""Primers in the CUDA simulator, as in engine.py, and by a plain kernel how work is cut."""

from unittest import mock

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from support.cases import edited
from support.commands import random_letters
from support.primers import CASES as PRIMERS
from support.primers import primer as search_primers
from support.primers import primer_cases, records
from support.primers import rows as rows_of_primers

from kmatch.engine.cuda import primer, primer_strips, primer_tile
from kmatch.engine.cuda.recurrence import COLUMNS
from kmatch.engine.devices import choose_engine
from kmatch.engine.types import FRESH
from kmatch.jit import rehearsal
from kmatch.sequences.alphabet import encode_text

# The recurrence adds to carry; what runs over the end of a word concerns nobody.
pytestmark = pytest.mark.filterwarnings("ignore:.*overflow encountered in scalar add")

TINY = primer.Sizes(width=1, height=4, rows=1, more=4, deepest=64, stretch=2, columns=8)
FEW_PRIMERS = (
    "as published",
    "no background record",
    "empty records",
    "only empty records",
    "target shorter than k",
    "N in the target",
    "N in the background",
    "max length",
)


def primers(case, sizes):
    target, background, k, options = case
    options = options | {"device": "cuda", "sizes": sizes}
    return rows_of_primers(search_primers(target, background, k, **options))


def expected_primers(case):
    target, background, k, options = case
    return naive.primers(target, background, k, **options)


@pytest.mark.parametrize("name", FEW_PRIMERS)
def test_primers(name):
    assert primers(PRIMERS[name], TINY) == expected_primers(PRIMERS[name])


def test_primers_down_more_rows():
    """What is alive below the rows that are taken first goes on, in the end on the CPU."""
    text = "ACGTTGCATTAGCCAGT"
    case = (records(text, "ACCGT"), records("GG" + text + "TA"), 2, {"background_strand": "+"})
    for deepest in (8, 32):
        assert primers(case, TINY._replace(deepest=deepest)) == expected_primers(case)


@settings(max_examples=3)
@given(primer_cases(longest=16))
def test_any_primers(case):
    sizes = TINY._replace(width=2, height=8, cells=1 << 6)
    assert primers(case, sizes) == expected_primers(case)


def test_primers_in_a_copy_longer_than_a_tile():
    """Alignments go on to the right of what is alive far up beside the same tile."""
    text = random_letters(70)
    case = (records(text), records("GAT" + text + "TA"), 1, {"background_strand": "+"})
    assert primers(case, TINY._replace(deepest=128)) == expected_primers(case) == []


class Written:
    """Deltas in device memory, of which none may be read that its launch has not written."""

    def __init__(self, deltas, written):
        self._deltas, self._written = deltas, written

    def __getitem__(self, index):
        assert index in self._written
        return self._deltas[index]

    def __setitem__(self, index, value):
        self._written.add(index)
        self._deltas[index] = value


def test_no_deltas_are_read_before_they_are_written(monkeypatch):
    """Those of a record's beginning too, which are loaded ahead though nothing looks at them."""
    launch, borders, written = primer.Extension._launch, primer_tile.Borders, set()

    def launched(*arguments):
        written.clear()
        return launch(*arguments)

    def watched(deltas, *indices):
        return borders(Written(deltas, written), *indices)

    monkeypatch.setattr(primer.Extension, "_launch", launched)
    monkeypatch.setattr(primer_tile, "Borders", watched)
    text = "ACGTTGCATTAGCCAGT"
    background = records("GG" + text + "TA", "", "ACG", text[3:] + "C")
    case = (records(text, "ACCGT"), background, 2, {"background_strand": "+"})
    assert primers(case, TINY._replace(deepest=32)) == expected_primers(case)
    assert written


@njit
def _smallest(target, letters, rows, k):
    """The smallest distance in every row of a start's matrix, int64[rows + 1], and the first and
    the last column in which the last row has one below k."""
    column, smallest = np.arange(rows + 1), np.arange(rows + 1)
    first = last = -1
    for t, letter in enumerate(letters):
        diagonal = 0
        for i in range(1, rows + 1):
            if letter == FRESH:
                column[i] = i
                continue
            cost = diagonal + (letter > 3 or target[i - 1] != 1 << letter)
            diagonal = column[i]
            column[i] = min(cost, column[i - 1] + 1, column[i] + 1)
            smallest[i] = min(smallest[i], column[i])
        if column[rows] < k:
            first, last = t if first < 0 else first, t
    return smallest, first, last


def _plain_launch(target):
    """What launches the kernel, by plain matrices; target: masks of its letters."""

    def launch(self, height, most_rows, rows, passed, units, bounds):
        lanes, alive = self._lanes, np.zeros(len(units), bool)
        reached = np.tile([-primer.NEVER, primer.NEVER], (len(units), 1))
        for number, (tile, first, end) in enumerate(units.tolist()):
            begin = max(first - self._warm(rows), 0)
            letters = self.letters[begin:end]
            for r in range(tile * lanes, min((tile + 1) * lanes, len(target))):
                limit, bound = int(self._limits[r]), int(bounds[r])
                if passed < bound <= limit:
                    given = target[r : r + limit], letters, min(limit, rows), self._k
                    smallest, low, high = _smallest(*given)
                    while bound <= min(limit, rows) and smallest[bound] < self._k:
                        bound += 1
                    bounds[r] = bound
                    if limit > rows and smallest[rows] < self._k:
                        alive[number] = True
                        low, high = begin + low, begin + high + COLUMNS
                        reached[number, 0] = min(reached[number, 0], low - low % COLUMNS)
                        reached[number, 1] = max(reached[number, 1], high - high % COLUMNS)
        return primer.alive_units(units, np.flatnonzero(alive), reached)

    return launch


@st.composite
def relatives(draw):
    """(target, background, k, options): texts longer than a tile, and copies with a few changes."""
    text = random_letters(draw(st.integers(65, 400)), draw(st.integers(0, 9)))
    edits = st.lists(
        st.tuples(st.integers(0, 399), st.sampled_from("XID"), st.sampled_from("ACGT")), max_size=40
    )
    copies = [edited(text, draw(edits)) for _ in range(draw(st.integers(1, 3)))]
    background = ["G" * draw(st.integers(0, 30)) + copy + "C" for copy in copies]
    return records(text), records(*background), draw(st.integers(1, 6)), {}


@settings(max_examples=40)
@given(
    relatives(), st.sampled_from([16, 64, 1024]), st.sampled_from([1, 1 << 20]), st.integers(1, 9)
)
def test_all_columns_go_down_as_many_rows_as_they_must(case, deepest, cells, stretch):
    """Also across pieces of the background, and on from where the CPU takes over."""
    target, background, k, _ = case
    launch = _plain_launch(encode_text(np.frombuffer(target[0][1].encode(), np.uint8)))
    sizes = TINY._replace(deepest=deepest, cells=cells, stretch=stretch)
    with mock.patch.object(primer.Extension, "_launch", launch):
        found = primers(case, sizes)
    assert found == rows_of_primers(search_primers(target, background, k))


def test_columns_of_several_sweeps_are_noted():
    seen = [0, -1]
    for group in (8, 16, 4, 12):
        primer_strips.note(seen, group)
    assert seen == [4, 16]


def test_counters_of_all_lengths_are_compiled_ahead(monkeypatch):
    """Those of the kernels that searches launch, for the rows taken first and for those below."""
    compiled = set()

    class Nothing:
        def __getitem__(self, key):
            return lambda *arguments: None

    def make(height, bits, width):
        compiled.add((height, bits))
        return Nothing()

    monkeypatch.setattr(primer, "make_extend", make)
    gpu = choose_engine("cuda")
    for length in (16, *rehearsal.LENGTHS):  # primers of 9 letters are searched for too
        gpu.compile_primers(length)
    sizes, needed = primer.SIZES, set()
    for k in (2, 6, 30, 100, 300):
        for limit in (9, 30, 60, 100, 300, 1000, 3000, 10000):
            for rows in (sizes.rows * k + sizes.more, sizes.deepest):
                rows = primer._up(min(rows, limit), sizes.height)
                needed.add((sizes.height, primer.counter_bits(rows, k - 1, k - 1)))
    assert needed == compiled
