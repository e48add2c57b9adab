"""The oracle on examples worked by hand: rows of the matrix, plateaus, loci and both strands."""

import naive
import pytest


def last_row(pattern, text):
    """D[m, 1 … n]"""
    return naive.differences(pattern, text)[-1][1:]


def found(pattern, text, k, report, strand):
    """(start, end, distance, cigar) of the hits in one record."""
    hits = naive.edit([("r", text)], [pattern], k, report, strand)
    return [(start, end, distance, cigar) for _, start, end, _, distance, _, cigar in hits]


def test_a_whole_matrix():
    #      G  A  C  T  T  A  G
    assert naive.differences("ACT", "GACTTAG") == [
        [0, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 1, 1, 1, 0, 1],  # A
        [2, 2, 1, 0, 1, 2, 1, 1],  # C
        [3, 3, 2, 1, 0, 1, 2, 2],  # T
    ]


def test_the_last_end_of_a_plateau_is_a_minimum():
    # ACG costs 1 at end 4 (T left out), ACGG at 5 (T mismatched), ACGGT at 6 (a G too many).
    assert last_row("ACGT", "TACGGTA") == [3, 3, 2, 1, 1, 1, 2]
    ends = found("ACGT", "TACGGTA", 2, "ends", "+")
    assert [(end, distance) for _, end, distance, _ in ends] == [
        (3, 2),
        (4, 1),
        (5, 1),
        (6, 1),
        (7, 2),
    ]
    assert found("ACGT", "TACGGTA", 2, "minima", "+") == [(1, 6, 1, "2=1D2=")]


def test_on_the_strand_minus_the_first_start_of_a_plateau_is_a_minimum():
    # The strand - reads TACCGTA, where the ends 4, 5, 6 cost 1; end 6 is the start 7 - 6 = 1.
    assert last_row("ACGT", "TACCGTA") == [3, 3, 2, 2, 2, 1, 2]
    ends = found("ACGT", "TACGGTA", 2, "ends", "-")
    assert [(start, distance) for start, _, distance, _ in ends] == [
        (0, 2),
        (1, 1),
        (2, 2),
        (3, 2),
        (4, 2),
    ]
    assert found("ACGT", "TACGGTA", 2, "minima", "-") == [(1, 5, 1, "1X3=")]
    # GTTTTG is CAAAAC there, where AAA costs 0 at the ends 4 and 5: start 6 - 5 = 1.
    assert last_row("AAA", "CAAAAC") == [3, 2, 1, 0, 0, 1]
    assert found("AAA", "CAAAAC", 1, "minima", "+") == [(2, 5, 0, "3=")]
    assert found("AAA", "GTTTTG", 1, "minima", "-") == [(1, 4, 0, "3=")]


PLATEAUS = {  # values of D[m, ·], and which ends are minima
    "a record of one end": ([1], [0]),
    "equal everywhere": ([2, 2, 2], [2]),
    "from the beginning": ([1, 1, 2], [1]),
    "to the end": ([2, 1, 1], [2]),
    "a step down is none": ([3, 2, 2, 1, 2], [3]),
    "a step up is none": ([0, 1, 1, 2], [0]),
    "two valleys of different depth": ([3, 1, 2, 0, 3], [1, 3]),
    "two plateaus": ([1, 1, 2, 2, 1, 1], [1, 5]),
    "a hill": ([2, 3, 2], [0, 2]),
}


@pytest.mark.parametrize("name", PLATEAUS)
def test_plateaus(name):
    values, expected = PLATEAUS[name]
    assert [i for i in range(len(values)) if naive.ends_a_low_plateau(values, i)] == expected


def test_minima_that_overlap_are_one_locus():
    # ACA at [0, 3) and at [2, 5) shares an A: among equals the first on the strand that is read.
    assert last_row("ACA", "ACACA") == [2, 1, 0, 1, 0]
    assert found("ACA", "ACACA", 1, "minima", "+") == [(0, 3, 0, "3="), (2, 5, 0, "3=")]
    assert found("ACA", "ACACA", 1, "loci", "+") == [(0, 3, 0, "3=")]
    assert found("TGT", "ACACA", 1, "minima", "-") == [(0, 3, 0, "3="), (2, 5, 0, "3=")]
    assert found("TGT", "ACACA", 1, "loci", "-") == [(2, 5, 0, "3=")]


def test_minima_that_touch_are_two_loci():
    assert last_row("ACG", "ACGACG") == [2, 1, 0, 1, 1, 0]
    assert found("ACG", "ACGACG", 1, "loci", "+") == [(0, 3, 0, "3="), (3, 6, 0, "3=")]


def hit(start, end, distance, sign="+"):
    return (0, start, end, 0, distance, sign, "")


LOCI = {
    "the smallest distance stands for all": ([(0, 5, 2), (4, 9, 1), (8, 12, 2)], [(4, 9, 1)]),
    "joined by one in between": ([(0, 5, 1), (6, 9, 1), (4, 7, 2)], [(0, 5, 1)]),
    "one inside another": ([(0, 9, 1), (3, 5, 1)], [(0, 9, 1)]),
    "one start": ([(2, 9, 1), (2, 7, 1)], [(2, 7, 1)]),
    "apart": ([(0, 3, 2), (3, 6, 1)], [(0, 3, 2), (3, 6, 1)]),
}


@pytest.mark.parametrize("name", LOCI)
@pytest.mark.parametrize("sign", "+-")
def test_loci(name, sign):
    """On the strand - a text of 20 letters is read from its end."""
    hits, expected = (
        [hit(*(x if sign == "+" else (20 - x[1], 20 - x[0], x[2])), sign) for x in rows]
        for rows in LOCI[name]
    )
    assert sorted(naive.loci(hits)) == sorted(expected)


def test_alignments_prefer_the_diagonal_from_the_anchored_end():
    # Of the two T of GATTACA the first is left out; of the three T of GATTTACA the first is more.
    assert found("GATTACA", "CGATACAG", 1, "minima", "+") == [(1, 7, 1, "2=1I4=")]
    assert found("GATTACA", "CGATTTACAC", 1, "minima", "+") == [(1, 9, 1, "2=1D5=")]
    assert found("GATTACA", "CTGTATCG", 1, "minima", "-") == [(1, 7, 1, "2=1I4=")]


def test_the_best_on_both_strands():
    # GTC stands at [1, 4), its reverse complement GAC at [5, 8); 1 elsewhere does not count.
    assert naive.best([("r", "GGTCCGAC")], ["GTC"]) == [
        (0, 1, 4, 0, 0, "+", "3="),
        (0, 5, 8, 0, 0, "-", "3="),
    ]


def test_mismatches_on_both_strands():
    # The strand - of ACTT is AAGT: AGT, at [0, 3), is one letter from ACT, and AAG two.
    assert naive.hamming([("r", "ACTT")], ["ACT"], 1) == [
        (0, 0, 3, 0, 0, "+"),
        (0, 0, 3, 0, 1, "-"),
    ]
    assert naive.hamming([("r", "AGTN")], ["ACT"], 1) == [
        (0, 0, 3, 0, 1, "+"),
        (0, 0, 3, 0, 0, "-"),
    ]
    assert naive.hamming([("r", "AGTN")], ["ACT"], 1, exact_5p=2) == [(0, 0, 3, 0, 0, "-")]


def test_a_panel_beside_a_pam():
    # ACG + TGG at [1, 7); its reverse complement CCA + CGT at [7, 13).
    text = "T" + "ACGTGG" + "CCACGT" + "A"
    assert naive.multi([("r", text)], ["ACG"], 0, "NGG") == [
        (0, 1, 7, 0, 0, "+"),
        (0, 7, 13, 0, 0, "-"),
    ]
    assert naive.multi([("r", text)], ["TGG"], 0, "ACG", "5p") == [
        (0, 1, 7, 0, 0, "+"),
        (0, 7, 13, 0, 0, "-"),
    ]


def test_primers():
    # ACTG against AGCAAG, K = 2: ACT and CTG have two differences from all its substrings.
    case = ([("t", "ACTG")], [("b", "AGCAAG")], 2)
    assert naive.primers(*case, "+") == [(0, 0, 3, "+"), (0, 1, 4, "+")]
    # The strand - of the background is CTTGCT: CTG is one letter from CTTG.
    assert naive.primers(*case, "both") == [(0, 0, 4, "+")]


def test_products_of_both_ways_round_and_of_any_two():
    # A and T of a pair, C alone: +A at 0 and 20, -T at 6, -A at 12, +T at 18, +C at 10, -C at 16;
    # in another record -T at 30.
    sites = [(0, 0, "+"), (1, 6, "-"), (2, 10, "+"), (0, 12, "-"), (2, 16, "-"), (1, 18, "+")]
    hits = [(0, start, start + 4, number, 0, sign) for number, start, sign in sites]
    hits += [(0, 20, 24, 0, 0, "+"), (1, 30, 34, 1, 0, "-")]
    primers = [("AT", "F"), ("AT", "R"), ("C", "F")]

    def found(product, pairs):
        made = naive.pcr(hits, primers, product, pairs)
        return [(start, end, strand, one[3], two[3]) for _, start, end, strand, one, two in made]

    assert found((1, 100), "own") == [(0, 10, "+", 0, 1)]  # T at 18 has no A on - behind it
    assert found((11, 100), "own") == found((1, 9), "own") == []
    assert found((1, 100), "any") == [
        (0, 10, "+", 0, 1),
        (0, 16, "+", 0, 0),
        (0, 20, "+", 0, 2),
        (10, 16, "-", 0, 2),  # A is on -, and given before C
        (10, 20, "+", 2, 2),
    ]
    hits.append((0, 26, 30, 0, 0, "-"))
    assert found((1, 100), "own")[1:] == [(18, 30, "-", 0, 1)]
