"""Assays in Python, and their sums over all genomes: the matrix, the positions of their oligos, and
the right and wrong answers."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Floats, Longs, ranked
from kmatch.errors import InputError, OutputError, listed, warn
from kmatch.results.batches import NO, REASONS, SEEN, UNKNOWN, AssayBatch
from kmatch.results.columns import Column, Table, named_row, opened, write_line
from kmatch.results.lines import Named, Names, record_cells
from kmatch.sequences.alphabet import letter_masks
from kmatch.sequences.oligos import FORWARD, PROBE, REVERSE, PrimerPairs

# What a genome says of an assay, where it is known which it should amplify.
VERDICTS = ("true_positive", "false_negative", "false_positive", "true_negative", "unknown")
ANSWERS = ("no", "yes", "unknown")  # by NO, YES and UNKNOWN
NONE = -1  # in place of the differences of a product
MASKED = -2  # and where there may be one
WORDS = {NONE: ANSWERS[NO], MASKED: ANSWERS[UNKNOWN]}
BASES = "ACGT"
BASE_MASKS = letter_masks([BASES])
POSITION = ("oligo", "position", "letter")
SEEN_WORDS = ("A", "C", "G", "T", "unknown", "-", "+")  # of SEEN
UNKNOWN_SEEN = SEEN.index("N")
SKIPPED_SEEN = SEEN.index("-")


def _number(cells: Callable[[AssayBatch], Any]) -> Column[np.float64]:
    """Return the column of numbers of assays, NaN where they are -1."""

    def numbers(batch: AssayBatch, _: "Assays") -> Floats:
        found = cells(batch)
        return np.where(found < 0, np.nan, found)

    return Column(np.float64, numbers, ".0f")


def _differences(role: int) -> Column[np.float64]:
    """Return the column of the differences of each assay's oligo with a role."""
    return _number(lambda batch: batch.distance[:, role])


def _differences_3p(role: int) -> Column[np.float64]:
    """Return the column of the differences in the last letters of that oligo."""
    return _number(lambda batch: batch.distance_3p[:, role])


def _temperature(role: int) -> Column[np.float64]:
    """Return the column of the melting temperatures of that oligo, °C."""

    def temperatures(batch: AssayBatch, _: "Assays") -> Floats:
        return batch.tm[:, role]

    return Column(np.float64, temperatures, ".1f")


def _answer(batch: AssayBatch, _: "Assays") -> Named:
    """Return whether each assay amplifies, as words."""
    return Named(Names(ANSWERS), batch.answer)


def _reason(batch: AssayBatch, _: "Assays") -> Named:
    """Return why each assay does not amplify, or which oligos are masked, as words."""
    return Named(Names(REASONS), batch.reason)


def _length(batch: AssayBatch) -> Longs:
    """Return the letters of each product, int64[n], -1 where there is none."""
    return np.where(batch.start < 0, -1, batch.end - batch.start)


class Assays(Table[AssayBatch, Any]):
    """Assays in genomes, a row an assay and genome, by genome.

    Columns are NumPy arrays of one length: `genome`, `assay` and `record` hold names (object),
    `amplifies` is `yes`, `no` or `unknown`, and `reason` says why it is not `yes`. The others are
    float64, NaN where there is none: `start`, `end` and `length` of the product, 0-based and
    half-open on the record's forward strand; `forward`, `reverse` and `probe`, the differences of
    each oligo in the product or, where there is none, at its closest site; `forward_3p`,
    `reverse_3p`, `probe_3p`, the differences in the last five letters; `tm_forward`, `tm_reverse`,
    `tm_probe`, °C.

    Iteration gives rows; `assays[:10]`, `assays[assays.amplifies == "no"]` and `assays[numbers]`
    give Assays.
    """

    noun = "row"
    joins = False
    genome = Column(np.object_, lambda batch, _: Named(Names(batch.units), batch.genome))
    assay = Column(np.object_, lambda batch, table: Named(table.labels, batch.assay))
    amplifies = Column(np.object_, _answer)
    reason = Column(np.object_, _reason)
    record = Column(np.object_, lambda batch, _: record_cells(batch))
    start = _number(lambda batch: batch.start)
    end = _number(lambda batch: batch.end)
    length = _number(_length)
    forward = _differences(FORWARD)
    reverse = _differences(REVERSE)
    probe = _differences(PROBE)
    forward_3p = _differences_3p(FORWARD)
    reverse_3p = _differences_3p(REVERSE)
    probe_3p = _differences_3p(PROBE)
    tm_forward = _temperature(FORWARD)
    tm_reverse = _temperature(REVERSE)
    tm_probe = _temperature(PROBE)
    tsv = (
        "genome",
        "assay",
        "amplifies",
        "reason",
        "record",
        "start",
        "end",
        "length",
        "forward",
        "reverse",
        "probe",
        "forward_3p",
        "reverse_3p",
        "tm_forward",
        "tm_reverse",
        "tm_probe",
    )
    _row = named_row("Assay", tsv)

    def __init__(
        self,
        batches: Iterable[AssayBatch],
        pairs: PrimerPairs,
        targets: Iterable[str] | None = None,
    ) -> None:
        """targets: names of genomes that should amplify, if known."""
        self.labels = Names(pairs.names)
        self.pairs = pairs
        self._targets = None if targets is None else set(targets)
        super().__init__(batches)
        self._all = len(self)

    def take(self, batches: Iterable[AssayBatch]) -> None:
        """Have the rows of batches, and count them."""
        super().take(batches)
        oligo_letters = len(self.pairs.primers.masks)
        self._positions = np.zeros((oligo_letters, len(SEEN)), np.int64)
        self._genome_names: list[str] = []
        no_totals = np.zeros((0, len(self.pairs)), np.int32)
        self._parts: list[Any] = [no_totals]
        for batch in self.batches:
            self.count(batch)

    def count(self, batch: AssayBatch) -> None:
        """Have the rows of genomes in facts, matrix and positions, which need them no longer."""
        genomes, genome_rows = ranked(batch.genome)
        self._genome_names += [batch.units[number] for number in genomes.tolist()]

        # The differences of each product in all; an oligo that an assay has not is -1 there.
        total = np.maximum(batch.distance, 0).sum(axis=1)
        total[batch.answer == NO] = NONE
        total[batch.answer == UNKNOWN] = MASKED

        totals = np.full((len(genomes), len(self.pairs)), NONE, np.int32)
        totals[genome_rows, batch.assay] = total
        self._parts.append(totals)
        self._positions += batch.positions

    @property
    def _totals(self) -> Any:
        """The differences of each product, int32[genomes, assays], NONE where there is none and
        MASKED where there may be one."""
        return np.concatenate(self._parts)

    @property
    def matrix(self) -> Floats:
        """The differences of each product in all, float64[assays, genomes], NaN where there is
        none."""
        totals = self._totals.T
        return np.where(totals < 0, np.nan, totals)

    def check_targets(self) -> None:
        """Warn of targets that are none of the genomes. Raises InputError where none is one."""
        targets = self._targets or set()
        missing = sorted(targets.difference(self._genome_names))
        if missing and len(missing) == len(targets):
            raise InputError(
                f"no target is a genome: the targets are {listed(missing, 3)}, the genomes "
                f"{listed(list(self._genome_names), 3)}"
            )
        if missing:
            warn(f"targets that are none of the genomes: {listed(missing)}")

    @property
    def facts(self) -> list[dict[str, Any]]:
        """Facts of each assay: its name, the numbers of genomes that it amplifies and of unknown
        ones, and where targets are known its VERDICTS."""
        totals = self._totals
        amplified = totals >= 0
        unknown = totals == MASKED
        flags = {"amplified": amplified}
        if self._targets is not None:
            flags |= self._verdicts(amplified, unknown, self._targets)
        flags["unknown"] = unknown
        facts: list[dict[str, Any]] = [{"assay": name} for name in self.pairs.names]
        for what, flag in flags.items():
            for row, count in zip(facts, flag.sum(axis=0).tolist(), strict=True):
                row[what] = count
        return facts

    def _verdicts(self, amplified: Any, unknown: Any, targets: set[str]) -> dict[str, Any]:
        """Return which genomes give an assay each of VERDICTS but unknown, bool[genomes, assays].

        amplified, unknown: bool[genomes, assays]; targets: names of the genomes that should be.
        """
        is_target = np.array([name in targets for name in self._genome_names], bool)
        is_target = is_target[:, np.newaxis]
        missed = ~amplified & ~unknown
        verdicts = (
            amplified & is_target,
            missed & is_target,
            amplified & ~is_target,
            missed & ~is_target,
        )
        return dict(zip(VERDICTS, verdicts, strict=False))

    def to_bed(self, target: Any) -> None:
        raise OutputError("assays have no BED, as not every row has a place; use to_tsv")

    def to_matrix(self, target: Any) -> None:
        """Write a line an assay to a path or to a handle: the differences in each genome.

        Where the assay does not amplify a cell is `no` or `unknown`.
        """
        with opened(target) as handle:
            write_line(handle, ["assay", *self._genome_names])
            totals = self._totals.T.tolist()
            for name, row in zip(self.pairs.names, totals, strict=True):
                cells = [WORDS.get(total, total) for total in row]
                write_line(handle, [name, *cells])

    def to_positions(self, target: Any) -> None:
        """Write a line a letter of each oligo, as `to_matrix` does: the genomes that match there,
        that differ, and that have each of SEEN_WORDS; a genome is absent without a site of the
        oligo.

        A genome has the site in its product, otherwise the closest one within half of its letters.
        Raises OutputError for a part of the rows, whose letters are not known.
        """
        if len(self) != self._all:
            raise OutputError("positions are known of all rows together; write those of all assays")
        oligos = self.pairs.primers
        lines = self._position_counts().tolist()
        with opened(target) as handle:
            write_line(handle, [*POSITION, "match", "differ", *SEEN_WORDS, "absent"])
            for number, (begin, end) in enumerate(pairwise(oligos.begins.tolist())):
                letters = oligos.sequences[number].upper()
                for position, line in enumerate(lines[begin:end]):
                    place = [oligos.names[number], position + 1, letters[position]]
                    write_line(handle, place + line)

    def _position_counts(self) -> Longs:
        """Return how many genomes match each letter of the oligos, differ there, have each of SEEN,
        and have no site, int64[L, 2 + 7 + 1]."""
        counts = self._positions
        masks = self.pairs.primers.masks[:, np.newaxis]
        base_counts = counts[:, : len(BASES)]
        matches = np.where(masks & BASE_MASKS, base_counts, 0).sum(axis=1)
        differ = base_counts.sum(axis=1) - matches + counts[:, SKIPPED_SEEN]
        absent = len(self._genome_names) - matches - differ - counts[:, UNKNOWN_SEEN]
        return np.column_stack([matches, differ, counts, absent])
