"""k mismatches of a large panel by the exact pieces that a hit must hold."""

import numpy as np

from kmatch.search.hamming import report_keys
from kmatch.search.panel import exact_ends, panel_letters, rank_panel
from kmatch.search.scanning import KeyBuffer
from kmatch.sequences.patterns import pattern_set

LONGEST = 64  # letters of a pattern that can be looked up
CODES = np.array([0, 0, 1, 0, 2, 0, 0, 0, 3], np.uint8)  # of the masks of one base


class SeedSearch:
    """Looks up the patterns of A, C, G and T; those with other letters are compared one by one.

    engine: of a device; patterns: list of Pattern of one length; the other arguments are those of
    `WindowSearch`.
    """

    def __init__(self, engine, patterns, k, strand, ends, key_room):
        self._engine, self._k = engine, k
        patterns = pattern_set(patterns)
        self.panel = panel = rank_panel(patterns, strand)
        length = len(patterns[0])
        exact_each = exact_ends(patterns, k, ends)
        exact = exact_each[:length]
        masks = panel.written[0].reshape(-1, length)
        plain = (masks & (masks - 1) == 0).all(axis=1)[panel.pattern]
        ranks, self._others = np.flatnonzero(plain), np.flatnonzero(~plain)
        codes = CODES[masks[panel.pattern[ranks]]]
        minus = panel.minus[ranks] == 1
        codes[minus] = 3 - codes[minus, ::-1]
        by_rank = np.stack([exact, exact[::-1]])[panel.minus]
        self._tables = engine.seed_tables(codes, ranks, by_rank, k)
        self._letters = panel_letters(
            panel, patterns, self._others, k, exact_ends(patterns, k, ends)
        )
        parts = 2 if len(self._others) else 1
        self._buffer = KeyBuffer(engine.tasks * parts, *(key_room or engine.key_room))

    def scan(self, chunk):
        """Yield the HitBatches of a PackedChunk."""
        engine, k, tasks = self._engine, self._k, self._engine.tasks
        text = chunk.text(self._letters.masks, engine.unite)

        def kernel(lanes, keys, counts):
            engine.scan_seeds(*text, self._tables, k, lanes, keys[:tasks], counts[:tasks])
            if len(self._others):
                self._compare(text, lanes, keys[tasks:], counts[tasks:])

        yield from report_keys(kernel, chunk, text, self.panel, k, self._buffer, engine)

    def _compare(self, text, lanes, keys, counts):
        """Scan for the patterns that are not looked up; their keys get their ranks in the panel."""
        letters, k = self._letters, self._k
        queries = (letters.planes, letters.shifts, letters.bounds)
        self._engine.scan(*text, *queries, k, lanes, keys, counts)
        for row, count in zip(keys, counts, strict=True):
            found = row[:count]  # or all of it, where not all found room
            place, distance = np.divmod(found, k + 1)
            position, number = np.divmod(place, len(self._others))
            rank = self._others[number]
            found[:] = (position * len(self.panel.lengths) + rank) * (k + 1) + distance
