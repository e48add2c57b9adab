"""How many hits each pattern has at each distance."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kmatch.results.batches import HitBatch
from kmatch.sequences.patterns import Pattern


class Summary:
    """Counts the hits of patterns by distance; `counts` is int64[P, k+1].

    patterns: list of Pattern; k: int, the largest distance, or None for that of the hits.
    """

    def __init__(self, patterns: Sequence[Pattern], k: int | None = None) -> None:
        self.patterns = patterns
        self.counts = np.zeros((len(patterns), (k or 0) + 1), np.int64)

    def add(self, batch: HitBatch) -> None:
        """Count the hits of a HitBatch."""
        more = int(batch.distance.max(initial=0)) + 1 - self.counts.shape[1]
        if more > 0:
            self.counts = np.pad(self.counts, ((0, 0), (0, more)))
        np.add.at(self.counts, (batch.pattern, batch.distance), 1)

    def write(self, handle: Any) -> None:
        """Write `pattern d0 … dk total` as TSV to a binary handle, a row a pattern."""
        distances = [f"d{distance}" for distance in range(self.counts.shape[1])]
        self._send(handle, ["pattern", *distances, "total"])
        totals = self.counts.sum(axis=1)
        for pattern, counts, total in zip(
            self.patterns, self.counts.tolist(), totals.tolist(), strict=True
        ):
            self._send(handle, [pattern.name, *counts, total])

    def _send(self, handle: Any, row: list[Any]) -> None:
        line = "\t".join(map(str, row)) + "\n"
        handle.write(line.encode("utf-8", "surrogateescape"))


class Seen:
    """Which patterns have hits; `patterns` is bool[P]."""

    def __init__(self, patterns: int) -> None:
        self.patterns = np.zeros(patterns, np.bool_)

    def add(self, batch: HitBatch) -> None:
        """Take the hits of a HitBatch."""
        self.patterns[batch.pattern] = True
