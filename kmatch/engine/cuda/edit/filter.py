"""Filter or full scan: an estimate of both for each query, and the filter's kernels."""

import numpy as np

from kmatch.engine.cuda.edit.pieces import launch_pieces, plan_pieces, used_letters
from kmatch.engine.cuda.edit.verify import MOST_WORDS, Patterns, launch_verify
from kmatch.engine.cuda.gpu.driver import on_device

# Picoseconds of an H200, fitted to filters and scans of 1 and 64 patterns; only ratios matter.
CELL = 0.0145  # a cell of the bit-sliced recurrence
STAGE = 0.1  # a text position on its way to shared memory, for all queries at once
LETTER = 0.004  # a letter of a piece, a text position
LOOK = 0.005  # a piece, a text position
COLUMN = 100.0  # a column of a window: four words from anywhere in memory
BLOCK = 3.0  # 64 pattern letters of a column

OFTEN = 9  # letters of a piece after which hardly a thread has anything left to look for
FIRST_SURVIVORS = 1 << 18  # that there is memory for at first
MOST_SURVIVORS = 1 << 26


def estimate(letters, k, backward):
    """Picoseconds a random position that a query takes, as (scan, filter), and a survivor's."""
    m = len(letters)
    survivors = looked = 0.0
    for piece in used_letters(letters, k, backward):
        survivors += 4.0 ** -len(piece)
        looked += min(len(piece), OFTEN)
    window = (m + 3 * k) * (COLUMN + BLOCK * -(-m // 64))
    return m * CELL, looked * LETTER + (k + 1) * LOOK + survivors * window, window


def choose(positions, reading, limits, always):
    """How many survivors the filter is worth to each query, int64[Q]; 0 where the scan is faster.

    positions: of a chunk; reading: ReadingArrays; always: filter all queries that can be verified.
    """
    letters, begins, backward, _ = reading
    budgets = np.zeros(len(limits), np.int64)
    for query, k in enumerate(limits.tolist()):
        pattern = letters[begins[query] : begins[query + 1]]
        if len(pattern) > 64 * MOST_WORDS:
            continue
        scan, filtering, window = estimate(pattern, k, backward[query])
        if always:
            budgets[query] = MOST_SURVIVORS
        elif filtering + STAGE / len(limits) < scan:
            budgets[query] = 64 + int(positions * scan / window)
    return budgets


class Filter:
    """The pieces of the queries that are worth a filter, on the GPU, planned once for all chunks.

    text: a Text of the chunks' layout; query: DifferenceQuery; always: see `choose`; stream: in
    which it runs.
    """

    def __init__(self, text, query, always, stream):
        reading, limits = query.reading, query.limits
        self.stream, self._reading, self._limits = stream, reading, limits
        self._coding = (len(limits), query.k + 1)
        self.budgets = choose(64 * text.words * text.rows, reading, limits, always)
        self._plans = {}
        if self.budgets.any():
            lengths = np.diff(reading.begins)
            searches = np.stack([lengths, limits, reading.backward], axis=1).astype(np.int32)
            arrays = (*query.profile, searches)
            self._arrays = [on_device(array, stream) for array in arrays]
            self._longest = int(lengths[self.budgets > 0].max())

    def run(self, text, chosen, survivors, buffer):
        """Start the filter of the chosen queries and what verifies its survivors.

        text: a chunk whose planes are on the GPU; survivors: Survivors; buffer: HitBuffer, receives
        the hits, some of them several times.
        """
        plan, arrays = self._plan(chosen)
        launch_pieces(text, plan, arrays, survivors, self.stream)
        patterns = Patterns(*self._arrays, arrays[1])
        coding, stream = self._coding, self.stream
        launch_verify(text, patterns, self._longest, survivors, coding, buffer, stream)

    def _plan(self, chosen):
        key = chosen.tobytes()
        if key not in self._plans:
            plan = plan_pieces(self._reading, self._limits, chosen)
            arrays = on_device(plan.letters, self.stream), on_device(plan.pieces, self.stream)
            self._plans = {key: (plan, arrays)}
        return self._plans[key]


def worthwhile(chosen, counts, budgets):
    """Those of the chosen queries whose survivors are worth it, as far as there is memory for all.

    counts, budgets: int64[Q], how many survivors there are, and how many are worth it.
    """
    chosen = chosen[counts[chosen] <= budgets[chosen]]
    fewest = chosen[np.argsort(counts[chosen], kind="stable")]
    return np.sort(fewest[np.cumsum(counts[fewest]) <= MOST_SURVIVORS])
