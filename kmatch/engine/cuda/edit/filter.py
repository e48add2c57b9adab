"""Filter or full scan: an estimate of both for each query, and the filter itself."""

from functools import cache, partial
from math import prod
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Longs, Planes
from kmatch.engine.costs import CUDA
from kmatch.engine.cpu.edit.filter import Shares, expect_pieces
from kmatch.engine.cuda.bits.buffer import HitBuffer
from kmatch.engine.cuda.edit.pieces import (
    LETTERS,
    PiecePlan,
    Survivors,
    by_kind,
    kind_of,
    launch_pieces,
    plan_pieces,
    share_of,
    tiles,
    used_letters,
)
from kmatch.engine.cuda.edit.stretches import columns_a_position, strips_of
from kmatch.engine.cuda.edit.verify import MOST_WORDS, Patterns, verify
from kmatch.engine.cuda.gpu.driver import DeviceArray, Stream, on_device
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.geometry import Text
from kmatch.engine.host.sharing import slabs
from kmatch.engine.host.workers import Workers

OFTEN = 9  # letters of a piece after which hardly a thread has a live lane
FEWEST_SURVIVORS = 1 << 18  # that there is memory for
MOST_SURVIVORS = 1 << 26
MARGIN = 1.5  # times the survivors of the chunk before fit into the memory
REPEATED = 6  # times as many as letters alone let expect, as texts repeat themselves
SAMPLED = 17  # a sample is one tile of so many: not a divisor of those that lie side by side
LEAST = 0.1  # of a scan's time, that a filter has to save: estimates err by as much
START = 2e6  # nanoseconds of a filter in a chunk with any panel: launches, counts for the host


class Estimate(NamedTuple):
    """Nanoseconds of a query: a column of a `scan`, its pieces (`sought`) for each position, a
    survivor (`window`), and to begin with a filter rather than a scan (`begin`)."""

    scan: float
    sought: float
    window: float
    begin: float


def estimate(letters: Planes, k: int, backward: bool) -> Estimate:
    """The Estimate of a query of these letters, and of all of its kind."""
    m, pieces, recurrence = len(letters), CUDA.pieces, CUDA.recurrence
    looked = sum(min(len(used), OFTEN) for _, used in used_letters(letters[None], k, backward))
    window = (m + 3 * k) * (pieces.column + pieces.block * -(-m // 64))
    sought = looked * pieces.letter + (k + 1) * pieces.look
    begin = pieces.query + (k + 1) * pieces.piece - recurrence.query
    return Estimate(prod(strips_of(m)) * recurrence.cell, sought, window, begin)


def shares_of(pairs: Floats, planes: int) -> Shares:
    """The Shares of so many planes of a text, of which those of IUPAC letters are left out, as if
    they matched anything; pairs: see `geometry.base_pairs`."""
    alone, after = np.ones(planes), np.ones((planes, planes))
    alone[:4] = pairs.sum(axis=1)
    after[:, :4] = alone[:4]
    after[:4, :4] = pairs / alone[:4, None]
    return Shares(alone, after)


def expected_survivors(
    patterns: Planes, k: int, backward: bool, shares: Shares, workers: Workers
) -> Floats:
    """The survivors at a position that queries of one kind have, float64[n].

    patterns: int8[n, m], plane numbers; shares: of a text that it is like.
    """
    found = np.empty(len(patterns))
    items = slabs(len(found))
    workers.run(expect_pieces, items, patterns, k, backward, LETTERS, shares, found)
    return found


class Choice(NamedTuple):
    """Which of Q queries a filter pays for.

    budgets: int64[Q], the most survivors of a chunk with which it does, 0 to scan at once;
    expected: float64[Q], the survivors that letters let expect, 0 where the budget is; window:
    float64[Q], nanoseconds of a survivor, 0 where the filter is to run whatever it costs.
    """

    budgets: Longs
    expected: Floats
    window: Floats


def choose(
    text: Text, search: DifferenceQuery, always: bool, pairs: Floats, workers: Workers
) -> Choice:
    """The Choice that letters suggest.

    text: of the chunks' layout; always: filter all queries that can be verified; pairs: see
    `geometry.base_pairs`, of a text that it is like.
    """
    reading, limits, positions = search.reading, search.limits, 64 * text.words * text.rows
    choice = Choice(np.zeros(len(limits), np.int64), *np.zeros((2, len(limits))))
    least, saved = CUDA.pieces.stage * positions + START, np.zeros(len(limits))  # nanoseconds
    shares = shares_of(pairs, len(reading.bases))
    columns = cache(partial(columns_a_position, text, len(limits)))  # for many kinds the same
    for queries in by_kind(reading, limits, np.arange(len(limits))):
        patterns, k, backward = kind_of(reading, limits, queries)
        if patterns.shape[1] > 64 * MOST_WORDS:
            continue
        scan, sought, window, begin = estimate(patterns[0], k, backward)
        scan *= columns(patterns.shape[1], k)
        least += LEAST * scan * positions * len(queries)
        room = scan - sought - begin / positions
        if room <= 0 and not always:
            continue
        left = expected_survivors(patterns, k, backward, shares, workers)
        choice.budgets[queries] = MOST_SURVIVORS if always else 64 + int(positions * room / window)
        choice.expected[queries] = positions * left
        if not always:
            choice.window[queries] = window
            saved[queries] = positions * (room - left * window)
    if not always:
        left_out = _left_out(choice, saved, least)
        choice.budgets[left_out] = choice.expected[left_out] = choice.window[left_out] = 0
    return choice


def _left_out(choice: Choice, saved: Floats, least: float) -> Bools:
    """The queries to scan for at once, bool[Q].

    saved: nanoseconds, by a filter, float64[Q]; least: that it has to save in all.
    """
    out = np.ones(len(saved), bool)
    if saved.sum(where=saved > 0) > least:
        spare(choice.budgets, choice.expected, choice.window)
        out[worthwhile(np.flatnonzero(choice.budgets), choice.expected, choice.budgets)] = False
    return out


def spare(budgets: Longs, counts: Floats, window: Floats) -> None:
    """Raise the budgets of queries that have more survivors, where to scan for them as well would
    save less than it takes to begin with that.

    budgets, window: of a Choice; counts: survivors, float64[Q].
    """
    if spent(np.maximum(counts - budgets, 0), window) < START:
        budgets[:] = np.maximum(budgets, np.ceil(counts))


def spent(counts: Floats, window: Floats) -> float:
    """Nanoseconds for so many survivors of each query, float64[Q]; window: of a Choice.

    Not as a product of vectors: the threads of a BLAS spin for 0.1 s after it, on every core.
    """
    return float((counts * window).sum())


class Sought:
    """Queries whose pieces are sought, on the GPU, planned once for texts of any length.

    filtered: int64, which of the queries; stream: in which the filter runs.
    """

    def __init__(self, query: DifferenceQuery, filtered: Longs, stream: Stream) -> None:
        reading, limits = query.reading, query.limits
        lengths = np.diff(reading.begins)
        searches = np.stack([lengths, limits, reading.backward], axis=1).astype(np.int32)
        table, begins = query.profile
        self.stream, self._coding = stream, (len(limits), query.k + 1)
        self._table, self._begins = on_device(table, stream), on_device(begins, stream)
        self._searches = on_device(searches, stream)
        self._longest = int(lengths[filtered].max())
        self._filtered, self._all = filtered, plan_pieces(reading, limits, filtered)
        self._letters = on_device(self._all.letters, stream)
        self._planned: tuple[bytes, PiecePlan, tuple[DeviceArray, DeviceArray]] | None = None

    def count(self, text: Text, chosen: Longs) -> Longs:
        """The survivors of all queries in one of SAMPLED tiles, int64[Q]; waits for them."""
        stream, none = self.stream, np.zeros(1, np.int64)
        counts = on_device(np.zeros(self._coding[0], np.int64), stream)
        survivors = Survivors(counts, on_device(none, stream), on_device(none, stream))
        launch_pieces(text, *self._plan(chosen), survivors, stream, SAMPLED)
        found: Longs = counts.copy_to_host(stream=stream)
        stream.synchronize()
        return found

    def run(self, text: Text, chosen: Longs, survivors: Survivors, buffer: HitBuffer) -> None:
        """Start the filter for the chosen queries, and the verification of its survivors.

        text: a chunk whose planes are on the GPU; buffer: receives the hits, some of them several
        times.
        """
        plan, arrays = self._plan(chosen)
        launch_pieces(text, plan, arrays, survivors, self.stream)
        patterns = Patterns(self._table, self._begins, self._searches, arrays[1])
        verify(text, patterns, self._longest, survivors, self._coding, buffer, self.stream)

    def _plan(self, chosen: Longs) -> tuple[PiecePlan, tuple[DeviceArray, DeviceArray]]:
        """The plan for the chosen queries and its arrays on the GPU; the last one is kept."""
        if self._planned is None or self._planned[0] != chosen.tobytes():
            pieces = self._all.pieces
            if len(chosen) < len(self._filtered):
                wanted = np.zeros(self._coding[0], bool)
                wanted[chosen] = True
                pieces = pieces.take(np.flatnonzero(wanted.take(pieces[:, 3])), axis=0)
            plan = self._all._replace(pieces=pieces)
            arrays = self._letters, on_device(plan.pieces, self.stream)
            self._planned = chosen.tobytes(), plan, arrays
        return self._planned[1:]


class Filter:
    """A filter in texts of one layout, for the queries that it pays for.

    text: of that layout; choice: of the queries; sought: those of which the budget is not 0.
    budgets: of the Choice; memory: the survivors of a chunk for which there should be memory, no
    more than those with which a filter pays.
    """

    def __init__(self, text: Text, choice: Choice, sought: Sought) -> None:
        self.budgets, expected, self._window = choice
        self.sought = sought
        unsure = spent(expected, self._window) > START
        self._unsure = unsure and prod(tiles(text)) >= SAMPLED
        self.memory = FEWEST_SURVIVORS
        if not self._unsure:
            self.expect(REPEATED * expected.sum())

    def expect(self, survivors: float) -> None:
        """Take note of the survivors that a chunk had, or will have."""
        most = min(int(self.budgets.sum()), MOST_SURVIVORS)
        self.memory = max(self.memory, min(int(MARGIN * survivors), most))

    def narrow(self, chosen: Longs, counts: Longs | Floats) -> tuple[Longs, Longs]:
        """The chosen queries for which the filter pays, and the others, which it drops: later
        chunks are scanned for them. Arguments as for `worthwhile`."""
        pays = worthwhile(chosen, counts, self.budgets)
        rest = np.delete(chosen, np.searchsorted(chosen, pays))
        self.budgets[rest] = 0
        return pays, rest

    def sample(self, text: Text) -> None:
        """Count what survives in part of the first chunk, and drop the queries of which it is too
        much: texts repeat themselves, which letters do not foretell.

        text: with planes on the GPU.
        """
        if not self._unsure:
            return
        self._unsure = False
        chosen = np.flatnonzero(self.budgets)
        likely = self.sought.count(text, chosen) / share_of(text, SAMPLED)
        spare(self.budgets, likely, self._window)
        pays, _ = self.narrow(chosen, likely)
        self.expect(likely[pays].sum())


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
