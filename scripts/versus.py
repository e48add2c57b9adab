"""kmatch beside Sassy (package sassy-rs): the same texts, patterns and threads, in turn.

Sassy finds the minima of the edit distance. `kmatch edit` does so too and has to find the same.
Where the text has other letters than A, C, G and T the definitions differ: they match nothing in
kmatch and anything in Sassy, so hits near them are left out of the comparison. Hits of `hamming`
and `multi` are held, on the beginning of the text, against all ends that Sassy finds there: those
whose window has at most k mismatches, and the PAM beside it, have to be the same.
"""

import os
import statistics
import sys
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from benchmarks import (
    Table,
    is_wanted,
    median_ratio,
    repeat_panel,
    take_turns,
    texts,
    timed,
    write_results,
)
from workloads import COMPLEMENT, LETTERS, TooFew, cut_panel, guide_panel, repeat_guide_panel

import kmatch

MODES = (("dna", "single"), ("iupac", "single"), ("iupac", "batch_patterns"))
PROBE, PROBED = 1 << 16, 0.05  # letters at first, seconds that tell how long more will take
CHECKED = 4e8  # letters × patterns × strands on which mismatches are checked
STRANDS = 2
PANELS = {
    "cut": cut_panel,
    "before NGG": guide_panel,
    "touching repeats": repeat_guide_panel,
}
COLUMNS = (
    ("text", "text", "<26s"),
    ("panel", "panel", "<26s"),
    ("search", "search", "<16s"),
    ("letters", "letters", ">11,d"),
    ("kmatch_s", "kmatch s", ">9.3f"),
    ("rate", "Gbp·pattern/s", ">13.2f"),
    ("sassy_s", "Sassy s", ">9.3f"),
    ("sassy_rate", "Gbp·pattern/s", ">13.2f"),
    ("ratio", "ratio", ">7.2f"),
    ("hits", "hits", ">11,d"),
    ("equal", "hits equal", ">10s"),
)


class Search(NamedTuple):
    """A command of kmatch with its patterns, all of one length."""

    command: str
    patterns: list
    k: int
    pam: str | None = None

    def __str__(self):
        words = (self.command, f"{len(self.patterns[0])},{self.k}", self.pam or "")
        return " ".join(words).strip()

    def run(self, genome, **options):
        """The Hits in a Genome."""
        options |= {"pam": self.pam} if self.pam else {}
        return getattr(kmatch, self.command)(genome, self.patterns, self.k, **options)


def compare(text, panel, search, options):
    """Time a Search in a Text; returns a row of figures.

    Sassy gets no more of the text than it searches in options.seconds, and kmatch as much.
    """
    peer = Sassy.load(search, options.threads)
    letters = text.letters
    if peer:
        letters = letters[: peer.choose(letters, options.seconds)]
    genome = kmatch.Genome.from_records([("text", letters)])
    run = partial(search.run, genome, threads=options.threads, device="cpu")
    hits, first = timed(run)
    calls = [lambda: timed(run)[1]]
    if peer:
        calls.append(partial(peer.seconds, letters))
    ours, *theirs = take_turns(options.repeat if first < options.seconds else 1, *calls)
    row = described(text, panel, search) | figures(search, len(letters), ours, *theirs)
    row |= {"hits": len(hits), "first_s": first}
    if peer:
        columns = (hits.pattern_number, hits.strand == "-", hits.start, hits.end, hits.distance)
        row |= peer.check(letters, Anchors.of_hits(*columns, beyond=len(search.pam or "")))
    return row


def described(text, panel, search):
    """The columns of a row that say what is searched."""
    panel = f"{len(search.patterns):,} {panel}"
    return {"text": text.name, "panel": panel, "search": str(search)}


def figures(search, letters, ours, theirs=None):
    """Medians of seconds, rates and the ratio of a row."""
    work = letters * len(search.patterns) * STRANDS / 1e9
    seconds = statistics.median(ours)
    row = {"letters": letters, "kmatch_s": seconds, "rate": work / seconds}
    if theirs:
        seconds = statistics.median(theirs)
        row |= {"sassy_s": seconds, "sassy_rate": work / seconds}
        row["ratio"] = median_ratio(ours, theirs)
    return row


class Anchors(NamedTuple):
    """Hits by where they are anchored: pattern's number, 1 for the strand -, the end on the strand
    + or the start on -, and the distance, int64[n] each."""

    pattern: np.ndarray
    minus: np.ndarray
    place: np.ndarray
    distance: np.ndarray

    @classmethod
    def of_hits(cls, number, minus, start, end, distance, beyond=0):
        """Of columns of hits that span so many letters behind the pattern."""
        place = np.where(minus, start + beyond, end - beyond)
        columns = (number, minus, place, distance)
        return cls(*(np.asarray(column, np.int64) for column in columns))

    @classmethod
    def of_matches(cls, matches, pattern=None):
        """Of Sassy's matches, of one pattern where a number is given."""
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
        """How many letters are searched in so many seconds, in the mode that is fastest.

        The alphabet of four letters knows no N.
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
        """Seconds of a search, whose matches are kept."""
        self._matches, seconds = self._find(self._mode, letters)
        return seconds

    def check(self, letters, anchors):
        """Columns of a row: whether the hits are Sassy's, and of how many letters they are."""
        left_out = 0
        if self._search.command == "edit":
            theirs = Anchors.of_matches(self._matches)
            (anchors, theirs), left_out = self._far_from_strange(letters, anchors, theirs)
        else:
            letters = letters[: int(CHECKED / len(self._patterns) / STRANDS)]
            beyond = np.where(anchors.minus, len(self._patterns[0]), len(self._search.pam or ""))
            anchors = anchors.only(anchors.place + beyond <= len(letters))
            theirs = self._windows(letters)
        equal = np.array_equal(anchors.sorted(), theirs.sorted())
        return {
            "equal": "yes" if equal else "NO",
            "mode": " ".join(self._mode),
            "checked_letters": len(letters),
            "checked_hits": len(anchors.place),
            "left_out": left_out,
        }

    def _far_from_strange(self, letters, *sides):
        """Anchors that no letter but A, C, G and T can touch, and how many others there are."""
        reach = len(self._patterns[0]) + 2 * self._search.k
        strange = np.concatenate([[-reach], _strange(letters), [len(letters) + reach]])
        kept, count = [], 0
        for anchors in sides:
            after = np.searchsorted(strange, anchors.place)
            gap = np.minimum(strange[after] - anchors.place, anchors.place - strange[after - 1])
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
    """Places of letters that are not A, C, G or T, ascending."""
    return np.flatnonzero(~np.isin(letters, LETTERS))


def _mismatches(letters, ends, search):
    """Those Anchors whose window has at most k mismatches and the PAM, with their mismatches."""
    pam = np.frombuffer((search.pam or "").encode(), np.uint8)
    patterns = np.array([list(pattern.encode()) for pattern in search.patterns], np.uint8)
    length, whole = patterns.shape[1], patterns.shape[1] + len(pam)
    start = ends.place - np.where(ends.minus == 1, len(pam), length)
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


def panel_of(kind, text, count, length, options):
    """The panel of a kind (see PANELS); None where the text has no such."""
    if kind == "repeats":
        guides = repeat_panel(options)[:count]
        return [guide for guide in guides if len(guide) == length] or None
    try:
        return PANELS[kind](text, count, length)
    except TooFew as error:
        print(error, file=sys.stderr)
        return None


def run_cases(command, cases, options):
    """Compare a command in every text and write the results; returns whether hits differ."""
    rows = compare_cases(command, cases, options)
    write_results(options.json, rows, threads=options.threads)
    return differ(rows)


def compare_cases(command, cases, options):
    """Compare a command in every text; returns the rows.

    cases: (kind of the panel, patterns, m, k) and, if any, a PAM; `repeats` stands for the guides
    of --repeats, which are searched in the genome alone.
    """
    shown = Table(COLUMNS)
    for name, text in texts(options).items():
        for kind, count, length, k, *pam in cases:
            if kind == "repeats" and name != "real":
                continue
            if not is_wanted(options, text.name, name, kind, f"{command} {length},{k}"):
                continue
            patterns = panel_of(kind, text, count, length, options)
            if patterns:
                search = Search(command, patterns, k, *pam)
                shown.add(compare(text, kind, search, options))
    return shown.rows


def differ(rows):
    """Whether hits are not Sassy's in any row."""
    return any(row.get("equal") == "NO" for row in rows)
