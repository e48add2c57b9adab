"""`kmatch edit`."""

from functools import partial
from typing import NamedTuple

import click

from kmatch.arguments import REPORTS
from kmatch.cli.command import command
from kmatch.cli.options import (
    Inputs,
    Loudness,
    algorithm_option,
    bound_options,
    distance_option,
    exact_options,
    pam_options,
    pattern_arguments,
    search_options,
)
from kmatch.cli.outputs import Table
from kmatch.cli.pattern_search import PatternSearch
from kmatch.search.running import Running


class Wanted(NamedTuple):
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
    inputs: Inputs, wanted: Wanted, table: Table, running: Running, loudness: Loudness
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
