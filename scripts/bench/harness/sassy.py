"""Sassy (package sassy-rs) with the patterns of a search, and its hits beside kmatch's.

Sassy finds the minima of the edit distance, and `kmatch edit` has to find the same ones. The
definitions differ in letters other than A, C, G and T, which match nothing in kmatch and anything
in Sassy: hits near them are not compared. Hits of `hamming` and `multi` are compared, on the
beginning of the text, with the ends that Sassy finds there: of these, the windows with at most k
mismatches, and with the PAM beside them, have to be the same.
"""

import os
from functools import cache
from typing import NamedTuple

import numpy as np

from harness.common import timed
from harness.workloads import COMPLEMENT, LETTERS

MODES = (("dna", "single"), ("iupac", "single"), ("iupac", "batch_patterns"))
PROBE, PROBED = 1 << 16, 0.05  # letters and seconds of the searches that compare modes
CHECKED = 4e8  # letters × patterns × strands on which mismatches are checked
STRANDS = 2


class Anchors(NamedTuple):
    """Hits by their anchored ends, int64[n] each.

    pattern: its number; minus: 1 for the strand -; position: the hit's end on the strand +, its
    start on -; distance.
    """

    pattern: np.ndarray
    minus: np.ndarray
    position: np.ndarray
    distance: np.ndarray

    @classmethod
    def of_hits(cls, hits, beyond=0):
        """Of a kmatch.Hits. beyond: letters of a hit after its pattern."""
        minus = hits.strand == "-"
        position = np.where(minus, hits.start + beyond, hits.end - beyond)
        columns = (hits.pattern_number, minus, position, hits.distance)
        return cls(*(np.asarray(column, np.int64) for column in columns))

    @classmethod
    def of_matches(cls, matches, pattern=None):
        """Of Sassy's matches. pattern: its number where all are of one pattern."""
        rows = [
            (
                m.pattern_idx if pattern is None else pattern,
                m.strand == "-",
                m.text_start if m.strand == "-" else m.text_end,
                m.cost,
            )
            for m in matches
        ]
        return cls(*np.array(rows, np.int64).reshape(-1, 4).T)

    def only(self, rows):
        """The hits that an index or a mask selects."""
        return Anchors(*(column[rows] for column in self))

    def sorted(self):
        """int64[4, n], equal for equal sets."""
        return np.array(self)[:, np.lexsort(self)]


@cache
def _sassy():
    try:
        import sassy
    except ImportError:
        return None
    return sassy


class Sassy:
    """Sassy with the patterns of a Search."""

    @classmethod
    def load(cls, search, threads):
        """A Sassy, or None where the package is not installed."""
        return cls(search, threads) if _sassy() else None

    def __init__(self, search, threads):
        self._search, self._threads = search, threads or os.cpu_count()
        self._patterns = [pattern.encode() for pattern in search.patterns]
        self._mode, self._matches = None, []

    def _find(self, mode, letters):
        alphabet, way = mode
        searcher = _sassy().Searcher(alphabet, rc=True)
        text = letters.tobytes()
        return timed(
            lambda: searcher.search_many(self._patterns, [text], self._search.k, self._threads, way)
        )

    def choose(self, letters, seconds):
        """Choose the fastest mode; returns how many letters it searches in so many seconds.

        The alphabet of four letters has no N.
        """
        modes = MODES if not _strange(letters).size else MODES[1:]
        fastest = {}
        for mode in modes:
            size, took = PROBE, 0.0
            while took < PROBED:
                part = letters[:size]
                _, took = self._find(mode, part)
                if len(part) == len(letters):
                    break
                size *= 4
            fastest[mode] = len(part) / took
        self._mode = max(fastest, key=fastest.get)
        return min(len(letters), max(int(fastest[self._mode] * seconds), PROBE))

    def seconds(self, letters):
        """Seconds of a search; its matches are kept for `check`."""
        self._matches, seconds = self._find(self._mode, letters)
        return seconds

    def check(self, letters, anchors):
        """Columns of a row: whether hits are Sassy's, and on how many letters that was checked."""
        left_out = 0
        if self._search.command == "edit":
            theirs = Anchors.of_matches(self._matches)
            (anchors, theirs), left_out = self._far_from_strange(letters, anchors, theirs)
        else:
            letters = letters[: int(CHECKED / len(self._patterns) / STRANDS)]
            beyond = np.where(anchors.minus, len(self._patterns[0]), len(self._search.pam or ""))
            anchors = anchors.only(anchors.position + beyond <= len(letters))
            theirs = self._windows(letters)
        equal = np.array_equal(anchors.sorted(), theirs.sorted())
        return {
            "equal": "yes" if equal else "NO",
            "mode": " ".join(self._mode),
            "checked_letters": len(letters),
            "checked_hits": len(anchors.position),
            "left_out": left_out,
        }

    def _far_from_strange(self, letters, *sides):
        """The Anchors out of reach of letters other than A, C, G and T; how many are within it."""
        reach = len(self._patterns[0]) + 2 * self._search.k
        strange = np.concatenate([[-reach], _strange(letters), [len(letters) + reach]])
        kept, count = [], 0
        for anchors in sides:
            after = np.searchsorted(strange, anchors.position)
            before = anchors.position - strange[after - 1]
            gap = np.minimum(strange[after] - anchors.position, before)
            near = gap < reach
            kept.append(anchors.only(~near))
            count += int(near.sum())
        return kept, count

    def _windows(self, letters):
        """Anchors of the windows with at most k mismatches among all ends that Sassy finds."""
        searcher, text = _sassy().Searcher("iupac", rc=True), letters.tobytes()
        found = [
            Anchors.of_matches(searcher.search_all(pattern, text, self._search.k), number)
            for number, pattern in enumerate(self._patterns)
        ]
        ends = Anchors(*(np.concatenate(columns) for columns in zip(*found, strict=True)))
        return _mismatches(letters, ends, self._search)


def _strange(letters):
    """Positions of letters that are not A, C, G or T, ascending."""
    return np.flatnonzero(~np.isin(letters, LETTERS))


def _mismatches(letters, ends, search):
    """The Anchors whose window has at most k mismatches and the PAM, with their mismatches."""
    pam = np.frombuffer((search.pam or "").encode(), np.uint8)
    patterns = np.array([list(pattern.encode()) for pattern in search.patterns], np.uint8)
    length, whole = patterns.shape[1], patterns.shape[1] + len(pam)
    start = ends.position - np.where(ends.minus == 1, len(pam), length)
    inside = (start >= 0) & (start + whole <= len(letters))
    ends, start = ends.only(inside), start[inside]
    windows = letters[start[:, None] + np.arange(whole)]
    minus = ends.minus == 1
    complement = np.frombuffer(bytes(range(256)).translate(COMPLEMENT), np.uint8)
    windows[minus] = complement[windows[minus, ::-1]]
    distance = (windows[:, :length] != patterns[ends.pattern]).sum(1)
    beside = windows[:, length:]
    right = np.where(pam == ord("N"), np.isin(beside, LETTERS), beside == pam).all(1)
    return ends._replace(distance=distance).only(right & (distance <= search.k))
