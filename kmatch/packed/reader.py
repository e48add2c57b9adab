"""Reading a packed genome, which is mapped into memory."""

import mmap
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np

from kmatch.arrays import Longs, Words
from kmatch.errors import InputError
from kmatch.packed.format import (
    HEADER,
    INDEX,
    MAGIC,
    SPARE,
    TAIL,
    VERSION,
    crc32,
    header,
)
from kmatch.packed.records import PackedRecords
from kmatch.sequences.chunks import ChunkPlan
from kmatch.sequences.readers.files import Source, StrPath
from kmatch.sequences.records import Stretch

_AGAIN = "copy it again, or pack the genome again"


def open_packed(path: StrPath, label: str) -> "PackedFile | None":
    """The PackedFile of a path, or of standard input (`-`) where that is a file.

    None for other files, for pipes, and for what cannot be opened: reading records reports it.
    """
    try:
        with _handle(path) as handle:
            number = handle.fileno()
            regular = stat.S_ISREG(os.fstat(number).st_mode)
            if regular and os.pread(number, len(MAGIC), 0) == MAGIC:
                return PackedFile(handle, label)
    except (OSError, AttributeError):  # there may be no standard input
        pass
    return None


def parts_of_pipe(source: Source) -> Iterator[Stretch]:
    """Yield the Stretches of a packed genome in a pipe or a compressed file, by a copy on disk."""
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(source.handle, copy)
        copy.flush()
        yield from PackedFile(copy, source.label).stretches()


@contextmanager
def _handle(path: StrPath) -> Iterator[BinaryIO]:
    if str(path) == "-":
        yield sys.stdin.buffer
    else:
        # Opening a pipe would wait for its writer, and lose what is read here.
        with open(path if os.path.isfile(path) else os.devnull, "rb") as handle:
            yield handle


class PackedFile(PackedRecords):
    """A packed genome, mapped into memory; several processes may map one.

    handle: of a regular file; label: how messages name it. Raises InputError for a file that is
    cut, damaged, or of a newer version.
    """

    def __init__(self, handle: BinaryIO, label: str) -> None:
        self.label = label
        self.size = os.fstat(handle.fileno()).st_size
        if self.size < HEADER + SPARE + INDEX.size + TAIL.size:
            raise self._damaged("is cut")
        # Copied on writing, which never happens, but kernels are compiled for writeable arrays.
        self._map = mmap.mmap(handle.fileno(), self.size, access=mmap.ACCESS_COPY)
        self._check_header()
        self._read_index(*self._tail())
        self._planes: list[Words | None] = [None] * len(self.offsets)
        self._checked = [False] * len(self.offsets)

    def _damaged(self, what: str) -> InputError:
        return InputError(f"{self.label}: the packed genome {what}; {_AGAIN}")

    def _check_header(self) -> None:
        version = int.from_bytes(self._map[len(MAGIC) : len(MAGIC) + 4], "little")
        if version > VERSION:
            raise InputError(
                f"{self.label}: a packed genome of version {version}, and this kmatch reads "
                f"version {VERSION}; use a newer kmatch, or pack the genome again"
            )
        if self._map[:HEADER] != header():
            raise self._damaged("is damaged in its first bytes")

    def _tail(self) -> tuple[bytes, int]:
        """The zeros before the index and the index itself, and where these zeros begin."""
        end = self.size - TAIL.size
        begin, checksum, version, magic = TAIL.unpack(self._map[end:])
        if magic != MAGIC or version != VERSION:
            raise self._damaged("is cut or damaged at its end")
        tail = self._map[begin:end] if HEADER <= begin <= end - SPARE - INDEX.size else b""
        if not tail or crc32(tail) != checksum:
            raise self._damaged("is damaged in its index")
        return tail, begin

    def _read_index(self, tail: bytes, end: int) -> None:
        numbers = INDEX.unpack_from(tail, SPARE)
        self.words, length, halo, gap, chunks, records, letters, _ = numbers
        at, size = SPARE + INDEX.size, 32 * chunks + 24 * records + letters
        if min(numbers) < 0 or not self.words or not length or at + size != len(tail):
            raise self._damaged("is damaged in its index")
        self.plan = ChunkPlan(length, halo, gap, lead=halo)
        table = np.frombuffer(tail, "<i8", 4 * chunks, at).reshape(-1, 4)
        self.offsets, self.lengths, self.rows, self._sums = table.T.tolist()
        at += table.nbytes
        table = np.frombuffer(tail, "<i8", 3 * records, at).reshape(-1, 3)
        self.begins, self.sizes, ends = np.ascontiguousarray(table.T, np.int64)
        if not (self._chunks_are_within(end) and self._records_are_within(ends, letters)):
            raise self._damaged("is damaged in its index")
        self._ends = self.begins + self.sizes
        names, ends = tail[at + table.nbytes :], ends.tolist()
        self.names = [
            names[a:b].decode("utf-8", "surrogateescape")
            for a, b in zip([0, *ends], ends, strict=False)
        ]

    def _chunks_are_within(self, end: int) -> bool:
        """Whether all chunks end before `end` in the file. Kernels check no bounds."""
        chunks = zip(self.offsets, self.rows, self.lengths, strict=True)
        return all(owned == self.plan.length for owned in self.lengths[:-1]) and all(
            offset >= HEADER
            and offset % 8 == 0
            and 0 <= owned <= self._positions(rows)
            and offset + 8 * self._plane_words(rows) * 4 <= end
            for offset, rows, owned in chunks
        )

    def _records_are_within(self, ends: Longs, letters: int) -> bool:
        """Whether records are in the chunks, one after another, and their names in the index."""
        begins, sizes, positions = self.begins, self.sizes, sum(self.lengths)
        if not len(begins):
            return not self.lengths
        return bool(
            min(begins[0], sizes.min(), ends[0]) >= 0
            and begins[-1] <= positions
            and (sizes <= positions - begins).all()
            and (np.diff(begins) >= 0).all()
            and (np.diff(ends) >= 0).all()
            and ends[-1] <= letters
        )

    def planes(self, number: int) -> Words:
        planes = self._planes[number]
        if planes is None:
            words = 4 * self._plane_words(self.rows[number]) + SPARE // 8
            planes = np.frombuffer(self._map, "<u8", words, self.offsets[number])
            self._planes[number] = planes
        return planes

    def check(self, number: int) -> None:
        if not self._checked[number]:
            if crc32(self.planes(number)[: -SPARE // 8]) != self._sums[number]:
                raise self._damaged(f"is damaged in its chunk {number}")
            self._checked[number] = True
