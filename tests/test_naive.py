"""The oracle on examples worked by hand: rows of the matrix, plateaus, loci and both strands."""

import naive
import pytest


def last_row(pattern, text):
    """D[m, 1 … n]"""
    return naive.differences(pattern, text)[-1][1:]


def test_a_whole_matrix():
    #      G  A  C  T  T  A  G
    assert naive.differences("ACT", "GACTTAG") == [
        [0, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 1, 1, 1, 0, 1],  # A
        [2, 2, 1, 0, 1, 2, 1, 1],  # C
        [3, 3, 2, 1, 0, 1, 2, 2],  # T
    ]


ROWS = {
    # ACG costs 1 at end 4 (T left out), ACGG at 5 (T mismatched), ACGGT at 6 (a G too many).
    ("ACGT", "TACGGTA"): [3, 3, 2, 1, 1, 1, 2],
    ("ACGT", "TACCGTA"): [3, 3, 2, 2, 2, 1, 2],  # the strand - of the same
    ("AAA", "CAAAAC"): [3, 2, 1, 0, 0, 1],
    ("ACA", "ACACA"): [2, 1, 0, 1, 0],
    ("ACG", "ACGACG"): [2, 1, 0, 1, 1, 0],
}
# Pattern, text, k, report and strand, and (start, end, distance, CIGAR) of the hits.
HITS = [
    # The last end of a plateau is a minimum; on the strand -, the first start.
    ("ACGT", "TACGGTA", 2, "minima", "+", [(1, 6, 1, "2=1D2=")]),
    ("ACGT", "TACGGTA", 2, "minima", "-", [(1, 5, 1, "1X3=")]),
    ("AAA", "CAAAAC", 1, "minima", "+", [(2, 5, 0, "3=")]),
    ("AAA", "GTTTTG", 1, "minima", "-", [(1, 4, 0, "3=")]),
    # ACA at [0, 3) and at [2, 5) shares an A: among equals the first on the strand that is read.
    ("ACA", "ACACA", 1, "minima", "+", [(0, 3, 0, "3="), (2, 5, 0, "3=")]),
    ("ACA", "ACACA", 1, "loci", "+", [(0, 3, 0, "3=")]),
    ("TGT", "ACACA", 1, "minima", "-", [(0, 3, 0, "3="), (2, 5, 0, "3=")]),
    ("TGT", "ACACA", 1, "loci", "-", [(2, 5, 0, "3=")]),
    # Minima that only touch are two loci.
    ("ACG", "ACGACG", 1, "loci", "+", [(0, 3, 0, "3="), (3, 6, 0, "3=")]),
    # Alignments prefer the diagonal from the anchored end: of the two T of GATTACA the first is
    # left out; of the three T of GATTTACA the first is more.
    ("GATTACA", "CGATACAG", 1, "minima", "+", [(1, 7, 1, "2=1I4=")]),
    ("GATTACA", "CGATTTACAC", 1, "minima", "+", [(1, 9, 1, "2=1D5=")]),
    ("GATTACA", "CTGTATCG", 1, "minima", "-", [(1, 7, 1, "2=1I4=")]),
]


def test_hits_of_k_differences():
    for (pattern, text), row in ROWS.items():
        assert last_row(pattern, text) == row
    for pattern, text, k, report, strand, expected in HITS:
        found = naive.edit([("r", text)], [pattern], k, report, strand)
        assert [(*hit[1:3], hit[4], hit[6]) for hit in found] == expected
    for strand, anchor, expected in (
        ("+", 2, [(3, 2), (4, 1), (5, 1), (6, 1), (7, 2)]),
        ("-", 1, [(0, 2), (1, 1), (2, 2), (3, 2), (4, 2)]),  # end 6 is the start 7 - 6 = 1
    ):
        found = naive.edit([("r", "TACGGTA")], ["ACGT"], 2, "ends", strand)
        assert [(hit[anchor], hit[4]) for hit in found] == expected


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
        [
            (0, *((a, b) if sign == "+" else (20 - b, 20 - a)), 0, distance, sign, "")
            for a, b, distance in rows
        ]
        for rows in LOCI[name]
    )
    assert sorted(naive.loci(hits)) == sorted(expected)


def test_windows_and_the_best():
    # The strand - of ACTT is AAGT: AGT, at [0, 3), is one letter from ACT, and AAG two.
    plus, minus = (0, 0, 3, 0, 0, "+"), (0, 0, 3, 0, 0, "-")
    assert naive.hamming([("r", "ACTT")], ["ACT"], 1) == [plus, (0, 0, 3, 0, 1, "-")]
    assert naive.hamming([("r", "AGTN")], ["ACT"], 1) == [(0, 0, 3, 0, 1, "+"), minus]
    assert naive.hamming([("r", "AGTN")], ["ACT"], 1, exact_5p=2) == [minus]
    # ACG + TGG at [1, 7); its reverse complement CCA + CGT at [7, 13).
    beside = [(0, 1, 7, 0, 0, "+"), (0, 7, 13, 0, 0, "-")]
    assert naive.multi([("r", "TACGTGGCCACGTA")], ["ACG"], 0, "NGG") == beside
    assert naive.multi([("r", "TACGTGGCCACGTA")], ["TGG"], 0, "ACG", "5p") == beside
    # GTC stands at [1, 4), its reverse complement GAC at [5, 8); 1 elsewhere does not count.
    best = [(0, 1, 4, 0, 0, "+", "3="), (0, 5, 8, 0, 0, "-", "3=")]
    assert naive.best([("r", "GGTCCGAC")], ["GTC"]) == best


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
