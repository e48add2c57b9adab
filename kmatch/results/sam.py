"""SAM: a line a hit, below a header that names the records of the genome."""

import re
from typing import Any

import numpy as np

from kmatch import __version__
from kmatch.arrays import Bytes
from kmatch.engine.types import Texts
from kmatch.errors import InputError
from kmatch.genome import Genomes
from kmatch.results.batches import HitBatch
from kmatch.results.lines import Fields, Named, Names, Spelt
from kmatch.results.table import Hits
from kmatch.results.writer import Writer

MATCH, INSERTED, SKIPPED, REVERSE = ord("="), ord("I"), ord("D"), 16
LABEL = 254  # characters that SAM allows a read's name
_UNFIT = re.compile(r"[^!-?A-~]")  # in a read's name
_LETTERS = bytes.maketrans(b"acgturyswkmbdhvnU", b"ACGTTRYSWKMBDHVNT")
_COMPLEMENT = np.frombuffer(bytes.maketrans(b"ACGTRYSWKMBDHVN", b"TGCAYRSWMKVHDBN"), np.uint8)


class SamWriter(Writer):
    """Writes SAM.

    A read is the pattern on the forward strand, an IUPAC letter that matched being the base that it
    matched, so that read, CIGAR and reference agree. Its name has `_` for what SAM does not allow.
    Raises InputError for a genome whose records a header cannot name.
    """

    def __init__(self, handle: Any, table: Hits) -> None:
        self._lengths = _lengths(table.searched)
        self._labels = Names(_UNFIT.sub("_", name)[:LABEL] for name in table.labels.words)
        letters = "".join(table.patterns.sequences).encode().translate(_LETTERS)
        self._letters = np.frombuffer(letters, np.uint8)
        super().__init__(handle, table)

    def header(self) -> str:
        order = "coordinate" if self.table.ordered else "unknown"
        lines = [f"@HD\tVN:1.6\tSO:{order}"]
        lines += [f"@SQ\tSN:{name}\tLN:{length}" for name, length in self._lengths.items()]
        return "\n".join([*lines, f"@PG\tID:kmatch\tPN:kmatch\tVN:{__version__}", ""])

    def fields(self, batch: HitBatch) -> Fields:
        ops = batch.aligned.ops
        turned, edits = _turned(ops, batch.minus), np.diff(ops.ends) - ops.counted("=")
        return [
            ("", Named(self._labels, batch.pattern)),
            ("\t", batch.minus * REVERSE),
            ("\t", self.table.cells("record", batch)),
            ("\t", batch.start + 1),
            ("\t255\t", Spelt(turned, runs=True)),
            ("\t*\t0\t0\t", Spelt(self._reads(batch))),
            ("\t*\tNM:i:", edits),
            ("\tkd:i:", batch.distance),
        ]

    def _reads(self, batch: HitBatch) -> Texts:
        """The letters of hits on the forward strand, those that matched as the text's."""
        (op_ends, ops), (_, text) = batch.aligned
        columns, read = np.diff(op_ends), ops != SKIPPED
        before = np.cumsum(np.append(0, read))  # letters read before each column
        ends = before[op_ends]
        begins = self.table.patterns.begins
        first = begins[batch.pattern]
        if self.table.pam_first:  # the letters of the PAM come before
            first = begins[batch.pattern + 1] - np.diff(ends)
        at = before[:-1] + np.repeat(first - ends[:-1], columns)
        there = ops != INSERTED
        letters = np.where(
            ops == MATCH,
            text.take(np.cumsum(there) - there, mode="clip"),
            self._letters.take(at, mode="clip"),
        )[read]
        turned = _turned(Texts(ends, letters), batch.minus)
        minus = np.repeat(batch.minus, np.diff(ends)).astype(bool)
        return Texts(ends, np.where(minus, _COMPLEMENT[turned.letters], turned.letters))


def _turned(texts: Texts, minus: Bytes) -> Texts:
    """Texts, those of hits on `-` from the last letter on."""
    ends, letters = texts
    sizes, at = np.diff(ends), np.arange(len(letters))
    mirrored = np.repeat(ends[:-1] + ends[1:] - 1, sizes) - at
    return Texts(ends, letters[np.where(np.repeat(minus, sizes), mirrored, at)])


def _lengths(genomes: Genomes | None) -> dict[str, int]:
    """Letters of each record, by name; SAM has no records without letters."""
    if genomes is None:
        raise InputError("SAM needs the genome that was searched; give it to Hits")
    if genomes.named or genomes.circular:
        raise InputError(
            "SAM has the records of one genome, and none that is a circle; write bed, tsv, gff3 or "
            "view"
        )
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
            raise InputError(
                f"several records are named '{name}', which SAM cannot tell apart; rename them, "
                "or write another format"
            )
        if length:
            known[name] = length
    return known
