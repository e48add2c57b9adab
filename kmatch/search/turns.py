"""Hits of circular records, out of all ends in them: minima and loci go over the origin."""

from dataclasses import dataclass, replace

import numpy as np

from kmatch.arrays import Bools, Longs, Rows, first_of_each, order_of, run_starts
from kmatch.results.batches import HitBatch, sizes_of
from kmatch.search.ends import AnchoredEnds, anchors_of
from kmatch.search.plateaus import Places, Plateaus, loci_of, places_of
from kmatch.search.rules import Sought
from kmatch.sequences.circles import Circles

TURNS = np.array([[0], [1], [2]])  # of a circle: the middle one has all that lies around it


@dataclass(frozen=True, eq=False, repr=False)
class CircleEnds(Rows):
    """n ends on circles, sorted by group, then by place.

    row: int64[n], of its hit; anchor: int64[n], its letter in the record and those behind it;
    group: int64[n], counts the records, patterns and strands from 0; size: int64[n], letters of the
    circle; place: int64[n], of the end, counted in reading direction from 0 to size − 1; distance:
    int64[n]; arc_start: int64[n], where its hit begins on the circle, counted in the direction of
    the strand; arc_length: int64[n], letters of the hit; anchor_offset: int64[n], of these before
    its anchor.
    """

    row: Longs
    anchor: Longs
    group: Longs
    size: Longs
    place: Longs
    distance: Longs
    arc_start: Longs
    arc_length: Longs
    anchor_offset: Longs


def on_circles(batch: HitBatch, circles: Circles) -> HitBatch:
    """Return a batch that knows the letters of circular records."""
    origin = batch.origin._replace(circles=circles.lengths)
    return replace(batch, origin=origin)


def hits_on_circles(hits: HitBatch, circles: Circles, sought: Sought, report: str) -> HitBatch:
    """Return the hits of circular records that a report has, sorted.

    hits: all ends in whole records and in the letters that are shown again behind them, with their
    alignments beside PAMs of several lengths; report: `minima`, `ends` or `loci`.
    """
    ends = _ends_of_one_turn(hits, circles, sought)
    if report != "ends" and len(ends):
        is_minimum = are_minima_on_circles(ends)
        ends = ends.take(np.flatnonzero(is_minimum))
    if report == "loci" and len(ends):
        ends = ends.take(loci_on_circles(ends))

    # Each begins in the first turn.
    rows = ends.row
    start = hits.start[rows] % ends.size
    rel_anchor = ends.anchor - hits.start[rows]

    # In the order of hits.
    record = hits.record[rows]
    minus = hits.minus[rows]
    pattern = hits.pattern[rows]
    order = order_of(record, start, ends.arc_length, minus, pattern, rel_anchor)
    start = start[order]
    end = start + ends.arc_length[order]
    return replace(hits.picked(rows[order]), start=start, end=end)


def _ends_of_one_turn(hits: HitBatch, circles: Circles, sought: Sought) -> CircleEnds:
    """Return one end for each place of a circle where there is one.

    Ends are taken from one turn, in which as many letters as a hit can have warm each of them up.
    Without a PAM, in a record of 8 letters that is shown with `more` = 5 of them again:

        letters         0 1 2 3 4 5 6 7 0 1 2 3 4
        read forward              [-------------)
        read backward   [-------------)
    """
    pam_length = sought.rules.reach
    size = sizes_of(hits.record, circles.lengths)
    anchor = anchors_of(hits, sought.rules, sought.panel.patterns.lengths)
    is_backward = hits.minus != sought.rules.leads

    # The PAM stands behind an end, and no hit is longer than its circle.
    turn_start = np.where(is_backward, pam_length, circles.more - pam_length)
    is_in_turn = (anchor >= turn_start) & (anchor < turn_start + size)
    is_fitting = hits.end - hits.start <= size
    rows = np.flatnonzero(is_in_turn & is_fitting)

    # By group, and by place in reading direction.
    place = np.where(is_backward, size - 1 - anchor, anchor) % size
    keys = hits.record, hits.pattern, hits.minus, place
    order = order_of(*(key[rows] for key in keys))
    rows = rows[order]
    return _circle_ends(hits, rows, size[rows], anchor[rows], place[rows])


def _circle_ends(
    hits: HitBatch, rows: Longs, size: Longs, anchor: Longs, place: Longs
) -> CircleEnds:
    """Return the CircleEnds of some hits.

    rows: int64[m], of the hits, by group and place; size, anchor, place: int64[m], see CircleEnds.
    """
    start = hits.start[rows]
    end = hits.end[rows]
    is_minus = hits.minus[rows] == 1

    # A group for each record, pattern and strand.
    keys = hits.record, hits.pattern, hits.minus
    first_rows = run_starts(*(key[rows] for key in keys))
    begins_group = np.zeros(len(rows), np.int64)
    begins_group[first_rows] = 1

    return CircleEnds(
        row=rows,
        anchor=anchor,
        group=np.cumsum(begins_group) - 1,
        size=size,
        place=place,
        distance=hits.distance[rows].astype(np.int64),
        arc_start=np.where(is_minus, size - end, start) % size,
        arc_length=end - start,
        anchor_offset=np.where(is_minus, end - 1 - anchor, anchor - start),
    )


def are_minima_on_circles(ends: CircleEnds) -> Bools:
    """Return which ends stand for minima, bool[n].

    A circle is looked at as three turns in a row; the middle one has all that lies around it. A
    plateau all round the circle ends with the record.

        place       0 1 2 3 4 5 0 1 2 3 4 5 0 1 2 3 4 5
        distance    1     2 1 1 1     2 1 1 1     2 1 1
        minima                  *                           of the middle turn: place 0
    """
    three_turns = AnchoredEnds(
        coordinate=_on_three_turns(ends.place, ends.size),
        query=np.tile(ends.group, 3),
        distance=np.tile(ends.distance, 3),
    )
    group_count = int(ends.group[-1]) + 1
    forward = np.zeros(group_count, np.uint8)
    minima = Plateaus(forward).feed(three_turns)

    # Which ends of the middle turn are among the minima: a number has group and coordinate.
    line_length = 3 * int(ends.size.max())
    end_line = ends.group * line_length
    end_numbers = end_line + ends.size + ends.place
    minimum_line = minima.query * line_length
    minimum_numbers = minimum_line + minima.coordinate
    is_minimum = np.isin(end_numbers, minimum_numbers)

    # Of a circle without one the last end.
    is_last = ends.place == ends.size - 1
    has_minimum = _in_groups_of(ends.group, is_minimum)
    return is_minimum | (is_last & ~has_minimum)


def loci_on_circles(ends: CircleEnds) -> Longs:
    """Return the ends whose hits stand for sets of overlapping arcs of a group, by number.

    A set begins where no arc goes on. Each that begins in the middle turn is whole. Where none does
    arcs go all round the circle, and the set begins at the origin.

        letters     0 1 2 3 4 5 6 0 1 2 3 4 5 6 0 1 2 3 4 5 6
        arcs              [-----)       [-----)       [-----)
                              [-----)       [-----)       [-----)
        sets              [- 1 -----)   [- 2 -----)   [- 3 -----)      of the middle turn: 2
    """
    group = np.tile(ends.group, 3)
    distance = np.tile(ends.distance, 3)
    is_minus = np.zeros(len(group), np.bool_)  # as arcs are in the direction of the strand
    turn_rows, places = loci_of(group, is_minus, distance, _three_turns(ends))
    rows = turn_rows % len(ends)

    # The loci of sets that begin in the middle turn.
    is_whole = places.chain_start // ends.size[rows] == 1
    is_locus = np.zeros(len(ends), np.bool_)
    is_locus[rows[is_whole]] = True

    # Of a circle without one the arc with the smallest distance, then the first one.
    has_locus = _in_groups_of(ends.group, is_locus)
    rest_rows = rows[~has_locus[rows]]
    rest = ends.take(rest_rows)
    keys = rest.group, rest.distance, rest.arc_start, rest.arc_length, rest.anchor_offset
    first_rows = first_of_each(order_of(*keys), rest.group)
    return np.append(np.flatnonzero(is_locus), rest_rows[first_rows])


def _three_turns(ends: CircleEnds) -> Places:
    """Return where the arcs of ends are on three turns in a row, all those of a turn together."""
    start = _on_three_turns(ends.arc_start, ends.size)
    end = start + np.tile(ends.arc_length, 3)
    anchor = start + np.tile(ends.anchor_offset, 3)
    return places_of(start, end, anchor)


def _on_three_turns(place: Longs, size: Longs) -> Longs:
    """Return where places on circles are on three turns in a row, int64[3·n], turn by turn."""
    turn_starts = size * TURNS
    return (turn_starts + place).reshape(-1)


def _in_groups_of(group: Longs, is_chosen: Bools) -> Bools:
    """Return which rows are in a group of which some row is chosen, bool[n]."""
    group_count = int(group.max(initial=0)) + 1
    has_chosen = np.zeros(group_count, np.bool_)
    has_chosen[group[is_chosen]] = True
    return has_chosen[group]
