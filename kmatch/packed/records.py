"""Records laid out in chunks of bit planes, in a file or in memory."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kmatch.arrays import Bytes, Longs, Words, bounds_of, gather
from kmatch.engine.geometry import LANES_PER_WORD, Text
from kmatch.sequences.chunks import ChunkPlan, Spans
from kmatch.sequences.records import MOST, SHORT, STRETCH, Letters, Progress, Record, Stretch


class PackedRecords:
    """Records in chunks of planes, as a packed genome has them.

    label: how messages name it; size: bytes of the planes and of what comes with them; plan, words:
    as they were packed; names, sizes: of the records, and their letters, int64[n]; begins: the
    position of each one's first letter, int64[n]; offsets, lengths, rows: of each chunk's planes,
    the positions that it owns, and its rows.
    """

    label: str
    size: int
    plan: ChunkPlan
    words: int
    names: list[str]
    sizes: Longs
    begins: Longs
    offsets: list[int]
    lengths: list[int]
    rows: list[int]
    _ends: Longs  # positions behind the records
    _unpacked: tuple[int, Bytes] = -1, np.zeros(0, np.uint8)  # the number of a chunk, its letters

    def planes(self, number: int) -> Words:
        """The planes of a chunk, uint64[4·(rows + halo)·words] and SPARE bytes.

        Engines know planes by the array, so each call returns the same one.
        """
        raise NotImplementedError

    def check(self, number: int) -> None:
        """Raise InputError unless the planes of a chunk are as they were written."""

    def _positions(self, rows: int) -> int:
        return LANES_PER_WORD * self.words * rows

    def _plane_words(self, rows: int) -> int:
        return (rows + self.plan.halo) * self.words

    def text(self, number: int) -> Text:
        """The Text of a chunk."""
        rows = self.rows[number]
        return Text(self.planes(number), self.words, rows, self._plane_words(rows))

    def read_until(self, number: int) -> int:
        """Bytes up to the end of a chunk's planes."""
        return self.offsets[number] + 8 * 4 * self._plane_words(self.rows[number])

    def spans(self, number: int) -> Spans:
        """The Spans of a chunk."""
        base = number * self.plan.length
        shown = base + self.plan.length + self.plan.halo
        first = int(np.searchsorted(self._ends, base, side="right"))
        first = min(first, len(self.names) - 1)
        last = max(first + 1, int(np.searchsorted(self.begins, shown)))
        begins = self.begins[first:last] - base
        return Spans(first, self.names[first:last], begins, self.sizes[first:last])

    def records(self, on_progress: Progress | None = None) -> Iterator[Record]:
        """Yield the Records; their letters are unpacked when they are read."""
        for name, begin, size in zip(self.names, self.begins, self.sizes, strict=True):
            self._report(on_progress, int(begin))
            yield Record(name, PackedLetters(self, int(begin), int(size)))

    def stretches(self, on_progress: Progress | None = None) -> Iterator[Stretch]:
        """Yield the records as Stretches, short ones together."""
        short = self.sizes <= SHORT
        first, last = 0, len(short)
        while first < last:
            shown = self.begins[first] + STRETCH
            end = int(np.searchsorted(self.begins[: first + MOST], shown))
            end = max(first + 1, int(np.argmin(np.append(short[first:end], False))) + first)
            begin = int(self.begins[first])
            self._report(on_progress, begin)
            letters: Letters
            if end == first + 1:
                letters = PackedLetters(self, begin, int(self.sizes[first]))
            else:
                bounds = bounds_of(self.sizes[first:end])
                together = self.letters(begin, int(self._ends[end - 1]))
                letters = gather(together, self.begins[first:end] - begin, bounds)
            yield Stretch(self.names[first:end], self.sizes[first:end], letters)
            first = end

    def _report(self, on_progress: Progress | None, position: int) -> None:
        if on_progress and len(self.offsets):
            number = min(position // self.plan.length, len(self.offsets) - 1)
            on_progress(self.offsets[number], self.size)

    def letters(self, begin: int, end: int) -> Bytes:
        """The letters at positions begin … end − 1: A, C, G, T, and N for anything else."""
        letters = np.empty(end - begin, np.uint8)
        length = self.plan.length
        for number in range(begin // length, -(-end // length)):
            first, last = max(begin, number * length), min(end, (number + 1) * length)
            chunk = self._unpack(number)
            letters[first - begin : last - begin] = chunk[first % length :][: last - first]
        return letters

    def _unpack(self, number: int) -> Bytes:
        held, letters = self._unpacked  # read once: other threads may replace it
        if held != number:
            from kmatch.packed.unpack import unpack

            self.check(number)
            rows = self.rows[number]
            letters = np.empty(self._positions(rows), np.uint8)
            unpack(*self.text(number), letters)
            self._unpacked = number, letters
        return letters


class PackedLetters:
    """The Letters of a record of PackedRecords, which unpacks what is read."""

    dtype = np.dtype(np.uint8)

    def __init__(self, file: PackedRecords, begin: int, size: int) -> None:
        self._file, self._begin, self._size = file, begin, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> Bytes:
        first, last, step = part.indices(self._size)
        return self._file.letters(self._begin + first, self._begin + max(first, last))[::step]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype)
