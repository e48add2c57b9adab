"""Filter or full scan: an estimate of both for each query, and the filter itself."""

from functools import cache, partial
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Floats, Longs, Planes
from kmatch.engine.costs import CUDA
from kmatch.engine.cuda.bits.buffer import HitBuffer
from kmatch.engine.cuda.edit.pieces import (
    PiecePlan,
    Survivors,
    by_kind,
    kind_of,
    launch_pieces,
    plan_pieces,
    used_letters,
)
from kmatch.engine.cuda.edit.stretches import columns_a_position
from kmatch.engine.cuda.edit.verify import MOST_WORDS, Patterns, verify
from kmatch.engine.cuda.gpu.driver import DeviceArray, Stream, on_device
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.geometry import Text

OFTEN = 9  # letters of a piece after which hardly a thread has a live lane
FEWEST_SURVIVORS = 1 << 18  # that there is memory for
MOST_SURVIVORS = 1 << 26
MARGIN = 1.5  # times the survivors of the chunk before fit into the memory
REPEATED = 6  # times as many as letters alone let expect, as texts repeat themselves
START = 2e6  # nanoseconds of a filter in a chunk with any panel: launches, counts for the host


class Estimate(NamedTuple):
    """Nanoseconds of a query: a column of a `scan`, its pieces (`sought`) for each position, and a
    survivor (`window`)."""

    scan: float
    sought: float
    window: float


def estimate(letters: Planes, k: int, backward: bool) -> Estimate:
    """The Estimate of a query of these letters, and of all of its kind."""
    m, pieces = len(letters), CUDA.pieces
    looked = sum(min(len(used), OFTEN) for _, used in used_letters(letters[None], k, backward))
    window = (m + 3 * k) * (pieces.column + pieces.block * -(-m // 64))
    sought = looked * pieces.letter + (k + 1) * pieces.look
    return Estimate(m * CUDA.recurrence.cell, sought, window)


def expected_survivors(patterns: Planes, k: int, backward: bool, pairs: Floats) -> Floats:
    """The survivors at a position that queries of one kind have, float64[n].

    patterns: int8[n, m], plane numbers; pairs: see `geometry.base_pairs`, of a text that it is
    like.
    """
    alone = pairs.sum(axis=1)
    after, found = (pairs / alone[:, None]).ravel(), np.zeros(len(patterns))
    for planes, offsets in used_letters(patterns, k, backward):
        rows, chance = np.ascontiguousarray(planes.T), np.ones(len(patterns))
        for i, row in enumerate(rows):
            follows = i > 0 and offsets[i - 1] + 1 == offsets[i]
            chance *= after.take(4 * rows[i - 1] + row) if follows else alone.take(row)
        found += chance
    return found


def choose(
    text: Text, search: DifferenceQuery, always: bool, pairs: Floats
) -> tuple[Longs, Floats]:
    """The most survivors with which a filter pays, for each query, int64[Q], 0 to scan at once; and
    the survivors that are expected of it, float64[Q].

    A filter that left too many is run again without the queries that had more.

    text: of the chunks' layout; always: filter all queries that can be verified; pairs: as for
    `expected_survivors`.
    """
    reading, limits, positions = search.reading, search.limits, 64 * text.words * text.rows
    budgets, expected = np.zeros(len(limits), np.int64), np.zeros(len(limits))
    saved = np.zeros(len(limits))  # nanoseconds a position, by a filter
    columns = cache(partial(columns_a_position, text, len(limits)))  # for many kinds the same
    for queries in by_kind(reading, limits, np.arange(len(limits))):
        patterns, k, backward = kind_of(reading, limits, queries)
        if patterns.shape[1] > 64 * MOST_WORDS:
            continue
        scan, sought, window = estimate(patterns[0], k, backward)
        scan *= columns(patterns.shape[1], k)
        room = scan - sought - CUDA.pieces.query / positions
        if room <= 0 and not always:
            continue
        left = expected_survivors(patterns, k, backward, pairs)
        pays = np.full(len(queries), always) | (left * window < room)
        most = MOST_SURVIVORS if always else 64 + int(positions * room / window)
        budgets[queries], expected[queries] = pays * most, pays * positions * left
        saved[queries] = pays * (room - left * window)
    if not always:
        rest = np.ones(len(budgets), bool)
        if saved.sum() > CUDA.pieces.stage + START / positions:
            rest[worthwhile(np.flatnonzero(budgets), expected, budgets)] = False
        budgets[rest] = expected[rest] = 0
    return budgets, expected


class Filter:
    """The pieces of the queries for which a filter pays, on the GPU, planned once for all chunks.

    text: of the chunks' layout; always, pairs: see `choose`; stream: in which the filter runs.
    budgets: see `choose`; memory: the survivors of a chunk for which there should be memory, no
    more than those with which a filter pays.
    """

    def __init__(
        self, text: Text, query: DifferenceQuery, always: bool, pairs: Floats, stream: Stream
    ) -> None:
        reading, limits = query.reading, query.limits
        self.stream, self._reading, self._limits = stream, reading, limits
        self._coding = (len(limits), query.k + 1)
        self.budgets, expected = choose(text, query, always, pairs)
        self.memory = FEWEST_SURVIVORS
        self.expect(REPEATED * expected.sum())
        self._planned: tuple[bytes, PiecePlan, tuple[DeviceArray, DeviceArray]] | None = None
        if self.budgets.any():
            lengths = np.diff(reading.begins)
            searches = np.stack([lengths, limits, reading.backward], axis=1).astype(np.int32)
            table, begins = query.profile
            self._table, self._begins = on_device(table, stream), on_device(begins, stream)
            self._searches = on_device(searches, stream)
            self._longest = int(lengths[self.budgets > 0].max())

    def expect(self, survivors: float) -> None:
        """Take note of the survivors that a chunk had, or will have."""
        most = min(int(self.budgets.sum()), MOST_SURVIVORS)
        self.memory = max(self.memory, min(int(MARGIN * survivors), most))

    def drop(self, queries: Longs) -> None:
        """Have later chunks scanned for queries, int64[n], of which too much survived in one."""
        self.budgets[queries] = 0

    def run(self, text: Text, chosen: Longs, survivors: Survivors, buffer: HitBuffer) -> None:
        """Start the filter for the chosen queries, and the verification of its survivors.

        text: a chunk whose planes are on the GPU; buffer: receives the hits, some of them several
        times.
        """
        plan, arrays = self._plan(chosen)
        launch_pieces(text, plan, arrays, survivors, self.stream)
        patterns = Patterns(self._table, self._begins, self._searches, arrays[1])
        coding, stream = self._coding, self.stream
        verify(text, patterns, self._longest, survivors, coding, buffer, stream)

    def _plan(self, chosen: Longs) -> tuple[PiecePlan, tuple[DeviceArray, DeviceArray]]:
        """The plan for the chosen queries and its arrays on the GPU; the last one is kept."""
        if self._planned is None or self._planned[0] != chosen.tobytes():
            plan = plan_pieces(self._reading, self._limits, chosen)
            arrays = on_device(plan.letters, self.stream), on_device(plan.pieces, self.stream)
            self._planned = chosen.tobytes(), plan, arrays
        return self._planned[1:]


def worthwhile(chosen: Longs, counts: Longs | Floats, budgets: Longs) -> Longs:
    """The chosen queries for which the filter pays, as many as there is memory for survivors.

    chosen: int64, ascending; counts, budgets: of Q queries, survivors, and the most with which a
    filter pays.
    """
    chosen = chosen[counts[chosen] <= budgets[chosen]]
    if counts[chosen].sum() <= MOST_SURVIVORS:
        return chosen
    fewest = chosen[np.argsort(counts[chosen], kind="stable")]
    return np.sort(fewest[np.cumsum(counts[fewest]) <= MOST_SURVIVORS])
