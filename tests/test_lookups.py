"""Look-ups for differences: the tables, what they find, and when a scan takes over."""

from itertools import product

import naive
import numpy as np
import pytest
from support.commands import random_letters
from support.differences import edit, edited, rows

from kmatch.engine import ways
from kmatch.engine.cpu import tables
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.search.constrained import DifferenceScans


def words_of(letters):
    """(low, high): a bit a letter."""
    codes = ["ACGT".index(letter) for letter in letters]
    return tuple(
        np.uint64(sum((code >> bit & 1) << i for i, code in enumerate(codes))) for bit in (0, 1)
    )


def distance(piece, text):
    """The least differences of a piece and the beginning of a text that any letters follow."""
    row = list(range(len(text) + 1))
    least = row[-1]
    for letter in piece:
        above, row = row, [row[0] + 1]
        for j, other in enumerate(text):
            row.append(min(above[j] + (letter != other), above[j + 1] + 1, row[j] + 1))
        least = min(least, row[-1])
    return min(least, *row)


@pytest.mark.parametrize("piece", ["ACGTA", "AAAAA", "TGTGT"])
@pytest.mark.parametrize("errors", [0, 1, 2, 3])
def test_neighbours_are_all_texts_within_the_errors(piece, errors):
    found = np.empty(1 << 14, np.int32)
    memory = tables._memory(5, errors)
    count = tables._walk(words_of(piece), 5, errors, memory, found)
    least = {}
    for entry in found[:count].tolist():
        code, differences = divmod(entry, 1 << tables.TAG_BITS)
        least[code] = min(differences, least.get(code, errors))
    expected = {}
    for letters in map("".join, product("ACGT", repeat=5)):
        low, high = words_of(letters)
        if distance(piece, letters) <= errors:
            expected[int(low) | int(high) << 5] = distance(piece, letters)
    assert least == expected


@pytest.mark.parametrize(("m", "k"), [(4, 3), (12, 1), (20, 4), (20, 6), (32, 5), (58, 6)])
def test_a_hit_has_a_piece_within_its_errors(m, k):
    pieces = tables.find_pieces(m, k, 100, 0.25, 1e9)
    assert sum(piece.errors + 1 for piece in pieces) == k + 1
    ends = [piece.offset + piece.size for piece in pieces]
    assert all(end <= piece.offset for end, piece in zip(ends, pieces[1:], strict=False))
    assert ends[-1] <= m
    assert tables._paid(pieces, k, 100, 0.25).lookups <= tables.MOST_LOOKUPS


def test_panels_too_large_for_the_tables_are_not_looked_up():
    assert tables.find_pieces(20, 4, 1_000, 0.25, 1e9) is not None
    assert tables.find_pieces(20, 4, 100_000_000, 0.25, 1e9) is None


def test_tables_are_small_for_small_texts():
    def entries(sites):
        pieces = tables.find_pieces(20, 2, 1_000, 0.25, sites)
        return tables._paid(pieces, 2, 1_000, 0.25).entries

    assert entries(1_000) < entries(1_000_000)


def test_ways_to_cut_do_not_grow_beyond_bounds_with_k():
    """There are 2^k ways to share k + 1 out, of which few keep to the bounds."""
    assert sum(len(list(tables._cuts(100, k))) for k in range(100)) < 5_000
    assert all(tables.find_pieces(100, k, 1, 0.25, 1e9) is None for k in range(24, 100))


@pytest.fixture
def unscanned(monkeypatch):
    """Nothing is scanned, however many candidates there are."""
    monkeypatch.setattr(ways, "SHARE", 1e-9)
    monkeypatch.setattr(CpuEngine, "start_edit", None)


CASES = [
    ([20], 4, {"pam": "NGG"}),
    ([18, 20, 24], 3, {"pam": "TTTV", "pam_side": "5p"}),
    ([12], 2, {"pam": ["NGG", "NAG"], "strand": "-"}),
    ([20], 5, {"pam": "NGG", "max_deletions": 1, "exact_3p": 2}),
    ([58], 6, {"pam": "GG", "report": "minima"}),
    ([11], 1, {}),
    ([9, 12], 2, {"report": "ends"}),
    ([14], 3, {"report": "loci", "strand": "-"}),
    ([13], 0, {"strand": "+"}),
    ([16], 3, {"exact_3p": 4}),
    ([16], 3, {"max_insertions": 0, "strand": "+"}),
]


@pytest.mark.parametrize(("lengths", "k", "options"), CASES)
def test_look_ups_find_what_a_scan_finds(lengths, k, options, request):
    rng, panel, parts = np.random.default_rng(k), [], ["N" * 9 + "NACNGGT"]
    for number in range(60):
        panel.append(random_letters(lengths[number % len(lengths)], seed=number))
        site = "TTTC" + edited(rng, panel[-1], number % (k + 1)) + "CGG"
        site = naive.reverse_complement(site) if number % 2 else site
        parts += [random_letters(300, seed=100 + number), site]
    records = [("one", "".join(parts[:70])), ("none", ""), ("two", "".join([*parts[70:], "ACCN"]))]
    expected = rows(edit(records, panel, k, **options, way="scan"))
    assert len(expected) > 20
    request.getfixturevalue("unscanned")
    for more in ({}, {"chunk_length": 3_000, "threads": 2}):
        assert rows(edit(records, panel, k, **options, **more, way="lookup")) == expected


@pytest.mark.parametrize("panel", [["ACGTN"], ["N" * 20, "ACGTACGTAC"], [random_letters(70)]])
def test_patterns_that_cannot_be_looked_up_are_scanned_for(panel):
    records = [("one", random_letters(2_000) + random_letters(70) + "TGG")]
    for pam in ({}, {"pam": "NGG"}):
        found = rows(edit(records, panel, 2, way="lookup", **pam))
        assert found == rows(edit(records, panel, 2, way="scan", **pam)) != []


@pytest.mark.parametrize("pam", [{}, {"pam": "NGG"}])
def test_a_scan_takes_over_where_repeats_have_too_many_candidates(pam, monkeypatch):
    """All patterns end as the repeat does; other chunks are looked up."""
    started, start = [], CpuEngine.start_edit

    def spy(self, text, *arguments):
        started.append(text)
        return start(self, text, *arguments)

    core = random_letters(10, seed=1)
    panel = [random_letters(10, seed=number) + core for number in range(2, 300)]
    plain = random_letters(20_000, seed=1)
    records = [("one", plain + panel[0] + "AGG" + plain[:3_957] + (core + "TGGAAA") * 500)]
    expected = rows(edit(records, panel, 2, way="scan", **pam))
    monkeypatch.setattr(CpuEngine, "start_edit", spy)
    found = rows(edit(records, panel, 2, way="lookup", chunk_length=8_000, **pam))
    assert found == expected != []
    assert 1 <= len(started) <= 2  # of five chunks


@pytest.mark.parametrize("slow", ["_look_up", "_scan_beside"])
def test_what_takes_longer_in_a_trial_is_not_chosen(slow, monkeypatch):
    panel = [random_letters(20, seed=number) for number in range(60)]
    text = random_letters(3_000, seed=1)
    records = [("one", text + panel[0] + "AGG" + text)]
    expected = rows(edit(records, panel, 3, pam="NGG", way="scan"))
    clock, started, run = [0.0], [], getattr(DifferenceScans, slow)

    def slowly(self, *arguments):
        clock[0] += 1.0
        return run(self, *arguments)

    monkeypatch.setattr(ways, "TRIAL", 1_000)
    monkeypatch.setattr("kmatch.search.constrained.thread_time", lambda: clock[0])
    monkeypatch.setattr(DifferenceScans, slow, slowly)
    for name in ("start_edit", "start_lookup"):
        make = getattr(CpuEngine, name)

        def spy(*arguments, name=name, make=make):
            started.append(name)
            return make(*arguments)

        monkeypatch.setattr(CpuEngine, name, spy)
    assert rows(edit(records, panel, 3, pam="NGG", chunk_length=2_000)) == expected != []
    other = "start_edit" if slow == "_look_up" else "start_lookup"
    assert set(started[-3:]) == {other} and {"start_edit"} < {*started, "none"}
