"""Filter or full scan: an estimate of both for each query, and the filter itself."""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Floats, Longs
from kmatch.engine.costs import CUDA
from kmatch.engine.cuda.bits.buffer import HitBuffer
from kmatch.engine.cuda.edit.pieces import (
    PiecePlan,
    Survivors,
    kinds_of,
    launch_pieces,
    plan_pieces,
    used_letters,
)
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
    """Nanoseconds of a query: a `scan` and its pieces (`sought`) for each position, and a survivor
    (`window`); survivors: at each position."""

    scan: float
    sought: float
    window: float
    survivors: float


def estimate(letters: Longs, k: int, backward: bool, alike: float) -> Estimate:
    """The Estimate of a query; alike: see `geometry.likeness`, of a text that it is like."""
    m, pieces = len(letters), CUDA.pieces
    survivors = looked = 0.0
    for _, offsets in used_letters(letters[None], k, backward):
        survivors += alike ** len(offsets)
        looked += min(len(offsets), OFTEN)
    window = (m + 3 * k) * (pieces.column + pieces.block * -(-m // 64))
    sought = looked * pieces.letter + (k + 1) * pieces.look
    return Estimate(m * CUDA.recurrence.cell, sought, window, survivors)


def choose(text: Text, search: DifferenceQuery, always: bool, alike: float) -> tuple[Longs, Floats]:
    """The most survivors with which a filter pays, for each query, int64[Q], 0 to scan at once; and
    the survivors that are expected of it, float64[Q].

    A filter that left too many is run again without the queries that had more.

    text: of the chunks' layout; always: filter all queries that can be verified; alike: see
    `geometry.likeness`.
    """
    reading, limits, positions = search.reading, search.limits, 64 * text.words * text.rows
    firsts, kind = kinds_of(reading, limits)
    budgets, expected = np.zeros(len(firsts), np.int64), np.zeros(len(firsts))
    shared = (CUDA.pieces.stage + START / positions) / len(limits)
    for i, query in enumerate(firsts.tolist()):
        pattern = reading.letters[reading.begins[query] : reading.begins[query + 1]]
        if len(pattern) > 64 * MOST_WORDS:
            continue
        k, backward = int(limits[query]), bool(reading.backward[query])
        scan, sought, window, survivors = estimate(pattern, k, backward, alike)
        sought += CUDA.pieces.query / positions
        if always:
            budgets[i] = MOST_SURVIVORS
        elif sought + survivors * window + shared < scan:
            budgets[i] = 64 + int(positions * (scan - sought) / window)
        expected[i] = positions * survivors if budgets[i] else 0
    budgets, expected = budgets[kind], expected[kind]
    if not always:
        rest = np.ones(len(budgets), bool)
        rest[worthwhile(np.flatnonzero(budgets), expected, budgets)] = False
        budgets[rest] = expected[rest] = 0
    return budgets, expected


class Filter:
    """The pieces of the queries for which a filter pays, on the GPU, planned once for all chunks.

    text: of the chunks' layout; always, alike: see `choose`; stream: in which the filter runs.
    budgets: see `choose`; memory: the survivors of a chunk for which there should be memory, no
    more than those with which a filter pays.
    """

    def __init__(
        self, text: Text, query: DifferenceQuery, always: bool, alike: float, stream: Stream
    ) -> None:
        reading, limits = query.reading, query.limits
        self.stream, self._reading, self._limits = stream, reading, limits
        self._coding = (len(limits), query.k + 1)
        self.budgets, expected = choose(text, query, always, alike)
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

    counts, budgets: of Q queries, survivors, and the most with which a filter pays.
    """
    chosen = chosen[counts[chosen] <= budgets[chosen]]
    fewest = chosen[np.argsort(counts[chosen], kind="stable")]
    return np.sort(fewest[np.cumsum(counts[fewest]) <= MOST_SURVIVORS])
