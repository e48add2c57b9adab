"""The genome that is searched."""

from functools import cached_property

import numpy as np

from kmatch.errors import InputError
from kmatch.sequences.ahead import read_ahead
from kmatch.sequences.files import label_of
from kmatch.sequences.packed import open_packed
from kmatch.sequences.reading import Record, read_parts, whole_records


class Genome:
    """Sequences to search: a file, standard input, or records already in memory.

    path: FASTA, 2bit or GenBank, compressed or not, a packed genome, or `-`. With keep=True (the
    default) the sequences stay in memory, 1 byte a base and half a byte more once packed, and a
    Genome can be searched many times; with keep=False every search reads the file anew, record by
    record. A packed genome is mapped into memory and searched there, however often.
    Raises InputError, at the first search, for a file that cannot be used.
    """

    on_spans = None  # hears, if set, of the Spans of each chunk that is searched

    def __init__(self, path, *, keep=True):
        self.label = label_of(path)
        self.packed = {}  # the searches' packed chunks, by plan and device
        self.keep = keep
        self._path = path
        self._records = None

    @classmethod
    def from_records(cls, records):
        """A Genome of (name, sequence) pairs; sequences are str, bytes or uint8 arrays of ASCII."""
        genome = cls("records in memory")
        genome._records = [Record(name, _letters(name, sequence)) for name, sequence in records]
        return genome

    @cached_property
    def file(self):
        """The PackedFile that the path is, or None. Raises InputError where it is damaged."""
        return open_packed(self._path, self.label) if self._records is None else None

    def records(self, on_progress=None):
        """Iterate over the Records; `on_progress(consumed, size)` hears of bytes read."""
        if self.file is not None:
            return self.file.records(on_progress)
        if self._records is not None:
            return iter(self._records)
        records = whole_records(self._parts(on_progress))
        if not self.keep:
            return records
        self._records = list(records)
        return iter(self._records)

    def parts(self, on_progress=None):
        """The same, but long Records of a genome that is not kept come in several parts."""
        if self.keep or self._records is not None or self.file is not None:
            return self.records(on_progress)
        return self._parts(on_progress)

    def _parts(self, on_progress):
        for part, consumed, size in read_ahead(read_parts(self._path)):
            if on_progress:
                on_progress(consumed, size)
            yield part


def as_genome(genome):
    """A Genome as it is, or the Genome of a path."""
    return genome if isinstance(genome, Genome) else Genome(genome)


def _letters(name, sequence):
    if isinstance(sequence, str):
        sequence = sequence.encode("latin-1", "replace")
    if isinstance(sequence, bytes | bytearray | memoryview):
        return np.frombuffer(sequence, np.uint8)
    letters = np.asarray(sequence)
    if letters.dtype != np.uint8 or letters.ndim != 1:
        raise InputError(f"record '{name}': the sequence must be str, bytes or a uint8 array")
    return letters
