"""Hits beside PAMs of several lengths that have both ends in common: their anchors decide."""

from io import StringIO
from random import Random

import naive
import naive_bounds
import naive_circles
import pytest
from support.differences import edit, mirrored, rows
from support.hooks import edit_batches

import kmatch
from kmatch.genome import as_genomes
from kmatch.results.table import Hits
from kmatch.sequences.patterns import load_patterns

K = 2
REPORTS = ["ends", "minima", "loci"]
CHUNKS = [{"chunk_length": letters} for letters in (4, 5, 6, 7, 12)]
# (text, pattern, PAMs, side), each with minima that have both ends in common.
CASES = {
    "5p": ("TTCCGACAAATATGATTAAT", "ACAAA", "NNA,Y,NNY,NNNNT", "5p"),
    "3p": ("TTAAAAATAATATTTTTAAT", "AATAT", "NNR,R,NNNNA,NNNR", "3p"),
    "two on a border of chunks": ("TCTCTAATAAATTTGCA", "TAATA", "NNNNY,NNNR,NNT,R", "5p"),
}
# The same, over the origin of the circle after some turns of it.
CIRCLES = {
    "5p": ("TTAAGTACAGAAA", "TTAA", "NNA,NNNNT,NNNR,R", "5p"),
    "3p": ("AAACATGTTCGTG", "CATGTT", "NA,NNNA,NNNNY,R", "3p"),
    "minima": ("TTTATTATAACTT", "TAACT", "NNA,NR,NNNNR,R", "3p"),
}


def search(case, report, **geometry):
    text, pattern, pam, side = case
    options = {"pam": pam, "pam_side": side, "report": report}
    return edit([("r", text)], [pattern], K, **options, **geometry)


def table(hits):
    lines = StringIO()
    hits.to_tsv(lines)
    return lines.getvalue()


def equal_ends(found):
    """How many rows have all but their alignments in common with the one before."""
    return len(found) - len({row[:4] + row[5:6] for row in found})


@pytest.mark.parametrize("geometry", [{}, *CHUNKS], ids=str)
def test_of_equal_loci_the_one_whose_anchor_comes_first_stands(geometry):
    # The pattern begins at 4, behind C, or at 6, behind CGA.
    assert rows(search(CASES["5p"], "loci", **geometry))[0] == (0, 3, 10, 0, 1, "+", "1=1D5=")
    # Read from its end, AATA is followed by TTA; or AATATT, which comes later, by A.
    assert rows(search(CASES["3p"], "loci", **geometry))[0] == (0, 7, 14, 0, 1, "-", "4=1I3=")


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("name", CASES)
def test_chunks_and_threads_do_not_decide(name, report):
    whole = search(CASES[name], report)
    assert report == "loci" or equal_ends(rows(whole))
    for geometry in CHUNKS:
        for threads in (1, 3):
            assert table(search(CASES[name], report, threads=threads, **geometry)) == table(whole)


def drawn(random):
    """A text of few letters, all patterns of five in it, and PAMs of four lengths on a side."""
    text = "".join(random.choices("ACGT", [3, 1, 1, 3], k=24))
    patterns = sorted({text[at : at + 5] for at in range(20)})
    pams = ["N" * more + random.choice("AT") for more in random.sample(range(5), 4)]
    return text, patterns, {"pam": pams, "pam_side": random.choice(["3p", "5p"])}


def check(random, report):
    """Compare a search, its chunks and its mirror image with the oracle; returns its hits."""
    text, patterns, options = drawn(random)
    records, options["report"] = [("r", text)], report
    expected = naive_bounds.edit(records, patterns, K, **options)
    for geometry in ({}, {"chunk_length": random.randint(4, 15)}):
        assert rows(edit(records, patterns, K, **options, **geometry)) == expected
    mirror = [("r", naive.reverse_complement(text))]
    found = rows(edit(mirror, patterns, K, **options))
    assert sorted(found) == sorted(mirrored(records, expected))
    return expected


@pytest.mark.parametrize("report", REPORTS)
def test_texts_of_few_letters(report):
    found = [check(Random(f"equal ends {seed}"), report) for seed in range(20)]
    assert (sum(map(equal_ends, found)) > 5) == (report != "loci")


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("name", CIRCLES)
def test_turns_of_a_circle_do_not_decide(name, report):
    text, pattern, pam, side = CIRCLES[name]
    rules, n, panel = {"pam": pam, "pam_side": side}, len(text), load_patterns([pattern])
    whole = naive_circles.edit([("r", text)], [pattern], K, report, **rules)
    for turn in range(n):
        records = [("r", text[turn:] + text[:turn])]
        genome = as_genomes(kmatch.Genome.from_records(records)).with_circular(True)
        found = rows(Hits(edit_batches(genome, panel, K, report=report, **rules), panel))
        back = [((start + turn) % n, end - start, *rest) for _, start, end, *rest in found]
        there = [(start, end - start, *rest) for _, start, end, *rest in whole]
        assert sorted(back, key=lambda row: (row[:2], row[4])) == there
