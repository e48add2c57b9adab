"""The steps of a search, each on a case that is drawn."""

from types import SimpleNamespace

import numpy as np
import pytest

import kmatch
from kmatch.engine.codes import Coding, marked
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.genome import as_genomes
from kmatch.results.batches import HitBatch
from kmatch.search import best, regions
from kmatch.search.begin import begin_here
from kmatch.search.chunks import Chunking, plan_reading
from kmatch.search.ends import AnchoredEnds, ends_of, shown_before
from kmatch.search.panel import _exact_letters, each_strand, panel_letters, panel_reading
from kmatch.search.plateaus import Plateaus, loci_of, places_of
from kmatch.search.query import Query, Run
from kmatch.search.rules import Pam, Rules, joint_pam, sought_of
from kmatch.search.search import by_record
from kmatch.search.tracing import _used_room
from kmatch.search.turns import CircleEnds, are_minima_on_circles, loci_on_circles
from kmatch.search.waiting import NONE, PlacedHits, WaitingHits
from kmatch.search.windows import _windows_once, _with_pam
from kmatch.sequences import records
from kmatch.sequences.alphabet import encode
from kmatch.sequences.chunks import ChunkPlan, join_records
from kmatch.sequences.patterns import PatternSet


def longs(*numbers):
    return np.array(numbers, np.int64)


def drawn_ends(digits, query=0):
    """AnchoredEnds of a query out of `3 2 . 1`: a distance at each position, or none."""
    found = [(at, int(digit)) for at, digit in enumerate(digits.split()) if digit != "."]
    coordinate, distance = np.array(found, np.int64).reshape(-1, 2).T
    return AnchoredEnds(coordinate.copy(), np.full(len(found), query), distance.copy())


def minima(digits, is_backward=False):
    """Marks below the digits: a distance where a minimum ends, otherwise a dot."""
    found = Plateaus(np.array([is_backward], np.uint8)).feed(drawn_ends(digits))
    marks = ["."] * len(digits.split())
    for coordinate, distance in zip(found.coordinate, found.distance, strict=True):
        marks[coordinate] = str(distance)
    return " ".join(marks)


@pytest.mark.parametrize(
    ("digits", "forward", "backward"),
    [
        (
            "3 3 3 2 1 0 1 2 3 . 3 2 2 3",
            ". . . . . 0 . . . . . . 2 .",
            ". . . . . 0 . . . . . 2 . .",
        ),
        ("1 1 1", ". . 1", "1 . ."),
        ("2 . 1 . 1 1 0", "2 . 1 . . . 0", "2 . 1 . . . 0"),
        ("1 2 2 1", "1 . . 1", "1 . . 1"),
    ],
)
def test_minima_of_ends(digits, forward, backward):
    assert minima(digits) == forward
    assert minima(digits, is_backward=True) == backward


def test_a_plateau_is_undecided_until_an_end_behind_it_has_come():
    #                  3 2 2 | 2 3
    plateaus = Plateaus(np.array([1], np.uint8))
    first = AnchoredEnds(longs(0, 1, 2), longs(0, 0, 0), longs(3, 2, 2))
    assert len(plateaus.feed(first, seen=3)) == 0
    assert plateaus.undecided().tolist() == [1]
    rest = plateaus.feed(AnchoredEnds(longs(3, 4), longs(0, 0), longs(2, 3)))
    assert (rest.coordinate.tolist(), rest.distance.tolist()) == ([1], [2])
    assert plateaus.undecided().tolist() == []


def test_a_marked_end_is_on_a_plateau_behind_a_lower_one():
    #     distances 1 (left out) 2 2 . .    the second plateau is no minimum
    plateaus = Plateaus(np.zeros(1, np.uint8), mark=4)
    assert len(plateaus.feed(AnchoredEnds(longs(5, 6), longs(0, 0), longs(2 + 4, 2)))) == 0


def drawn_hits(*rows):
    """(distance, Places) of hits drawn as `  [--1--]`, with a distance inside."""
    start = longs(*(row.index("[") for row in rows))
    end = longs(*(row.index("]") + 1 for row in rows))
    distance = longs(*(int(row.strip(" []-")) for row in rows))
    return distance, places_of(start, end, end - 1)


def test_loci_of_overlapping_hits():
    distance, places = drawn_hits(
        "[--2--]                 ",
        "     [---1---]          ",
        "            [---1---]   ",
        "                     [0]",
        "        [--0--]         ",  # of another query
    )
    query = longs(0, 0, 0, 0, 1)
    plus, minus = np.zeros(5, np.bool_), np.ones(5, np.bool_)
    rows, loci = loci_of(query, plus, distance, places)
    assert rows.tolist() == [1, 3, 4]
    assert loci.chain_start.tolist() == [0, 21, 8]
    assert loci.chain_end.tolist() == [21, 24, 15]
    assert loci_of(query, minus, distance, places)[0].tolist() == [2, 3, 4]  # with the largest end


def test_hits_with_both_ends_in_common_go_by_their_anchors():
    start, end, anchor = longs(4, 4), longs(9, 9), longs(7, 6)
    places = places_of(start, end, anchor)
    none = longs(0, 0)
    assert loci_of(none, none > 0, none, places)[0].tolist() == [1]
    assert loci_of(none, none == 0, none, places)[0].tolist() == [0]


def hit_batch(start, end, record=0):
    """A HitBatch of one pattern on the strand `+`, without differences."""
    zeros, names = np.zeros(len(start), np.int32), {0: "a", 1: "b", 2: "c"}
    numbers = record + np.zeros(len(start), np.int64)
    return HitBatch(numbers, start, end, names, zeros, zeros, zeros.astype(np.uint8))


@pytest.mark.parametrize(("are_loci", "released"), [(False, [0, 4, 12]), (True, [0])])
def test_hits_are_released_when_no_later_one_precedes_or_joins_them(are_loci, released):
    distance, places = drawn_hits(
        "            [--1--]     ",
        "[--1--]                 ",
        "    [--2--]             ",
        "                  [-1--]",
        # later hits start at ^16
    )
    hits = hit_batch(places.start, places.end)
    hits = HitBatch(**{**vars(hits), "distance": distance.astype(np.int32)})
    waiting = WaitingHits(are_loci)
    drawn = PlacedHits(hits, places).in_order()
    assert starts(waiting.released(drawn, 16)) == released
    assert starts(waiting.released(NONE, 100)) == ([12] if are_loci else [18])
    assert starts(waiting.released(NONE, 100)) == []


def test_hits_come_among_those_that_wait_or_behind_them():
    _, waiting_places = drawn_hits(
        "  [--1--]                     ",
        "        [--1--]               ",
    )
    _, places = drawn_hits(
        "      [--1--]                 ",
        "            [--1--]           ",
        "                    [--1--]   ",
        # later hits start at ^20
    )
    waiting = WaitingHits(are_loci=False)
    assert starts(waiting.released(placed(waiting_places), 4)) == [2]
    assert starts(waiting.released(placed(places), 20)) == [6, 8, 12]
    assert starts(waiting.released(NONE, 100)) == [20]


def starts(batches):
    """Where the hits of HitBatches start."""
    return [start for batch in batches for start in batch.start.tolist()]


def placed(places):
    """PlacedHits of Places."""
    return PlacedHits(hit_batch(places.start, places.end), places)


def test_ends_that_a_chunk_finds():
    """Two records, of 6 and 3 letters, in a chunk of 12 positions that shows 4 more.

    position         0 1 2 3 4 5 6 7 8 9 . . . . . .
    records            0 0 0 0 0 0   1 1 1
    read forward             [-----------------------)
    read backward    [-----------------------)
    """
    spans = SimpleNamespace(begins=longs(1, 8), lengths=longs(6, 3))

    def records(position):
        span = np.searchsorted(spans.begins, position, side="right") - 1
        return span, (span >= 0) & (position - spans.begins[span] < spans.lengths[span])

    chunk = SimpleNamespace(base=100, length=12, halo=4, records=records)
    coding = Coding(2, marked(1))
    is_backward = np.array([False, True])
    given = [
        (2, 0, 1),
        (2, 1, 0),
        (4, 0, 0),
        (4, 0, 2),
        (6, 0, 1),
        (7, 0, 0),
        (9, 1, 3),
        (15, 0, 1),
    ]
    codes = np.sort([int(coding.encode(*map(np.int64, each))) for each in given])
    ends = ends_of(codes, -1, coding, is_backward, chunk)
    # The first one was found in the chunk before, one came twice, and two are between records.
    assert ends.coordinate.tolist() == [102, 104, 106, 109]
    assert ends.query.tolist() == [1, 0, 0, 1]
    assert ends.distance.tolist() == [0, 0, 1, 3]

    # An end is known where the batch before has it.
    assert len(ends_of(codes[3:4], int(codes[2]), coding, is_backward, chunk)) == 0
    assert len(ends_of(codes[3:4], int(codes[1]), coding, is_backward, chunk)) == 1
    assert shown_before(codes[:5], coding, chunk) == 106
    assert shown_before(codes, coding, chunk) == 112  # the chunk owns no more


def circle_ends(size, *rows):
    """CircleEnds of one group: (place, distance, arc_start, arc_length) each."""
    place, distance, start, length = np.array(rows, np.int64).T
    none = 0 * place
    return CircleEnds(none, none, none, none + size, place, distance, start, length, length - 1)


@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        ("1 . . 2 1 1", [0]),
        ("1 1 1 1", [3]),
        ("0 1 1 0", [0]),
        ("2 1 . 0", [1, 3]),
        ("1 0 1 0", [1, 3]),
    ],
)
def test_minima_on_a_circle(digits, expected):
    ends = drawn_ends(digits)
    rows = [(place, d, 0, 1) for place, d in zip(ends.coordinate, ends.distance, strict=True)]
    found = are_minima_on_circles(circle_ends(len(digits.split()), *rows))
    assert ends.coordinate[found].tolist() == expected


def test_loci_on_a_circle():
    # letters    0 1 2 3 4 5 6 | 0
    # arcs             [-1---)
    #                      [-0---)      over the origin
    #              [0)
    ends = circle_ends(7, (5, 1, 3, 3), (7 - 7, 0, 5, 3), (1, 0, 1, 1))
    assert sorted(loci_on_circles(ends)) == [1, 2]
    # All round a circle of 4 letters one arc stands for the set.
    ends = circle_ends(4, (0, 1, 0, 3), (1, 1, 2, 3))
    assert loci_on_circles(ends).tolist() == [0]


def test_columns_out_of_their_room():
    bounds = longs(0, 5, 10)
    rows, lengths = longs(1, 0), longs(2, 3)
    leading = np.frombuffer(b"==X.." + b"==...", np.uint8)
    assert _used_room(leading, bounds, rows, lengths, leads=True).letters.tobytes() == b"====X"
    others = np.frombuffer(b"..==X" + b"...==", np.uint8)
    assert _used_room(others, bounds, rows, lengths, leads=False).letters.tobytes() == b"====X"


def test_records_and_last_letters_of_a_chunk():
    genome = kmatch.Genome.from_records([("a", "ACGTA"), ("b", ""), ("c", "GGTTCA")])
    engine = CpuEngine(1)
    plan = plan_reading(3, 1, 2, engine.layout, 1)._replace(gap=3, halo=4, lead=0)
    (chunk,) = Chunking(plan, engine, None).fresh(genome.parts())
    # position   0 1 2 3 4 5 6 7 8
    # letters    A C G T A . . . G G T T C A
    position = longs(-1, 0, 3, 4, 5, 8, 12)
    span, is_inside = chunk.records(position, 2)
    assert is_inside.tolist() == [False, True, True, False, False, True, True]
    assert [chunk.spans.names[number] for number in span[is_inside]] == ["a", "a", "c", "c"]
    assert chunk.last_letters(4).tolist() == encode("TTCA", "text").tolist()


@pytest.mark.parametrize("short", [0, 1 << 14])
def test_chunks_of_records_that_come_alone_or_together(short, monkeypatch):
    """
    position    0 1 2 3 4 5 6 7 8 9 ...
    letters     A C G T A . . . G G T T C A . . . T     records a, b without letters, c and d
    chunks      [---------->)------)                    of 6 letters, and 4 of the next chunk
                            [---------->)------)
                                        [---------->)
    """
    monkeypatch.setattr(records, "SHORT", short)
    texts = ("ACGTA", "", "GGTTCA", "T")
    stretches = list(map(records.stretch_of, "abcd", map(as_letters, texts)))
    found = [
        (chunk.base, bytes(chunk.letters).replace(b"\0", b"."), chunk.length, chunk.spans)
        for chunk in join_records(stretches, ChunkPlan(length=6, halo=4, gap=3))
    ]
    assert [(base, letters, length) for base, letters, length, _ in found] == [
        (0, b"ACGTA...GG", 6),
        (6, b"..GGTTCA..", 6),
        (12, b"CA...T....", 6),
    ]
    starts = [dict(zip(spans.names, spans.begins.tolist(), strict=True)) for *_, spans in found]
    assert [spans["c"] for spans in starts] == [8, 2, -4]
    assert starts[0]["a"] == 0 and starts[2]["d"] == 5


def as_letters(text):
    return np.frombuffer(text.encode(), np.uint8)


PATTERNS = PatternSet(["x", "y"], ["AACG", "CT"])


def shown(masks):
    return "".join(".AC.G...T......N"[mask] for mask in masks.tolist())


def test_queries_of_a_panel():
    panel = each_strand(PATTERNS, "both")
    assert (panel.pattern.tolist(), panel.minus.tolist()) == ([0, 1, 0, 1], [0, 0, 1, 1])

    # As they stand in the text, where windows are compared.
    arrays = panel_letters(panel, 1)
    bases = np.array([1, 2, 4, 8], np.uint8)
    assert shown(bases[arrays.planes]) == "AACG" + "CT" + "CGTT" + "AG"

    # As they are read, anchored at their end, and at their beginning.
    reading = panel_reading(panel)
    assert shown(reading.bases[reading.letters]) == "AACG" + "CT" + "TTGC" + "GA"
    assert reading.backward.tolist() == [0, 0, 1, 1]
    reading = panel_reading(panel, leads=True)
    assert shown(reading.bases[reading.letters]) == "GCAA" + "TC" + "CGTT" + "AG"
    assert reading.backward.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("k", "ends", "expected"),
    [
        (0, (0, 0), "1111 11"),
        (1, (0, 0), "0000 00"),
        (1, (1, 2), "1011 11"),
        (1, (2, 0), "1100 11"),
    ],
)
def test_letters_that_have_to_match(k, ends, expected):
    exact = _exact_letters(PATTERNS, k, ends)
    assert "".join(str(int(flag)) for flag in exact) == expected.replace(" ", "")


def test_letters_of_pams():
    # strand +   pattern N G G        strand -   C C N nrettap
    pams = Pam("NGG", leads=False), Pam("AG", leads=False)
    sought = sought_of(each_strand(PATTERNS, "both"), Rules(pams), longs(1, 1, 1, 1))
    plus, minus = ([shown(row) for row in each] for each in sought.constraints.pams)
    assert (plus, minus) == (["NGG", "AG."], ["NCC", "TC."])
    assert (sought.longest, sought.longest_hit, sought.is_bound) == (7, 8, True)
    leading = Pam("TTV", leads=True)
    assert leading.outwards.tolist() == encode("VTT", "PAM").tolist()
    assert leading.begins_or_ends("TTAGG") and not leading.begins_or_ends("TTTGG")
    assert joint_pam([Pam("AAG", False), Pam("CAT", False)]).sequence == "MAK"

    query = Query("multi", PatternSet(["x"], ["ACGTA"]), 1, pam="AGG,CGG", exact_5p=2)
    windows, ends = _with_pam(query, Rules((Pam("AGG", False), Pam("CGG", False))))
    assert (windows.sequences, ends) == (["ACGTAMGG"], (2, 3))


def test_rectangles_hold_each_flag_once(monkeypatch):
    monkeypatch.setattr(best, "SPARED", 0)
    wanted = np.array([[0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]], np.bool_)
    found = [(rows.tolist(), columns.tolist()) for rows, columns in best.rectangles(wanted)]
    assert found == [([0, 2, 3], [3]), ([1], [0, 1, 2])]


def test_rows_inside_regions():
    # regions of a    0 [------) 6        of b    [--) 2
    #                     2 [------) 9
    rows = ("a", 0, 6), ("a", 2, 9), ("b", 0, 2)
    given = regions.Regions([regions.Region(*row, "") for row in rows])
    which, start, end = longs(0, 0, 0, 1, 1, 2), longs(1, 5, 8, 0, 1, 0), longs(6, 9, 10, 2, 3, 1)
    is_inside = given.hold(["a", "b", "c"], which, start, end)
    assert is_inside.tolist() == [True, True, False, True, False, False]


def test_searches_that_share_regions():
    """Each counts the letters of its last record for itself; both read r0 and r1 by turns."""
    given = regions.Regions([regions.Region(name, 0, 30, "") for name in ("r0", "r1")])
    genomes = as_genomes(kmatch.Genome.from_records([]))
    query = Query("hamming", PatternSet(["p"], ["ACGT"]), 1)
    first, second = (begin_here(query, genomes, Run("cpu", 1), given) for _ in range(2))
    r0, r1 = (records.RecordNames.of([name]) for name in ("r0", "r1"))
    first.note(r0, longs(10))
    second.note(r0, longs(10))
    first.note(r0, longs(20), goes_on=True)
    first.note(r1, longs(25))
    second.note(r0, longs(20), goes_on=True)
    first.note(r1, longs(15), goes_on=True)
    second.note(r1, longs(40))
    assert given.lengths == {"r0": 30, "r1": 40}


def test_the_longest_record_of_a_name_counts():
    genomes = as_genomes(kmatch.Genome.from_records([]))
    search = begin_here(Query("hamming", PatternSet(["p"], ["ACGT"]), 1), genomes, Run("cpu", 1))
    search.note(records.RecordNames.of(["a", "b", "a"]), longs(60, 5, 70))
    search.note(records.RecordNames.of(["a"]), longs(20), goes_on=True)
    search.note(records.RecordNames.of(["b", "a"]), longs(3, 80))
    assert search.progress.lengths == {"a": 90, "b": 5}


def test_hits_of_whole_records():
    parts = [[0, 0, 0, 1], [1, 1, 2], [2, 2], [], [3]]
    batches = [hit_batch(*(longs(*range(len(part))),) * 2, record=longs(*part)) for part in parts]
    for batch in batches:
        batch.names[3] = "d"
    found = [batch.record.tolist() for batch in by_record(batches)]
    assert found == [[0, 0, 0], [1, 1, 1], [2, 2, 2], [3]]


def test_windows_of_a_circle_come_once():
    # letters     0 1 2 3 4 0 1     a record of 5 letters
    circles = SimpleNamespace(lengths={0: 5})
    hits = hit_batch(longs(0, 3, 5, 0), longs(3, 6, 8, 6))
    (found,) = _windows_once([hits], circles)
    assert found.start.tolist() == [0, 3] and found.origin.circles == {0: 5}
