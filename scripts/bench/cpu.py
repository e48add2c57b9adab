#!/usr/bin/env python
"""Time kmatch against Sassy on random letters and real DNA, both with the text in memory.

    scripts/bench/cpu.py COMMAND [--genome FASTA] [--repeats FILE] [--at-rich FASTA]
        [--at-rich-record NAME] [--length BASES] [--threads N] [--seconds S] [--repeat N]
        [--only WORD] [--json FILE]

COMMAND is `hamming`, `edit` or `multi`. Texts are packed for kmatch and bytes for Sassy
(`pip install sassy-rs`), whose search allows insertions and deletions too: random letters, the
first record of FASTA after its leading N, and a text of four fifths A and T. Panels are cut out of
the text; the panel of --repeats is searched in the genome. Both search both strands, in turn, with
one thread unless --threads says otherwise, Sassy in the mode that is fastest on the beginning of
the text and without a PAM. Seconds are medians of the repeats, the ratio is the median of Sassy's
seconds ÷ kmatch's, turn by turn; Gbp·pattern/s is text length × patterns × 2 strands ÷ time, and m
times that giga cell updates a second, whether or not the cells were computed. Where Sassy would
need more than --seconds, both get a slice of the text. The exit status is 1 where hits differ (see
`harness/sassy.py`).
"""

import statistics
import sys
from functools import partial
from typing import NamedTuple

from harness.common import Table, is_wanted, plain_parser, timed, write_results
from harness.sassy import STRANDS, Anchors, Sassy
from harness.workloads import (
    TooFew,
    at_rich_text,
    cut_panel,
    file_panel,
    file_text,
    guide_panel,
    random_text,
    repeat_guide_panel,
)

import kmatch

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
CASES = {  # kind of the panel, patterns, m, k, and a PAM
    "hamming": (
        ("cut", 16, 20, 3),
        ("cut", 16, 23, 4),
        ("cut", 16, 32, 6),
        ("cut", 100, 20, 3),
        ("cut", 2_000, 20, 3),
        ("cut", 20_000, 20, 2),
        ("before NGG", 2_000, 20, 4),
        ("repeats", None, 20, 4),
    ),
    "edit": (
        ("cut", 8, 20, 1),
        ("cut", 8, 20, 3),
        ("cut", 8, 32, 6),
        ("cut", 8, 100, 10),
        ("cut", 100, 20, 3),
        ("cut", 2_000, 20, 2),
        ("cut", 20_000, 20, 1),
        ("before NGG", 100, 20, 4),
        ("repeats", None, 20, 4),
    ),
    "multi": (
        ("cut", 100, 20, 3),
        ("cut", 2_000, 20, 3),
        ("cut", 20_000, 20, 3),
        ("before NGG", 2_000, 20, 4, "NGG"),
        ("before NGG", 20_000, 20, 3, "NGG"),
        ("touching repeats", 1_000, 20, 4),
        ("touching repeats", 1_000, 20, 4, "NGG"),
        ("repeats", None, 20, 4),
        ("repeats", None, 20, 4, "NGG"),
    ),
}


def texts(options):
    """The Texts that the options name, as `random`, `real` and `at-rich`."""
    found = {"random": random_text(options.length)}
    if options.genome:
        found["real"] = file_text(options.genome, options.length)
    sample = options.at_rich and file_text(options.at_rich, record=options.at_rich_record)
    found["at-rich"] = at_rich_text(options.length, sample)
    return found


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
    turns = options.repeat if first < options.seconds else 1
    ours, *theirs = zip(*([call() for call in calls] for _ in range(turns)), strict=True)
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
        row["ratio"] = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
    return row


def panel_of(kind, text, count, length, options):
    """A panel of one of PANELS, or of --repeats; None where there is none."""
    if kind == "repeats":
        guides = file_panel(options.repeats)[:count] if options.repeats else []
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


def main():
    parser = plain_parser(__doc__, repeat=5)
    parser.add_argument("--genome", metavar="FASTA", help="real DNA: its first record")
    parser.add_argument("--repeats", metavar="FILE", help="guides out of repeats of the genome")
    parser.add_argument("--at-rich", metavar="FASTA", help="in place of the mitochondrion of yeast")
    parser.add_argument("--at-rich-record", metavar="NAME", help="of that file, such as chrM")
    parser.add_argument("--length", type=int, default=1 << 25, help="letters of each text")
    parser.add_argument("--seconds", type=float, default=10, help="a search may take")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", metavar="WORD", help="rows with WORD in text, panel or search")
    parser.add_argument("command", choices=CASES)
    options = parser.parse_args()
    rows = compare_cases(options.command, CASES[options.command], options)
    write_results(options.json, rows, threads=options.threads)
    sys.exit(any(row.get("equal") == "NO" for row in rows))


if __name__ == "__main__":
    main()
