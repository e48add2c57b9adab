"""Searches of kmatch beside Sassy's: the same texts, patterns and threads, in turn."""

import statistics
import sys
from functools import partial
from typing import NamedTuple

import kmatch
from harness.anchors import Anchors
from harness.options import is_wanted, repeat_panel, texts
from harness.records import Table
from harness.sassy import STRANDS, Sassy
from harness.timing import median_ratio, take_turns, timed
from harness.workloads import TooFew, cut_panel, guide_panel, repeat_guide_panel

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
    """A command of kmatch with patterns of one length."""

    command: str
    patterns: list[str]
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

    Both get as much of the text as Sassy searches in options.seconds.
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
        row |= peer.check(letters, Anchors.of_hits(hits, beyond=len(search.pam or "")))
    return row


def described(text, panel, search):
    """The columns of a row that name text, panel and search."""
    panel = f"{len(search.patterns):,} {panel}"
    return {"text": text.name, "panel": panel, "search": str(search)}


def figures(search, letters, ours, theirs=None):
    """The columns of a row with medians of seconds, rates and the ratio."""
    work = letters * len(search.patterns) * STRANDS / 1e9
    seconds = statistics.median(ours)
    row = {"letters": letters, "kmatch_s": seconds, "rate": work / seconds}
    if theirs:
        seconds = statistics.median(theirs)
        row |= {"sassy_s": seconds, "sassy_rate": work / seconds}
        row["ratio"] = median_ratio(ours, theirs)
    return row


def panel_of(kind, text, count, length, options):
    """A panel of one of PANELS, or of --repeats; None where there is none."""
    if kind == "repeats":
        guides = repeat_panel(options)[:count]
        return [guide for guide in guides if len(guide) == length] or None
    try:
        return PANELS[kind](text, count, length)
    except TooFew as error:
        print(error, file=sys.stderr)
        return None


def compare_cases(command, cases, options):
    """Compare a command in every text; returns the rows.

    cases: (kind of the panel, patterns, m, k) and a PAM if there is one. The guides of --repeats,
    `repeats`, are searched in the genome alone.
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
    """Whether any row has other hits than Sassy."""
    return any(row.get("equal") == "NO" for row in rows)
