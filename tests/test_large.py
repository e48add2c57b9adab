"""Texts and patterns too long for the oracle: held against a matrix of NumPy's rows, against the
tools of the field and against other ways. Of alignments, whose ties tools break in their own ways,
anchored ends are compared: the end on the strand +, the start on the strand -."""

from itertools import combinations, pairwise

import naive
import numpy as np
import pytest
from support.commands import random_letters
from support.devices import check_off_targets
from support.differences import (
    anchors,
    check_alignments,
    edited,
    far_ends,
    last_row,
    mirrored,
    planted,
)
from support.searches import aligned, best, edit, hooked, rows, search, search_panel

import kmatch

REPORTS = ["minima", "ends", "loci"]


def drawn(rng, *lengths):
    return ["".join(rng.choice(list("ACGT"), m)) for m in lengths]


def strands(text):
    return {"+": text, "-": naive.reverse_complement(text)}


# k mismatches


@pytest.mark.parametrize("words", [1, 2, 16])
def test_hits_on_borders_of_tiles(words):
    (text,) = drawn(np.random.default_rng(5), 70_000)
    expected = naive.hamming([("r", text)], [text[40_000:40_009]], 4)
    assert rows(search([("r", text)], [text[40_000:40_009]], 4, words=words)) == expected


def test_very_long_windows():
    (text,) = drawn(np.random.default_rng(7), 30_000)
    for length in (10_000, 12_345):
        changed = list(text[5_000 : 5_000 + length])
        for at in range(9, length, length // 300)[:300]:
            changed[at] = "ACGT"["TGCA".index(changed[at])]
        panel = ["".join(changed)]
        found = search([("r", text)], panel, 300)
        assert rows(found) == [(0, 5_000, 5_000 + length, 0, 300, "+")]
        assert len(search([("r", text)], panel, 299)) == 0
        pam = "N" + text[5_001 + length : 5_003 + length]
        found = search_panel([("r", text)], panel, 300, pam=pam)
        assert rows(found) == [(0, 5_000, 5_003 + length, 0, 300, "+")]


def test_two_thousand_patterns():
    rng, text = np.random.default_rng(3), random_letters(1_000_000)
    patterns = [random_letters(20, seed) for seed in range(1000)]
    for start in rng.integers(len(text) - 20, size=999).tolist():
        piece = list(text[start : start + 20])
        for at in rng.integers(20, size=3):
            piece[at] = "ACGT"[rng.integers(4)]
        patterns.append("".join(piece))
    patterns.append(patterns[-1][:7] + "NR" + patterns[-1][9:])
    genome = kmatch.Genome.from_records([("r", text[:400_000]), ("s", text[400_000:])])
    expected = rows(kmatch.hamming(genome, patterns, 3))
    assert 1000 < len(expected) < 5000
    for way in ("lookup", "scan", None):
        assert rows(hooked("multi", genome, patterns, 3, way=way)) == expected


def test_known_off_targets(real):
    check_off_targets(real, "cpu")


# k differences


@pytest.fixture(scope="module")
def large():
    """A text of 100 kb, with N's and repeats, patterns, and their hits by report."""
    rng = np.random.default_rng(11)
    patterns = drawn(rng, 12, 20, 23, 75)
    half = planted(rng, 45_000, patterns, 4)
    text = half + "N" * 3_000 + "AATGG" * 400 + "A" * 2_000 + planted(rng, 48_000, patterns, 4)
    patterns += ["AATGGAATGGAATGG", "T" * 18]
    found = {report: aligned(edit([("r", text)], patterns, 3, report=report)) for report in REPORTS}
    assert set(found["loci"]) < set(found["minima"]) < set(found["ends"])
    check_alignments([("r", text)], patterns, found["ends"])
    return [("r", text)], patterns, found


OPTIONS = (
    *({"chunk_length": 1_000}, {"chunk_length": 4_096, "threads": 2}, {"capacity": 1_000}),
    *({"chunk_length": 33_333, "way": "filter"}, {"way": "lookup"}, {"way": "scan", "threads": 2}),
)


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_hits_do_not_depend_on_how_they_are_found(large, report, options):
    records, patterns, expected = large
    assert len(expected[report]) > 500
    assert aligned(edit(records, patterns, 3, report=report, **options)) == expected[report]


SIZES = [(10, 3), (20, 1), (20, 3), (32, 6), (64, 2), (100, 10), (200, 4)]


@pytest.mark.parametrize(
    "lengths, k, way",
    [
        *(([m, m], k, way) for m, k in SIZES for way in ("filter", "lookup", "scan")),
        *((range(9, 60), k, None) for k in (0, 1, 5)),
    ],
)
def test_every_end(lengths, k, way):
    rng = np.random.default_rng(len(lengths) * k)
    patterns = drawn(rng, *lengths)
    text = planted(rng, 60_000 if way else 8_000, patterns, k + 2)
    options = {"report": "ends", "way": way, "chunk_length": len(text) // 2}
    found = aligned(edit([("r", text)], patterns, k, **options))
    assert anchors(found) == far_ends(text, patterns, k)
    assert {row[4:6] for row in found} >= {(d, "+-"[d % 2]) for d in range(k + 1)}


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("sign", "+-")
def test_very_long_patterns(sign, report):
    text = random_letters(30_000, 7)
    pattern = edited(np.random.default_rng(7), text[9_000:19_000], 180)
    records = [("r", strands(text)[sign])]
    last = last_row(pattern, text)  # of the strand on which the pattern is, as if it were +
    ends = np.flatnonzero(last <= 200).tolist()
    assert 0 < last.min() <= 180 and len(ends) > 1
    found = aligned(edit(records, [pattern], 200, report=report))
    check_alignments(records, [pattern], found)
    found = mirrored(records, found) if sign == "-" else found
    assert {row[5] for row in found} == {"+"}
    if report != "ends":
        ends = [end for end in ends if naive.ends_a_low_plateau(last, end)]
    if report == "loci":
        ends = [next(end for end in ends if last[end] == found[0][4] == last.min())]
        assert len(found) == 1
    else:
        assert [(row[2], row[4]) for row in found] == [(end + 1, last[end]) for end in ends]


@pytest.mark.parametrize("insertions, deletions", [(1, 0), (0, 1), (1, 1), (0, 0)])
def test_bounds_are_the_enumeration_of_bulged_guides(insertions, deletions):
    """As sets of sites: every guide with letters left out, or with N's put in, has mismatches."""
    rng, guides, text = np.random.default_rng(5), drawn(np.random.default_rng(6), 12, 12, 12), ""
    for number in range(90):
        guide = edited(rng, guides[number % 3], number % 4) + "TGG"
        text += random_letters(9, number) + strands(guide)["+-"[number % 2]]
    k, most = 2 + insertions + deletions, {"max_insertions": insertions, "max_deletions": deletions}
    found = edit([("r", text)], guides, k, pam="NGG", max_mismatches=2, **most)
    expected = set()
    for number, guide in enumerate(guides):
        for form in bulged(guide, insertions, deletions):
            hits = anchors(rows(search_panel([("r", text)], [form], 2, pam="NGG")))
            expected |= {(number, sign, end) for _, _, sign, end, _ in hits}
    sites = {(number, sign, end) for _, number, sign, end, _ in anchors(aligned(found))}
    assert sites == expected and len(sites) > 20


def bulged(guide, insertions, deletions):
    """A guide with so many letters left out, and so many of any kind put in, wherever that is."""
    for many in range(insertions + 1):
        for out in combinations(range(len(guide)), many):
            shorter = "".join(x for i, x in enumerate(guide) if i not in out)
            for more in range(deletions + 1):
                for places in combinations(range(1, len(shorter) + 1), more):
                    cuts = pairwise([0, *places, len(shorter)])
                    yield "N".join(shorter[a:b] for a, b in cuts)


# The closest, and other tools


def closest(pattern, text):
    """The smallest distance in a text, and (strand, anchor) of each last end that has it."""
    last = {sign: last_row(pattern, read) for sign, read in strands(text).items()}
    smallest = min(row.min() for row in last.values())
    found = [
        (sign, at + 1 if sign == "+" else len(text) - at - 1)
        for sign, row in last.items()
        for at in np.flatnonzero(row == smallest).tolist()
        if row[at + 1 : at + 2] != smallest
    ]
    return smallest, sorted(found)


@pytest.mark.parametrize("options", [{}, {"chunk_length": 3_000}, {"threads": 2}, {"threads": 1}])
def test_the_closest(options):
    rng = np.random.default_rng(6)
    patterns = drawn(rng, 4, 5, 12, 20, 33, 64, 150, 400, 1_500)  # the last as near as chance
    text = planted(rng, 30_000, patterns[3:6], 9) + naive.reverse_complement(
        edited(rng, random_letters(3_000, 9), 90)
    )
    patterns.append(random_letters(3_000, 9))
    found = aligned(best([("r", text)], patterns, **options))
    check_alignments([("r", text)], patterns, found)
    for number, pattern in enumerate(patterns):
        mine = anchors(row for row in found if row[3] == number)
        smallest, places = closest(pattern, text)
        assert {row[4] for row in mine} == {smallest}
        assert [row[2:4] for row in mine] == places


SETTINGS = [(8, 2), (12, 6), (20, 0), (20, 1), (20, 3), (32, 6), (64, 5), (100, 10), (200, 40)]


def panels():
    """(patterns, text, k) at random, and of repeats."""
    for m, k in SETTINGS:
        rng = np.random.default_rng(100 * m + k)
        patterns = drawn(rng, m, m, m)
        yield pytest.param(patterns, planted(rng, 20_000, patterns, k + 2), k, id=f"{m}, {k}")
    for unit in ("A", "GT", "AATGG", "ACGTTGCATT"):
        text = random_letters(200, 1) + unit * 80 + random_letters(90, 2) + unit * 3
        yield pytest.param([(unit * 20)[:19]], text, 3, id=unit)


@pytest.mark.parametrize("report, method", [("ends", "search_all"), ("minima", "search")])
@pytest.mark.parametrize("patterns, text, k", [*panels()])
def test_sassy(patterns, text, k, report, method):
    """Its hits as anchors: on the strand - it too begins to read at the end of the text."""
    sassy = pytest.importorskip("sassy", reason="sassy-rs is not installed")
    expected, ends = [], {"+": "text_end", "-": "text_start"}
    for number, pattern in enumerate(patterns):
        searcher = sassy.Searcher("dna", rc=True)
        for hit in getattr(searcher, method)(pattern.encode(), text.encode(), k):
            end = getattr(hit, ends[hit.strand])
            expected.append((0, number, hit.strand, end, hit.cost))
    found = edit([("r", text)], patterns, k, report=report, chunk_length=5_000)
    assert anchors(aligned(found)) == sorted(expected)
    assert len(patterns) == 1 or len({row[4] for row in expected}) > min(k, 20)
