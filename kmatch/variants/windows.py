"""Windows: the letters of haplotypes around their anchors, and what these stand for in the record.

    window          C G T A C   A   T T G T T       flank 5: letters on either side of the anchor
                    | | | | |  ┌┴┐  | | |  ^
    record        A C G T A C  G T  T T G   A …     GT becomes A, the anchor; TT is inserted
    position      0 1 2 3 4 5  6 7  8 9 10  11

    a hit                  [C   A   T]              is lifted to 5, 9
    another one                         [G T]       to 10, 11

Its segments are of the record and of alleles by turns: CGTAC, A, TTG, TT and one without letters.
They stand for 1–6, 6–8, 8–11, 11–11 and 11–11. Windows lie side by side in one text, which is
searched as so many records.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, Table, bounds_of, gather, unions
from kmatch.variants.alleles import FOREVER, NONE, Alleles, Block, RecordPart


class Lifted(NamedTuple):
    """Where hits in a text are in the record, n rows.

    start, end: int64[n], with at least one letter between them: inside an insertion the one before
    it, and at the beginning of the record the one behind; exact_start, exact_end: int64[n], the
    same, but equal inside an insertion.

        record      A C G T A         AAA comes in before G
        text        A C A A A G T A
        hit             └─┘           start 1, end 2; exact_start 2, exact_end 2
    """

    start: Longs
    end: Longs
    exact_start: Longs
    exact_end: Longs

    def take(self, rows: Longs) -> "Lifted":
        """Return some of the hits."""
        return Lifted(
            start=self.start[rows],
            end=self.end[rows],
            exact_start=self.exact_start[rows],
            exact_end=self.exact_end[rows],
        )


class Segments(NamedTuple):
    """Pieces of a text, n of them side by side, that stand for intervals of a record.

    bounds: int64[n+1], in the text; start, end: int64[n], of the record. A segment with as many
    letters as its interval stands for it letter by letter, another one as a whole.
    """

    bounds: Longs
    start: Longs
    end: Longs

    def lift(self, text_start: Longs, text_end: Longs) -> Lifted:
        """Return where hits are that begin and end in the text, int64[n] each."""
        exact_start, _ = self._stand_for(text_start)
        _, exact_end = self._stand_for(text_end - 1)
        is_inside = exact_start == exact_end
        letter_before = np.maximum(exact_start - 1, 0)
        start = np.where(is_inside, letter_before, exact_start)
        end = np.maximum(exact_end, start + 1)
        return Lifted(start, end, exact_start, exact_end)

    def _stand_for(self, text_position: Longs) -> tuple[Longs, Longs]:
        """Return the interval of the record that letters stand for, int64[n] each."""
        stop = np.searchsorted(self.bounds, text_position, side="right")
        segment = stop - 1
        text_start = self.bounds[segment]
        text_end = self.bounds[stop]
        start = self.start[segment]
        end = self.end[segment]
        is_by_letter = text_end - text_start == end - start
        letter = start + (text_position - text_start)
        start = np.where(is_by_letter, letter, start)
        end = np.where(is_by_letter, letter + 1, end)
        return start, end

    def joined(self, other: "Segments") -> "Segments":
        """Return these segments, and others behind them."""
        other_bounds = self.bounds[-1] + other.bounds
        return Segments(
            bounds=np.append(self.bounds, other_bounds[1:]),
            start=np.append(self.start, other.start),
            end=np.append(self.end, other.end),
        )


class Sources(NamedTuple):
    """The letters that windows are made of.

    letters: of a part of the record, from record_start to record_end, and behind them those of all
    alleles; allele_starts: int64[R], where each begins among them.
    """

    record_start: int
    record_end: int
    letters: Bytes
    allele_starts: Longs


def sources_of(block: Block, part: RecordPart) -> Sources:
    """Return the letters of a block's windows; part: of the record, with all of them."""
    allele_bounds, allele_letters = block.letters
    return Sources(
        record_start=part.record_start,
        record_end=part.record_end,
        letters=np.append(part.letters, allele_letters),
        allele_starts=allele_bounds[:-1] + len(part.letters),
    )


class Pieces(NamedTuple):
    """Pieces of windows, in columns int64[n, P].

    source, size: where the letters of each are among the sources, and how many; start, end: the
    interval of the record that they stand for.
    """

    source: Table
    size: Table
    start: Table
    end: Table

    def flat(self) -> "Pieces":
        """Return the pieces in columns int64[n·P], window after window."""
        return Pieces(
            source=self.source.reshape(-1),
            size=self.size.reshape(-1),
            start=self.start.reshape(-1),
            end=self.end.reshape(-1),
        )


def record_pieces(alleles: Alleles, start: Longs, end: Longs, sources: Sources) -> Pieces:
    """Return the pieces of the record between the alleles of windows, D + 1 a window.

    alleles: of each window in order, [n, D]; start, end: int64[n], of the windows in the record.
    """
    piece_start = np.column_stack([start, alleles.end])
    piece_end = np.column_stack([alleles.start, end])
    return Pieces(
        source=piece_start - sources.record_start,
        size=piece_end - piece_start,
        start=piece_start,
        end=piece_end,
    )


def allele_pieces(alleles: Alleles, rows: Table, sources: Sources) -> Pieces:
    """Return the alleles of windows, D a window, as pieces; alleles, rows: of each, [n, D]."""
    return Pieces(
        source=sources.allele_starts[rows],
        size=alleles.size,
        start=alleles.start,
        end=alleles.end,
    )


def by_turns(of_record: Pieces, of_alleles: Pieces) -> Pieces:
    """Return pieces of the record, D + 1 a window, and of D alleles by turns."""
    height, width = of_alleles.size.shape
    shape = (height, 2 * width + 1)
    columns: list[Table] = []
    for record_column, allele_column in zip(of_record, of_alleles, strict=True):
        column = np.empty(shape, np.int64)
        column[:, ::2] = record_column
        column[:, 1::2] = allele_column
        columns.append(column)
    return Pieces(*columns)


class Windows:
    """The letters of haplotypes around their anchors, n windows.

    haplotypes: int64[n, D], as `Haplotypes` makes them; flank: letters on either side of an anchor,
    and more where other alleles of the haplotype go on.

    letters: uint8, window after window; bounds: int64[n+1], theirs in it; segments: of the letters;
    record_starts, record_ends: int64[n], what each shows of the record; rows: int64[n, D], the
    alleles of each in order, NONE behind them; anchors, anchor_starts: int64[n], the row of each
    anchor, and where it begins in its window.
    """

    def __init__(self, block: Block, sources: Sources, haplotypes: Table, flank: int) -> None:
        self.anchors = haplotypes[:, 0]
        self.rows = along_record(block.alleles, haplotypes)
        alleles = padded(block.alleles, self.rows)
        is_anchor = self.rows == self.anchors[:, None]

        # Pieces of the record and alleles by turns, 2·D + 1 a window, and their letters.
        start, end = window_ends(alleles, is_anchor, flank, sources)
        self.record_starts = start
        self.record_ends = end
        pieces = by_turns(
            record_pieces(alleles, start, end, sources),
            allele_pieces(alleles, self.rows, sources),
        )
        flat = pieces.flat()
        bounds = bounds_of(flat.size)
        self.segments = Segments(bounds, flat.start, flat.end)
        self.letters = gather(sources.letters, flat.source, bounds)
        piece_start = bounds[:-1].reshape(pieces.size.shape)
        piece_count = pieces.size.shape[1]
        self.bounds = bounds[::piece_count]

        # Where alleles are in their windows.
        window_start = piece_start[:, :1]
        self._allele_start = piece_start[:, 1::2] - window_start
        self._allele_end = self._allele_start + alleles.size
        self.anchor_starts = self._allele_start[is_anchor]

    def lift(self, window: Longs, start: Longs, end: Longs) -> Lifted:
        """Return where hits are in the record.

        window, start, end: int64[n], the number of the window of each, and where it is there.
        """
        window_start = self.bounds[window]
        text_start = window_start + start
        text_end = window_start + end
        return self.segments.lift(text_start, text_end)

    def alleles_under(self, window: Longs, start: Longs, end: Longs) -> Table:
        """Return the alleles that hits overlap, int64[n, D], NONE in place of others.

        window, start, end: as `lift` takes them. A deletion is under a hit that has letters on
        either side of it.
        """
        begins_before = self._allele_start[window] < end[:, None]
        ends_behind = self._allele_end[window] > start[:, None]
        is_under = begins_before & ends_behind
        rows = self.rows[window]
        rows[~is_under] = NONE
        return rows


def along_record(alleles: Alleles, haplotypes: Table) -> Table:
    """Return the alleles of haplotypes, int64[n, D], in their order in the record, NONE behind."""
    # An insertion comes before what is replaced where it comes in.
    replaces_some = alleles.start < alleles.end
    place = 2 * alleles.start
    place[replaces_some] += 1
    places = place[haplotypes]
    places[haplotypes == NONE] = FOREVER
    order = np.argsort(places, axis=1)
    return np.take_along_axis(haplotypes, order, axis=1)


def padded(alleles: Alleles, rows: Table) -> Alleles:
    """Return the alleles of windows, int64[n, D], with what changes nothing in place of NONE.

    rows: int64[n, D], in order. What changes nothing is where the last allele ends.
    """
    site, start, end, size = alleles.take(rows)
    is_none = rows == NONE
    end[is_none] = 0
    end = np.maximum.accumulate(end, axis=1)
    start[is_none] = end[is_none]
    size[is_none] = 0
    return Alleles(site, start, end, size)


def window_ends(
    alleles: Alleles, is_anchor: Bools, flank: int, sources: Sources
) -> tuple[Longs, Longs]:
    """Return where windows begin and end in the record, int64[n] each.

    alleles: of each window in order, [n, D]; is_anchor: bool[n, D], one of each.

                        anchor
        |<-- flank -->|=======|<-- flank -->|      letters of the window
              ++                    ---            alleles beside the anchor add or delete some
    """
    growth = alleles.growth
    growth_through = np.cumsum(growth, axis=1)
    growth_before = growth_through - growth
    growth_behind = growth_through[:, -1:] - growth_through
    start = alleles.start - flank + growth_before
    end = alleles.end + flank - growth_behind
    # All alleles are shown, and no more than there is.
    first_start = alleles.start[:, 0]
    last_end = alleles.end[:, -1]
    start = np.clip(start[is_anchor], sources.record_start, first_start)
    end = np.clip(end[is_anchor], last_end, sources.record_end)
    return start, end


def merged(start: Longs, end: Longs, part: RecordPart) -> Segments:
    """Return the stretches of a record that intervals cover together.

    start, end: int64[n], of the record, which are cut to a part of it.
    """
    order = np.argsort(start)
    start = np.maximum(start[order], part.record_start)
    end = np.minimum(end[order], part.record_end)
    first_rows, end = unions(np.zeros_like(start), start, end)
    start = start[first_rows]
    return Segments(bounds_of(end - start), start, end)
