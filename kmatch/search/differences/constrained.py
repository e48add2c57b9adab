"""Ends that satisfy the rules of a search, and their alignments.

A PAM may be outside of the chunk of its end: behind it, so that the end waits for the next chunk,
or in front of it, so that some letters before each chunk are kept.
"""

from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.engine.types import Columns, Constraints, DifferenceQuery, Ends, Traced, View
from kmatch.search.differences.lookups import view_of
from kmatch.search.differences.rows import make_rows
from kmatch.search.differences.rules import Rules
from kmatch.search.scanning.chunks import PackedChunk

NO_COLUMNS = Columns(*(np.zeros(0, np.int64), np.zeros(0, np.uint8)) * 2)
NO_ENDS = np.zeros((3, 0), np.int64)  # positions, queries and distances


class ConstrainedEnds:
    """Selects the ends that satisfy the rules, chunk by chunk.

    engine: of a device; query, constraints: of the search; reach: letters beside an end that are
    looked at.
    """

    def __init__(
        self, engine: Any, query: DifferenceQuery, constraints: Constraints, rules: Rules
    ) -> None:
        self._engine, self._query, self._rules = engine, query, rules
        self._backward, self._constraints = query.reading.backward != 0, constraints
        self.reach = rules.reach
        self.begin_genome()

    def begin_genome(self) -> None:
        """Begin with a genome."""
        # By number of a chunk the letters in front of it; its hits are read back later.
        self._before: dict[int, Bytes] = {}
        self._next = np.zeros(self.reach, np.uint8)  # those in front of the chunk to come
        self._held = NO_ENDS  # ends of the last chunk, which does not show enough behind them
        self._owned = 0  # its positions

    def begin(self, number: int, chunk: PackedChunk) -> Longs:
        """Go on to a chunk; returns the ends that waited for it, int64[3, n]."""
        self._before[number] = self._next
        owned = np.empty(min(self.reach, chunk.length), np.uint8)
        view = self._view(number, chunk)
        self._engine.read_stretch(view, chunk.length - len(owned), owned)
        self._next = np.concatenate([self._next, owned])[len(owned) :]
        held, self._held = self._held, NO_ENDS
        held = held - np.array([[self._owned], [0], [0]])
        self._owned = chunk.length
        return self.kept(number, chunk, held)

    def rest(self, number: int, chunk: PackedChunk) -> Longs:
        """The ends that wait, where no chunk comes after this one; as `kept` gives them."""
        return self._chosen(number, chunk, self._held)

    def kept(self, number: int, chunk: PackedChunk, ends: Longs) -> Longs:
        """The ends, of int64[3, n], that satisfy the rules, with their distances; a fourth row is
        what `_beside` counts."""
        hidden = ends[0] + self.reach >= chunk.length + chunk.geometry.halo
        hidden &= ~self._backward[ends[1]]
        if hidden.any():
            self._held = np.concatenate([self._held, ends[:, hidden]], axis=1)
            ends = ends[:, ~hidden]
        return self._chosen(number, chunk, ends)

    def _chosen(self, number: int, chunk: PackedChunk, ends: Longs) -> Longs:
        ends = np.ascontiguousarray(ends)
        beside = self._beside(number, chunk, ends)
        ends = np.compress(beside >= 0, [*ends, beside], axis=1)
        search = (self._view(number, chunk), self._query, self._constraints)
        if self._rules.bind_alignments and ends.size:
            limits = record_limits(chunk, ends[0], self._backward[ends[1]])
            self._engine.constrained_distances(*search, Ends(ends[0], ends[1], ends[2], limits))
            ends = np.ascontiguousarray(ends[:, ends[2] >= 0])
        return ends

    def rows(self, number: int, chunk: PackedChunk, ends: Any) -> Any:
        """ROW[n] of ends, with their other ends and their PAMs.

        ends: (position, query, distance), int64[n] each, and what `_beside` counts, if known.
        """
        ends, known = ends[:3], ends[3:]
        backward = self._backward[ends[1]]
        if self._rules.bind_alignments:
            *traced, beside = self._trace(number, chunk, ends, NO_COLUMNS)
        else:
            (beside,) = known or (self._beside(number, chunk, ends),)
            traced = self._trace_freely(chunk, ends)
            traced[1][:] += beside
        rows = make_rows(number, chunk.base, ends, Traced(*traced))
        for name in ("start", "first"):
            rows[name] -= np.where(backward, beside, 0)
        for name in ("end", "reach"):
            rows[name] += np.where(backward, 0, beside)
        return rows

    def align(self, number: int, chunk: PackedChunk, ends: Any, columns: Columns) -> None:
        """Fill the Columns of ends."""
        self._trace(number, chunk, ends, columns)

    def _beside(self, number: int, chunk: PackedChunk, ends: Any) -> Longs:
        """Letters of the PAM beside ends, −1 where there is none or a required letter differs."""
        beside = np.empty(len(ends[0]), np.int64)
        search = (self._view(number, chunk), self._query, self._constraints)
        self._engine.stand_beside(*search, (ends[0], ends[1]), beside)
        return beside

    def _trace_freely(self, chunk: PackedChunk, ends: Any) -> Any:
        """(other, size) of ends whose alignments only k bounds."""
        position, query, distance = ends
        limits = record_limits(chunk, position, self._backward[query])
        traced = Traced(*np.empty((2, len(position)), np.int64))
        wanted = Ends(position, query, distance, limits)
        text = (chunk.plain, chunk.letters)
        self._engine.trace(*text, self._query, wanted, traced, NO_COLUMNS)
        return traced

    def _trace(self, number: int, chunk: PackedChunk, ends: Any, columns: Columns) -> Any:
        position, query, distance = ends
        limits = record_limits(chunk, position, self._backward[query])
        traced = tuple(np.empty((3, len(position)), np.int64))
        search = (self._view(number, chunk), self._query, self._constraints)
        wanted = Ends(position, query, distance, limits)
        self._engine.trace_constrained(*search, wanted, traced, columns)
        return traced

    def _view(self, number: int, chunk: PackedChunk) -> View:
        return view_of(chunk, self._before[number])


def record_limits(chunk: PackedChunk, position: Longs, backward: Any) -> Longs:
    """The last positions that alignments may use: those of the records that ends are in.

    position: int64[n], anchored ends; backward: bool[n], whether they are read downwards.
    """
    span = np.searchsorted(chunk.spans.begins, position, side="right") - 1
    begin = chunk.spans.begins[span]
    last = np.minimum(begin + chunk.spans.lengths[span], chunk.geometry.letters) - 1
    return np.where(backward, last, np.maximum(begin, 0))
