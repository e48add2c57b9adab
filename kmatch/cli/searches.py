"""The searches for patterns: `kmatch hamming`, `multi`, `edit` and `best`."""

from kmatch.cli.command import Given, Option, command
from kmatch.cli.options import (
    BOUNDS,
    EXACT_3P,
    EXACT_5P,
    GENOME,
    HITS,
    MISMATCHES,
    PAMS,
    PATTERNS,
    algorithm,
    distance,
)
from kmatch.cli.search import HitSearch
from kmatch.errors import REPORTS

DIFFERS = (
    "hamming counts mismatches; multi does so for a panel of one length, beside a PAM too; edit "
    "counts insertions and deletions as well; best finds the closest and takes no k."
)


@command(
    "Every window within k mismatches of a pattern.",
    GENOME,
    *PATTERNS,
    MISMATCHES,
    EXACT_5P,
    EXACT_3P,
    algorithm("hamming"),
    *HITS,
    examples=(
        "kmatch hamming genome.fa.gz -p TATCACCGATTGACCTGAAT -k 3",
        "kmatch hamming genome.fa.gz primers.fa -k 10% -o hits.tsv",
    ),
    differs=DIFFERS,
)
def hamming(given: Given) -> None:
    """Find every window of GENOME with at most k mismatches to a pattern, on both strands."""
    HitSearch(given).write("hamming")


@command(
    "k mismatches for a panel of equal-length patterns in one pass.",
    GENOME,
    *PATTERNS,
    MISMATCHES,
    *PAMS,
    EXACT_5P,
    EXACT_3P,
    algorithm("multi"),
    *HITS,
    examples=(
        "kmatch multi genome.fa.gz guides.txt -k 4",
        "kmatch multi genome.fa.gz guides.txt -k 4 --pam NGG -o hits.tsv",
    ),
    differs=DIFFERS,
)
def multi(given: Given) -> None:
    """Find every window of GENOME with at most k mismatches to a pattern of a panel.

    All patterns have one length. A hit spans the pattern and the PAM, its distance counts the
    pattern alone.
    """
    HitSearch(given).write("multi")


@command(
    "Every occurrence within k differences of a pattern.",
    GENOME,
    *PATTERNS,
    distance("Differences (mismatches, insertions, deletions) allowed: N, or N% of a pattern."),
    Option(
        *("--report", REPORTS, "minima, beside a PAM ends"),
        "minima: the best of neighbouring ends; ends: every end; loci: the best of overlapping "
        "minima.",
    ),
    *PAMS,
    EXACT_5P,
    EXACT_3P,
    *BOUNDS,
    algorithm("edit"),
    *HITS,
    examples=(
        "kmatch edit genome.fa.gz -p TATCACCGATTGACCTGAAT -k 2 --format view",
        "kmatch edit genome.fa.gz guides.txt -k 4 --pam NGG -o hits.tsv",
    ),
    differs=DIFFERS,
)
def edit(given: Given) -> None:
    """Find the occurrences of patterns in GENOME with at most k differences, on both strands.

    A hit spans the pattern and the PAM, if one is asked for; its distance counts the pattern alone.
    """
    HitSearch(given).write("edit")


@command(
    "The closest occurrences of each pattern.",
    GENOME,
    *PATTERNS,
    EXACT_5P,
    EXACT_3P,
    algorithm("best"),
    *HITS,
    examples=(
        "kmatch best genome.fa.gz -p TATCACCGATTGACCTGAAT",
        "kmatch best genome.fa.gz primers.fa --limit 1 -o closest.tsv",
    ),
    differs=DIFFERS,
)
def best(given: Given) -> None:
    """Find where GENOME comes closest to each pattern, counting differences, on both strands."""
    HitSearch(given, rereads=True).write("best")
