"""Pattern panels: from FASTA or text files, from the command line, from Python."""

import os
from collections import Counter
from dataclasses import dataclass

import numpy as np

from kmatch.errors import InputError
from kmatch.sequences.alphabet import encode
from kmatch.sequences.files import open_source, reading

_SEPARATORS = set("\t\r\n")  # of the tables that are written


@dataclass(frozen=True)
class Pattern:
    """A named pattern; `masks` is uint8[m], the set of bases each letter stands for."""

    name: str
    sequence: str
    masks: np.ndarray

    def __len__(self):
        return len(self.sequence)


def make_pattern(sequence, name=None):
    """Check a sequence and make a Pattern of it, named by itself if it has no name."""
    if name and set(name) & _SEPARATORS:
        raise InputError(f"pattern {name!r}: a name cannot hold tabs or line breaks")
    name = name or sequence
    if not sequence:
        raise InputError(f"pattern '{name}' is empty")
    return Pattern(name, sequence, encode(sequence, name))


def load_patterns(patterns):
    """Patterns from a path, a list of sequences or a dict name → sequence.

    Raises InputError where there are none, or where a letter is outside IUPAC.
    """
    if isinstance(patterns, str | os.PathLike):
        return read_patterns(patterns)
    named = patterns.items() if isinstance(patterns, dict) else ((None, s) for s in patterns)
    panel = [make_pattern(sequence, name) for name, sequence in named]
    if not panel:
        raise InputError("no patterns were given")
    return panel


def read_patterns(path):
    """The Patterns of a FASTA or text file, or of standard input (`-`), in their order."""
    with open_source(path) as source, reading(source.label):
        text = source.handle.read()
        if b"\0" in text:
            raise InputError(f"{source.label}: a binary file, not a list of patterns")
        lines = text.decode("utf-8-sig", "replace").splitlines()
        parse = _fasta if _is_fasta(lines) else _plain
        panel = [make_pattern(sequence, name) for name, sequence in parse(lines, source.label)]
    if not panel:
        raise InputError(f"{source.label}: no patterns; write one a line, or give FASTA")
    return panel


def repeated_names(panel):
    """Names that more than one pattern bears, in the panel's order."""
    return [name for name, count in Counter(p.name for p in panel).items() if count > 1]


def _is_fasta(lines):
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return first.startswith(">")


def _fasta(lines, label):
    from Bio.SeqIO.FastaIO import SimpleFastaParser

    # Comments may stand above the first header, as in a text file.
    start = next(i for i, line in enumerate(lines) if line.startswith(">"))
    for number, (title, sequence) in enumerate(SimpleFastaParser(_broken(lines[start:])), 1):
        name = (title.split(None, 1) or [""])[0]
        if not name and not sequence:
            raise InputError(f"{label}: pattern {number} has neither a name nor letters")
        yield name, sequence


def _broken(lines):
    # Blank lines are dropped: the parser looks at the first character of each line.
    return (line + "\n" for line in lines if line.strip())


def _plain(lines, label):
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.rstrip("\r\n ").split("\t")
        if len(fields) > 2:
            raise InputError(
                f"{label}: line {number} has {len(fields)} columns; "
                "write SEQUENCE, or NAME, a tab and SEQUENCE"
            )
        sequence = fields[-1].strip()
        yield (fields[0].strip() if len(fields) == 2 else sequence), sequence
