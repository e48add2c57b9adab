"""Packed genomes: read, mapped into memory, and searched in the planes of the file."""

import mmap
import os
from collections.abc import Container, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kmatch.arrays import Bytes, Words, bounds_of, gather, look_up
from kmatch.engine.engine import read_text
from kmatch.engine.geometry import LANES_PER_WORD, Text, text_of
from kmatch.engine.types import LETTERS
from kmatch.errors import InputError
from kmatch.packed.writer import HEADER, INDEX, MAGIC, SPARE, TAIL, VERSION, crc32
from kmatch.sequences.chunks import ChunkPlan, LetterChunk, Spans
from kmatch.sequences.files import Source, StrPath
from kmatch.sequences.records import MOST, SHORT, STRETCH, Letters, Progress, RecordNames, Stretch

_NO_LETTERS = np.zeros(0, np.uint8)
_AGAIN = "copy it again, or pack the genome again"


def open_packed(path: StrPath, label: str) -> "PackedFile | None":
    """The PackedFile of a path; None for pipes and other files, and for what cannot be opened:
    reading records reports it."""
    # Opening a pipe would wait for its writer, and lose what is read here.
    path = path if os.path.isfile(path) else os.devnull
    with suppress(OSError), open(path, "rb") as handle:
        if handle.read(len(MAGIC)) == MAGIC:
            # Copied on writing, which never happens, but kernels are compiled for writeable arrays.
            return PackedFile(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_COPY), label)
    return None


def parts_of_pipe(source: Source) -> Iterator[Stretch]:
    """The Stretches of a packed genome in a pipe or a compressed file, which is read whole."""
    return PackedFile(bytearray(source.handle.read()), source.label).stretches()


class PackedFile:
    """A packed genome, mapped into memory; several processes may map one.

    data: the whole file; label: how messages name it. size: bytes of the file; plan, words: as it
    was packed; names, sizes: of the records, and their letters, int64[n]; begins: the position of
    each one's first letter, int64[n]; offsets, lengths, rows: of each chunk's planes, the positions
    that it owns, and its rows; checksum: of the index. Raises InputError for a file that is cut,
    damaged, or of a newer version.
    """

    def __init__(self, data: mmap.mmap | bytearray, label: str) -> None:
        self.label, self.size, self._data = label, len(data), data
        if self.size < len(HEADER) + SPARE + INDEX.size + TAIL.size:
            raise self._damaged("is cut")
        version = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 4], "little")
        if version > VERSION:
            raise InputError(
                f"{label}: a packed genome of version {version}, and this kmatch reads version "
                f"{VERSION}; use a newer kmatch, or pack the genome again"
            )
        if data[: len(HEADER)] != HEADER:
            raise self._damaged("is damaged in its first bytes")
        end = self.size - TAIL.size
        begin, self.checksum, version, magic = TAIL.unpack(data[end:])
        if magic != MAGIC or version != VERSION:
            raise self._damaged("is cut or damaged at its end")
        tail = data[begin:end] if len(HEADER) <= begin <= end - SPARE - INDEX.size else b""
        if not tail or crc32(tail) != self.checksum or not self._read_index(bytes(tail), begin):
            raise self._damaged("is damaged in its index")
        self.planes = cache(self._planes_of)  # engines know planes by the array
        self.check = cache(self._check)
        self._letters_of = lru_cache(1)(self._unpacked)

    def _damaged(self, what: str) -> InputError:
        return InputError(f"{self.label}: the packed genome {what}; {_AGAIN}")

    def _read_index(self, tail: bytes, end: int) -> bool:
        """Take the index, which begins behind SPARE zeros; end: of the planes.

        Returns whether chunks are in the file, and records in the chunks: kernels check no bounds.
        """
        numbers = INDEX.unpack_from(tail, SPARE)
        self.words, length, halo, gap, chunks, records, letters, _ = numbers
        at, size = SPARE + INDEX.size, 32 * chunks + 24 * records + letters
        if min(numbers) < 0 or not self.words or not length or at + size != len(tail):
            return False
        self.plan = ChunkPlan(length, halo, gap, lead=halo)
        table = np.frombuffer(tail, "<i8", 4 * chunks, at).reshape(-1, 4)
        self.offsets, self.lengths, self.rows, self._sums = table.T.tolist()
        at += table.nbytes
        table = np.frombuffer(tail, "<i8", 3 * records, at).reshape(-1, 3)
        self.begins, self.sizes, ends = np.ascontiguousarray(table.T, np.int64)
        self._ends = self.begins + self.sizes
        names = np.frombuffer(tail, np.uint8, letters, at + table.nbytes)
        self.names = RecordNames(np.concatenate([[0], ends]), names)
        positions = sum(self.lengths)
        return (
            all(owned == length for owned in self.lengths[:-1])
            and all(
                len(HEADER) <= offset <= end - 32 * self._plane_words(rows)
                and offset % 8 == 0
                and 0 <= owned <= LANES_PER_WORD * self.words * rows
                for offset, rows, owned in zip(self.offsets, self.rows, self.lengths, strict=True)
            )
            and bool(
                (np.diff(self.begins, prepend=0, append=positions) >= 0).all()
                and (self.sizes >= 0).all()
                and (self.sizes <= positions - self.begins).all()
                and (np.diff(ends, prepend=0, append=letters) >= 0).all()
            )
            and bool(records or not chunks)
        )

    def _planes_of(self, number: int) -> Words:
        """The planes of a chunk, uint64[4·(rows + halo)·words] and SPARE bytes."""
        words = 4 * self._plane_words(self.rows[number]) + SPARE // 8
        return np.frombuffer(self._data, "<u8", words, self.offsets[number])

    def _check(self, number: int) -> None:
        """Raise InputError unless the planes of a chunk are as they were written."""
        if crc32(self.planes(number)[: -SPARE // 8]) != self._sums[number]:
            raise self._damaged(f"is damaged in its chunk {number}")

    def _plane_words(self, rows: int) -> int:
        return (rows + self.plan.halo) * self.words

    def text(self, number: int) -> Text:
        """The Text of a chunk."""
        rows = self.rows[number]
        return Text(self.planes(number), self.words, rows, self._plane_words(rows))

    def spans(self, number: int) -> Spans:
        """The Spans of a chunk."""
        base = number * self.plan.length
        shown = base + self.plan.length + self.plan.halo
        first = int(np.searchsorted(self._ends, base))
        first = min(first, len(self.names) - 1)
        last = max(first + 1, int(np.searchsorted(self.begins, shown)))
        begins = self.begins[first:last] - base
        return Spans(first, self.names[first:last], begins, self.sizes[first:last])

    def stretches(
        self, on_progress: Progress | None = None, first: int = 0, last: int | None = None
    ) -> Iterator[Stretch]:
        """Yield the records as Stretches, short ones together; first, last: the number of the first
        one and that behind the last, None for all."""
        short = self.sizes[:last] <= SHORT
        last = len(short)
        while first < last:
            shown = self.begins[first] + STRETCH
            end = int(np.searchsorted(self.begins[: first + MOST], shown))
            end = max(first + 1, int(np.argmin(np.append(short[first:end], False))) + first)
            begin = int(self.begins[first])
            if on_progress and self.offsets:
                number = min(begin // self.plan.length, len(self.offsets) - 1)
                on_progress(self.offsets[number], self.size)
            letters: Letters
            if end == first + 1:
                letters = PackedLetters(self, begin, int(self.sizes[first]))
            else:
                bounds = bounds_of(self.sizes[first:end])
                together = self.letters(begin, int(self._ends[end - 1]))
                letters = gather(together, self.begins[first:end] - begin, bounds)
            yield Stretch(self.names[first:end], self.sizes[first:end], letters)
            first = end

    def letters(self, begin: int, end: int) -> Bytes:
        """The letters at positions begin … end − 1: A, C, G, T, and N for anything else."""
        letters = np.empty(end - begin, np.uint8)
        length = self.plan.length
        for number in range(begin // length, -(-end // length)):
            first, last = max(begin, number * length), min(end, (number + 1) * length)
            chunk = self._letters_of(number)
            letters[first - begin : last - begin] = chunk[first % length :][: last - first]
        return letters

    def _unpacked(self, number: int) -> Bytes:
        """The letters of a chunk."""
        self.check(number)
        text, masks = self.text(number), np.empty(self.lengths[number], np.uint8)
        read_text(np.array([0, text.words]), text, masks)
        return look_up(masks, LETTERS)


class PackedLetters:
    """The Letters of a record of PackedFile, which unpacks what is read."""

    dtype = np.dtype(np.uint8)

    def __init__(self, file: PackedFile, begin: int, size: int) -> None:
        self._file, self._begin, self._size = file, begin, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> Bytes:
        first, last, step = part.indices(self._size)
        return self._file.letters(self._begin + first, self._begin + max(first, last))[::step]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype)


def serves(file: PackedFile, plan: ChunkPlan, words: int | None) -> bool:
    """Whether the chunks of a PackedFile can be searched instead of those of a ChunkPlan.

    words: in a row, None if the search takes any number.
    """
    return plan.halo <= file.plan.halo and plan.gap <= file.plan.gap and words in (None, file.words)


def stored_chunks(
    file: PackedFile,
    on_progress: Progress | None = None,
    named: Container[str] | None = None,
) -> Iterator[tuple[LetterChunk, Text]]:
    """Yield (LetterChunk without letters, Text) for each chunk of a PackedFile.

    named: names of records; chunks that show none of these are left out. Checksums have been
    compared by then.
    """
    numbers = [
        number
        for number in range(len(file.lengths))
        if named is None or any(name in named for name in file.spans(number).names)
    ]
    for turn, number in enumerate(numbers):
        for soon in numbers[turn : turn + 2]:
            file.check(soon)
        if on_progress:
            on_progress(file.offsets[number] + file.planes(number).nbytes - SPARE, file.size)
        base = number * file.plan.length
        yield (
            LetterChunk(base, _NO_LETTERS, file.lengths[number], file.spans(number)),
            text_of(file.planes(number), file.words, file.rows[number], file.plan.halo),
        )
