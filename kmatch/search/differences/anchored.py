"""Searches of chunks at anchors: the sites of PAMs, or for large panels everywhere."""

from typing import Any

from kmatch.arrays import Bytes
from kmatch.engine.constraints import AnchoredQuery, Constraints, View
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.geometry import base_pairs
from kmatch.engine.protocol import AnchorScan, Scan
from kmatch.search.panels.pam import Pam
from kmatch.search.panels.pams import share_beside
from kmatch.search.scanning.chunks import NO_LETTERS, PackedChunk

LARGE = 1 << 11  # queries, with fewer of which a scan is faster than a look-up everywhere
LONG = 1 << 16  # positions, in fewer of which even the choice would take too long


def view_of(chunk: PackedChunk, before: Bytes = NO_LETTERS) -> View:
    """The View of a chunk, with its letters if it is unpacked; before: letters in front of it."""
    return View(chunk.plain, chunk.letters, before, chunk.length + chunk.geometry.halo)


class AnchoredSearch:
    """Starts the searches of a genome's chunks at anchors, where that is faster than a scan.

    engine: of a device; query, constraints: of the search; pams: that stand beside anchors, none
    where every position is one; wanted: whether to search at anchors, None where that is faster.
    """

    def __init__(
        self,
        engine: Any,
        query: DifferenceQuery,
        constraints: Constraints,
        pams: tuple[Pam, ...],
        wanted: bool | None,
    ) -> None:
        self._engine, self._pams, self._wanted = engine, pams, wanted
        self._search, self._tables = AnchoredQuery(query, constraints, 1.0), None
        large = len(query.limits) >= LARGE and not wanted
        serves = isinstance(engine, AnchorScan) and wanted is not False
        self._serves = serves and bool(pams or large)
        self._seen, self._foreseen = 0, 0  # positions that were searched, and that it is made for

    def look(self, chunk: PackedChunk) -> float:
        """Choose how to search a chunk; returns the ends at a position that a scan will find, 0
        where that is not known."""
        if not self._serves:
            return 0.0
        self._seen += chunk.length
        if self._seen <= self._foreseen or (self._tables and self._tables.lasts):
            return 0.0
        positions = max(self._seen, self._engine.letters or 0)
        self._foreseen = max(2 * self._seen, positions)  # it may be longer than it seems
        if not self._pams and positions < LONG:
            return 0.0
        share = share_beside(self._pams, base_pairs(chunk.plain))
        text = chunk.text(self._search.query.reading.masks, self._engine)

        def view() -> View:
            chunk.unpack(self._engine)
            return view_of(chunk)

        self._tables, ends = self._engine.anchor_tables(
            self._search._replace(share=share),
            text,
            view,
            None if self._wanted else positions,
            self._tables,
        )
        return 0.0 if self._tables else float(ends)

    def start(self, chunk: PackedChunk, capacity: int) -> Scan | None:
        """Start the search of a chunk, or a part of one, at anchors; None where it is scanned."""
        if self._tables is None:
            return None
        chunk.unpack(self._engine)
        scan: Scan = self._engine.start_anchors(view_of(chunk), self._tables, capacity)
        return scan
