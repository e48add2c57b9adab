"""How primers are cut into work for GPUs, by the kernel and by a plain one. In the simulator."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from support.cases import edited
from support.commands import random_letters
from support.devices import check
from support.primers import primer as search_primers
from support.primers import records
from support.primers import rows as rows_of_primers

from kmatch.engine import devices
from kmatch.engine.cuda import driver, primer
from kmatch.engine.cuda.engine import CudaEngine
from kmatch.engine.cuda.recurrence import COLUMNS
from kmatch.engine.types import FRESH
from kmatch.sequences.alphabet import encode_text

if not driver.SIMULATED:
    pytest.skip("test_simulator.py runs this", allow_module_level=True)

TEXT, PLUS = "ACGTTGCATTAGCCAGT", {"background_strand": "+"}
REAL = {name: getattr(primer, name) for name in ("HEIGHT", "ROWS", "MORE", "DEEPEST", "WIDTH")}


@pytest.mark.parametrize("deepest", [8, 32])
def test_primers_down_more_rows(deepest, monkeypatch):
    """What is alive below the rows that are taken first goes on, in the end on the CPU."""
    monkeypatch.setattr(primer, "DEEPEST", deepest)
    case = records(TEXT, "ACCGT"), records("GG" + TEXT + "TA"), 2, PLUS
    check("primer", case, device="cuda")


def test_primers_in_a_copy_longer_than_a_tile(monkeypatch):
    """Alignments go on to the right of what is alive far up beside the same tile."""
    monkeypatch.setattr(primer, "DEEPEST", 128)
    text = random_letters(70)
    assert not check(
        "primer", (records(text), records("GAT" + text + "TA"), 1, PLUS), device="cuda"
    )


def test_wider_tiles_and_small_pieces(monkeypatch):
    for name, value in (("WIDTH", 2), ("HEIGHT", 8), ("LAUNCH_CELLS", 1 << 6)):
        monkeypatch.setattr(primer, name, value)
    case = records(TEXT, "ACCGT"), records("GG" + TEXT + "TA", TEXT[5:] + TEXT[:5]), 2, {}
    check("primer", case, device="cuda")


def test_parts_of_a_target_on_several_gpus(monkeypatch):
    extend, shares = CudaEngine.extend_primers, []

    def extend_and_listen(self, starts, columns, k, on_progress):
        return extend(self, starts, columns, k, shares.append)

    monkeypatch.setattr(CudaEngine, "extend_primers", extend_and_listen)
    monkeypatch.setattr(devices, "REPEATED", True)
    text = random_letters(26, 7)
    background = records(text[14:24] + "GG" + text[5:9])
    case = records(text, text[10:20] + "A", ""), background, 2, {"max_length": 9}
    assert check("primer", case, device="cuda:0,0")
    assert shares == sorted(shares) and shares[0] < 1 == pytest.approx(shares[-1])


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

    def launch(self, most_rows, rows, passed, units, bounds):
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
    sizes = {"DEEPEST": deepest, "LAUNCH_CELLS": cells, "MOST": stretch}
    with (
        mock.patch.multiple(primer, **sizes),
        mock.patch.object(primer.Extension, "launch", launch),
    ):
        found = rows_of_primers(search_primers(target, background, k, device="cuda"))
    assert found == rows_of_primers(search_primers(target, background, k))


def test_counters_of_all_lengths_are_compiled_ahead(monkeypatch):
    """Those of the kernels that searches launch, for the rows taken first and for those below."""
    for name, value in REAL.items():
        monkeypatch.setattr(primer, name, value)
    needed = set()
    for k in (2, 6, 30, 100, 300):
        for limit in (9, 30, 60, 100, 300, 1000, 3000, 10000):
            for rows in (primer.ROWS * k + primer.MORE, primer.DEEPEST):
                rows = primer._up(min(rows, limit), primer.HEIGHT)
                needed.add(primer.counter_bits(rows, k - 1, k - 1))
    assert needed == set(primer.BITS)
