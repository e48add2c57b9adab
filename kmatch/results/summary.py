"""How many hits each pattern has at each distance."""

import numpy as np


class Summary:
    """Counts the hits of patterns by distance; `counts` is int64[P, k+1].

    patterns: list of Pattern; k: int, the largest distance.
    """

    def __init__(self, patterns, k):
        self.patterns = patterns
        self.counts = np.zeros((len(patterns), k + 1), np.int64)

    def add(self, batch):
        """Count the hits of a HitBatch."""
        np.add.at(self.counts, (batch.pattern, batch.distance), 1)

    def write(self, handle):
        """Write `pattern d0 … dk total` as TSV to a binary handle, a row a pattern."""
        distances = [f"d{distance}" for distance in range(self.counts.shape[1])]
        self._send(handle, ["pattern", *distances, "total"])
        totals = self.counts.sum(axis=1)
        for pattern, counts, total in zip(
            self.patterns, self.counts.tolist(), totals.tolist(), strict=True
        ):
            self._send(handle, [pattern.name, *counts, total])

    def _send(self, handle, row):
        line = "\t".join(map(str, row)) + "\n"
        handle.write(line.encode("utf-8", "surrogateescape"))
