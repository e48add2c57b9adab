"""Packing a genome into a file."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO, NamedTuple

import numpy as np

from kmatch.engine.geometry import LANES_PER_WORD, Geometry
from kmatch.engine.protocol import Engine
from kmatch.packed.writer import PackedWriter
from kmatch.results.files.handles import NamedHandle
from kmatch.sequences.chunks import ChunkPlan, join_records
from kmatch.sequences.records import Record, Stretch, gathered

# One vector of the recurrence: on a CPU the rows of a tile are then neighbours in memory, and a GPU
# spreads each lane over eight.
WORDS = 8
LENGTH = 1 << 25  # positions of a chunk
HALO = 2048  # the largest m + k + 1 of a search for differences, or m, that the chunks serve
HALO_SHARE = 16  # a lane is at least this many halos long, since the file repeats the halo for each
HALO_STEP = 64  # a halo is a multiple, as in plans
GAP = 64  # the largest k + 1 of a search for differences that the chunks serve
NARROW_GAP = 16  # where records are short
SHORT = 4096  # letters of such records, on average
ROWS = 8  # a lane has a multiple of this many rows, so that a GPU can spread it


class PackedLayout(NamedTuple):
    """words: in a row; length: positions of a chunk; halo: rows that a lane repeats of the next
    one; gap: empty positions between records. None is what suits the records.
    """

    words: int = WORDS
    length: int = LENGTH
    halo: int | None = None
    gap: int | None = None


LAYOUT = PackedLayout()


def write_packed(
    records: Iterable[Record | Stretch],
    handle: BinaryIO | NamedHandle,
    threads: int | None = None,
    layout: PackedLayout = LAYOUT,
) -> tuple[int, int]:
    """Write Records and Stretches to a binary handle as a packed genome.

    Returns (records, letters) written.
    """
    from kmatch.engine.cpu.engine import CpuEngine

    engine = CpuEngine(threads)
    words, length, halo, gap = layout
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
    writer = PackedWriter(handle, plan, words)
    _write_chunks(writer, chain(_freed(first), parts), plan, engine, words)
    return writer.finish()


def packed_geometry(length: int, words: int, halo: int) -> Geometry:
    """How a chunk of `length` positions is laid out; words: in a row."""
    return Geometry(words, -(-length // (LANES_PER_WORD * words * ROWS)) * ROWS, halo)


def _write_chunks(
    writer: PackedWriter, records: Iterable[Stretch], plan: ChunkPlan, engine: Engine, words: int
) -> None:
    lanes = LANES_PER_WORD * words
    buffer = np.empty(0, np.uint64)
    for chunk in join_records(records, plan, lanes * ROWS + LANES_PER_WORD):
        geometry = packed_geometry(chunk.length, words, plan.halo)
        if len(buffer) < 4 * geometry.plane_words:
            buffer = np.empty(4 * geometry.plane_words, np.uint64)
        planes = buffer[: 4 * geometry.plane_words]
        engine.pack(chunk.letters, geometry.text(planes))
        writer.add(chunk, planes, geometry.rows)


def _freed(parts: list[Stretch]) -> Iterator[Stretch]:
    """Yield the parts of a list, and remove each from it, so that its memory can be freed."""
    while parts:
        yield parts.pop(0)
