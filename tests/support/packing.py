"""Packed genomes and chunks in tests."""

import tempfile

import kmatch
from kmatch.packed.reader import PackedFile
from kmatch.packed.writer import PackedLayout, write_packed
from kmatch.search.chunks import packed_chunks, plan_reading


def packed(records, **geometry):
    """The Genome of (name, sequence) pairs out of a packed file, which is gone when it is."""
    with tempfile.TemporaryFile() as handle:
        write_packed(
            kmatch.Genome.from_records(records).parts(), handle, layout=PackedLayout(**geometry)
        )
        handle.flush()
        genome = kmatch.Genome("-")
        genome.file = PackedFile(handle, "packed")
    return genome


def one_chunk(letters, longest, k, engine):
    """Letters as one PackedChunk for a search for k differences of up to `longest` letters."""
    genome = kmatch.Genome.from_records([("r", letters)])
    plan = plan_reading(longest, k, k + 1, len(letters), engine.layout)
    return next(packed_chunks(genome, plan, engine, engine.layout.reading_words))
