"""Guides of a target: their columns, in Python and in every format."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Longs, bounds_of, order_of
from kmatch.results.batches import GuideBatch
from kmatch.results.columns import Column, named_row
from kmatch.results.lines import Named, Names, TextCells, record_cells, words_of
from kmatch.results.table import Placed, rounded

# Columns of guides whose genome was searched with variants.
VARIED = ("variant_sites", "specificity_variants", "target_variants", "target_af")
TERMINATOR = 4  # T in a row, which end transcription from a U6 promoter


@cache
def _count_at(distance: int) -> Column[np.int64]:
    """Return the column of how many sites of a guide have a distance."""
    column = Column(np.int64, lambda batch, _: batch.counts[:, distance])
    column.name = f"d{distance}"
    return column


@cache
def _specificity_by(score: str) -> Column[np.float64]:
    """Return the column of the specificity of guides by a score."""
    column = Column(np.float64, lambda batch, _: batch.specificity_by(score), "g")
    column.name = f"specificity_{score}"
    return column


def _guide_scores(batch: GuideBatch, _: "Guides") -> Longs:
    return rounded(1000 * np.nan_to_num(batch.specificity))


def _terminators(batch: GuideBatch, _: "Guides") -> Longs:
    """Return 1 for guides with four T in a row, 0 for others, int64[n].

    guides       A C T T|T T A G|T T T T
    is T         0 0 1 1 1 1 0 0 1 1 1 1
    four begin       1           1           the first one goes on in the next guide
    """
    letters = batch.guide.letters
    bounds = batch.guide.bounds

    # Where four T begin.
    count_before = bounds_of(letters == ord("T"))
    t_count = count_before[TERMINATOR:] - count_before[:-TERMINATOR]
    begins = np.flatnonzero(t_count == TERMINATOR)

    # Those that end in the same guide.
    rows = np.searchsorted(bounds, begins, side="right") - 1
    is_whole = begins + TERMINATOR <= bounds[rows + 1]
    has_run = np.bincount(rows[is_whole], minlength=len(batch)) > 0
    return has_run.astype(np.int64)


def _labels(batch: GuideBatch, guides: "Guides") -> Named:
    """Return the first gene of each guide, or else its record."""
    records = record_cells(batch)
    if guides.annotation is None:
        return records
    genes = guides.annotation.columns(batch)[0]
    first_genes = [word.partition(",")[0] for word in genes.names.words]
    is_gene = np.array([word != "" for word in first_genes], np.bool_)

    # Behind the genes the records, for guides without one.
    words = [*first_genes, *records.names.words]
    record_which = len(first_genes) + records.which
    which = np.where(is_gene[genes.which], genes.which, record_which)
    return Named(Names(words), which)


def _names(batch: GuideBatch, guides: "Guides") -> Named:
    """Return the names of guides: their label and their number."""
    labels = _labels(batch, guides)
    words = labels.names.words
    found: list[str] = []
    for which, number in zip(labels.which.tolist(), batch.number.tolist(), strict=True):
        found.append(f"{words[which]}_{number}")
    return words_of(found)


class Guides(Placed[GuideBatch, Any]):
    """The guides of a target, in its order, or the best first.

    Columns are NumPy arrays of one length: the place of guide and PAM as in Hits; `guide` and
    `pam`, as the guide's strand reads them; `gc`, the guide's share of G and C; `d0`, `d1` …, its
    sites in the genome by distance; `specificity` by CFD, NaN where it is undefined; `tttt`, 1 for
    guides with four T in a row, which end transcription from a U6 promoter; `name`, the first gene,
    or else the record, and a number that counts its guides in the target. With variants also
    `variant_sites`, the places that alleles make or bring closer, `specificity_variants`, with
    these, `target_variants`, the alleles that undo a guide's own site, and `target_af`, the
    greatest of their frequencies.

    Iteration gives rows; `guides[:10]`, `guides[guides.specificity > 0.5]` and `guides[numbers]`
    give Guides.
    """

    noun = "guide"
    optional = (*Placed.optional, *VARIED)
    guide = Column(np.object_, lambda batch, _: TextCells(batch.guide))
    pam = Column(np.object_, lambda batch, _: TextCells(batch.pam))
    gc = Column(np.float64, lambda batch, _: batch.gc, ".3f")
    specificity = Column(np.float64, lambda batch, _: batch.specificity, "g")
    score = Column(np.int64, _guide_scores)
    tttt = Column(np.int64, _terminators)
    name = Column(np.object_, _names)
    variant_sites = Column(np.int64, lambda batch, _: batch.variant_sites)
    specificity_variants = Column(np.float64, lambda batch, _: batch.specificity_variants, "g")
    target_variants = Column(np.object_, lambda batch, _: words_of(batch.target_variants))
    target_af = Column(np.float64, lambda batch, _: batch.target_af, "g")
    bed = ("record", "start", "end", "guide", "score", "strand")

    if TYPE_CHECKING:  # as far as they were asked for; those beyond d5 by `column`
        d0: Longs
        d1: Longs
        d2: Longs
        d3: Longs
        d4: Longs
        d5: Longs
        specificity_mit: NDArray[np.float64]

    def __init__(self, batches: Iterable[GuideBatch], k: int, scores: Sequence[str] = ()) -> None:
        """scores: names of scores beside CFD by which guides have a specificity too."""
        self._counts = {f"d{distance}": distance for distance in range(k + 1)}
        others = [name for name in dict.fromkeys(scores) if name != "cfd"]
        self._specificities = {f"specificity_{name}": name for name in others}
        place = ("record", "start", "end", "guide", "pam", "strand", "gc")
        self._fields = (*place, *self._counts, "specificity", *self._specificities)
        self.tsv = self._fields
        super().__init__(batches)

    def numbered(self, guides: GuideBatch) -> GuideBatch:
        """Return all guides of a target with their numbers, for `name`."""
        labels = _labels(guides, self)
        words = labels.names.words
        numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
        label = np.array([numbers[word] for word in words], np.int64)[labels.which]

        # Their ranks among those of one label.
        order = order_of(label)
        label_bounds = bounds_of(np.bincount(label))
        rank = np.arange(len(guides)) - label_bounds[label[order]]
        number = np.empty(len(guides), np.int64)
        number[order] = rank + 1
        return replace(guides, number=number)

    @property
    def _row(self) -> Any:  # which another process makes anew
        return named_row("Guide", self._fields)

    @property
    def columns(self) -> dict[str, Column[Any]]:
        """The columns that rows have, by name: specificities before the score, then counts."""
        columns = super().columns
        score = columns.pop("score")
        for name, each in self._specificities.items():
            columns[name] = _specificity_by(each)
        columns["score"] = score
        for name, distance in self._counts.items():
            columns[name] = _count_at(distance)
        return columns
