"""A search for differences filters where an estimate of both ways says so."""

from itertools import pairwise

import numpy as np
import pytest
from support.commands import random_letters
from support.packing import one_chunk

from kmatch.engine.costs import CUDA, Pieces, Recurrence
from kmatch.engine.cpu.edit.filter import (
    choose,
    estimate,
    expect_pieces,
    extent_of,
    letter_shares,
)
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.cuda.edit import filter as gpu_filter
from kmatch.engine.cuda.edit import stretches
from kmatch.engine.cuda.engine import LAYOUT
from kmatch.engine.differences import difference_query
from kmatch.engine.geometry import CACHE_LINE, base_pairs, geometry_for, halo_of
from kmatch.engine.host.workers import Workers
from kmatch.search.panels.pam import RANDOM
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


@pytest.fixture
def some_gpu(monkeypatch):
    """A GPU of 132 multiprocessors, as plans see it."""
    monkeypatch.setattr(stretches, "multiprocessors", lambda: 132)


@pytest.fixture
def free_start(monkeypatch, some_gpu):
    """A filter that costs nothing to begin with, so that it pays in a short text."""
    monkeypatch.setattr(gpu_filter, "START", 0.0)
    costs = CUDA._replace(pieces=CUDA.pieces._replace(query=0.0, piece=0.0))
    monkeypatch.setattr(gpu_filter, "CUDA", costs)


@pytest.mark.usefixtures("some_gpu")
@pytest.mark.parametrize(("words", "rows"), [(2, 512), (64, 16), (200, 1_000)])
def test_columns_of_warm_up_and_of_threads_without_lanes_are_counted(words, rows):
    m, k, count = 40, 3, 300
    text, query = prepared("ACGT", ["ACGTTGCA" * 5] * count, k)
    text = text._replace(words=words, rows=rows, plane_words=words * (rows + 128))
    queries = query.reading, query.limits, np.arange(count)
    (plan,) = stretches.plan_searches(halo_of(text), *queries)
    stretch, blocks = stretches.divide(text, plan)
    columns = blocks * stretches.THREADS * (stretch + m + k)
    expected = stretches.columns_a_position(text, count, m, k) * words * rows
    assert columns == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(
    ("length", "halo", "words"),
    [(50, 128, 1), (1_000, 128, 15), (60_000, 128, 64), (1 << 24, 128, 512), (60_000, 10_048, 6)],
)
def test_a_gpu_has_broad_rows_in_short_texts_too(length, halo, words):
    geometry = geometry_for(length, halo, LAYOUT)
    assert geometry.words == words and geometry.positions >= length
    assert geometry_for(length, halo, LAYOUT, 8).words == 8


def gpu_choice(text, query, pairs, always=False):
    return gpu_filter.choose(text, query, always, pairs, Workers(2))


def laid_out(text, rows):
    """A Text whose rows have a word for each thread of a block, and so many of which lanes own."""
    return text._replace(words=64, rows=rows, plane_words=64 * (rows + 64))


@pytest.mark.usefixtures("free_start")
def test_a_gpu_filters_less_where_pieces_are_frequent():
    pattern, count, k = "ATTATACATTAGATTA" * 2, 1_000, 3
    letters = {"even": random_letters(60_000, 1), "none": "N" * 60_000}
    at_rich = np.random.default_rng(2).choice(list("ACGT"), 60_000, p=[0.4, 0.1, 0.1, 0.4])
    letters["at rich"] = "".join(at_rich)
    found = {}
    for name, text in letters.items():
        text, query = prepared(text, [pattern] * count, k)
        pairs, text = base_pairs(text), laid_out(text, 1 << 12)
        budgets, expected, _ = gpu_choice(text, query, pairs)
        assert ((expected > 0) == (budgets > 0)).all()
        found[name] = budgets.any()
    assert found == {"even": True, "at rich": False, "none": True}


@pytest.mark.usefixtures("free_start")
@pytest.mark.parametrize(("letters", "strand"), [("AC", "+"), ("GT", "-")])
def test_a_gpu_filters_those_queries_whose_pieces_are_rare_in_the_text(letters, strand):
    rare, common = ["AGTC" * 8, "TCTCGGNCTC" * 3], ["AC" * 16]
    text, query = prepared(letters * 20_000, (common + rare) * 500, 1, strand)
    budgets, expected, _ = gpu_choice(text, query, base_pairs(text))
    assert (budgets.reshape(-1, 3) > 0).all(axis=0).tolist() == [False, True, True]
    assert expected.max() < 1
    assert (gpu_choice(text, query, base_pairs(text), True).expected[::3] > 10_000).all()


@pytest.mark.parametrize("backward", [False, True])
def test_pieces_are_expected_as_often_as_their_pairs_of_letters(backward):
    rng, m, k, most = np.random.default_rng(9), 23, 2, 6
    patterns = rng.integers(0, 5, (3_000, m)).astype(np.int8)  # more than an item of work
    pairs = rng.random((4, 4))
    pairs /= pairs.sum()
    found = np.empty(len(patterns))
    shares = gpu_filter.shares_of(pairs, 5)
    Workers(2).run(expect_pieces, 2, patterns, k, backward, most, shares, found)
    for pattern, share in [*zip(patterns.tolist(), found, strict=True)][::100]:
        pieces = [
            pattern[a:b][:: -1 if backward else 1][:most] for a, b in ((0, 7), (7, 15), (15, 23))
        ]
        assert share == pytest.approx(sum(stands(piece, pairs) for piece in pieces))


def stands(piece, pairs):
    """The share of positions at which a piece stands; letters of plane 4 match anything."""
    alone, chance = pairs.sum(axis=1), 1.0
    for before, base in pairwise([4, *piece]):
        if base < 4:
            chance *= alone[base] if before == 4 else pairs[before, base] / alone[before]
    return chance


def test_queries_that_lose_little_are_filtered_with_the_others():
    budgets, window = np.array([10, 10, 10]), np.array([5.0, 5.0, 5.0])
    few, many = np.array([3.5, 12.5, 10.0]), np.array([3.0, 1e9, 11.0])
    gpu_filter.spare(budgets, many, window)
    assert budgets.tolist() == [10, 10, 10]
    gpu_filter.spare(budgets, few, window)
    assert budgets.tolist() == [10, 13, 10]


@pytest.mark.usefixtures("some_gpu")
def test_a_gpu_scans_where_a_filter_would_begin_too_late_or_leave_too_much():
    chosen = {}
    for count, k, rows in (
        (1, 2, 1 << 13),
        (9_999, 2, 1),
        (9_999, 2, 1 << 13),
        (9_999, 3, 1 << 17),
    ):
        text, query = prepared("ACGT", ["ACGTTGCATTAGACCA" * 2] * count, k)
        text = laid_out(text, rows)
        chosen[count, k, rows] = np.count_nonzero(gpu_choice(text, query, RANDOM).budgets)
    few, short, many, most = chosen.values()
    assert few == short == 0 and many == 9_999
    expected = 4 / 4**8 * 512 * (1 << 20)  # of a query; pieces of 8 letters
    assert most == int(gpu_filter.MOST_SURVIVORS / expected)
