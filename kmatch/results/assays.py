"""Assays in Python, and what they come to over all genomes: the matrix, the positions of their
oligos, and the right and wrong answers."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Floats
from kmatch.errors import OutputError, listed, warn
from kmatch.results.batches import SEEN, AssayBatch
from kmatch.results.columns import Column, Table, named_row, opened, write_line
from kmatch.results.lines import Named, Names, record_cells
from kmatch.sequences.alphabet import letter_masks
from kmatch.sequences.oligos import FORWARD, PROBE, REVERSE, PrimerPairs

ANSWERS = ("true_positive", "false_negative", "false_positive", "true_negative")
MASKS = letter_masks(["ACGT"])


def _number(cells: Callable[[AssayBatch], Any]) -> Column[np.float64]:
    """The column of numbers of assays, NaN where they are -1."""

    def numbers(batch: AssayBatch, _: "Assays") -> Floats:
        found = cells(batch)
        return np.where(found < 0, np.nan, found)

    return Column(np.float64, numbers, ".0f")


def _oligo_columns(role: int) -> tuple[Column[np.float64], ...]:
    return (
        _number(lambda batch: batch.distance[:, role]),
        _number(lambda batch: batch.distance_3p[:, role]),
        Column(np.float64, lambda batch, _: batch.tm[:, role], ".1f"),
    )


_ANSWERS = Names(("no", "yes"))


class Assays(Table[AssayBatch, Any]):
    """Assays in genomes, a row an assay and genome, by genome.

    Columns are NumPy arrays of one length: `genome`, `assay` and `record` hold names (object),
    `amplifies` is `yes` or `no`. The others are float64, NaN where there is none: `start`, `end`
    and `length` of the product, 0-based and half-open on the record's forward strand; `forward`,
    `reverse` and `probe`, the differences of each oligo in the product or, where there is none, at
    its closest site; `forward_3p`, `reverse_3p`, `probe_3p`, those in its last five letters;
    `tm_forward`, `tm_reverse`, `tm_probe`, °C.

    Iteration gives rows; `assays[:10]`, `assays[assays.amplifies == "no"]` and `assays[numbers]`
    give Assays.
    """

    noun, joins = "row", False
    genome = Column(np.object_, lambda batch, _: Named(Names(batch.units), batch.genome))
    assay = Column(np.object_, lambda batch, table: Named(table.labels, batch.assay))
    amplifies = Column(np.object_, lambda batch, _: Named(_ANSWERS, batch.amplifies.astype(int)))
    record = Column(np.object_, lambda batch, _: record_cells(batch))
    start = _number(lambda batch: batch.start)
    end = _number(lambda batch: batch.end)
    length = _number(lambda batch: batch.end - batch.start - (batch.start < 0))
    forward, forward_3p, tm_forward = _oligo_columns(FORWARD)
    reverse, reverse_3p, tm_reverse = _oligo_columns(REVERSE)
    probe, probe_3p, tm_probe = _oligo_columns(PROBE)
    tsv = (
        *("genome", "assay", "amplifies", "record", "start", "end", "length"),
        *("forward", "reverse", "probe", "forward_3p", "reverse_3p"),
        *("tm_forward", "tm_reverse", "tm_probe"),
    )
    _row = named_row("Assay", tsv)

    def __init__(
        self,
        batches: Iterable[AssayBatch],
        pairs: PrimerPairs,
        targets: Iterable[str] | None = None,
    ) -> None:
        """targets: names of genomes that should amplify, if known."""
        self.labels, self.pairs = Names(pairs.names), pairs
        self._targets = None if targets is None else set(targets)
        super().__init__(batches)
        self._all = len(self)

    def take(self, batches: Iterable[AssayBatch]) -> None:
        super().take(batches)
        self._names: list[str] = []
        self._parts: list[Any] = [np.zeros((0, len(self.pairs)), np.int32)]
        self._positions = np.zeros((len(self.pairs.primers.masks), len(SEEN)), np.int64)
        for batch in self.batches:
            self.count(batch)

    def count(self, batch: AssayBatch) -> None:
        """Have the rows of genomes in facts, matrix and positions, which need them no longer."""
        genomes, which = np.unique(batch.genome, return_inverse=True)
        totals = np.full((len(genomes), len(self.pairs)), -1, np.int32)
        total = np.maximum(batch.distance, 0).sum(axis=1)
        totals[which, batch.assay] = np.where(batch.amplifies, total, -1)
        self._parts.append(totals)
        self._names += [batch.units[number] for number in genomes.tolist()]
        self._positions += batch.positions

    @property
    def _totals(self) -> Any:
        """The differences of each product, int32[genomes, assays], -1 where there is none."""
        return np.concatenate(self._parts)

    def check_targets(self) -> None:
        """Warn of targets that are none of the genomes."""
        if missing := sorted((self._targets or set()).difference(self._names)):
            warn(f"targets that are none of the genomes: {listed(missing)}")

    @property
    def facts(self) -> list[dict[str, Any]]:
        """Of each assay: its name, the genomes that it amplifies, and its ANSWERS where targets are
        known."""
        found = self._totals >= 0
        counted = {"amplified": found}
        if self._targets is not None:
            wanted = np.array([name in self._targets for name in self._names], bool)[:, None]
            each = (found & wanted, ~found & wanted, found & ~wanted, ~(found | wanted))
            counted |= zip(ANSWERS, each, strict=True)
        counts = zip(*(flags.sum(axis=0).tolist() for flags in counted.values()), strict=True)
        rows = zip(self.pairs.names, counts, strict=True)
        return [{"assay": name} | dict(zip(counted, row, strict=True)) for name, row in rows]

    def to_bed(self, target: Any) -> None:
        raise OutputError("assays have no BED, as not every row has a place; use to_tsv")

    def to_matrix(self, target: Any) -> None:
        """Write a line an assay to a path or to a handle: the differences in each genome,
        empty where it does not amplify."""
        with opened(target) as handle:
            write_line(handle, ["assay", *self._names])
            for name, row in zip(self.pairs.names, self._totals.T, strict=True):
                write_line(handle, [name, *("" if total < 0 else total for total in row.tolist())])

    def to_positions(self, target: Any) -> None:
        """Write a line a letter of each oligo, as `to_matrix` does: the products that match there
        and differ, and those with each of SEEN.

        Raises OutputError for a part of the rows, of which that is not known.
        """
        if len(self) != self._all:
            raise OutputError("positions are known of all rows together; write those of all assays")
        oligos, counts = self.pairs.primers, self._positions
        matches = np.where(oligos.masks[:, None] & MASKS, counts[:, :4], 0).sum(axis=1)
        differ = counts[:, :6].sum(axis=1) - matches
        table = np.column_stack([matches, differ, counts]).tolist()
        bounds = pairwise(oligos.begins.tolist())
        with opened(target) as handle:
            write_line(handle, ["oligo", "position", "letter", "match", "differ", *SEEN])
            for name, letters, (a, b) in zip(oligos.names, oligos.sequences, bounds, strict=True):
                for number, (letter, row) in enumerate(zip(letters, table[a:b], strict=True), 1):
                    write_line(handle, [name, number, letter.upper(), *row])
