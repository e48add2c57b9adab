"""Guides of a target: their columns, in Python and in every format."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from kmatch.arrays import Longs
from kmatch.results.batches import GuideBatch
from kmatch.results.columns import Column, named_row
from kmatch.results.lines import TextCells
from kmatch.results.table import Placed, rounded


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


class Guides(Placed[GuideBatch, Any]):
    """The guides of a target, in its order, or the best first.

    Columns are NumPy arrays of one length: the place of guide and PAM as in Hits; `guide` and
    `pam`, as the guide's strand reads them; `gc`, the guide's share of G and C; `d0`, `d1` …, its
    sites in the genome by distance; `specificity` by CFD, NaN where it is undefined.

    Iteration gives rows; `guides[:10]`, `guides[guides.specificity > 0.5]` and `guides[numbers]`
    give Guides.
    """

    noun = "guide"
    guide = Column(np.object_, lambda batch, _: TextCells(batch.guide))
    pam = Column(np.object_, lambda batch, _: TextCells(batch.pam))
    gc = Column(np.float64, lambda batch, _: batch.gc, ".3f")
    specificity = Column(np.float64, lambda batch, _: batch.specificity, "g")
    score = Column(np.int64, _guide_scores)
    bed = ("record", "start", "end", "guide", "score", "strand")

    def __init__(self, batches: Iterable[GuideBatch], k: int, scores: Sequence[str] = ()) -> None:
        """scores: names of those by which guides have a specificity too, beside CFD."""
        self._counts = {f"d{distance}": distance for distance in range(k + 1)}
        others = [name for name in dict.fromkeys(scores) if name != "cfd"]
        self._specificities = {f"specificity_{name}": name for name in others}
        place = ("record", "start", "end", "guide", "pam", "strand", "gc")
        self._fields = (*place, *self._counts, "specificity", *self._specificities)
        self.tsv = self._fields
        super().__init__(batches)

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
