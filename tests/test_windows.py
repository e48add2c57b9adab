"""Windows of haplotypes, hits lifted to the record, and the alleles that may be in hits."""

from itertools import pairwise

import numpy as np
import pytest
from support.alleles import RECORD, block, site

from kmatch.results.batches import HitBatch
from kmatch.search.query import Query
from kmatch.sequences.patterns import PatternSet
from kmatch.variants.alleles import FOREVER, NONE, RecordPart
from kmatch.variants.anchors import (
    candidates_of,
    crowds_of,
    long_alleles_of,
    rows_within,
    superset_of,
    united_part,
)
from kmatch.variants.hits import PatternEnds, extents_of
from kmatch.variants.lifting import WindowHits, each_once, over_anchors_first
from kmatch.variants.reference import ReferenceHits, no_distances
from kmatch.variants.windows import Windows, merged, sources_of


def windows_of(made, haplotypes, flank):
    sources = sources_of(made, made.part)
    return Windows(made, sources, np.array(haplotypes), flank)


def hits_at(*places, minus=0, distance=0):
    """Hits of pattern 0 (record or window, start, end)."""
    record, start, end = np.array(places).reshape(-1, 3).T
    count = len(record)
    kinds = np.zeros(count, np.int32), np.full(count, distance, np.int32)
    return HitBatch(record, start, end, {0: "r"}, *kinds, np.full(count, minus, np.uint8))


def ends_of_4_letters(pam_length=0, pam_leads=False):
    """The PatternEnds of hits of one pattern."""
    return PatternEnds(pam_leads, pam_length, np.array([4]))


def nearest(distances, hits):
    """The reference's distances where the patterns of hits end."""
    return distances.nearest(hits, distances.ends.positions(hits)).tolist()


def texts(letters, bounds):
    return [letters[i:j].tobytes().decode() for i, j in pairwise(bounds)]


def test_a_window_has_a_flank_on_either_side_of_its_anchor():
    # record      A C G T A C G T T T G A C C A G
    # row 1                   [ A ]                     GT becomes A
    # row 3                             |TT             before position 11
    # row 5           [T→C]                             position 3
    made = block(site(3, "T,C", [0, 1]), site(6, "GT,A", [0, 1]), site(10, "G,GTT", [0, 1]))
    windows = windows_of(made, [[3, NONE, NONE], [3, 5, 1]], 5)
    assert texts(windows.letters, windows.bounds) == ["CGTACATTGAC", "CGCACATTGTT"]
    assert windows.rows.tolist() == [[3, NONE, NONE], [1, 3, 5]]
    assert windows.anchor_starts.tolist() == [5, 5]
    # All of an allele is shown, also where the flank ends in it.
    short = windows_of(made, [[3, 5, NONE]], 4)
    assert texts(short.letters, short.bounds) == ["GTACATTGTT"]


def test_a_hit_is_lifted_to_what_its_letters_stand_for():
    # window          C G T A C   A   T T G T T
    # record        A C G T A C  G T  T T G   A
    # position      0 1 2 3 4 5  6 7  8 9 10  11
    made = block(site(6, "GT,A", [0, 1]), site(10, "G,GTT", [0, 1]))
    windows = windows_of(made, [[1, 3]], 5)
    cases = {
        (4, 7): (5, 9, [1]),  # C A T: A stands for G and T
        (5, 6): (6, 8, [1]),
        (1, 4): (2, 5, []),
        (8, 10): (10, 11, [3]),  # G T, of which the T is inserted
        (5, 11): (6, 11, [1, 3]),
    }
    for (start, end), (record_start, record_end, rows) in cases.items():
        at = np.array([0]), np.array([start]), np.array([end])
        lifted, under = windows.lift(*at), windows.alleles_under(*at)
        assert (lifted.start[0], lifted.end[0]) == (record_start, record_end)
        assert (lifted.exact_start[0], lifted.exact_end[0]) == (record_start, record_end)
        assert under[under != NONE].tolist() == rows
    # T T, both inserted before 11, stand for no letter, and are reported at the one before.
    lifted = windows.lift(np.array([0]), np.array([9]), np.array([11]))
    assert [int(column[0]) for column in lifted] == [10, 11, 11, 11]


def test_a_deletion_is_under_hits_with_letters_on_either_side():
    # window      A C G T A C | T T G A C       without G T of 6 and 7
    made = block(site(5, "CGT,C", [0, 1]))
    windows = windows_of(made, [[1]], 6)
    assert texts(windows.letters, windows.bounds) == ["ACGTACTTGACC"]
    start, end = np.array([0, 6, 5, 0]), np.array([6, 12, 7, 12])
    under = windows.alleles_under(np.zeros(4, np.int64), start, end)
    assert under[:, 0].tolist() == [NONE, NONE, 1, 1]
    assert windows.lift(np.zeros(4, np.int64), start, end).end.tolist() == [6, 14, 9, 14]


def test_intervals_that_overlap_or_touch_are_one_stretch():
    # intervals   [2      8)      [12  15)
    #         [0  4)         [8  10)        [18   30)
    # part      1                                20
    start, end = np.array([12, 2, 0, 18, 8]), np.array([15, 8, 4, 30, 10])
    stretches = merged(start, end, RecordPart(1, np.zeros(19, np.uint8)))
    assert stretches.start.tolist() == [1, 12, 18] and stretches.end.tolist() == [10, 15, 20]
    assert stretches.bounds.tolist() == [0, 9, 12, 14]
    nothing = np.zeros(0, np.int64)
    assert merged(nothing, nothing, RecordPart(0, RECORD)).bounds.tolist() == [0]


def test_a_superset_has_all_letters_of_a_position_and_windows_of_other_alleles():
    # record      A C G T A C G T T T G A
    # position    2: G or T     6: GT or A     10: G or GTT     20: C or CG, far from others
    sites = [site(2, "G,T", [1, 1]), site(6, "GT,A", [1, 1]), site(10, "G,GTT", [1, 1])]
    made = block(*sites, site(20, "C,CG", [1, 1]))
    united = united_part(made).letters.tobytes()
    assert united[:2] == b"AC" and united[3:] == RECORD.tobytes()[3:]
    assert united[2] == 128 + 0b1100  # G and T
    superset = superset_of(made, long_alleles_of(made, 3), 3)
    # Positions 2 − 3 to 2 + 3 around the single letter, cut to the record, and windows.
    shown = [text.replace(chr(united[2]), "K") for text in map(as_text, parts_of(superset))]
    assert shown == ["ACKTA", "ACATT", "TGTTAC", "CCGAT", "ACATTGTT"]


def as_text(letters):
    return letters.tobytes().decode("latin-1")


def parts_of(superset):
    return np.split(superset.letters, superset.bounds[1:-1])


def test_alleles_may_be_in_hits_at_the_pattern_end_of_a_candidate():
    # record      A C G T A C G T T T G A       position 6: G or T
    # stretch       . . . . . . . . . . .       2 to 11
    # hit                 └───┘                 4 to 7, and alleles in 2 to 9 may be in it
    made = block(site(6, "G,T", [1, 1]))
    superset = superset_of(made, long_alleles_of(made, 4), 4)
    found = candidates_of(hits_at((0, 2, 5)), superset, ends_of_4_letters(), 2)
    assert found.position[0] == 6
    assert (found.start[0], found.end[0]) == (2, 9)


def test_sites_in_or_beside_intervals_are_anchors():
    # sites       2   5 6-9    14
    # intervals     3─5     10──14
    sites = [site(2, "G,T", [1, 1]), site(5, "C,A", [1, 1]), site(6, "GTT,G", [1, 1])]
    sites.append(site(14, "A,C", [1, 1]))
    made = block(*sites)
    rows = rows_within(made, np.array([3, 10]), np.array([5, 14]))
    assert rows.tolist() == [1, 3, 7]  # the site at 2 ends at 3


def test_three_long_alleles_that_one_hit_may_have_are_a_crowd():
    # starts      1  4  8      20      a hit has 5 letters
    made = block(
        *(site(at, RECORD[at : at + 1].tobytes().decode() + ",GGG", [1, 1]) for at in (1, 4, 8, 20))
    )
    long_alleles = long_alleles_of(made, 5)
    assert long_alleles.is_near.tolist() == [True, True, False]
    crowds = crowds_of(long_alleles)
    assert crowds.start.tolist() == [-4] and crowds.end.tolist() == [14]


def test_the_smallest_distance_of_the_reference_counts_at_each_pattern_end():
    # strand +    5 ─────── 9, and 6 ─── 9: they end in one place, with distances 2 and 1
    ends = ends_of_4_letters()
    distances = no_distances(ends, 2).with_hits(
        [hits_at((0, 5, 9), distance=2), hits_at((0, 6, 9), distance=1)]
    )
    assert nearest(distances, hits_at((0, 4, 9), (0, 5, 8), (0, 5, 10))) == [1, FOREVER, FOREVER]
    assert nearest(distances, hits_at((0, 5, 9), minus=1)) == [FOREVER]
    # Beside a PAM before the pattern, or on the strand -, they are compared where they begin.
    leading = no_distances(ends_of_4_letters(pam_leads=True), 2).with_hits([hits_at((0, 5, 9))])
    assert nearest(leading, hits_at((0, 5, 8), (0, 6, 9))) == [0, FOREVER]


def test_a_pattern_end_is_beside_the_pam():
    #               2 3 4 5 6 7 8
    # strand +      p p p p N G G          its last letter is at 5
    # strand -      C C N p p p p          its first letter is at 5
    ends = ends_of_4_letters(pam_length=3)
    hits = hits_at((0, 2, 9))
    assert [column.tolist() for column in ends.spans(hits)] == [[2], [6]]
    assert ends.positions(hits).tolist() == [5]
    assert ends.positions(hits_at((0, 2, 9), minus=1)).tolist() == [5]
    # Before the pattern, TTTV: + T T T V p p p p, and - p p p p B A A A
    leading = ends_of_4_letters(pam_length=4, pam_leads=True)
    assert leading.positions(hits_at((0, 2, 10))).tolist() == [6]
    assert leading.positions(hits_at((0, 2, 10), minus=1)).tolist() == [5]


def test_hits_of_the_reference_are_given_out_up_to_a_place():
    reference = ReferenceHits([hits_at((0, 1, 4), (0, 5, 8)), hits_at((1, 2, 5))])

    def starts(batches):
        return [start for batch in batches for start in batch.start.tolist()]

    assert starts(reference.before(0, 5)) == [1]
    assert starts(reference.before(0, 5)) == []
    assert starts(reference.before(1, 2)) == [5]
    assert starts(reference.rest()) == [2]
    assert len(list(reference.before(2, 0))) == 1  # a batch without hits


def test_a_hit_is_taken_once_from_a_window_around_its_first_allele():
    # window 0    A C G T A C [T] T T T              around row 3
    # window 1    A C G T A C [T] T T[C]             the same with row 5
    # window 2    …     A C [T] T T[C]G              around row 5
    # window 3    T[C C C C C C C] A C [T] T T       around row 3, with row 1
    sites = [site(3, "T,TCCCCCCC", [1, 1]), site(6, "G,T", [1, 1]), site(9, "T,C", [1, 1])]
    made = block(*sites)
    windows = windows_of(made, [[3, NONE], [3, 5], [5, 3], [3, 1]], 6)
    assert windows.anchor_starts.tolist() == [6, 6, 6, 9]
    places = [(0, 4, 8), (1, 4, 8), (2, 1, 5), (2, 3, 8), (3, 7, 11), (1, 6, 11), (1, 7, 11)]
    hits = hits_at(*places)
    lifted = windows.lift(hits.record, hits.start, hits.end)
    assert lifted.start.tolist() == [4, 4, 4, 6, 4, 6, 7]
    rows = windows.alleles_under(hits.record, hits.start, hits.end)
    found = WindowHits(
        hits=hits,
        pattern_end=hits.end - 1,
        anchors=lifted.end - 1,
        lifted=lifted,
        reference_distance=np.full(len(hits), FOREVER),
        rows=rows,
    )
    found = over_anchors_first(windows, found)
    assert found.hits.record.tolist() == [0, 1, 3, 1]
    found = each_once(windows, found)
    assert found.hits.record.tolist() == [0, 1]
    assert found.rows.tolist() == [[3, NONE], [3, 5]]


@pytest.mark.parametrize(
    ("asked", "longest", "flank", "spread"),
    [
        ({"problem": "hamming", "k": 2}, 8, 7, 0),
        ({"problem": "multi", "k": 2, "pam": "NGG"}, 11, 10, 0),
        ({"problem": "multi", "k": 2, "pam": "NG,NGG"}, 11, 10, 3),
        ({"problem": "edit", "k": 2, "report": "ends"}, 10, 9, 4),
        ({"problem": "edit", "k": 2}, 10, 19, 4),
    ],
)
def test_how_far_hits_extend(asked, longest, flank, spread):
    query = Query(patterns=PatternSet(["a"], ["ACGTACGT"]), **asked)
    extents = extents_of(query)
    assert (extents.longest, extents.flank, extents.spread) == (longest, flank, spread)
    assert extents.greatest_distance == 2
