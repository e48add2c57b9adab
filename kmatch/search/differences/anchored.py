"""Searches of chunks at anchors: the sites of PAMs, or for large panels everywhere."""

from typing import Any

from kmatch.arrays import Bytes
from kmatch.engine.constraints import Constraints, View
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.geometry import base_pairs
from kmatch.engine.protocol import AnchorScan, Scan
from kmatch.search.panels.pam import Pam
from kmatch.search.panels.pams import share_beside
from kmatch.search.scanning.chunks import NO_LETTERS, PackedChunk

LARGE = 1 << 11  # queries, with fewer of which a scan is faster than a look-up everywhere
LONG = 1 << 18  # positions, in fewer of which even the choice would take too long


def view_of(chunk: PackedChunk, before: Bytes = NO_LETTERS) -> View:
    """The View of a chunk, with its letters if it is unpacked; before: letters in front of it."""
    return View(chunk.plain, chunk.letters, before, chunk.length + chunk.geometry.halo)


class AnchoredSearch:
    """Starts the searches of a genome's chunks at anchors, where that is faster than a scan.

    engine: of a device; query, constraints: of the search; pams: that stand beside anchors, none
    where every position is one.
    """

    def __init__(
        self, engine: Any, query: DifferenceQuery, constraints: Constraints, pams: tuple[Pam, ...]
    ) -> None:
        self._engine, self._query, self._constraints = engine, query, constraints
        self._pams, self._tables = pams, None
        self._seen, self._foreseen = 0, 0  # positions that were searched, and that it is made for

    def start(self, chunk: PackedChunk, capacity: int, wanted: bool | None) -> Scan | None:
        """Start the search of a chunk at anchors alone.

        wanted: None does so only where it is faster than a scan; otherwise returns None.
        """
        engine = self._engine
        if wanted is False or not isinstance(engine, AnchorScan):
            return None
        if not self._pams and (wanted or len(self._query.limits) < LARGE):
            return None
        self._seen += chunk.length
        if self._seen > self._foreseen and not (self._tables and self._tables.lasts):
            positions = max(self._seen, self._engine.letters or 0)
            self._foreseen = max(2 * self._seen, positions)  # it may be longer than it seems
            if self._pams:
                self._tables = self._beside_pams(engine, chunk, None if wanted else positions)
            else:
                self._tables = self._everywhere(engine, chunk, positions)
        if self._tables is None:
            return None
        chunk.unpack(self._engine)
        return engine.start_anchors(view_of(chunk), self._tables, capacity)

    def _beside_pams(self, engine: AnchorScan, chunk: PackedChunk, positions: int | None) -> Any:
        share = share_beside(self._pams, base_pairs(chunk.plain))
        text = chunk.text(self._query.reading.masks, self._engine)
        search = self._query, self._constraints, share, text
        return engine.anchor_tables(*search, positions, self._tables)

    def _everywhere(self, engine: AnchorScan, chunk: PackedChunk, positions: int) -> Any:
        if positions < LONG:
            return None
        chunk.unpack(self._engine)
        text = chunk.text(self._query.reading.masks, self._engine)
        search = self._query, self._constraints, view_of(chunk), text
        return engine.lookup_tables(*search, positions)
