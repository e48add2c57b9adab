"""Records joined into chunks of letters: short ones share a chunk, long ones are cut.

A genome is laid out as its records one after another, with empty letters between them. A base is a
position in this layout.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of, gather
from kmatch.sequences.records import Letters, RecordNames, Stretch, gathered


class ChunkPlan(NamedTuple):
    """How a genome is cut into chunks.

    length: positions that a chunk owns; halo: letters that it shows of the next one; gap: empty
    letters between records; lead: empty letters before the first record.
    """

    length: int
    halo: int
    gap: int
    lead: int = 0


class Spans(NamedTuple):
    """Where records are in a chunk.

    names[i] is the name of record first + i; its letter 0 is at position begins[i] of the chunk
    (negative if it began in an earlier chunk), and it has lengths[i] letters. Letters that this
    chunk does not show may be left out.
    """

    first: int
    names: RecordNames
    begins: Longs
    lengths: Longs


class LetterChunk(NamedTuple):
    """The letters that a chunk owns, `length` of them, the halo, and the records they belong to.

    base: of the chunk's first letter; letters: ASCII codes, 0 where there is no text. The array is
    used again for the next chunk.
    """

    base: int
    letters: Bytes
    length: int
    spans: Spans


def join_records(
    parts: Iterable[Stretch], plan: ChunkPlan, first: int = 0
) -> Iterator[LetterChunk]:
    """Yield the LetterChunks of Stretches.

    Every chunk but the last owns `plan.length` letters; first: the number of the first record.
    """
    capacity = plan.length + plan.halo
    letters = np.zeros(capacity, np.uint8)  # of which a small genome touches few
    layout = _Layout(plan, first)
    filled = plan.lead
    has_records = False
    for stretch in gathered(parts):
        has_records = True
        text = _with_gaps(stretch, plan.gap)
        filled += layout.add(stretch, filled)
        done = 0
        while done < len(text):
            while filled >= capacity:
                yield layout.chunk(letters, plan.length)
                _move_on(letters, filled, layout, plan)
                filled -= plan.length
            step = min(len(text) - done, capacity - filled)
            letters[filled : filled + step] = text[done : done + step]
            done += step
            filled += step

    # Records that have no letter at all are shown by a chunk of one empty position.
    if layout.base == 0:
        filled = max(filled, 1)

    # The last chunk is let be, as to empty it takes as long as to fill it.
    while has_records and filled > 0:
        yield layout.chunk(letters, min(filled, plan.length))
        if filled > plan.length:
            _move_on(letters, filled, layout, plan)
        filled -= plan.length


def _with_gaps(stretch: Stretch, gap: int) -> Letters:
    """Return the letters of a Stretch, with `gap` zeros between records that are not empty."""
    if len(stretch.lengths) == 1:
        return stretch.letters
    filled = np.flatnonzero(stretch.lengths)
    begins = bounds_of(stretch.lengths)[filled]
    zeros = np.full(len(filled), len(stretch.letters))  # where they begin, behind the letters
    gaps = np.full(len(filled), gap)
    rows = np.stack([begins, zeros], axis=1).reshape(-1)[:-1]
    sizes = np.stack([stretch.lengths[filled], gaps], axis=1).reshape(-1)[:-1]
    return gather(np.append(stretch.letters, np.zeros(gap, np.uint8)), rows, bounds_of(sizes))


def _move_on(letters: Bytes, filled: int, layout: "_Layout", plan: ChunkPlan) -> None:
    """Drop the owned letters: the next chunk begins with the letters of the halo."""
    shown = letters[plan.length : plan.length + plan.halo]
    letters[: len(shown)] = shown
    letters[len(shown) : max(filled, plan.halo)] = 0  # what lies behind is empty
    layout.base += plan.length


class _Layout:
    """Where the records are that later chunks may show.

    base: of the next chunk's first letter; first: the number of the first of these records.
    """

    def __init__(self, plan: ChunkPlan, first: int) -> None:
        self.base = 0
        self.first = first
        self._plan = plan
        self._names: list[RecordNames] = []
        self._begins = [np.zeros(0, np.int64)]
        self._lengths = [np.zeros(0, np.int64)]

    def add(self, stretch: Stretch, filled: int) -> int:
        """Add the records of a Stretch, behind so many letters of the chunk; returns how many empty
        letters come between."""
        if stretch.goes_on:
            self._lengths[-1][-1] += stretch.lengths[0]
            return 0
        lengths = stretch.lengths.copy()
        before = self._plan.gap if filled and len(stretch.letters) else 0
        self._names.append(stretch.names)
        self._begins.append(self.base + filled + before + self._offsets(lengths))
        self._lengths.append(lengths)
        return before

    def _offsets(self, lengths: Longs) -> Longs:
        """Return where each record begins behind the first letter of all, int64[r].

        A gap is before each record that has letters, but for the first of these.
        """
        if len(lengths) == 1:
            return np.zeros(1, np.int64)
        gaps = np.where(lengths > 0, self._plan.gap, 0)
        gaps[np.argmax(lengths > 0)] = 0
        return np.cumsum(gaps + lengths) - lengths

    def chunk(self, letters: Bytes, length: int) -> LetterChunk:
        """Return the LetterChunk of the letters from `base` on, of which it owns `length`.

        Records that ended before are dropped, but for the last one, which may go on.
        """
        names = RecordNames.joined(self._names)
        begins, lengths = np.concatenate(self._begins), np.concatenate(self._lengths)
        gone = min(int(np.searchsorted(begins + lengths, self.base)), len(begins) - 1)
        names, begins, lengths = names[gone:], begins[gone:], lengths[gone:]
        self._names, self._begins, self._lengths = [names], [begins], [lengths]
        self.first += gone
        # An empty record may begin right after the last letter.
        end = self.base + self._plan.length + self._plan.halo
        high = max(int(np.searchsorted(begins, end, side="right")), 1)
        spans = Spans(self.first, names[:high], begins[:high] - self.base, lengths[:high].copy())
        return LetterChunk(self.base, letters, length, spans)
