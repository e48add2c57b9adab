"""The genome that is searched."""

import os
from functools import cached_property

import numpy as np

from kmatch.errors import InputError
from kmatch.packed.format import MAGIC as PACKED
from kmatch.packed.reader import open_packed, parts_of_pipe
from kmatch.sequences.names import clean_names, warn
from kmatch.sequences.readers.ahead import read_ahead
from kmatch.sequences.readers.files import HEAD, MAGIC, label_of
from kmatch.sequences.readers.genome_files import read_parts
from kmatch.sequences.records import Record, check_letters, gathered, whole_records

COMPRESSION = 4  # letters a byte of a compressed file


class Genome:
    """Sequences to search: a file, standard input, or records already in memory.

    path: FASTA, 2bit or GenBank, compressed or not, a packed genome, or `-`. With keep=True (the
    default) the sequences stay in memory, 1 byte a base and half a byte more once packed, and a
    Genome can be searched many times; with keep=False every search reads the file anew, record by
    record. A packed genome is mapped into memory and searched there, however often.
    on_warning(message) hears, once, of names that could not stay as they are; by default that is a
    UserWarning. Raises InputError, at the first search, for a file that cannot be used.
    """

    on_spans = None  # hears, if set, of the Spans of each chunk that is searched

    def __init__(self, path, *, keep=True, on_warning=warn):
        self.label = label_of(path)
        self.keep = keep
        self._path = path
        self._on_warning = on_warning
        self._kept = None  # Stretches
        self._told = False  # of names

    @classmethod
    def from_records(cls, records):
        """A Genome of (name, sequence) pairs; sequences are str, bytes or uint8 arrays of ASCII."""
        genome = cls("records in memory")
        names, letters = [], []
        for number, (name, sequence) in enumerate(records, 1):
            names.append(name)
            letters.append(_letters(name, sequence))
            check_letters((genome.label, number, name), letters[-1])
        names = genome._cleaned(names)
        genome._kept = list(gathered(Record(*pair) for pair in zip(names, letters, strict=True)))
        return genome

    @cached_property
    def file(self):
        """The PackedFile that the path is, or None. Raises InputError where it is damaged."""
        file = open_packed(self._path, self.label) if self._kept is None else None
        if file is not None:
            file.names = self._cleaned(file.names)
        return file

    @property
    def expected_letters(self):
        """About how many letters there are, told without reading them; None where that is unknown.

        A compressed file is taken to hold four letters a byte.
        """
        if self.file is not None:
            return sum(self.file.lengths)
        if self._kept is not None:
            return sum(len(part.letters) for part in self._kept)
        if not os.path.isfile(self._path):  # a pipe would lose what is read here
            return None
        try:
            size = os.path.getsize(self._path)
            with open(self._path, "rb") as handle:
                start = handle.read(HEAD)
        except OSError:
            return None
        compressed = any(start.startswith(magic) for magic in MAGIC.values())
        return (size * COMPRESSION if compressed else size) or None

    def records(self, on_progress=None):
        """Iterate over the Records; `on_progress(consumed, size)` hears of bytes read."""
        if self.file is not None:
            return self.file.records(on_progress)
        return whole_records(self.parts(on_progress))

    def parts(self, on_progress=None):
        """The same as Stretches: short ones come together, long ones in parts."""
        if self.file is not None:
            return self.file.stretches(on_progress)
        if self._kept is not None:
            return iter(self._kept)
        if not self.keep:
            return self._parts(on_progress)
        self._kept = list(self._parts(on_progress))
        return iter(self._kept)

    def _parts(self, on_progress):
        number = 0
        for part, consumed, size in read_ahead(read_parts(self._path, [(PACKED, parts_of_pipe)])):
            if on_progress:
                on_progress(consumed, size)
            yield part._replace(names=self._cleaned(part.names, number))
            number += len(part.names) - part.goes_on

    def _cleaned(self, names, number=0):
        """Names without control characters; number: of records before these."""
        names, control = clean_names(names)
        if control is not None and not self._told:
            self._told = True
            self._on_warning(
                f"{self.label}: the name of record {number + control + 1} holds control "
                "characters; '_' stands for each, there and in other records' names"
            )
        return names


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
