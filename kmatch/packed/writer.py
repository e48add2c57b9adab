"""Writing packed genomes: files of bit planes, names and lengths that are mapped into memory.

Version 2, little-endian, without padding:

- MAGIC, the version as uint32, zeros up to byte 64;
- the planes A, C, G and T of one chunk after another, as `engine/geometry.py` lays them out;
- SPARE zero bytes, which kernels may read;
- the index: int64[8], (words, length, halo, gap, chunks, records, bytes of names, stretches); for
  each chunk int64[4], (offset of its planes in the file, positions it owns, rows that a lane owns,
  the CRC-32 of its planes); for each record int64[3], (the position of its first letter, its number
  of letters, where its name ends among the names); for each stretch of one letter that is no A, C,
  G or T int64[3], (the position of its first letter, its number of letters, the letter in upper
  case, as ASCII), in order, none over a border of chunks; the names in UTF-8, one after another;
- the offset of the SPARE zeros before the index, uint64, the CRC-32 from there to here, uint32, the
  version, uint32, and MAGIC.

A row holds `words` words of 64 lanes. Every chunk but the last owns `length` positions and shows
`halo` more. The first chunk begins with `halo` empty positions, and `gap` empty positions separate
records: a position of a record counts from the first of these.

In version 1 the number of stretches is 0, and every letter outside the planes is N.
"""

import struct
from array import array
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import chain
from typing import BinaryIO, NamedTuple

import numpy as np

from kmatch.engine.geometry import LANES_PER_WORD, text_of
from kmatch.results.output import NamedHandle
from kmatch.sequences.chunks import ChunkPlan, LetterChunk, join_records
from kmatch.sequences.records import RecordNames, Stretch
from kmatch.sequences.unknown import NO_UNKNOWN, UnknownLetters, unknown_letters

try:
    from isal.isal_zlib import (
        crc32 as crc32,
    )  # comes with xopen on most machines; four times as fast
except ImportError:
    from zlib import crc32 as crc32

MAGIC = b"\x89KMATCH\r\n\x1a\n\0"  # how a packed genome begins
VERSION = 2
FIRST_VERSION = 1  # without stretches of other letters


def header_of(version: int) -> bytes:
    """Return the first bytes of a packed genome of a version."""
    return (MAGIC + version.to_bytes(4, "little")).ljust(64, b"\0")


HEADER = header_of(VERSION)
SPARE = 512  # bytes
TAIL = struct.Struct(f"<QII{len(MAGIC)}s")
INDEX = struct.Struct("<8q")  # of IndexNumbers
NUMBER_BYTES = 8  # of a number in the tables behind, whose rows have so many numbers:
CHUNK_NUMBERS = 4  # offset, length, rows, checksum
RECORD_NUMBERS = 3  # begin, letters, end of the name
UNKNOWN_NUMBERS = 3  # begin, letters, letter

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


class IndexNumbers(NamedTuple):
    """The numbers that the index begins with: see above."""

    words: int
    length: int
    halo: int
    gap: int
    chunks: int
    records: int
    name_bytes: int
    stretches: int


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

    words: in a row; length: positions of a chunk; halo: None to suit the records.
    Returns (records, letters) written.
    """
    from kmatch.engine.cpu.engine import CpuEngine

    engine = CpuEngine(threads)
    lanes = LANES_PER_WORD * words
    parts = iter(records)
    enough = min(length, lanes * HALO_SHARE * HALO)  # letters that justify the largest halo
    first = _beginning(parts, enough)
    plan = _plan_of(first, length, lanes, enough, halo)
    tables = _Tables()
    end = handle.write(HEADER)
    buffer = np.empty(0, np.uint64)
    for chunk in join_records(chain(first, parts), plan):
        rows = -(-chunk.length // (lanes * ROWS)) * ROWS
        size = 4 * (rows + plan.halo) * words
        if len(buffer) < size:
            buffer = np.empty(size, np.uint64)
        planes = buffer[:size]
        engine.pack(chunk.letters, text_of(planes, words, rows, plan.halo))
        tables.take(chunk, end, rows, crc32(planes))
        handle.write(planes.data)
        end += planes.nbytes
    index = tables.index(words, plan)
    handle.write(index)
    handle.write(TAIL.pack(end, crc32(index), VERSION, MAGIC))
    return len(tables.places) // 2, sum(tables.places[1::2])


def _beginning(parts: Iterator[Stretch], enough: int) -> list[Stretch]:
    """Return the first Stretches, which have enough letters where there are so many."""
    first: list[Stretch] = []
    letters = 0
    while letters < enough and (part := next(parts, None)):
        first.append(part)
        letters += len(part.letters)
    return first


def _plan_of(
    first: list[Stretch], length: int, lanes: int, enough: int, halo: int | None
) -> ChunkPlan:
    """Return the ChunkPlan that suits the first Stretches, or one of a given halo."""
    letters = sum(len(part.letters) for part in first)
    records = sum(len(part.names) for part in first)
    if halo is None:
        halo = min(letters, enough) // lanes // HALO_SHARE // HALO_STEP * HALO_STEP
    gap = GAP if letters >= SHORT * records else NARROW_GAP
    return ChunkPlan(length, halo, gap, lead=halo)


class _Tables:
    """The contents of the index.

    chunks: of each the offset of its planes, positions that it owns, its rows, and the CRC-32 of
    its planes; names: of the records, in parts; places: the position of each one's first letter,
    and its letters; unknown: the letters that are in no plane, in parts.
    """

    def __init__(self) -> None:
        self.chunks: list[tuple[int, int, int, int]] = []
        self.names: list[RecordNames] = []
        self.places = array("q")
        self.unknown = [NO_UNKNOWN]

    def take(self, chunk: LetterChunk, offset: int, rows: int, checksum: int) -> None:
        """Take a chunk, and the records that it shows, which may have grown since earlier ones."""
        self.chunks.append((offset, chunk.length, rows, checksum))
        spans = chunk.spans
        new_names = spans.names[len(self.places) // 2 - spans.first :]
        self.names.append(new_names)
        pairs = np.stack([chunk.base + spans.begins, spans.lengths], axis=1)
        self.places[2 * spans.first :] = array("q", pairs.tobytes())
        self.unknown.append(unknown_letters(chunk.letters[: chunk.length]).moved(chunk.base))

    def index(self, words: int, plan: ChunkPlan) -> bytes:
        """Return the SPARE zeros and the index of a packed genome; words: in a row."""
        names = RecordNames.joined(self.names)
        name_letters = names.used.tobytes()
        unknown = reduce(UnknownLetters.followed_by, self.unknown)
        numbers = IndexNumbers(
            words=words,
            length=plan.length,
            halo=plan.halo,
            gap=plan.gap,
            chunks=len(self.chunks),
            records=len(names),
            name_bytes=len(name_letters),
            stretches=len(unknown),
        )

        # The tables of chunks, of records and of unknown letters.
        chunks = np.array(self.chunks, "<i8")
        records = np.zeros((len(names), RECORD_NUMBERS), "<i8")
        records[:, :2] = np.array(self.places).reshape(-1, 2)
        records[:, 2] = names.bounds[1:] - names.bounds[0]
        columns = unknown.begin, unknown.end - unknown.begin, unknown.letter
        stretches = np.stack(columns, axis=1, dtype="<i8", casting="unsafe")
        tables = b"".join(table.tobytes() for table in (chunks, records, stretches))
        return bytes(SPARE) + INDEX.pack(*numbers) + tables + name_letters
