"""Packed genomes: read, mapped into memory, and searched in the planes of the file."""

import mmap
from collections.abc import Container, Iterator
from contextlib import suppress
from copy import copy
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kmatch.arrays import Bools, Bytes, Longs, Table, Words, bounds_of, gather, look_up
from kmatch.engine.engine import read_text
from kmatch.engine.geometry import LANES_PER_WORD, Text
from kmatch.engine.types import LETTERS
from kmatch.errors import InputError
from kmatch.packed.writer import (
    CHUNK_NUMBERS,
    FIRST_VERSION,
    HEADER,
    INDEX,
    MAGIC,
    NUMBER_BYTES,
    RECORD_NUMBERS,
    SPARE,
    TAIL,
    UNKNOWN_NUMBERS,
    VERSION,
    IndexNumbers,
    crc32,
    header_of,
)
from kmatch.sequences.chunks import ChunkPlan, LetterChunk, Spans
from kmatch.sequences.files import Source, StrPath
from kmatch.sequences.records import MOST, SHORT, STRETCH, Letters, Progress, RecordNames, Stretch
from kmatch.sequences.unknown import UnknownLetters, unknown_letters

_NO_LETTERS = np.zeros(0, np.uint8)
_AGAIN = "copy it again, or pack the genome again"


def open_packed(path: StrPath, label: str) -> "PackedFile | None":
    """Return the PackedFile of a file that begins with MAGIC; None where it cannot be opened any
    more, which reading records reports."""
    with suppress(OSError), open(path, "rb", buffering=0) as handle:
        # Copied on writing, which never happens, but kernels are compiled for writeable arrays.
        data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_COPY)
        return PackedFile(data, label)
    return None


def parts_of_pipe(source: Source) -> Iterator[Stretch]:
    """Return the Stretches of a packed genome in a pipe or a compressed file, which is read
    whole."""
    data = bytearray(source.handle.read())
    return PackedFile(data, source.label).stretches()


class StoredChunk(NamedTuple):
    """A chunk of a packed genome.

    offset: where its planes begin in the file; length: positions that it owns; rows: that a lane
    owns; checksum: of its planes.
    """

    offset: int
    length: int
    rows: int
    checksum: int


class PackedFile:
    """A packed genome, mapped into memory; several processes may map one.

    data: the whole file; label: how messages name it. size: bytes of the file; plan, words: as it
    was packed; version: of the file; names, sizes: of the records, and their letters, int64[n];
    begins: the position of each one's first letter, int64[n]; unknown: its UnknownLetters, by
    position, none of version 1; chunks: its StoredChunks, and lengths: theirs; checksum: of the
    index. Raises InputError for a file that is cut, damaged, or of a newer version.
    """

    def __init__(self, data: mmap.mmap | bytearray, label: str) -> None:
        self.label = label
        self.size = len(data)
        self._data = data
        least = len(HEADER) + SPARE + INDEX.size + TAIL.size
        if self.size < least:
            raise self._damaged("is cut")
        version_bytes = data[len(MAGIC) : len(MAGIC) + 4]
        version = int.from_bytes(version_bytes, "little")
        if version > VERSION:
            raise InputError(
                f"{label}: a packed genome of version {version}, and this kmatch reads version "
                f"{VERSION}; use a newer kmatch, or pack the genome again"
            )
        if version < FIRST_VERSION or data[: len(HEADER)] != header_of(version):
            raise self._damaged("is damaged in its first bytes")
        index_end = self.size - TAIL.size
        planes_end, self.checksum, last_version, magic = TAIL.unpack(data[index_end:])
        if magic != MAGIC or last_version != version:
            raise self._damaged("is cut or damaged at its end")
        tail = b""
        if len(HEADER) <= planes_end <= index_end - SPARE - INDEX.size:
            tail = bytes(data[planes_end:index_end])
        self.version = version
        is_whole = bool(tail) and crc32(tail) == self.checksum
        if not is_whole or not self._read_index(tail, planes_end):
            raise self._damaged("is damaged in its index")
        self.planes = cache(self._planes_of)  # engines know planes by the array
        self.check = cache(self._check)
        self._letters_of = lru_cache(1)(self._unpacked)

    def only(self, is_wanted: Bools) -> "PackedFile":
        """Return the same planes with some of the records alone, bool[n]; others are like gaps."""
        rows = np.flatnonzero(is_wanted)
        some = copy(self)
        some.names = RecordNames.of([self.names[row] for row in rows.tolist()])
        some.begins = self.begins[rows]
        some.sizes = self.sizes[rows]
        some._ends = self._ends[rows]
        return some

    def _damaged(self, what: str) -> InputError:
        return InputError(f"{self.label}: the packed genome {what}; {_AGAIN}")

    def _read_index(self, tail: bytes, planes_end: int) -> bool:
        """Take the index, which begins behind SPARE zeros; planes_end: where planes do in the file.

        Returns whether chunks are in the file, and records in the chunks: kernels check no bounds.
        """
        numbers = IndexNumbers(*INDEX.unpack_from(tail, SPARE))
        if min(numbers) < 0 or not numbers.words or not numbers.length:
            return False
        self.words = numbers.words
        self.plan = ChunkPlan(numbers.length, numbers.halo, numbers.gap, lead=numbers.halo)

        # Where the tables of chunks, of records and of unknown letters and the names begin.
        chunks_start = SPARE + INDEX.size
        records_start = chunks_start + NUMBER_BYTES * CHUNK_NUMBERS * numbers.chunks
        unknown_start = records_start + NUMBER_BYTES * RECORD_NUMBERS * numbers.records
        names_start = unknown_start + NUMBER_BYTES * UNKNOWN_NUMBERS * numbers.stretches
        if names_start + numbers.name_bytes != len(tail):
            return False

        # The chunks.
        chunk_columns = _columns(tail, chunks_start, CHUNK_NUMBERS, numbers.chunks)
        self.chunks = [StoredChunk(*row) for row in chunk_columns.T.tolist()]
        self.lengths = [chunk.length for chunk in self.chunks]

        # The records and their names.
        record_columns = _columns(tail, records_start, RECORD_NUMBERS, numbers.records)
        self.begins, self.sizes, name_ends = record_columns
        self._ends = self.begins + self.sizes
        name_bounds = np.concatenate([np.zeros(1, np.int64), name_ends])
        self.names = RecordNames(name_bounds, np.frombuffer(tail, np.uint8, -1, names_start))

        # The unknown letters.
        unknown_columns = _columns(tail, unknown_start, UNKNOWN_NUMBERS, numbers.stretches)
        unknown_begin, unknown_size, letter = unknown_columns
        unknown_end = unknown_begin + unknown_size
        self.unknown = UnknownLetters(unknown_begin, unknown_end, letter.astype(np.uint8))
        return (
            self._chunks_fit(planes_end)
            and self._records_fit()
            and self._unknown_fits(letter)
            and _ascends(name_ends, numbers.name_bytes)
            and (numbers.records > 0 or numbers.chunks == 0)
        )

    def _chunks_fit(self, planes_end: int) -> bool:
        """Return whether the planes of all chunks are in the file, and their own positions in
        these."""
        for chunk in self.chunks:
            last_offset = planes_end - 32 * self._plane_words(chunk.rows)
            if not len(HEADER) <= chunk.offset <= last_offset or chunk.offset % 8:
                return False
            most = LANES_PER_WORD * self.words * chunk.rows
            if not 0 <= chunk.length <= most:
                return False
        return all(length == self.plan.length for length in self.lengths[:-1])

    def _records_fit(self) -> bool:
        """Return whether records come in order, and are where chunks own positions."""
        positions = sum(self.lengths)
        is_inside = self.sizes <= positions - self.begins
        fits = bool((is_inside & (self.sizes >= 0)).all())
        return fits and _ascends(self.begins, positions)

    def _unknown_fits(self, letter: Longs) -> bool:
        """Return whether stretches of unknown letters come in order, where chunks own positions.

        letter: int64[n], as in the file.
        """
        begin = self.unknown.begin
        end = self.unknown.end
        places = np.stack([begin, end], axis=1).reshape(-1)
        are_letters = (letter > ord(" ")) & (letter <= ord("~"))
        is_ordered = _ascends(places, sum(self.lengths)) and bool((begin < end).all())
        return is_ordered and bool(are_letters.all())

    def _planes_of(self, number: int) -> Words:
        """Return the planes of a chunk, uint64[4·(rows + halo)·words] and SPARE bytes."""
        chunk = self.chunks[number]
        words = 4 * self._plane_words(chunk.rows) + SPARE // 8
        return np.frombuffer(self._data, "<u8", words, chunk.offset)

    def _check(self, number: int) -> None:
        """Raise InputError unless the planes of a chunk are as they were written."""
        planes = self.planes(number)[: -SPARE // 8]
        if crc32(planes) != self.chunks[number].checksum:
            raise self._damaged(f"is damaged in its chunk {number}")

    def _plane_words(self, rows: int) -> int:
        return (rows + self.plan.halo) * self.words

    def text(self, number: int) -> Text:
        """Return the Text of a chunk."""
        rows = self.chunks[number].rows
        return Text(self.planes(number), self.words, rows, self._plane_words(rows))

    def spans(self, number: int) -> Spans:
        """Return the Spans of a chunk: the records that it shows.

        chunk            base |==== length ====|~~ halo ~~| end
        records      |--a--|    |-b-|        |--c--|   |--d--|  |--e--|
        shown            a        b             c         d
        """
        base = number * self.plan.length
        first, last = self._shown(number)
        # A chunk without letters of any shows the next one, or the last.
        first = min(first, len(self.names) - 1)
        last = max(last, first + 1)
        shown = slice(first, last)
        begins = self.begins[shown] - base
        return Spans(first, self.names[shown], begins, self.sizes[shown])

    def _shown(self, number: int) -> tuple[int, int]:
        """Return the first record that a chunk shows, and the one behind the last."""
        base = number * self.plan.length
        end = base + self.plan.length + self.plan.halo
        return _count_before(self._ends, base), _count_before(self.begins, end)

    def shows_records(self, number: int) -> bool:
        """Return whether a chunk shows any record."""
        first, last = self._shown(number)
        return first < last

    def stretches(
        self, on_progress: Progress | None = None, first: int = 0, last: int | None = None
    ) -> Iterator[Stretch]:
        """Yield the records as Stretches, short ones together.

        first, last: the number of the first record and that behind the last, None for all.

        records     |-a-|  |--b--|  |-c-|  |----------- d -----------|  |-e-|
        Stretches   [  a, b, c: letters  ]  [ d: unpacked when read   ]  [ e ]
        """
        last = len(self.sizes[:last])
        while first < last:
            end = self._stretch_end(first, last)
            begin = int(self.begins[first])
            if on_progress and self.chunks:
                number = begin // self.plan.length
                chunk = self.chunks[min(number, len(self.chunks) - 1)]
                on_progress(chunk.offset, self.size)
            letters: Letters
            if end > first + 1:
                letters = self._joined_letters(first, end)
            else:
                size = int(self.sizes[first])
                letters = PackedLetters(self, begin, size)
            records = slice(first, end)
            yield Stretch(self.names[records], self.sizes[records], letters)
            first = end

    def _stretch_end(self, first: int, last: int) -> int:
        """Return the number behind the last record of the Stretch that begins with the first one.

        Records are together that are short, no more than MOST, and begin within STRETCH positions.
        One that is not short is alone. last: the number behind the last of all.
        """
        stretch_end = int(self.begins[first]) + STRETCH
        end = _count_before(self.begins[: first + MOST], stretch_end)
        end = min(end, last)
        is_long = self.sizes[first:end] > SHORT
        if is_long.any():
            end = first + int(is_long.argmax())
        return max(end, first + 1)

    def _joined_letters(self, first: int, last: int) -> Bytes:
        """Return the letters of some records, one after another.

        in the file   a a a . . b b b b . . c c
        joined        a a a b b b b c c
        """
        begin = int(self.begins[first])
        end = int(self._ends[last - 1])
        with_gaps = self.letters(begin, end)
        begins = self.begins[first:last] - begin
        bounds = bounds_of(self.sizes[first:last])
        return gather(with_gaps, begins, bounds)

    def unknown_of(self, chunk: LetterChunk) -> UnknownLetters:
        """Return the UnknownLetters that a chunk shows, counted from its first position."""
        end = chunk.base + chunk.length + self.plan.halo
        if self.version > FIRST_VERSION:
            return self.unknown.between(chunk.base, end).moved(-chunk.base)
        # All that is in no plane is N, where there is a record.
        letters = self.letters(chunk.base, min(end, sum(self.lengths)))
        steps = np.zeros(len(letters) + 1, np.int64)
        begins = chunk.spans.begins
        np.add.at(steps, np.clip(begins, 0, len(letters)), 1)
        np.add.at(steps, np.clip(begins + chunk.spans.lengths, 0, len(letters)), -1)
        letters[np.cumsum(steps[:-1]) == 0] = 0
        return unknown_letters(letters)

    def letters(self, begin: int, end: int) -> Bytes:
        """Return the letters at positions begin … end − 1, in upper case, and N between records.

        positions       begin |----------------------------| end
        chunks       |---------|---------|---------|---------|
        parts                 |-|--------|---------|-------|
        """
        letters = np.empty(end - begin, np.uint8)
        length = self.plan.length
        for number in range(begin // length, -(-end // length)):
            base = number * length
            part_start = max(begin, base)
            part_end = min(end, base + length)
            chunk = self._letters_of(number)
            part = chunk[part_start - base : part_end - base]
            letters[part_start - begin : part_end - begin] = part
        return letters

    def _unpacked(self, number: int) -> Bytes:
        """Return the letters of a chunk."""
        self.check(number)
        text = self.text(number)
        masks = np.empty(self.lengths[number], np.uint8)
        read_text(np.array([0, text.words]), text, masks)
        letters = look_up(masks, LETTERS)
        self.unknown.write(letters, number * self.plan.length)
        return letters


def _columns(tail: bytes, start: int, width: int, rows: int) -> Table:
    """Return the columns of a table of the index, int64[width, rows]; start: of it in the tail."""
    numbers = np.frombuffer(tail, "<i8", width * rows, start)
    return np.ascontiguousarray(numbers.reshape(rows, width).T, np.int64)


def _ascends(places: Longs, end: int) -> bool:
    """Return whether places, from 0 to an end, come in order."""
    steps = np.diff(places, prepend=0, append=end)
    return bool((steps >= 0).all())


def _count_before(places: Longs, end: int) -> int:
    """Return how many places, which ascend, are before an end."""
    return int(np.searchsorted(places, end))


class PackedLetters:
    """The Letters of a record of PackedFile, which unpacks the slices that are read."""

    dtype = np.dtype(np.uint8)

    def __init__(self, file: PackedFile, begin: int, size: int) -> None:
        self._file = file
        self._begin = begin
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> Bytes:
        first, last, step = part.indices(self._size)
        begin = self._begin + first
        end = self._begin + max(first, last)
        letters = self._file.letters(begin, end)
        return letters[::step]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype)


def serves(file: PackedFile, plan: ChunkPlan, words: int | None) -> bool:
    """Return whether the chunks of a PackedFile can be searched instead of a ChunkPlan's.

    words: in a row, None if the search takes any number.
    """
    if plan.halo > file.plan.halo or plan.gap > file.plan.gap:
        return False
    return words is None or words == file.words


def stored_chunks(
    file: PackedFile,
    on_progress: Progress | None = None,
    named: Container[str] | None = None,
) -> Iterator[tuple[LetterChunk, Text]]:
    """Yield (LetterChunk without letters, Text) for each chunk of a PackedFile.

    named: names of records; chunks that show none of these, or no record, are left out. Checksums
    have been compared by then.
    """
    numbers = [number for number in range(len(file.chunks)) if file.shows_records(number)]
    if named is not None:
        numbers = [number for number in numbers if _shows(file.spans(number), named)]
    for turn, number in enumerate(numbers):
        for soon in numbers[turn : turn + 2]:  # the next one while others search this one
            file.check(soon)
        stored = file.chunks[number]
        if on_progress:
            planes_end = stored.offset + file.planes(number).nbytes - SPARE
            on_progress(planes_end, file.size)
        base = number * file.plan.length
        chunk = LetterChunk(base, _NO_LETTERS, stored.length, file.spans(number))
        yield chunk, file.text(number)


def _shows(spans: Spans, named: Container[str]) -> bool:
    return any(name in named for name in spans.names)
