"""Where records have no known letters, and the letters around, for a second look.

    record          A C G T N N N N N N N N N N T G C A
    gaps         ├──┤       ├─────────────────┤        ├──┤
    pieces       ├──────┤├─────┤           ├─────┤├───────┤

A gap is a stretch of letters that may be any base, or the space behind an end of a linear record.
Pieces show the letters on either side of both its ends, as far as a site of an oligo reaches, and
the letters around codes, such as R, which may be some of the bases.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kmatch.arrays import (
    Bools,
    Bytes,
    Longs,
    Rows,
    bounds_of,
    offsets_in_rows,
    order_of,
    range_join,
    unions,
)
from kmatch.results.batches import ENDLESS
from kmatch.sequences.circles import Circular
from kmatch.sequences.records import Stretch, whole_stretches
from kmatch.sequences.unknown import UnknownLetters, UnknownRuns

TOGETHER = 1 << 22  # letters of records whose gaps are looked for together, or of a longer one
ANY = np.uint8(ord("N"))


@dataclass(frozen=True, eq=False, repr=False)
class Records(Rows):
    """n records of genomes whose letters lie side by side.

    number: int64[n], as hits have it; begin: int64[n], where its letters begin; size: int64[n], how
    many there are; circle_size: int64[n], the same of a circular record, ENDLESS of a linear one.
    """

    number: Longs
    begin: Longs
    size: Longs
    circle_size: Longs

    @property
    def is_circular(self) -> Bools:
        """Whether each record is circular, bool[n]."""
        return self.circle_size < ENDLESS


@dataclass(frozen=True, eq=False, repr=False)
class Gaps(Rows):
    """n stretches of letters that may be any base.

    record: int64[n], the row of its record in Records; start, end: int64[n], 0-based and half-open;
    at an end of a linear record it goes on behind the end.
    """

    record: Longs
    start: Longs
    end: Longs


def gaps_in(unknown: UnknownRuns, records: Records, overhang: int) -> Gaps:
    """Return the Gaps of records, sorted.

    unknown: of their letters side by side, those that may be any base; overhang: letters that an
    oligo has behind an end at the most.

        record          N N A C G N N T
        gaps        ├───────┤   ├───┤ ├───┤       −2 … 2, 5 … 7, 8 … 10, with an overhang of 2
    """
    inside = gaps_inside(unknown, records)

    # What is behind the ends of linear records.
    linear = np.flatnonzero(~records.is_circular)
    size = records.size[linear]
    before = Gaps(linear, np.full(len(linear), -overhang), np.zeros_like(size))
    behind = Gaps(linear, size, size + overhang)
    return united(inside.followed_by(before).followed_by(behind))


def gaps_inside(unknown: UnknownRuns, records: Records) -> Gaps:
    """Return the runs of unknown letters as Gaps, a run that goes on in the next record as two."""
    ends = records.begin + records.size
    first = np.searchsorted(ends, unknown.begin, side="right")
    last = np.searchsorted(ends, unknown.end, side="left")
    run, record = range_join(first, last + 1)
    start = np.maximum(unknown.begin[run] - records.begin[record], 0)
    end = np.minimum(unknown.end[run] - records.begin[record], records.size[record])
    return Gaps(record, start, end).take(np.flatnonzero(start < end))


def codes_in(codes: UnknownLetters, records: Records) -> Gaps:
    """Return the places of unknown letters that may not be any base, each for itself, as Gaps.

    codes: of the letters of records side by side.
    """
    _, positions = range_join(codes.begin, codes.end)
    return gaps_inside(UnknownRuns(positions, positions + 1), records)


def united(gaps: Gaps) -> Gaps:
    """Return intervals as Gaps that neither overlap nor touch, sorted."""
    gaps = gaps.take(order_of(gaps.record, gaps.start))
    first_rows, end = unions(gaps.record, gaps.start, gaps.end)
    return Gaps(gaps.record[first_rows], gaps.start[first_rows], end)


def pieces_around(gaps: Gaps, records: Records, reach: int, overhang: int) -> Gaps:
    """Return the pieces of records in which lies every site that holds a letter of a gap, and one
    that is in no gap.

        gap               ├───────────────────┤
        pieces       ├─────────┤         ├─────────┤       of `reach` letters on either side

    reach: letters of the longest site; overhang: as `gaps_in` takes it. Pieces of a circle may
    begin before 0 or end behind its letters.
    """
    centre = np.concatenate([gaps.start, gaps.end])
    record = np.concatenate([gaps.record, gaps.record])
    start = centre - reach
    end = centre + reach
    is_linear = ~records.is_circular[record]
    start = np.where(is_linear, np.maximum(start, -overhang), start)
    end = np.where(is_linear, np.minimum(end, records.size[record] + overhang), end)
    return united(Gaps(record, start, end))


class Pieces(NamedTuple):
    """Pieces of records, n of them side by side, which show every masked site that is in no gap.

    letters: uint8, ASCII, N where a piece goes on behind a record; bounds: int64[n+1], where each
    piece begins among them; start: int64[n], where it begins in its record; records: Records, of
    each piece.
    """

    letters: Bytes
    bounds: Longs
    start: Longs
    records: Records


def cut_out(letters: Bytes, records: Records, around: Gaps) -> Pieces:
    """Return the Pieces of Records at some intervals."""
    bounds = bounds_of(around.end - around.start)
    of_piece = records.take(around.record)

    # Where each letter is in its record, on a circle in its first turn.
    piece = np.repeat(np.arange(len(around)), np.diff(bounds))
    position = around.start[piece] + offsets_in_rows(bounds)
    position %= of_piece.circle_size[piece]
    is_inside = position < of_piece.size[piece]
    place = of_piece.begin[piece] + position
    shown = np.full(len(place), ANY)
    shown[is_inside] = letters[place[is_inside]]
    return Pieces(shown, bounds, around.start, of_piece)


class Gathered:
    """Pieces that wait to be searched together, since a search costs much even where it is short.

    letters: how many they have.
    """

    def __init__(self) -> None:
        self.letters = 0
        self._parts: list[Pieces] = []

    def add(self, pieces: Pieces) -> None:
        """Add Pieces."""
        self.letters += len(pieces.letters)
        self._parts.append(pieces)

    def taken(self) -> Pieces:
        """Return all that wait as Pieces, and forget them."""
        none = np.zeros(0, np.int64)
        letters = [none.astype(np.uint8)]
        sizes = [none]
        start = [none]
        records = Records(none, none, none, none)
        for part in self._parts:
            letters.append(part.letters)
            sizes.append(np.diff(part.bounds))
            start.append(part.start)
            records = records.followed_by(part.records)
        self.letters = 0
        self._parts = []
        bounds = bounds_of(np.concatenate(sizes))
        return Pieces(np.concatenate(letters), bounds, np.concatenate(start), records)


def records_together(
    stretches: Iterable[Stretch], circular: Circular | None
) -> Iterator[tuple[Bytes, Records]]:
    """Yield the letters of Stretches, many together, and their Records, numbered from 0."""
    first = 0
    waiting: list[Stretch] = []
    letter_count = 0
    for stretch in whole_stretches(stretches):
        waiting.append(stretch)
        letter_count += len(stretch.letters)
        if letter_count >= TOGETHER:
            letters, records = _records_of(waiting, circular, first)
            yield letters, records
            first += len(records)
            waiting = []
            letter_count = 0
    if waiting:
        yield _records_of(waiting, circular, first)


def _records_of(
    stretches: list[Stretch], circular: Circular | None, first: int
) -> tuple[Bytes, Records]:
    """Return the letters of Stretches, and their Records, numbered from the first one on."""
    parts = [np.asarray(stretch.letters) for stretch in stretches]
    letters = parts[0] if len(parts) == 1 else np.concatenate(parts)
    size = np.concatenate([stretch.lengths for stretch in stretches])
    is_circular = np.zeros(len(size), np.bool_)
    if circular is not None:
        flags = [circular.has(name) for stretch in stretches for name in stretch.names]
        is_circular = np.array(flags, np.bool_)
    number = first + np.arange(len(size))
    circle_size = np.where(is_circular, size, ENDLESS)
    return letters, Records(number, bounds_of(size)[:-1], size, circle_size)
