"""Writing packed genomes: files of bit planes, names and lengths that are mapped into memory.

Version 1, little-endian, without padding:

- MAGIC, the version as uint32, zeros up to byte 64;
- the planes A, C, G and T of one chunk after another, as `engine/geometry.py` lays them out;
- SPARE zero bytes, which kernels may read;
- the index: int64[8], (words, length, halo, gap, chunks, records, bytes of names, 0); for each
  chunk int64[4], (offset of its planes in the file, positions it owns, rows that a lane owns, the
  CRC-32 of its planes); for each record int64[3], (the position of its first letter, its number
  of letters, where its name ends among the names); the names in UTF-8, one after another;
- the offset of the SPARE zeros before the index, uint64, the CRC-32 from there to here, uint32, the
  version, uint32, and MAGIC.

A row holds `words` words of 64 lanes. Every chunk but the last owns `length` positions and shows
`halo` more. The first chunk begins with `halo` empty positions, and `gap` empty positions separate
records: a position of a record counts from the first of these.
"""

import struct
from array import array
from collections.abc import Iterable
from itertools import chain
from typing import BinaryIO

import numpy as np

from kmatch.arrays import Words
from kmatch.engine.geometry import LANES_PER_WORD, Geometry
from kmatch.results.output import NamedHandle
from kmatch.sequences.chunks import ChunkPlan, LetterChunk, join_records
from kmatch.sequences.records import Stretch, gathered

try:
    from isal.isal_zlib import (
        crc32 as crc32,
    )  # comes with xopen on most machines; four times as fast
except ImportError:
    from zlib import crc32 as crc32

MAGIC = b"\x89KMATCH\r\n\x1a\n\0"  # how a packed genome begins
VERSION = 1
HEADER = (MAGIC + VERSION.to_bytes(4, "little")).ljust(64, b"\0")
SPARE = 512  # bytes
TAIL = struct.Struct(f"<QII{len(MAGIC)}s")
INDEX = struct.Struct("<8q")

# One vector of the recurrence, and rows that a tile takes whole: they are neighbours in memory.
WORDS = 8
LENGTH = 1 << 25  # positions of a chunk
HALO = 2048  # the largest m + k + 1 of a search for differences, or m, that the chunks serve
HALO_SHARE = 16  # a lane is at least this many halos long, since the file repeats the halo for each
HALO_STEP = 64  # a halo is a multiple, as in plans
GAP = 64  # the largest k + 1 of a search for differences that the chunks serve
NARROW_GAP = 16  # where records are short
SHORT = 4096  # letters of such records, on average
ROWS = 8  # a lane has a multiple of this many rows, so that kmatch 1.1 can spread it on a GPU


class PackedWriter:
    """Writes a packed genome from beginning to end.

    handle: binary; plan: that of the chunks, whose lead is the halo; words: in a row of the planes.
    """

    def __init__(self, handle: BinaryIO | NamedHandle, plan: ChunkPlan, words: int) -> None:
        self._handle, self._plan, self._words = handle, plan, words
        self._chunks: list[tuple[int, int, int, int]] = []
        self._names: list[str] = []
        self._records = array("q")  # the position of each one's first letter, and its letters
        self._end = handle.write(HEADER)

    def add(self, chunk: LetterChunk, planes: Words, rows: int) -> None:
        """Write a chunk as its planes, uint64[4·(rows + halo)·words]."""
        self._chunks.append((self._end, chunk.length, rows, crc32(planes)))
        self._handle.write(planes.data)
        self._end += planes.nbytes
        first, names, begins, lengths = chunk.spans
        records = np.stack([chunk.base + begins, lengths], axis=1).astype(np.int64)
        # Records of an earlier chunk may have grown since.
        self._names[first:] = names
        self._records[2 * first :] = array("q", records.tobytes())

    def finish(self) -> tuple[int, int]:
        """Write the index, which completes the file. Returns the number of (records, letters)."""
        names = [name.encode("utf-8", "surrogateescape") for name in self._names]
        ends = np.cumsum([0, *map(len, names)])[1:]
        records = np.zeros((len(names), 3), "<i8")
        if names:
            records[:, :2], records[:, 2] = np.array(self._records).reshape(-1, 2), ends
        length, halo, gap, _ = self._plan
        sizes = (len(self._chunks), len(names), sum(map(len, names)))
        tail = b"".join(
            (
                bytes(SPARE),
                INDEX.pack(self._words, length, halo, gap, *sizes, 0),
                np.array(self._chunks, "<i8").tobytes(),
                records.tobytes(),
                *names,
            )
        )
        self._handle.write(tail)
        self._handle.write(TAIL.pack(self._end, crc32(tail), VERSION, MAGIC))
        return len(names), int(records[:, 1].sum())


def write_packed(
    records: Iterable[Stretch],
    handle: BinaryIO | NamedHandle,
    threads: int | None = None,
    *,
    words: int = WORDS,
    length: int = LENGTH,
    halo: int | None = None,
    gap: int | None = None,
) -> tuple[int, int]:
    """Write Stretches to a binary handle as a packed genome.

    words: in a row; length: positions of a chunk; halo, gap: None for what suits the records.
    Returns (records, letters) written.
    """
    from kmatch.engine.cpu.engine import CpuEngine

    engine = CpuEngine(threads)
    parts = gathered(records)
    lanes = LANES_PER_WORD * words
    enough = min(length, lanes * HALO_SHARE * HALO)  # letters that justify the largest halo
    first: list[Stretch] = []
    letters, count = 0, 0
    while letters < enough and (part := next(parts, None)):
        first.append(part)
        letters += len(part.letters)
        count += len(part.names)
    if halo is None:
        halo = min(letters, enough) // lanes // HALO_SHARE // HALO_STEP * HALO_STEP
    if gap is None:
        gap = GAP if letters >= SHORT * count else NARROW_GAP
    plan = ChunkPlan(length, halo, gap, lead=halo)
    writer, buffer = PackedWriter(handle, plan, words), np.empty(0, np.uint64)
    for chunk in join_records(chain(first, parts), plan, lanes * ROWS + LANES_PER_WORD):
        rows = -(-chunk.length // (lanes * ROWS)) * ROWS
        geometry = Geometry(words, rows, halo)
        if len(buffer) < 4 * geometry.plane_words:
            buffer = np.empty(4 * geometry.plane_words, np.uint64)
        planes = buffer[: 4 * geometry.plane_words]
        engine.pack(chunk.letters, geometry.text(planes))
        writer.add(chunk, planes, rows)
    return writer.finish()
