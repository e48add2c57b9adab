"""Anchored ends traced back: which of them the rules let be, where their hits are, and how these
are aligned."""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs, bounds_of, gather, order_of
from kmatch.engine.queries import DifferenceQuery
from kmatch.engine.types import Columns, Constraints, Ends, Texts, View
from kmatch.engine.workers import Workers, slabs
from kmatch.jit.entries import entry
from kmatch.search.rules import Rules, Sought

# Start, end, columns and the alignment as a number of each hit, which `trace` fills.
Found = tuple[Longs, Longs, Longs, Longs]

keep_ends = entry(
    "kmatch.engine.pams:keep_ends", tuple[Longs, View, DifferenceQuery, Constraints, Ends]
)
limit_ends = entry(
    "kmatch.engine.pams:limit_ends", tuple[Longs, View, DifferenceQuery, Constraints, int, Ends]
)
trace = entry(
    "kmatch.engine.alignments:trace",
    tuple[Longs, View, DifferenceQuery, Constraints, Ends, Found, tuple[Longs, Bytes, Bytes]],
)


class Room(NamedTuple):
    """Room for the columns of n alignments, which `trace` writes.

    bounds: int64[n+1], of each alignment's room in `ops` and `text`, uint8; no bounds ask for no
    columns.
    """

    bounds: Longs
    ops: Bytes
    text: Bytes


NO_ROOM = Room(np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.uint8))


class Traced(NamedTuple):
    """Where the hits of n anchored ends are in a View.

    rows: int64[n], which end each hit is of; start, end: int64[n], positions; column_count:
    int64[n], columns of each alignment; columns: the alignments, None where nobody asked for them;
    edits: int64[n], the alignments as numbers (see KINDS), None where nobody asked for these.
    """

    rows: Longs
    start: Longs
    end: Longs
    column_count: Longs
    columns: Columns | None
    edits: Longs | None


def distances_within_rules(workers: Workers, view: View, sought: Sought, ends: Ends) -> Longs:
    """Return the distance of each end within the rules, int64[n], −1 where there is none.

    ends: of the View; their distances are those that k alone bounds.
    """
    distance = ends.distance.copy()
    ruled = ends._replace(distance=distance)
    workers.run(keep_ends, slabs(len(distance)), view, sought.query, sought.constraints, ruled)
    return distance


def trace_ends(
    workers: Workers,
    view: View,
    sought: Sought,
    ends: Ends,
    aligned: bool,
    coded: bool = False,
    in_order: bool = False,
) -> Traced:
    """Return where the hits of Ends are in a View, and their alignments.

    aligned: whether the alignments are asked for as columns; coded: whether as numbers, where they
    fit (see KINDS); in_order: whether hits come sorted, otherwise as their ends do.
    """
    count = len(ends.position)
    start = np.empty(count, np.int64)
    end = np.empty(count, np.int64)
    column_count = np.empty(count, np.int64)
    edits = np.empty(count if coded else 0, np.int64)
    room = _room_for(ends, sought) if aligned else NO_ROOM
    workers.run(
        trace,
        slabs(count),
        view,
        sought.query,
        sought.constraints,
        ends,
        (start, end, column_count, edits),
        (room.bounds, room.ops, room.text),
    )
    rows = _order_of_hits(start, end, ends, sought) if in_order else np.arange(count)
    start = start[rows]
    end = end[rows]
    column_count = column_count[rows]
    if not aligned:
        return Traced(rows, start, end, column_count, None, edits[rows] if coded else None)

    leads = sought.constraints.leads
    ops = _used_room(room.ops, room.bounds, rows, column_count, leads)
    text = _used_room(room.text, room.bounds, rows, end - start, leads)
    return Traced(rows, start, end, column_count, Columns(ops, text), None)


def _order_of_hits(start: Longs, end: Longs, ends: Ends, sought: Sought) -> Longs:
    """Return the order of hits by start, end, strand and pattern, int64[n].

    start, end: int64[n], of the hits of Ends. Equal ones stay as their ends come.
    """
    panel = sought.panel
    return order_of(start, end - start, panel.minus[ends.query], panel.pattern[ends.query])


def gaps_of(found: Traced, pattern_lengths: Longs, rules: Rules) -> Ints | None:
    """Return how many letters each alignment inserts and deletes, int32[n]; None without a PAM.

    pattern_lengths: int64[n].

        pattern and PAM   A C G T - N G G     4 and 3 letters, 8 columns: 1 letter is deleted
        text              A C - T A T G G     7 letters: 1 letter is inserted
    """
    if not rules.pams:
        return None
    inserted = found.column_count - (found.end - found.start)
    if rules.unequal:  # which come with their columns
        assert found.columns is not None
        deleted = found.columns.ops.counted("D")
    else:
        deleted = found.column_count - pattern_lengths - rules.reach
    return (inserted + deleted).astype(np.int32)


def _room_for(ends: Ends, sought: Sought) -> Room:
    """Return room for as many columns as the alignment of each end, and its PAM, may have."""
    pattern_length = sought.query.lengths[ends.query]
    pam_length = sought.constraints.pams.shape[2]
    bounds = bounds_of(pattern_length + ends.distance + pam_length)
    ops = np.empty(bounds[-1], np.uint8)
    text = np.empty(bounds[-1], np.uint8)
    return Room(bounds, ops, text)


def _used_room(
    letters: Bytes, room_bounds: Longs, rows: Longs, lengths: Longs, leads: bool
) -> Texts:
    """Return the letters that were written into some rooms, side by side.

    room_bounds: int64[n+1]; rows: int64[m], which rooms; lengths: int64[m], of what was written to
    each; leads: whether it begins where its room does, otherwise it ends there.

        rooms     |= = X = . .|= = . .|  leads         |. . = = X =|. . = =|  does not lead
        rows 1, 0 |= =|= = X =|                        |= =|= = X =|
    """
    begins = room_bounds[rows] if leads else room_bounds[rows + 1] - lengths
    bounds = bounds_of(lengths)
    return Texts(bounds, gather(letters, begins, bounds))
