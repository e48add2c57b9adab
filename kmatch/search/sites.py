"""k mismatches beside a PAM: its sites are found first, and only they are compared further."""

import numpy as np

from kmatch.engine.geometry import LANES_PER_WORD, SPARE, Geometry
from kmatch.engine.queries import Query, query_arrays, window_arrays
from kmatch.errors import InputError
from kmatch.search.hamming import hit_batch
from kmatch.search.panel import exact_ends, rank_panel, wanted_strands
from kmatch.search.scanning import KeyBuffer
from kmatch.sequences.alphabet import encode, reverse_complement
from kmatch.sequences.patterns import Pattern, PatternSet, pattern_set

SIDES = ("3p", "5p")
FEWEST_SITES = 1 << 12


class Pam:
    """What stands beside each pattern, as `masks`, uint8[p], on the side `3p` or `5p`.

    Raises InputError for a letter outside IUPAC, no letter at all, or another side.
    """

    def __init__(self, sequence, side):
        if side not in SIDES:
            raise InputError(f"unknown side of the PAM '{side}'; use {' or '.join(SIDES)}")
        if not sequence:
            raise InputError("the PAM is empty; give its letters, such as NGG")
        self.sequence = sequence
        self.masks = encode(sequence, sequence, "PAM")
        self.leads = side == "5p"

    def __len__(self):
        return len(self.masks)

    def beside(self, letters, pam):
        """Pattern letters and PAM letters, uint8, joined as they are written."""
        return np.concatenate([pam, letters] if self.leads else [letters, pam])

    def join(self, pattern):
        """The Pattern that a hit spans, under the pattern's name."""
        pair = (
            (self.sequence, pattern.sequence) if self.leads else (pattern.sequence, self.sequence)
        )
        return Pattern(pattern.name, "".join(pair), self.beside(pattern.masks, self.masks))

    def beside_each(self, letters, pam, patterns):
        """The same for the letters of many patterns of one length, side by side."""
        rows = letters.reshape(patterns, -1)
        pams = np.broadcast_to(pam, (patterns, len(pam)))
        return np.concatenate([pams, rows] if self.leads else [rows, pams], axis=1).reshape(-1)

    def join_all(self, patterns):
        """The PatternSet that hits span, of a PatternSet of one length."""
        before, behind = (self.sequence, "") if self.leads else ("", self.sequence)
        return PatternSet(
            patterns.names,
            [f"{before}{sequence}{behind}" for sequence in patterns.sequences],
            self.beside_each(patterns.masks, self.masks, len(patterns)),
            patterns.begins + len(self) * np.arange(len(patterns.begins)),
        )

    def query(self, length, minus):
        """The Query that finds windows of `length` letters and a PAM by their PAM."""
        masks = self.beside(np.zeros(length, np.uint8), self.masks)
        masks = reverse_complement(masks) if minus else masks
        return Query([], [(i, mask) for i, mask in enumerate(masks.tolist()) if mask])

    def skipped(self, minus):
        """Letters of the PAM that stand, on the forward strand, before the pattern's window."""
        return np.where(minus == self.leads, 0, len(self))


class SiteSearch:
    """The search for patterns of one length beside a PAM.

    engine: of a device; patterns: list of Pattern; k: int; pam: Pam; strand: `both`, `+` or `-`;
    ends: letters of a pattern that must match, at its beginning and its end; most: sites to
    compare at a time; key_room: see KeyBuffer.
    """

    def __init__(self, engine, patterns, k, pam, strand, ends, most, key_room):
        self._engine, self._k, self._pam = engine, k, pam
        patterns = pattern_set(patterns)
        self._length = len(patterns[0])
        self.panel = rank_panel(pam.join_all(patterns), strand)
        self._strands = np.array(wanted_strands(strand), np.uint8)
        self._pams = query_arrays([pam.query(self._length, minus) for minus in self._strands], 0)
        exact = exact_ends(patterns, k, ends)
        self._letters = window_arrays(patterns.masks, patterns.begins, exact, k)
        self._patterns = len(patterns)
        room = max(min(engine.layout.site_letters // self._length, most), FEWEST_SITES)
        self._sites = KeyBuffer(engine.tasks, *(key_room or (room, room)))
        self._hits = KeyBuffer(engine.tasks, *(key_room or engine.key_room))

    def scan(self, chunk):
        """Yield the HitBatches of a PackedChunk."""
        pams = self._pams
        text = chunk.text(pams.masks, self._engine.unite)
        queries = (pams.planes, pams.shifts, pams.bounds)

        def find(lanes, keys, counts):
            self._engine.scan(*text, *queries, 0, lanes, keys, counts)

        for sites, _ in self._sites.scan(find, chunk.geometry.words):
            position, strand = np.divmod(sites, len(self._strands))
            own = position < chunk.length
            if own.any():
                yield from self._compare(chunk, text, position[own], strand[own])

    def _compare(self, chunk, text, position, strand):
        """Hits of all patterns at some sites: a site is a lane, so that all are scanned at once."""
        planes, geometry = self._pack(text, position, self._strands[strand])
        letters = self._letters
        queries = (letters.planes, letters.shifts, letters.bounds)

        def match(lanes, keys, counts):
            sites = (planes, geometry.words, 1, geometry.plane_words)
            self._engine.scan(*sites, *queries, self._k, lanes, keys, counts)

        for keys, _ in self._hits.scan(match, geometry.words):
            keys, distance = np.divmod(keys, self._k + 1)
            site, number = np.divmod(keys, self._patterns)
            rank = strand[site] * self._patterns + number
            batch = hit_batch(position[site], rank, distance, chunk, text, self.panel, self._engine)
            if len(batch):
                yield batch

    def _pack(self, text, position, minus):
        """Planes of the patterns' windows at sites, a lane each, and their Geometry."""
        engine, length, masks = self._engine, self._length, self._letters.masks
        geometry = Geometry(-(-len(position) // LANES_PER_WORD), length, 0)
        windows = np.zeros(geometry.letters + LANES_PER_WORD, np.uint8)
        engine.read_sites(*text, position + self._pam.skipped(minus), minus, length, windows)
        planes = engine.planes(4 * geometry.plane_words + SPARE)
        engine.pack(windows, geometry.words, length, length, planes)
        return engine.unite(planes, geometry.plane_words, masks), geometry
