"""A search for differences filters where an estimate of both ways says so."""

import numpy as np
import pytest
from support.commands import random_letters
from support.packing import one_chunk

from kmatch.engine.costs import Pieces, Recurrence
from kmatch.engine.cpu.edit.filter import (
    choose,
    estimate,
    extent_of,
    letter_shares,
)
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.cuda.engine import LAYOUT
from kmatch.engine.differences import difference_query
from kmatch.engine.geometry import CACHE_LINE, base_pairs, geometry_for
from kmatch.search.panels.pams import load_pams, share_beside
from kmatch.search.panels.panel import build_reading_panel
from kmatch.sequences.patterns import load_patterns

FREE = Pieces(*[0.0] * len(Pieces._fields))._replace(window=1.0)  # but for survivors
SCAN = Recurrence(cell=1e-3, column=0.0, query=0.0, deeper=0)


def prepared(letters, patterns, k, strand="+"):
    """(Text, DifferenceQuery) of letters in one chunk."""
    engine = CpuEngine(1)
    panel = build_reading_panel(load_patterns(patterns), strand)
    query = difference_query(panel.letters, np.full(len(panel.pattern), k), engine)
    chunk = one_chunk(letters, max(map(len, patterns)), k, engine)
    return chunk.text(panel.letters.masks, engine), query


def chosen(letters, pattern, k, pieces, recurrence=SCAN, parts=1):
    text, query = prepared(letters, [pattern], k)
    return choose(text, query, parts, False, (recurrence, pieces))[0]


@pytest.mark.parametrize("constant", ["query", "piece"])
def test_to_begin_with_a_query_costs_more_in_a_short_text(constant):
    short, long, pattern = random_letters(4_000, 1), random_letters(400_000, 1), "ACGTTGCA" * 4
    pieces = FREE._replace(**{constant: 2_000.0})
    assert chosen(short, pattern, 1, FREE) > 0
    assert chosen(short, pattern, 1, pieces) == 0
    assert chosen(long, pattern, 1, pieces) > 0
    assert chosen(long, pattern, 1, pieces, parts=100) == 0
    assert chosen(short, pattern, 1, pieces, SCAN._replace(query=1e4)) > 0


def test_rows_that_lanes_repeat_are_read_too():
    letters, pattern = random_letters(4_000, 1), "ACGTTGCA" * 4
    text, query = prepared(letters, [pattern], 1)
    halo = text.plane_words // text.words - text.rows
    assert halo > 4 * text.rows
    costs = Recurrence(1e-3, 0.0, 0.0, 0), FREE._replace(look=1.0)
    planes, shares = query.reading.letters, letter_shares(text, 4)
    _, sought, _, _ = estimate(planes, 1, False, shares, extent_of(text, 1), costs)
    assert sought == pytest.approx(2 * (text.rows + halo) / text.rows)


@pytest.mark.parametrize("strand, common, never", [("+", "ACAC", "AACC"), ("-", "GTGT", "GGTT")])
def test_survivors_are_expected_by_the_letters_that_follow_each_other(strand, common, never):
    """Half of the positions of such a text have any piece of the one, none has one of the other."""
    text, query = prepared("AC" * 20_000, [common * 5, never * 5], 1, strand)
    budgets = choose(text, query, 1, False, (SCAN, FREE))
    often = query.reading.letters[1] != query.reading.letters[0]
    assert budgets.tolist().count(0) == 1 and budgets[0 if often else 1] == 0


def test_sites_are_expected_by_the_letters_of_the_text():
    rng = np.random.default_rng(3)
    letters = "N" * 30_000 + "".join(rng.choice([*"ACGT"], 60_000, p=[0.4, 0.15, 0.05, 0.4]))
    chunk = one_chunk(letters, 20, 2, CpuEngine(1))
    assert base_pairs(chunk.plain).sum(axis=1) == pytest.approx([0.4, 0.15, 0.05, 0.4], abs=0.01)
    pairs = base_pairs(chunk.plain)
    pams = load_pams("NGG,TTTV", "3p")
    assert pams[0].share == 1 / 16
    assert pams[0].share_among(pairs) == pytest.approx((0.05**2 + 0.15**2) / 2, rel=0.2)
    both = sum(pam.share_among(pairs) for pam in pams)
    assert share_beside(pams, pairs) == both > 0.02 > share_beside(pams[:1], pairs)


def test_sites_are_expected_by_the_letters_that_follow_each_other():
    chunk = one_chunk("AACGGT" * 5_000, 20, 2, CpuEngine(1))
    pairs = base_pairs(chunk.plain)
    plus, minus = (load_pams(pam, "3p")[0].share_among(pairs) for pam in ("NGGT", "NTACC"))
    assert (plus, minus) == pytest.approx((1 / 24, 1 / 24), rel=0.1)


@pytest.mark.parametrize("words", [1, 3, 999, 100_000])
def test_planes_begin_on_a_cache_line(words):
    planes = CpuEngine(1).planes(words)
    assert len(planes) == words and planes.ctypes.data % (8 * CACHE_LINE) == 0


@pytest.mark.parametrize(
    ("length", "halo", "words"),
    [(50, 128, 1), (1_000, 128, 15), (60_000, 128, 64), (1 << 24, 128, 512), (60_000, 10_048, 6)],
)
def test_a_gpu_has_broad_rows_in_short_texts_too(length, halo, words):
    geometry = geometry_for(length, halo, LAYOUT)
    assert geometry.words == words and geometry.positions >= length
    assert geometry_for(length, halo, LAYOUT, 8).words == 8
