"""The packed genome: a file of bit planes, names and lengths that is mapped into memory.

Version 1, little-endian, without padding:

- PACKED, the version as uint32, zeros up to HEADER bytes;
- the planes A, C, G and T of one chunk after another, as `kmatch.engine.geometry` lays them out;
- SPARE zero bytes, which kernels may read;
- the index: int64[8], (words, length, halo, gap, chunks, records, bytes of names, 0); for each
  chunk int64[4], (where its planes begin, positions it owns, rows that a lane owns, the CRC-32 of
  its planes); for each record int64[3], (the place of its first letter, its letters, where its
  name ends among the names); the names in UTF-8, one after another;
- where the zeros before the index begin, uint64, the CRC-32 of all that comes after them up to
  here, uint32, the version, uint32, and PACKED.

A row holds `words` words of 64 lanes. Every chunk but the last owns `length` positions and shows
`halo` more; the first one begins with `halo` empty positions, and `gap` of them part records. A
place is a position of the genome laid out so.
"""

import mmap
import os
import stat
import struct
import sys
from array import array
from contextlib import contextmanager

import numpy as np

from kmatch.arrays import bounds_of, gather
from kmatch.errors import InputError
from kmatch.sequences.chunks import ChunkPlan, Spans
from kmatch.sequences.reading import PACKED
from kmatch.sequences.records import MOST, SHORT, STRETCH, Record, Stretch

try:
    from isal.isal_zlib import crc32  # comes with xopen on most machines, four times as fast
except ImportError:
    from zlib import crc32

VERSION = 1
HEADER = 64
SPARE = 512  # bytes
LANES_PER_WORD = 64
_TAIL = struct.Struct(f"<QII{len(PACKED)}s")
_INDEX = struct.Struct("<8q")
_AGAIN = "copy it again, or make it anew with kmatch pack"


class PackedWriter:
    """Writes a packed genome, front to back, to a binary handle.

    plan: the ChunkPlan of its chunks, whose lead is its halo; words: in a row of their planes.
    """

    def __init__(self, handle, plan, words):
        self._handle, self._plan, self._words = handle, plan, words
        self._chunks, self._names, self._places = [], [], array("q")
        self._end = handle.write(_header())

    def add(self, chunk, planes, rows):
        """Write a LetterChunk as its planes, uint64[4·(rows + halo)·words]."""
        self._chunks.append((self._end, chunk.length, rows, crc32(planes)))
        self._handle.write(planes)
        self._end += planes.nbytes
        first, names, begins, lengths = chunk.spans
        places = np.stack([chunk.base + begins, lengths], axis=1).astype(np.int64)
        # Of records that were there before, more letters may be known now.
        self._names[first:] = names
        self._places[2 * first :] = array("q", places.tobytes())

    def finish(self):
        """Write the index; the file is whole then. Returns (records, letters) in it."""
        names = [name.encode("utf-8", "surrogateescape") for name in self._names]
        ends = np.cumsum([0, *map(len, names)])[1:]
        records = np.zeros((len(names), 3), "<i8")
        if names:
            records[:, :2], records[:, 2] = np.array(self._places).reshape(-1, 2), ends
        length, halo, gap, _ = self._plan
        sizes = (len(self._chunks), len(names), sum(map(len, names)))
        tail = b"".join(
            (
                bytes(SPARE),
                _INDEX.pack(self._words, length, halo, gap, *sizes, 0),
                np.array(self._chunks, "<i8").tobytes(),
                records.tobytes(),
                *names,
            )
        )
        self._handle.write(tail)
        self._handle.write(_TAIL.pack(self._end, crc32(tail), VERSION, PACKED))
        return len(names), int(records[:, 1].sum())


def _header():
    return (PACKED + VERSION.to_bytes(4, "little")).ljust(HEADER, b"\0")


def open_packed(path, label):
    """The PackedFile of a path, or of standard input (`-`) where that is a file.

    None for other files, and for pipes; the reader of records tells what cannot be opened.
    """
    try:
        with _handle(path) as handle:
            number = handle.fileno()
            regular = stat.S_ISREG(os.fstat(number).st_mode)
            if regular and os.pread(number, len(PACKED), 0) == PACKED:
                return PackedFile(handle, label)
    except (OSError, AttributeError):  # there may be no standard input
        pass
    return None


@contextmanager
def _handle(path):
    if str(path) == "-":
        yield sys.stdin
    else:
        # A pipe would wait here for its writer, and lose what is read.
        with open(path if os.path.isfile(path) else os.devnull, "rb") as handle:
            yield handle


class PackedFile:
    """A packed genome, mapped into memory; several processes may map one.

    handle: of a regular file; label: how messages name it. `plan` and `words` are those it was
    packed with; `lengths` of the chunks, `rows` of theirs. Raises InputError for a file that is
    cut, damaged, or of a newer version.
    """

    def __init__(self, handle, label):
        self.label = label
        self.size = os.fstat(handle.fileno()).st_size
        if self.size < HEADER + SPARE + _INDEX.size + _TAIL.size:
            raise self._damaged("is cut")
        # Copied on writing, which never happens: kernels are compiled for arrays that could be.
        self._map = mmap.mmap(handle.fileno(), self.size, access=mmap.ACCESS_COPY)
        self._check_header()
        self._read_index(*self._tail())
        self._planes = [None] * len(self.offsets)
        self._checked = [False] * len(self.offsets)
        self._unpacked = None, None

    def _damaged(self, what):
        return InputError(f"{self.label}: the packed genome {what}; {_AGAIN}")

    def _check_header(self):
        version = int.from_bytes(self._map[len(PACKED) : len(PACKED) + 4], "little")
        if version > VERSION:
            raise InputError(
                f"{self.label}: a packed genome of version {version}, and this kmatch reads "
                f"{VERSION}; take a newer kmatch, or pack it again"
            )
        if self._map[:HEADER] != _header():
            raise self._damaged("is damaged in its first bytes")

    def _tail(self):
        end = self.size - _TAIL.size
        begin, checksum, version, magic = _TAIL.unpack(self._map[end:])
        if magic != PACKED or version != VERSION:
            raise self._damaged("is cut or damaged at its end")
        tail = self._map[begin:end] if HEADER <= begin <= end - SPARE - _INDEX.size else b""
        if not tail or crc32(tail) != checksum:
            raise self._damaged("is damaged in its index")
        return tail, begin

    def _read_index(self, tail, end):
        numbers = _INDEX.unpack_from(tail, SPARE)
        self.words, length, halo, gap, chunks, records, letters, _ = numbers
        at, size = SPARE + _INDEX.size, 32 * chunks + 24 * records + letters
        if min(numbers) < 0 or not self.words or not length or at + size != len(tail):
            raise self._damaged("is damaged in its index")
        self.plan = ChunkPlan(length, halo, gap, lead=halo)
        table = np.frombuffer(tail, "<i8", 4 * chunks, at).reshape(-1, 4)
        self.offsets, self.lengths, self.rows, self._sums = table.T.tolist()
        at += table.nbytes
        table = np.frombuffer(tail, "<i8", 3 * records, at).reshape(-1, 3)
        self._begins, self._sizes, ends = np.ascontiguousarray(table.T, np.int64)
        if not (self._chunks_lie_within(end) and self._records_lie_within(ends, letters)):
            raise self._damaged("is damaged in its index")
        self._ends = self._begins + self._sizes
        names, ends = tail[at + table.nbytes :], ends.tolist()
        self.names = [
            names[a:b].decode("utf-8", "surrogateescape")
            for a, b in zip([0, *ends], ends, strict=False)
        ]

    def _chunks_lie_within(self, end):
        """Whether all chunks end before a place of the file. Kernels look at no bounds."""
        chunks = zip(self.offsets, self.rows, self.lengths, strict=True)
        return all(owned == self.plan.length for owned in self.lengths[:-1]) and all(
            offset >= HEADER
            and offset % 8 == 0
            and 0 <= owned <= self._positions(rows)
            and offset + 8 * self._plane_words(rows) * 4 <= end
            for offset, rows, owned in chunks
        )

    def _records_lie_within(self, ends, letters):
        """Whether all records lie in the chunks, one behind the other, and their names too."""
        begins, sizes, places = self._begins, self._sizes, sum(self.lengths)
        if not len(begins):
            return not self.lengths
        return (
            min(begins[0], sizes.min(), ends[0]) >= 0
            and begins[-1] <= places
            and (sizes <= places - begins).all()
            and (np.diff(begins) >= 0).all()
            and (np.diff(ends) >= 0).all()
            and ends[-1] <= letters
        )

    def _positions(self, rows):
        return LANES_PER_WORD * self.words * rows

    def _plane_words(self, rows):
        return (rows + self.plan.halo) * self.words

    def planes(self, number):
        """The planes of a chunk, uint64[4·(rows + halo)·words] and SPARE bytes; always the same."""
        if self._planes[number] is None:
            words = 4 * self._plane_words(self.rows[number]) + SPARE // 8
            self._planes[number] = np.frombuffer(self._map, "<u8", words, self.offsets[number])
        return self._planes[number]

    def check(self, number):
        """Raise InputError unless the planes of a chunk are those that were written."""
        if not self._checked[number]:
            if crc32(self.planes(number)[: -SPARE // 8]) != self._sums[number]:
                raise self._damaged(f"is damaged in its chunk {number}")
            self._checked[number] = True

    def read_until(self, number):
        """Bytes of the file up to the end of a chunk's planes."""
        return self.offsets[number] + 8 * 4 * self._plane_words(self.rows[number])

    def spans(self, number):
        """The Spans of a chunk."""
        base = number * self.plan.length
        shown = base + self.plan.length + self.plan.halo
        first = int(np.searchsorted(self._ends, base, side="right"))
        first = min(first, len(self.names) - 1)
        last = max(first + 1, int(np.searchsorted(self._begins, shown)))
        begins = self._begins[first:last] - base
        return Spans(first, self.names[first:last], begins, self._sizes[first:last])

    def records(self, on_progress=None):
        """Yield the Records, with Letters that are unpacked when they are looked at."""
        for name, begin, size in zip(self.names, self._begins, self._sizes, strict=True):
            self._tell_progress(on_progress, int(begin))
            yield Record(name, Letters(self, int(begin), int(size)))

    def stretches(self, on_progress=None):
        """Yield the Records as Stretches, so that short ones come together."""
        short = self._sizes <= SHORT
        first, last = 0, len(short)
        while first < last:
            shown = self._begins[first] + STRETCH
            end = int(np.searchsorted(self._begins[: first + MOST], shown))
            end = max(first + 1, int(np.argmin(np.append(short[first:end], False))) + first)
            begin = int(self._begins[first])
            self._tell_progress(on_progress, begin)
            if end == first + 1:
                letters = Letters(self, begin, int(self._sizes[first]))
            else:
                bounds = bounds_of(self._sizes[first:end])
                together = self.letters(begin, int(self._ends[end - 1]))
                letters = gather(together, self._begins[first:end] - begin, bounds)
            yield Stretch(self.names[first:end], self._sizes[first:end], letters)
            first = end

    def _tell_progress(self, on_progress, place):
        if on_progress and len(self.offsets):
            on_progress(
                self.offsets[min(place // self.plan.length, len(self.offsets) - 1)], self.size
            )

    def letters(self, begin, end):
        """The letters at places begin … end − 1, uint8: A, C, G, T, and N for anything else."""
        letters = np.empty(end - begin, np.uint8)
        length = self.plan.length
        for number in range(begin // length, -(-end // length)):
            first, last = max(begin, number * length), min(end, (number + 1) * length)
            chunk = self._unpack(number)
            letters[first - begin : last - begin] = chunk[first % length :][: last - first]
        return letters

    def _unpack(self, number):
        held, letters = self._unpacked  # read once: other threads may unpack other chunks
        if held != number:
            from kmatch.sequences.unpack import unpack

            self.check(number)
            rows = self.rows[number]
            letters = np.empty(self._positions(rows), np.uint8)
            unpack(self.planes(number), self.words, rows, self._plane_words(rows), letters)
            self._unpacked = number, letters
        return letters


class Letters:
    """The letters of a record of a PackedFile: its slices are uint8 arrays."""

    dtype = np.dtype(np.uint8)

    def __init__(self, file, begin, size):
        self._file, self._begin, self._size = file, begin, size

    def __len__(self):
        return self._size

    def __getitem__(self, part):
        first, last, step = part.indices(self._size)
        return self._file.letters(self._begin + first, self._begin + max(first, last))[::step]

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self[:], dtype)
