"""Filter or full scan: an estimate of both for each query, and the filter's kernels."""

import numpy as np

from kmatch.engine.cuda.driver import on_device
from kmatch.engine.cuda.pieces import launch_pieces, plan_pieces, used_letters
from kmatch.engine.cuda.verify import MOST_WORDS, launch_verify
from kmatch.engine.host.blocks import profiles

# Picoseconds of an H200, fitted to filters and scans of 1 and 64 patterns; only ratios matter.
CELL = 0.0145  # a cell of the bit-sliced recurrence
STAGE = 0.1  # a text position on its way to shared memory, for all queries at once
LETTER = 0.004  # a letter of a piece, a text position
LOOK = 0.005  # a piece, a text position
COLUMN = 100.0  # a column of a window: four words from anywhere in memory
BLOCK = 3.0  # 64 pattern letters of a column

OFTEN = 9  # letters of a piece after which hardly a thread has anything left to look for
FIRST_ROOM = 1 << 18  # survivors there is room for at first
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


def choose(positions, letters, begins, backward, limits, always):
    """How many survivors the filter is worth to each query, int64[Q]; 0 where the scan is faster.

    positions: of a chunk; letters, begins, backward: ReadingArrays; always: filter all queries
    that can be verified.
    """
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

    shape: (words, rows, plane_words) of the chunks; reading: letters, begins and backward of
    ReadingArrays; bases: uint8, the bases of each plane; limits, k, always: as for `filter_edit`.
    """

    def __init__(self, shape, reading, bases, limits, k, always, stream):
        words, rows, plane_words = shape
        self.stream, self._shape = stream, (words, rows, plane_words // words)
        self._reading, self._limits = reading, limits
        self.keying = (len(limits), k + 1)
        self.budgets = choose(64 * words * rows, *reading, limits, always)
        self._plans = {}
        letters, begins, backward = reading
        if self.budgets.any():
            table, places = profiles(letters, begins, bases)
            self._profile = on_device(table, stream), on_device(places, stream)
            lengths = np.diff(begins)
            searches = np.stack([lengths, limits, backward], axis=1).astype(np.int32)
            self._searches = on_device(searches, stream)
            self._most = int(lengths[self.budgets > 0].max())

    def run(self, text, chosen, counts, survivors, found, codes, ends):
        """Start the filter of the chosen queries and what verifies its survivors.

        text: uint64, a chunk's planes; counts: int64[Q]; found: int64[1]; both 0 before, they count
        the survivors of each query and all of them; survivors, codes: int64, receive as many as
        there is room for; ends: int64[1], counts the codes on. All arrays but `chosen` are on the
        GPU.
        """
        plan, arrays = self._plan(chosen)
        shape, stream = self._shape, self.stream
        launch_pieces(text, shape, plan, arrays, counts, survivors, found, stream)
        launch_verify(
            text, shape, self._profile, self._searches, self._most, arrays[1], self.keying,
            survivors, found, codes, ends, stream,
        )  # fmt: skip

    def _plan(self, chosen):
        key = chosen.tobytes()
        if key not in self._plans:
            plan = plan_pieces(*self._reading, self._limits, chosen)
            arrays = on_device(plan.codes, self.stream), on_device(plan.pieces, self.stream)
            self._plans = {key: (plan, arrays)}
        return self._plans[key]


def worthwhile(chosen, counts, budgets):
    """Of the chosen queries those with as few survivors as they are worth, and as all of which
    find room.

    counts, budgets: int64[Q], survivors that there are, and that are worth it.
    """
    chosen = chosen[counts[chosen] <= budgets[chosen]]
    fewest = chosen[np.argsort(counts[chosen], kind="stable")]
    return np.sort(fewest[np.cumsum(counts[fewest]) <= MOST_SURVIVORS])
