"""k differences against the oracle: agreed cases, then whatever Hypothesis thinks of."""

import naive
import numpy as np
import pytest
from support.commands import random_letters
from support.differences import (
    anchors,
    check_alignments,
    edit,
    edited,
    far_ends,
    intervals,
    last_row,
    mirrored,
    planted,
    rows,
)

import kmatch

REPORTS = ["minima", "ends", "loci"]


def test_k_mismatches_are_k_differences():
    text = random_letters(3_000)
    patterns = [text[100:112], text[700:715]]
    genome = kmatch.Genome.from_records([("r", text)])
    windows = kmatch.hamming(genome, patterns, 4)
    found = anchors(intervals(kmatch.edit(genome, patterns, 4, report="ends")))
    ends = {row[:4]: row[4] for row in found}
    for row in anchors(intervals(windows)):
        assert ends[row[:4]] <= row[4]


@pytest.mark.parametrize("chunk_length", [64, 700, None])
@pytest.mark.parametrize("letters, distance", [("A" * 20, 0), ("A" * 10 + "C" + "A" * 9, 1)])
def test_a_plateau_over_many_chunks(letters, distance, chunk_length):
    for report in ("minima", "loci"):
        patterns = [letters, naive.reverse_complement(letters)]
        found = edit([("r", "A" * 9_000)], patterns, 2, report=report, chunk_length=chunk_length)
        assert [row[:6] for row in rows(found)] == [
            (0, 0, 20, 1, distance, "-"),
            (0, 8_980, 9_000, 0, distance, "+"),
        ]


@pytest.mark.parametrize("chunk_length", [64, 250, None])
def test_a_plateau_that_falls_after_many_chunks(chunk_length):
    # The ends of the run cost 1 up to a place where the pattern is found whole.
    pattern = "A" * 10 + "C" + "A" * 9
    records = [("r", "A" * 1_500 + "C" + "A" * 40), ("s", "A" * 40 + "C" + "A" * 1_500)]
    for report in ("minima", "loci"):
        patterns = [pattern, naive.reverse_complement(pattern)]
        found = edit(records, patterns, 2, report=report, chunk_length=chunk_length)
        assert rows(found) == naive.edit(records, patterns, 2, report)


@pytest.mark.parametrize("chunk_length", [100, 5_000, None])
def test_a_locus_over_many_chunks(chunk_length):
    # Every period holds a minimum that overlaps the next; one in the middle is the best.
    unit, pattern = "AATGG", "AATGGAATCGAATGG"
    text = unit * 2_000 + pattern + unit * 2_000
    for sign, patterns in (("+", [pattern]), ("-", [naive.reverse_complement(pattern)])):
        found = edit([("r", text)], patterns, 3, report="loci", chunk_length=chunk_length)
        assert rows(found) == [(0, 10_000, 10_015, 0, 0, sign, "15=")]


@pytest.fixture(scope="module")
def large():
    """A text of 100 kb, with N's and repeats, patterns, and their hits by report."""
    rng = np.random.default_rng(11)
    patterns = ["".join(rng.choice(list("ACGT"), m)) for m in (12, 20, 23, 75)]
    half = planted(rng, 45_000, patterns, 4)
    text = half + "N" * 3_000 + "AATGG" * 400 + "A" * 2_000 + planted(rng, 48_000, patterns, 4)
    patterns += ["AATGGAATGGAATGG", "T" * 18]
    records = [("r", text)]
    found = {report: rows(edit(records, patterns, 3, report=report)) for report in REPORTS}
    return records, patterns, found


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize(
    "options",
    [
        {"chunk_length": 1_000},
        {"chunk_length": 4_096, "threads": 2},
        {"chunk_length": 33_333, "way": "filter"},
        {"way": "filter"},
        {"way": "scan", "threads": 2},
        {"threads": 1},
        {"capacity": 100},
    ],
    ids=str,
)
def test_hits_do_not_depend_on_how_they_are_found(large, report, options):
    records, patterns, expected = large
    assert len(expected[report]) > 500
    assert rows(edit(records, patterns, 3, report=report, **options)) == expected[report]


def test_reports_are_subsets(large):
    records, patterns, found = large
    assert set(found["loci"]) < set(found["minima"]) < set(found["ends"])
    check_alignments(records, patterns, found["ends"])


@pytest.mark.parametrize("way", ["filter", "scan"])
@pytest.mark.parametrize("m, k", [(10, 3), (20, 1), (20, 3), (32, 6), (64, 2), (100, 10), (200, 4)])
def test_ends_of_a_larger_text(m, k, way):
    rng = np.random.default_rng(m * k)
    patterns = ["".join(rng.choice(list("ACGT"), m)) for _ in range(2)]
    text = planted(rng, 60_000, patterns, k + 2)
    found = rows(edit([("r", text)], patterns, k, report="ends", way=way))
    assert anchors(found) == far_ends(text, patterns, k)
    assert len({row[4] for row in found}) == k + 1
    assert {row[5] for row in found} == {"+", "-"}


@pytest.mark.parametrize("k", [0, 1, 5])
def test_many_patterns_of_mixed_lengths(k):
    rng = np.random.default_rng(k)
    patterns = ["".join(rng.choice(list("ACGT"), rng.integers(9, 60))) for _ in range(70)]
    text = planted(rng, 8_000, patterns, k)
    found = rows(edit([("r", text)], patterns, k, report="ends", chunk_length=3_000))
    assert anchors(found) == far_ends(text, patterns, k)


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("sign", "+-")
def test_very_long_patterns(sign, report):
    rng = np.random.default_rng(7)
    text = random_letters(30_000, 7)
    pattern = edited(rng, text[9_000:19_000], 180)
    read = text if sign == "+" else naive.reverse_complement(text)
    last = last_row(pattern, text)  # of the strand on which the pattern is, as if it were +
    ends = np.flatnonzero(last <= 200) + 1
    assert 0 < last.min() <= 180 and len(ends) > 1
    found = rows(edit([("r", read)], [pattern], 200, report=report))
    check_alignments([("r", read)], [pattern], found)
    found = mirrored([("r", read)], found) if sign == "-" else found
    assert {row[5] for row in found} == {"+"}
    if report == "ends":
        assert [(row[2], row[4]) for row in found] == [(end, last[end - 1]) for end in ends]
    else:
        lowest = [i for i in (ends - 1).tolist() if naive.ends_a_low_plateau(last, i)]
        minima = [(i + 1, last[i]) for i in lowest]
        least = min(distance for _, distance in minima)
        if report == "loci":
            assert len(found) == 1 and found[0][4] == least
        else:
            assert [(row[2], row[4]) for row in found] == minima


@pytest.mark.parametrize("unit", ["A", "GT", "AATGG", "N", "ACGTTGCATTAGCCAGTACCTGATCA"])
def test_the_filter_among_repeats(unit):
    rng = np.random.default_rng(len(unit))
    repeat = (unit * 60_000)[:60_000]
    near = edited(rng, (unit.replace("N", "A") * 30)[:30], 1)
    patterns = [random_letters(20, 3), (unit * 24)[:24], near]
    text = random_letters(20_000, 4) + repeat + patterns[0] + random_letters(20_000, 5)
    first, *others = [
        intervals(edit([("r", text)], patterns, 1, report="ends", way=way))
        for way in (None, "filter", "lookup", "scan")
    ]
    assert first == others[0] == others[1] != []


def test_wrong_arguments():
    genome = kmatch.Genome.from_records([("r", "ACGTACGT")])
    for k in (4, 5, -1):
        with pytest.raises(kmatch.InputError):
            kmatch.edit(genome, {"short one": "ACGT", "long": "ACGTACGT"}, k)
    with pytest.raises(kmatch.InputError, match="short one"):
        kmatch.edit(genome, {"long": "ACGTACGT", "short one": "ACGT"}, 4)
    with pytest.raises(kmatch.InputError, match="most"):
        kmatch.edit(genome, ["ACGT"], 1, report="most")


def test_a_genome_packs_itself_once():
    records = [("r", "ACGTACGTTT")]
    genome = kmatch.Genome.from_records(records)
    for patterns in (["ACGT"], ["ACGR", "CGT"], ["ACGT"]):
        assert rows(kmatch.edit(genome, patterns, 1)) == naive.edit(records, patterns, 1)
        windows = rows(kmatch.hamming(genome, patterns, 1))
        assert [row[:6] for row in windows] == naive.hamming(records, patterns, 1)
        assert rows(kmatch.best(genome, patterns)) == naive.best(records, patterns)


def test_names_and_columns():
    genome = kmatch.Genome.from_records([("one", ""), ("two", "TTACGTTT")])
    hits = kmatch.edit(genome, {"first": "CCCCCC", "second": "ACGTTT"}, 1, strand="+")
    assert hits.record.tolist() == ["two"] and hits.pattern.tolist() == ["second"]
    assert (hits.start.tolist(), hits.end.tolist()) == ([2], [8])
    assert (hits.start.dtype, hits.end.dtype, hits.distance.dtype) == (np.int64, np.int64, np.int32)
    assert len(kmatch.edit(genome, ["GGGGGGGG"], 1)) == 0
