"""Packed genomes in tests."""

import tempfile

import kmatch
from kmatch.packed.packing import PackedLayout, write_packed
from kmatch.packed.reader import PackedFile


def packed(records, **geometry):
    """The Genome of (name, sequence) pairs out of a packed file, which is gone when it is."""
    with tempfile.TemporaryFile() as handle:
        write_packed(
            kmatch.Genome.from_records(records).records(), handle, layout=PackedLayout(**geometry)
        )
        handle.flush()
        genome = kmatch.Genome("-")
        genome.file = PackedFile(handle, "packed")
    return genome
