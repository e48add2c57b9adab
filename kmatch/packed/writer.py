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
from typing import Any, BinaryIO

import numpy as np

from kmatch.engine.geometry import LANES_PER_WORD, text_of
from kmatch.results.output import NamedHandle
from kmatch.sequences.chunks import ChunkPlan, join_records
from kmatch.sequences.records import RecordNames, Stretch

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


def write_packed(
    records: Iterable[Stretch],
    handle: BinaryIO | NamedHandle,
    threads: int | None = None,
    *,
    words: int = WORDS,
    length: int = LENGTH,
    halo: int | None = None,
) -> tuple[int, int]:
    """Write Stretches to a binary handle as a packed genome.

    words: in a row; length: positions of a chunk; halo: None for what suits the records.
    Returns (records, letters) written.
    """
    from kmatch.engine.cpu.engine import CpuEngine

    engine = CpuEngine(threads)
    parts = iter(records)
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
    gap = GAP if letters >= SHORT * count else NARROW_GAP
    plan = ChunkPlan(length, halo, gap, lead=halo)
    chunks: list[tuple[int, int, int, int]] = []
    names: list[RecordNames] = []
    record_count = 0  # whose names these are
    places = array("q")  # the position of each record's first letter, and its letters
    end, buffer = handle.write(HEADER), np.empty(0, np.uint64)
    for chunk in join_records(chain(first, parts), plan, lanes * ROWS + LANES_PER_WORD):
        rows = -(-chunk.length // (lanes * ROWS)) * ROWS
        size = 4 * (rows + halo) * words
        if len(buffer) < size:
            buffer = np.empty(size, np.uint64)
        planes = buffer[:size]
        engine.pack(chunk.letters, text_of(planes, words, rows, halo))
        chunks.append((end, chunk.length, rows, crc32(planes)))
        handle.write(planes.data)
        end += planes.nbytes
        number, shown, begins, lengths = chunk.spans
        # Records of an earlier chunk may have grown since.
        names.append(shown[record_count - number :])
        record_count = number + len(shown)
        found = np.stack([chunk.base + begins, lengths], axis=1)
        places[2 * number :] = array("q", found.tobytes())
    index = _index((words, length, halo, gap), chunks, RecordNames.joined(names), places)
    handle.write(index)
    handle.write(TAIL.pack(end, crc32(index), VERSION, MAGIC))
    return record_count, sum(places[1::2])


def _index(
    layout: tuple[int, ...], chunks: list[Any], names: RecordNames, places: "array[int]"
) -> bytes:
    """The SPARE zeros and the index of a packed genome; layout: its first numbers."""
    records = np.zeros((len(names), 3), "<i8")
    records[:, :2] = np.array(places).reshape(-1, 2)
    records[:, 2] = names.bounds[1:]
    numbers = INDEX.pack(*layout, len(chunks), len(names), len(names.letters), 0)
    tables = np.array(chunks, "<i8").tobytes(), records.tobytes()
    return b"".join((bytes(SPARE), numbers, *tables, names.letters.tobytes()))
