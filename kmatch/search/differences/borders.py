"""The borders of a shard: the ends that it owns, and the hits that only its neighbours decide."""

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.search.differences.plateaus import FOREVER, NOWHERE
from kmatch.search.differences.rows import NO_ROWS, RowArray, join_rows
from kmatch.search.scanning.chunks import PackedChunk
from kmatch.search.shards.extents import Extent


class Borders:
    """The borders of an Extent, as places where its genome is laid out.

    left, right: the first place that the shard owns, and the one behind its last; NOWHERE and
    FOREVER where a record's border ends it anyway. rows: hits at plateaus that touch a border,
    touched: uint8[n], which.
    """

    def __init__(self, extent: Extent) -> None:
        self._extent = extent
        self.left, self.right = NOWHERE, FOREVER
        self.rows, self.touched = NO_ROWS, np.zeros(0, np.uint8)

    def look(self, chunk: PackedChunk) -> None:
        """Take the next chunk, which may show the first or the last record."""
        extent, spans = self._extent, chunk.spans
        if extent.before and spans.first == 0:
            self.left = chunk.base + int(spans.begins[0]) + extent.before
        last = len(extent.names) - 1 - spans.first
        if extent.behind and last < len(spans.names):
            own = int(extent.lengths[-1]) - extent.behind
            self.right = chunk.base + int(spans.begins[last]) + own

    def owned(self, ends: Longs, base: int) -> Longs:
        """Those of some ends, int64[3, n], that the shard owns; base: of their chunk."""
        place = ends[0] + base
        if not len(place) or (place[0] >= self.left and place[-1] < self.right):
            return ends
        return np.ascontiguousarray(ends[:, (place >= self.left) & (place < self.right)])

    def decided(self, rows: RowArray, touched: Bytes) -> RowArray:
        """The rows whose plateaus touch no border; the others are kept."""
        open_ = touched != 0
        if not open_.any():
            return rows
        self.rows = join_rows(self.rows, rows[open_])
        self.touched = np.concatenate([self.touched, touched[open_]])
        return rows[~open_]
