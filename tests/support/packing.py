"""Packed genomes and chunks in tests."""

import io

import kmatch
from kmatch.packed.writer import write_packed


def packed(records, **geometry):
    """The Genome of (name, sequence) pairs out of a packed file in memory."""
    handle = io.BytesIO()
    parts = kmatch.Genome.from_records(records).parts()
    write_packed(parts, handle, **geometry)
    return kmatch.Genome.of_packed("packed", bytearray(handle.getvalue()))
