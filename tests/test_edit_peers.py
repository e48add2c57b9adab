"""k differences and closest occurrences against the tools of the field, on A, C, G and T.

A start is the tools' own choice among equally good alignments, so anchored ends are compared: the
end on the strand +, the start on the strand -.
"""

import naive
import numpy as np
import pytest
from support.commands import random_letters
from support.differences import anchors, best, check_alignment, edit, planted, rows

import kmatch

SETTINGS = [(8, 2), (12, 6), (20, 0), (20, 1), (20, 3), (32, 6), (64, 5), (100, 10), (200, 40)]


@pytest.fixture(scope="module")
def sassy():
    return pytest.importorskip("sassy", reason="sassy-rs is not installed")


@pytest.fixture(scope="module")
def edlib():
    return pytest.importorskip("edlib", reason="edlib is not installed")


def theirs(matches, number=0):
    """Sassy's matches as anchors: on the strand - it too begins to read at the end of the text."""
    ends = {"+": "text_end", "-": "text_start"}
    return [(0, number, x.strand, getattr(x, ends[x.strand]), x.cost) for x in matches]


def case(m, k, length=20_000):
    rng = np.random.default_rng(100 * m + k)
    patterns = ["".join(rng.choice(list("ACGT"), m)) for _ in range(3)]
    return planted(rng, length, patterns, k + 2), patterns


@pytest.mark.parametrize("m, k", SETTINGS)
@pytest.mark.parametrize("report, method", [("ends", "search_all"), ("minima", "search")])
def test_sassy(sassy, m, k, report, method):
    text, patterns = case(m, k)
    search = getattr(sassy.Searcher("dna", rc=True), method)
    expected = []
    for number, pattern in enumerate(patterns):
        expected += theirs(search(pattern.encode(), text.encode(), k), number)
    found = rows(edit([("r", text)], patterns, k, report=report))
    assert anchors(found) == sorted(expected)
    assert {row[5] for row in found} == {"+", "-"}
    assert len({row[4] for row in found}) > min(k, 20)


@pytest.mark.parametrize("unit", ["A", "GT", "AATGG", "ACGTTGCATT"])
@pytest.mark.parametrize("report, method", [("ends", "search_all"), ("minima", "search")])
def test_sassy_among_repeats(sassy, unit, report, method):
    text = random_letters(200, 1) + unit * 80 + random_letters(90, 2) + unit * 3
    pattern = (unit * 20)[:19]
    matches = getattr(sassy.Searcher("dna", rc=True), method)(pattern.encode(), text.encode(), 3)
    found = edit([("r", text)], [pattern], 3, report=report, chunk_length=150)
    assert anchors(rows(found)) == sorted(theirs(matches))


def test_alignments_of_sassy_and_of_kmatch_cost_the_same(sassy):
    text, patterns = case(32, 6)
    found = rows(edit([("r", text)], patterns, 6))
    costs = {(row[1:4], row[5]): row[4] for row in found}
    for number, pattern in enumerate(patterns):
        for match in sassy.Searcher("dna", rc=True).search(pattern.encode(), text.encode(), 6):
            piece = text[match.text_start : match.text_end]
            piece = piece if match.strand == "+" else naive.reverse_complement(piece)
            check_alignment(pattern, piece, match.cigar, match.cost)
            place = (match.text_start, match.text_end, number)
            assert costs.get((place, match.strand), match.cost) == match.cost


@pytest.mark.parametrize("m", [4, 12, 20, 33, 64, 100, 400])
def test_edlib(edlib, m):
    text, patterns = case(m, m // 5, 6_000)
    patterns.append(random_letters(m, m))
    records = [("r", text)]
    turned = naive.reverse_complement(text)
    found = rows(best(records, patterns))
    for number, pattern in enumerate(patterns):
        answers = {
            sign: edlib.align(pattern, read, mode="HW", task="locations")
            for sign, read in (("+", text), ("-", turned))
        }
        smallest = min(answer["editDistance"] for answer in answers.values())
        expected = set()
        for sign, answer in answers.items():
            if answer["editDistance"] == smallest:
                ends = {last + 1 for _, last in answer["locations"]}
                lasts = [end for end in ends if end + 1 not in ends]
                expected |= {(sign, e if sign == "+" else len(text) - e) for e in lasts}
        mine = [row for row in found if row[3] == number]
        assert {(row[5], row[2] if row[5] == "+" else row[1]) for row in mine} == expected
        assert len(mine) == len(expected) and {row[4] for row in mine} == {smallest}


def test_edlib_on_a_pattern_that_is_nowhere(edlib):
    answer = edlib.align("CCCC", "ATATTATA", mode="HW")
    assert answer["editDistance"] == 4
    genome = kmatch.Genome.from_records([("r", "ATATTATA")])
    with pytest.warns(UserWarning, match="CCCC"):
        assert len(kmatch.best(genome, ["CCCC"])) == 0
