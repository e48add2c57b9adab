"""The searches for patterns: `kmatch hamming`, `multi`, `edit` and `best`."""

from functools import partial
from typing import NamedTuple

import click

from kmatch.arguments import REPORTS
from kmatch.cli.command import command
from kmatch.cli.options import (
    Inputs,
    Loudness,
    Table,
    algorithm_option,
    bound_options,
    distance_option,
    exact_options,
    pam_options,
    pattern_arguments,
    search_options,
)
from kmatch.cli.search import PatternSearch
from kmatch.search.running import Running


class HammingWanted(NamedTuple):
    """The windows to find."""

    k: int | str
    strand: str
    exact_5p: int
    exact_3p: int


@command(
    short_help="Every window within k mismatches of a pattern.",
    examples=(
        "kmatch hamming genome.fa.gz -p TATCACCGATTGACCTGAAT -k 3",
        "kmatch hamming genome.fa.gz primers.fa -k 10% -o hits.tsv",
    ),
)
@click.argument("genome")
@pattern_arguments
@distance_option("Mismatches allowed: N, or N% of a pattern.", shares=True)
@exact_options
@algorithm_option("hamming")
@search_options
def hamming(
    inputs: Inputs, wanted: HammingWanted, table: Table, running: Running, loudness: Loudness
) -> None:
    """Find every window of GENOME with at most k mismatches to a pattern, on both strands."""
    search = PatternSearch(inputs, table, running, loudness)
    from kmatch.search.hamming import HammingOptions, hamming_batches
    from kmatch.search.panels.checks import check_ends

    k, strand, exact_5p, exact_3p = wanted
    check_ends(search.panel, {"--exact-5p": exact_5p, "--exact-3p": exact_3p})
    options = HammingOptions(strand=strand, exact_5p=exact_5p, exact_3p=exact_3p)
    search.write(partial(hamming_batches, search.genomes, search.panel, k, options), k)


class MultiWanted(NamedTuple):
    """The windows to find."""

    k: int | str
    pam: tuple[str, ...] | None
    pam_side: str
    strand: str
    exact_5p: int
    exact_3p: int


@command(
    short_help="k mismatches for a panel of equal-length patterns in one pass.",
    examples=(
        "kmatch multi genome.fa.gz guides.txt -k 4",
        "kmatch multi genome.fa.gz guides.txt -k 4 --pam NGG -o hits.tsv",
    ),
)
@click.argument("genome")
@pattern_arguments
@distance_option("Mismatches allowed: N, or N% of a pattern.", shares=True)
@pam_options
@exact_options
@algorithm_option("multi")
@search_options
def multi(
    inputs: Inputs, wanted: MultiWanted, table: Table, running: Running, loudness: Loudness
) -> None:
    """Find every window of GENOME with at most k mismatches to a pattern of a panel.

    All patterns have one length. A hit spans the pattern and the PAM, its distance counts the
    pattern alone.
    """
    search = PatternSearch(inputs, table, running, loudness)
    from kmatch.search.multi import MultiOptions, multi_batches
    from kmatch.search.panels.checks import check_ends, check_pam

    k, pam, side, strand, exact_5p, exact_3p = wanted
    check_ends(search.panel, {"--exact-5p": exact_5p, "--exact-3p": exact_3p})
    check_pam(search.panel, pam, side, search.messages.warn)
    options = MultiOptions(
        pam=pam, pam_side=side, strand=strand, exact_5p=exact_5p, exact_3p=exact_3p
    )
    batches = partial(multi_batches, search.genomes, search.panel, k, options)
    search.write(batches, k, pam_first=side == "5p")


class EditWanted(NamedTuple):
    """The occurrences to find."""

    k: int | str
    report: str | None
    strand: str
    pam: tuple[str, ...] | None
    pam_side: str
    exact_5p: int
    exact_3p: int
    max_mismatches: int | None
    max_insertions: int | None
    max_deletions: int | None


@command(
    short_help="Every occurrence within k differences of a pattern.",
    examples=(
        "kmatch edit genome.fa.gz -p TATCACCGATTGACCTGAAT -k 2 --format view",
        "kmatch edit genome.fa.gz guides.txt -k 4 --pam NGG -o hits.tsv",
    ),
)
@click.argument("genome")
@pattern_arguments
@distance_option(
    "Differences (mismatches, insertions, deletions) allowed: N, or N% of a pattern.",
    shares=True,
)
@click.option(
    "--report",
    type=click.Choice(REPORTS),
    show_default="minima, beside a PAM ends",
    help="minima: the best of neighbouring ends; ends: every end; loci: the best of overlapping "
    "minima.",
)
@pam_options
@exact_options
@bound_options
@algorithm_option("edit")
@search_options
def edit(
    inputs: Inputs, wanted: EditWanted, table: Table, running: Running, loudness: Loudness
) -> None:
    """Find the occurrences of patterns in GENOME with at most k differences, on both strands.

    A hit spans the pattern and the PAM, if one is asked for; its distance counts the pattern alone.
    """
    search = PatternSearch(inputs, table, running, loudness)
    from kmatch.search.edit import EditOptions, edit_batches
    from kmatch.search.panels.checks import check_ends, check_pam

    ends = {"--exact-5p": wanted.exact_5p, "--exact-3p": wanted.exact_3p}
    check_ends(search.panel, ends)
    check_pam(search.panel, wanted.pam, wanted.pam_side, search.messages.warn)
    values = wanted._asdict()
    k = values.pop("k")
    options = EditOptions()._replace(**values)
    batches = partial(edit_batches, search.genomes, search.panel, k, options)
    search.write(batches, k, pam_first=wanted.pam_side == "5p")


class BestWanted(NamedTuple):
    """The occurrences to find."""

    strand: str
    exact_5p: int
    exact_3p: int


@command(
    short_help="The closest occurrences of each pattern.",
    examples=(
        "kmatch best genome.fa.gz -p TATCACCGATTGACCTGAAT",
        "kmatch best genome.fa.gz primers.fa --limit 1 -o closest.tsv",
    ),
)
@click.argument("genome")
@pattern_arguments
@exact_options
@algorithm_option("best")
@search_options
def best(
    inputs: Inputs, wanted: BestWanted, table: Table, running: Running, loudness: Loudness
) -> None:
    """Find where GENOME comes closest to each pattern, counting differences, on both strands."""
    search = PatternSearch(inputs, table, running, loudness, rereads=True, narrows=False)
    from kmatch.search.best import BestOptions, best_batches
    from kmatch.search.panels.checks import check_ends

    strand, exact_5p, exact_3p = wanted
    check_ends(search.panel, {"--exact-5p": exact_5p, "--exact-3p": exact_3p})
    options = BestOptions(strand=strand, exact_5p=exact_5p, exact_3p=exact_3p)
    search.write(partial(best_batches, search.genomes, search.panel, options))
