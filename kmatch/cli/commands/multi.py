"""`kmatch multi`."""

from functools import partial
from typing import NamedTuple

import click

from kmatch.cli.command import command
from kmatch.cli.options import (
    Inputs,
    Loudness,
    algorithm_option,
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
    inputs: Inputs, wanted: Wanted, table: Table, running: Running, loudness: Loudness
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
