"""Tracebacks, PAMs and minima, on cases that are small enough to be drawn."""

import numpy as np
import pytest
from numba import njit

import kmatch
from kmatch.engine.alignments import _run_begin
from kmatch.engine.letters import Sides
from kmatch.engine.queries import step_of
from kmatch.engine.types import Constraints, kind_states, unit_states
from kmatch.jit.entries import Entry
from kmatch.search.plateaus import Plateaus

MASKS = {"A": 1, "C": 2, "G": 4, "T": 8}
ROOM = 64  # letters around what a kernel reads


def mirrored(letters):
    return letters[::-1].translate(str.maketrans("ACGT", "TGCA"))


def sides(pattern, text):
    """The Sides of two words, whose last letters are the anchor's."""
    padded = []
    for word in (pattern, text):
        masks = np.zeros(ROOM + len(word) + ROOM, np.uint8)
        masks[ROOM : ROOM + len(word)] = [MASKS[letter] for letter in reversed(word)]
        padded.append(masks[ROOM:])
    return Sides(padded[0], len(pattern), padded[1], len(text))


# A pattern, a text at whose last letter it ends, the distance there, and the alignment.
CASES = [
    # ACGT
    # ACAT     a mismatch
    ("ACGT", "ACAT", 1, "2=1X1="),
    # AC-GT
    # ACTGT    a text letter skipped
    ("ACGT", "ACTGT", 1, "2=1D2="),
    # GACGT
    # GAC-T    a pattern letter skipped
    ("GACGT", "GACT", 1, "3=1I1="),
    # GTACGT
    # CTACAT   two mismatches: the main diagonal is the alignment
    ("GTACGT", "CTACAT", 2, "1X3=1X1="),
    # GAA-CT   diagonal steps come first, so that of the two C the one that is farther from the
    # GAACCT   anchor is skipped
    ("GAACT", "GAACCT", 1, "3=1D2="),
    # ACGT-A   a mismatch with either letter does not lead on within two differences
    # A-GTCA
    ("ACGTA", "AGTCA", 2, "1=1I2=1D1="),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} in {case[1]}")
def test_a_traceback_takes_the_first_step_that_leads_on(case):
    """The diagonal one, then the one that skips a text letter; on both strands alike."""
    pattern, text, distance, cigar = case
    before = "GGGCCC"
    for letters, strand in ((before + text, "+"), (mirrored(before + text), "-")):
        genome = kmatch.Genome.from_records([("r", letters)])
        hits = kmatch.edit(genome, [pattern], distance, strand=strand, report="ends")
        (row,) = np.flatnonzero(hits.end == len(letters) if strand == "+" else hits.start == 0)
        assert (hits.distance[row], hits.cigar[row]) == (distance, cigar)
        assert hits.end[row] - hits.start[row] == len(text)


def test_how_far_differences_lead_from_the_far_end():
    """ACGT in GACT within one difference, from the T on.

            T   C   A   G
        .                       diagonal −1: A and C match, two letters of the pattern,
    T       .                   before T and G, of which one is skipped
    G       ╲   .               diagonal 0: A does not match G
    C           ╲   .           diagonal 1: the text has no fifth letter
    A               ╲   .
    """
    reached = np.full(3, -99)
    fill = Entry("kmatch.engine.alignments", "_fill_reached")
    fill(sides("ACGT", "GACT"), 1, reached, np.zeros(3, np.uint64))
    assert reached[:2].tolist() == [2, 0] and reached[2] < 0


@pytest.mark.parametrize("row, begin", [(8, 5), (5, 5), (4, 2), (2, 2), (1, 0), (0, 0), (70, 64)])
def test_where_a_run_of_matches_begins(row, begin):
    """
    row      0 1 2 3 4 5 6 7 …  63 64 …
    differ   . x . . x . . . …  x  .  …
    """
    differ = np.array([1 << 1 | 1 << 4 | 1 << 63, 0], np.uint64)
    assert njit(lambda differ, row: _run_begin(differ, 0, row))(differ, row) == begin


def test_what_states_may_still_cost():
    """The matrix of states of ACT in AT with k = 1, from the T on: a state is a diagonal.

             offset  −1   0  +1
    none used         ·   0   ·      the T matches,
                          │
    T used            0   0   ·      the C is skipped, which costs 1,
                        ╱
    T, C used         1   0   ·      and the A matches
                      │
    all used          1   ·   ·
    """
    states = unit_states(1)
    spare = np.full((4, 3), -99)
    pams = np.zeros((2, 0, 0), np.uint8)
    rules = Constraints(pams, np.zeros(0, np.int64), 0, 0, states, 1, np.zeros(1, np.uint8), False)
    fill = Entry("kmatch.engine.states", "fill_spare")
    assert fill(rules, sides("ACT", "AT"), 1, spare)
    spare[spare < 0] = -1
    assert spare.tolist() == [[-1, 0, -1], [0, 0, -1], [1, 0, -1], [1, -1, -1]]
    assert not fill(rules, sides("ACT", "AT"), 0, spare)


@pytest.mark.parametrize(
    "insertions, deletions, offsets",
    [(0, 0, [0]), (1, 0, [0, -1]), (0, 1, [0, 1]), (1, 1, [0, 1, -1, 0])],
)
def test_states_where_each_kind_is_bounded(insertions, deletions, offsets):
    """One for each number of insertions and of deletions, (0, 0), (0, 1), (1, 0), (1, 1)."""
    assert kind_states(2, insertions, deletions).offset.tolist() == offsets


def test_a_pam_stands_behind_the_letter_read_last():
    """On the strand + to the right of it, on the strand − to the left.

    + GACGTTACCAGGA
       ACGTTACC           the pattern
               AGG        the PAM
    − TCCTGGTAACGTC
       CCT
          GGTAACGT
    """
    assert (step_of(0), step_of(1)) == (1, -1)
    for letters, strand, start in (
        ("GACGTTACCAGGA", "+", 1),
        ("TCCTGGTAACGTC", "-", 1),
    ):
        genome = kmatch.Genome.from_records([("r", letters)])
        found = kmatch.edit(genome, ["ACGTTACC"], 1, pam="NGG")
        (row,) = np.flatnonzero(found.distance == 0)
        assert (found.strand[row], found.start[row], found.end[row]) == (strand, start, start + 11)
        assert len(kmatch.edit(genome, ["ACGTTACC"], 1, pam="NGC")) == 0


def minima(distances, k, backward=False):
    """The coordinates of minima among D, of which those within k are ends."""
    ends = [(0, position, d) for position, d in enumerate(distances) if d <= k]
    query, coordinate, distance = np.array(ends, np.int64).reshape(-1, 3).T.copy()
    found = Plateaus(np.array([backward], np.uint8)).feed(query, coordinate, distance)
    return sorted(found[1].tolist())


@pytest.mark.parametrize(
    "drawn, upwards, downwards",
    [
        #  position     0 1 2 3 4 5 6 7 8
        ("              3 3 3 2 1 0 1 2 3", [5], [5]),
        ("              2 2 2 3 3 1 1 1 3", [2, 7], [0, 5]),  # the last end, as it is read
        ("              2 1 1 2 1 1 1 3 3", [2, 6], [1, 4]),
        ("              0 1 2 2 1 2 2 1 0", [0, 4, 8], [0, 4, 8]),
        ("              3 2 1 1 0 0 1 1 2", [5], [4]),  # what falls on is no minimum
        ("              3 3 3 3 3 3 3 3 3", [], []),
    ],
)
def test_minima_are_plateaus_lower_than_both_sides(drawn, upwards, downwards):
    distances = list(map(int, drawn.split()))
    assert minima(distances, 2) == upwards
    assert minima(distances, 2, backward=True) == downwards
