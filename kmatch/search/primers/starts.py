"""The starts of all primers in a target, and those that were found."""

from collections.abc import Iterator

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.engine.types import UNKNOWN, Starts
from kmatch.genome import Genome
from kmatch.results.batches import PrimerBatch
from kmatch.search.primers.background import COMPLEMENT, LETTER_CODES
from kmatch.sequences.chunks import Spans

# Letters of records whose primers are put in order at a time, unless one has more.
TOGETHER = 1 << 20
_NONE = np.zeros(0, np.int64)


class TargetStarts:
    """The starts of all target records; those of the strand `-` follow, in reversed order.

    known: the Starts of all of them, whose bounds engines raise; lengths: the letters that a primer
    has at least, and at most or None.
    """

    def __init__(self, target: Genome, lengths: tuple[int, int | None], both: bool) -> None:
        stretches = list(target.whole_parts())
        self._names = [name for stretch in stretches for name in stretch.names]
        self._bounds = bounds_of(np.concatenate([_NONE, *(part.lengths for part in stretches)]))
        found = [LETTER_CODES[part.letters] for part in stretches]
        self._codes: Bytes = np.concatenate([np.zeros(0, np.uint8), *found])
        self._both = both
        least, most = lengths
        codes, begins = self._codes, self._bounds
        if both:  # as the reverse complement of the whole
            codes = np.concatenate([codes, COMPLEMENT[codes[::-1]]])
            begins = np.concatenate([begins, 2 * begins[-1] - begins[-2::-1]])
        masks = np.where(codes < UNKNOWN, 1 << codes, 0).astype(np.uint8)
        limits = np.repeat(begins[1:], np.diff(begins)) - np.arange(len(codes))
        if most is not None:
            np.minimum(limits, most, out=limits)
        # The engine goes on from the bounds known so far.
        self.known = Starts(masks, begins, limits, np.minimum(least, limits + 1))

    @property
    def spans(self) -> Spans:
        """The records, as those of a chunk that holds all."""
        return Spans(0, self._names, self._bounds[:-1], np.diff(self._bounds))

    def batches(self) -> Iterator[PrimerBatch]:
        """Yield the PrimerBatch of each record that has primers."""
        first = 0
        while first < len(self._names):
            upto = np.searchsorted(self._bounds, self._bounds[first] + TOGETHER, side="right") - 1
            last = max(int(upto), first + 1)
            yield from self._of_records(first, last)
            first = last

    def _of_records(self, first: int, last: int) -> Iterator[PrimerBatch]:
        """Yield the PrimerBatches of the records from `first` up to `last`."""
        whole = self._bounds[[first, last]].tolist()
        start, end = self._found(*whole)
        minus = np.zeros(len(start), np.uint8)
        if self._both:
            turned = self._turned(*whole)
            minus = np.repeat(np.arange(2, dtype=np.uint8), [len(start), len(turned[0])])
            start, end = np.concatenate([start, turned[0]]), np.concatenate([end, turned[1]])
        # Positions in all records together: their order is that of the records too.
        regions = _regions(start, end, minus, self._bounds[first : last + 1])
        order = np.lexsort((minus, end, start))
        start, end, minus = start[order], end[order], minus[order]
        rows = np.searchsorted(start, self._bounds[first : last + 1])
        runs = np.searchsorted(regions[:, 0], self._bounds[first : last + 1])
        for at in np.flatnonzero(np.diff(rows)).tolist():
            here, there = slice(rows[at], rows[at + 1]), slice(runs[at], runs[at + 1])
            begin, stop = self._bounds[first + at : first + at + 2].tolist()
            yield PrimerBatch(
                record=first + at,
                name=self._names[first + at],
                start=start[here] - begin,
                end=end[here] - begin,
                minus=minus[here],
                codes=self._codes[begin:stop],
                regions=regions[there] - (begin, begin, 0),
            )

    def _found(self, begin: int, end: int) -> tuple[Longs, Longs]:
        """(start, end) of the primers that start at `begin` … `end` − 1 of all starts."""
        bounds, limits = self.known.bounds[begin:end], self.known.limits[begin:end]
        start = begin + np.flatnonzero(bounds <= limits)
        return start, start + self.known.bounds[start]

    def _turned(self, begin: int, end: int) -> tuple[Longs, Longs]:
        """(start, end) of the primers on `-` at these positions of the strand `+`."""
        whole = len(self.known.bounds)
        start, stop = self._found(whole - end, whole - begin)
        return (whole - stop)[::-1], (whole - start)[::-1]


def _regions(start: Longs, end: Longs, minus: Bytes, bounds: Longs) -> Longs:
    """Runs of positions of a record that are the first of a primer, int64[r, 3], sorted: start, end
    and strand. start, end: in order on each strand, `+` first; bounds: where records begin."""
    first = np.where(minus, end - 1, start)
    record = np.searchsorted(bounds, first, side="right")
    new = np.diff(first, prepend=-2) != 1
    new |= np.diff(record, prepend=-1) != 0
    new |= np.diff(minus, prepend=2) != 0
    begins = np.flatnonzero(new)
    last = np.append(begins, len(first))[1:] - 1
    runs = np.stack([first[begins], first[last] + 1, minus[begins]], axis=1).astype(np.int64)
    return runs[np.lexsort((runs[:, 2], runs[:, 1], runs[:, 0]))]
