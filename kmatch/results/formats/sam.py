"""Hits as SAM: patterns are the reads, the genome's records the references."""

import re
from typing import Any

import numpy as np

from kmatch import __version__
from kmatch.errors import InputError
from kmatch.results.batches import HitBatch
from kmatch.results.columns import take_rows
from kmatch.results.formats.lines import Queries, Words, sam_lines
from kmatch.results.formats.searched import Searched
from kmatch.results.output import Sender
from kmatch.results.tables.hits import ROWS, rows_of, side_by_side
from kmatch.results.tables.lines import DIGITS, Names
from kmatch.sequences.patterns import PatternSet, pattern_set

ONE_LINE = "the records of one genome, and none that is a circle"
OTHERS = "bed, tsv, gff3 or view"
LABEL = 254  # characters that SAM allows a read's name
_UNFIT = re.compile(r"[^!-?A-~]")  # in a read's name
_LETTERS = bytes.maketrans(b"acgturyswkmbdhvnU", b"ACGTTRYSWKMBDHVNT")
_COMPLEMENT = bytes.maketrans(b"ACGTRYSWKMBDHVN", b"TGCAYRSWMKVHDBN")
_UNKNOWN_QUALITY = 255


class SamWriter(Sender):
    """Writes the header, and HitBatches as a line a hit.

    A read is the pattern on the forward strand, an IUPAC letter that matched being the base that it
    matched, so that read, CIGAR and reference agree. Its name has `_` for what SAM does not allow.
    Raises InputError for a genome whose records a header cannot name.
    """

    def __init__(self, handle: Any, searched: Searched) -> None:
        super().__init__(handle)
        self._lengths = _lengths(searched)
        self._numbers: dict[str, int] = {}
        self._queries = _queries(pattern_set(searched.patterns), searched.pam_first)
        fixed = (f"\t{_UNKNOWN_QUALITY}\t", "\t*\t0\t0\t", "\t*\tNM:i:", "\tkd:i:")
        self._words = Words(*(np.frombuffer(word.encode(), np.uint8) for word in fixed))
        order = "coordinate" if searched.ordered else "unknown"
        lines = [f"@HD\tVN:1.6\tSO:{order}"]
        lines += [f"@SQ\tSN:{name}\tLN:{length}" for name, length in self._lengths.items()]
        lines += [f"@PG\tID:kmatch\tPN:kmatch\tVN:{__version__}", ""]
        self._send("\n".join(lines).encode("utf-8", "surrogateescape"))

    def write(self, batch: HitBatch) -> None:
        """Write a HitBatch. Raises InputError where the header does not fit its records."""
        for first in range(0, len(batch), ROWS):
            self._send(self._lines(batch, slice(first, first + ROWS)))

    def _lines(self, batch: HitBatch, rows: slice) -> memoryview:
        self._check(batch, rows)
        found, names = rows_of(batch, rows)
        columns = take_rows(batch.aligned, rows)
        labels = self._queries.labels
        size = np.diff(names.ends)[found.record].sum() + np.diff(labels.ends)[found.pattern].sum()
        size += len(found.record) * (4 * DIGITS + sum(map(len, self._words)))
        # A run of one column takes two bytes of the CIGAR, and a column one letter.
        out = np.empty(int(size) + 3 * len(columns.ops), np.uint8)
        written = sam_lines(found, names, self._queries, columns, self._words, out)
        return memoryview(out.data)[:written]

    def _check(self, batch: HitBatch, rows: slice) -> None:
        names, which = batch.record_names(rows)
        lengths = np.array([self._lengths.get(name, 0) for name in names], np.int64)
        beyond = batch.end[rows] > lengths[which]
        if beyond.any():
            raise InputError(
                f"record '{names[which[np.argmax(beyond)]]}' is not as the genome's .fai says; "
                "make it anew with samtools faidx, or remove it"
            )
        numbers = np.unique(batch.record[rows]).tolist()
        for name, number in zip(names, numbers, strict=True):
            if self._numbers.setdefault(name, number) != number:
                raise _repeated(name)


def _lengths(searched: Searched) -> dict[str, int]:
    """Letters of each record, by name; SAM has no records without letters."""
    genomes = searched.genomes
    if genomes is None:
        raise InputError("SAM needs the genome that was searched; give it to Hits")
    if genomes.named or genomes.circular:
        raise InputError(f"SAM has {ONE_LINE}; write {OTHERS}")
    names, lengths = genomes.genome(0).sizes()
    known: dict[str, int] = {}
    for number, (name, length) in enumerate(zip(names, lengths.tolist(), strict=True), 1):
        if not name or name[0] in "*=":
            fault = f"is named '{name}'" if name else "has no name"
            raise InputError(
                f"{genomes.label}: record {number} {fault}, which SAM cannot have; "
                "rename it, or write another format"
            )
        if name in known:
            raise _repeated(name)
        if length:
            known[name] = length
    return known


def _repeated(name: str) -> InputError:
    return InputError(
        f"several records are named '{name}', which SAM cannot tell apart; rename them, or write "
        "another format"
    )


def _queries(panel: PatternSet, pam_first: bool) -> Queries:
    letters = "".join(panel.sequences).encode().translate(_LETTERS)
    complement = np.frombuffer(_COMPLEMENT, np.uint8)
    labels = side_by_side(_UNFIT.sub("_", name)[:LABEL] for name in panel.names)
    written = Names(np.frombuffer(letters, np.uint8), panel.begins)
    return Queries(labels, written, complement, int(pam_first))
