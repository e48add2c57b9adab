"""Packed genomes and chunks in tests."""

import io

import kmatch
from kmatch.packed.writer import write_packed
from kmatch.search.chunks import Chunking, plan_reading


def packed(records, **geometry):
    """The Genome of (name, sequence) pairs out of a packed file in memory."""
    handle = io.BytesIO()
    parts = kmatch.Genome.from_records(records).parts()
    write_packed(parts, handle, **geometry)
    return kmatch.Genome.of_packed("packed", bytearray(handle.getvalue()))


def one_chunk(letters, longest, k, engine):
    """Letters as one PackedChunk for a search for k differences of up to `longest` letters."""
    genome = kmatch.Genome.from_records([("r", letters)])
    plan = plan_reading(longest, k, k + 1, len(letters), engine.layout)
    return next(Chunking(plan, engine, engine.layout.reading_words).chunks(genome))
