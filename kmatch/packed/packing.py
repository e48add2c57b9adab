"""Making a packed genome."""

from itertools import chain

import numpy as np

from kmatch.arguments import check_threads
from kmatch.engine.geometry import LANES_PER_WORD, Geometry
from kmatch.genome import as_genome
from kmatch.packed.writer import PackedWriter
from kmatch.sequences.chunks import ChunkPlan, join_records
from kmatch.sequences.records import gathered

# One vector of the recurrence: to a CPU the rows of a tile then follow each other in memory, and a
# GPU spreads each lane over eight.
WORDS = 8
LENGTH = 1 << 25  # positions of a chunk
HALO = 2048  # m + k + 1 of a search for differences, or m, that the chunks serve
HALO_SHARE = 16  # a lane is at least this many halos long: the halo is in the file for each
HALO_STEP = 64  # as plans are rounded
GAP = 64  # k + 1 of a search for differences that the chunks serve
NARROW_GAP = 16  # where records are short
SHORT = 4096  # letters of a record, on average
ROWS = 8  # a lane has a multiple of this many rows, to be spread


def pack(genome, path, *, threads=None, on_progress=None):
    """Write a genome to a file as bit planes, which every search takes as a genome.

    genome: a Genome or a path; path: of the file, which is either whole or absent; threads: int or
    None for all cores; on_progress(consumed, size) hears of bytes read. Returns (records, letters)
    written. Raises InputError for an unusable genome and OutputError where writing fails.
    """
    from kmatch.results.files.output import open_output

    check_threads(threads)
    with open_output(path) as handle:
        return write_packed(as_genome(genome).parts(on_progress), handle, threads=threads)


def write_packed(records, handle, *, threads=None, words=WORDS, length=LENGTH, halo=None, gap=None):
    """Write an iterable of Records and Stretches to a binary handle as a packed genome.

    words, length, halo, gap: words in a row, positions of a chunk, rows that a lane shows of the
    next one, and empty positions between records. Returns (records, letters) written.
    """
    from kmatch.engine.cpu.engine import CpuEngine

    engine = CpuEngine(threads)
    parts = gathered(records)
    lanes = LANES_PER_WORD * words
    enough = min(length, lanes * HALO_SHARE * HALO)  # letters for the halo to be whole
    first, letters, count = [], 0, 0
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


def _write_chunks(writer, records, plan, engine, words):
    lanes = LANES_PER_WORD * words
    room = np.empty(0, np.uint64)
    for chunk in join_records(records, plan, lanes * ROWS + LANES_PER_WORD):
        rows = -(-chunk.length // (lanes * ROWS)) * ROWS
        geometry = Geometry(words, rows, plan.halo)
        if len(room) < 4 * geometry.plane_words:
            room = np.empty(4 * geometry.plane_words, np.uint64)
        planes = room[: 4 * geometry.plane_words]
        engine.pack(chunk.letters, geometry.text(planes))
        writer.add(chunk, planes, rows)


def _freed(parts):
    """Parts one by one, each let go of before the next."""
    while parts:
        yield parts.pop(0)
