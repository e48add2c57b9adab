"""Gaps, the pieces around them, and the runs of sites that have room for a product, drawn."""

import numpy as np

from kmatch.apps.gaps import (
    Gaps,
    Gathered,
    Records,
    cut_out,
    gaps_in,
    pieces_around,
)
from kmatch.apps.masked import (
    RunLine,
    RunPairs,
    SiteRuns,
    held_probes,
    shortened,
    united_runs,
    with_second_turn,
)
from kmatch.apps.pcr import PcrOptions, joins_of
from kmatch.arrays import unions
from kmatch.results.batches import ENDLESS
from kmatch.sequences.oligos import load_pairs
from kmatch.sequences.unknown import unknown_letters


def records(*texts, circular=False):
    """(letters, Records) of texts side by side."""
    size = np.array([len(text) for text in texts])
    begin = np.cumsum(size) - size
    circle_size = size if circular else np.full(len(size), ENDLESS)
    letters = np.frombuffer("".join(texts).encode(), np.uint8)
    return letters, Records(np.arange(len(size)), begin, size, circle_size)


def gaps_of_texts(*texts, circular=False):
    """Gaps of texts, with an overhang of two letters."""
    letters, given = records(*texts, circular=circular)
    return gaps_in(unknown_letters(letters).runs(), given, 2)


def rows(gaps):
    return list(zip(gaps.record.tolist(), gaps.start.tolist(), gaps.end.tolist(), strict=True))


def gaps_of(*intervals):
    return Gaps(*(np.array(column) for column in zip(*intervals, strict=True)))


def runs_of(*given, oligo=0, minus=0, circle_size=ENDLESS):
    """SiteRuns of one oligo in one record, each (first, last, size)."""
    first, last, size = (np.array(column) for column in zip(*given, strict=True))
    one = np.ones(len(given), np.int64)
    return SiteRuns(
        record=0 * one,
        oligo=oligo * one,
        minus=(minus * one).astype(np.uint8),
        first=first,
        last=last,
        size=size,
        circle_size=circle_size * one,
        is_masked=one > 0,
    )


def test_gaps_of_records_and_of_a_circle():
    """
    record 0        N N A C G N N T             record 1    A R
    gaps        ├───────┤   ├───┤ ├───┤                 ├───┤ ├─────┤
    """
    texts = ("NNACGNNT", "aR")
    assert rows(gaps_of_texts(*texts)) == [
        (0, -2, 2),
        (0, 5, 7),
        (0, 8, 10),
        (1, -2, 0),
        (1, 1, 4),
    ]
    assert rows(gaps_of_texts(*texts, circular=True)) == [(0, 0, 2), (0, 5, 7), (1, 1, 2)]
    assert rows(gaps_of_texts("ACGT", circular=True)) == []


def test_a_run_of_unknown_letters_over_the_border_of_records():
    """
    records     A C N|   |N N|N A           the second one is empty
    gaps            ├┤   ├───┼─┤
    """
    texts = ("ACN", "", "NN", "NA")
    assert rows(gaps_of_texts(*texts, circular=True)) == [(0, 2, 3), (2, 0, 2), (3, 0, 1)]


def test_unions_of_intervals():
    """
    ├──┤  ├────┤    ├─┤      of group 0, and of group 1   ├──┤
              ├─┤
    """
    group = np.array([0, 0, 0, 0, 1])
    start, end = np.array([1, 7, 12, 17, 2]), np.array([4, 12, 14, 19, 5])
    first_rows, union_end = unions(group, start, end)
    assert first_rows.tolist() == [0, 1, 3, 4] and union_end.tolist() == [4, 14, 19, 5]
    assert [len(each) for each in unions(group[:0], start[:0], end[:0])] == [0, 0]


def test_pieces_show_both_ends_of_a_gap():
    """
    letters     A C G T A C N N N N N N N N N G T A C A
    gap                     ├─────────────────┤
    pieces            ├───────┤           ├───────┤         3 letters on either side
    """
    letters, of = records("ACGTACNNNNNNNNNGTACA")
    around = pieces_around(gaps_of((0, 6, 15)), of, 3, 2)
    assert rows(around) == [(0, 3, 9), (0, 12, 18)]
    pieces = cut_out(letters, of, around)
    assert pieces.letters.tobytes() == b"TACNNNNNNGTA" and pieces.bounds.tolist() == [0, 6, 12]
    # Behind the end of a record they show N, and on a circle its first letters.
    letters, of = records("ACGT")
    end = cut_out(letters, of, pieces_around(gaps_of((0, 4, 6)), of, 3, 2))
    assert end.letters.tobytes() == b"CGTNN"
    letters, of = records("ANGT", circular=True)
    circle = cut_out(letters, of, pieces_around(gaps_of((0, 1, 2)), of, 3, 2))
    assert circle.start.tolist() == [-2] and circle.letters.tobytes() == b"GTANGTA"


def test_gathered_pieces_stand_side_by_side():
    """
    pieces   CGTNN | TACNN         of records 0 and 1; once they are taken, none is left
    """
    gathered = Gathered()
    letters, of = records("ACGT", "TTAC")
    for record in (0, 1):
        gathered.add(cut_out(letters, of, gaps_of((record, 1, 6))))
    assert gathered.letters == 10
    pieces = gathered.taken()
    assert pieces.letters.tobytes() == b"CGTNNTACNN" and pieces.bounds.tolist() == [0, 5, 10]
    assert pieces.start.tolist() == [1, 1] and pieces.records.number.tolist() == [0, 1]
    assert gathered.letters == 0 and len(gathered.taken().start) == 0


def test_runs_are_united_and_shortened():
    """
    first … last    2 … 4   5 … 5   5 … 9          and of sites of 7 letters   6 … 6
    united          2 ………………………… 9
    """
    runs = united_runs(runs_of((5, 9, 8), (2, 4, 8), (5, 5, 8), (6, 6, 7)))
    assert runs.size.tolist() == [7, 8]
    assert runs.first.tolist() == [6, 2] and runs.last.tolist() == [6, 9]
    short = shortened(runs_of((0, 100, 8), (0, 20, 8)), 10)
    assert short.first.tolist() == [0, 0, 90] and short.last.tolist() == [20, 10, 100]
    turned = with_second_turn(runs_of((3, 5, 8), circle_size=50))
    assert turned.first.tolist() == [3, 53] and turned.last.tolist() == [5, 55]


def test_pairs_of_runs_with_room_for_a_product():
    """
    plus    [===)          [===)           first 0 … last 10, sites of 4 letters
    minus         (===]           (===]    30 … 40
            products of 24 to 44 letters
    """
    pairs = RunPairs(runs_of((0, 10, 4)), runs_of((30, 40, 4), oligo=1, minus=1))
    for product, expected in (
        ((24, 24), True),
        ((44, 99), True),
        ((30, 31), True),
        ((10, 23), False),
        ((45, 99), False),
    ):
        assert pairs.have_room(product).tolist() == [expected], product
    circle = RunPairs(runs_of((0, 0, 4), circle_size=30), runs_of((30, 40, 4), minus=1))
    assert not circle.have_room((10, 99))[0]
    inside = RunPairs(runs_of((0, 0, 9)), runs_of((2, 2, 4), minus=1))
    assert not inside.have_room((1, 99))[0]


def test_pairs_of_runs_with_room_for_a_probe():
    """
    plus        [===)        first 0 … last 10
    probe         [=====)    of 8 letters, anywhere from 5 to 25
    minus           (===]    8 … 12: the shortest product with the probe has 8 letters, 8 … 16
    """
    pairs = load_pairs({"a": ("ACGTACGT", "GGTTCCAA", "CCCCTTTT")})
    joins = joins_of(pairs, PcrOptions())
    found = RunPairs(runs_of((0, 10, 4)), runs_of((8, 12, 4), oligo=1, minus=1))
    for first, last, most, expected in (
        (5, 25, 8, True),
        (5, 25, 7, False),
        (0, 1, 12, True),  # from 1 to 9, and on to 12
        (0, 1, 10, False),
        (9, 25, 30, False),  # no product goes on so far
        (8, 25, 30, True),
    ):
        line = RunLine(runs_of((first, last, 8), oligo=2), np.maximum(joins.probe_pair, 0))
        row, _ = held_probes(found, line, joins, (1, most))
        assert len(row) == expected, (first, last, most)
