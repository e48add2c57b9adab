"""`kmatch hamming`."""

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
    pattern_arguments,
    search_options,
)
from kmatch.cli.outputs import Table
from kmatch.cli.pattern_search import PatternSearch
from kmatch.search.running import Running


class Wanted(NamedTuple):
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
    inputs: Inputs, wanted: Wanted, table: Table, running: Running, loudness: Loudness
) -> None:
    """Find every window of GENOME with at most k mismatches to a pattern, on both strands."""
    search = PatternSearch(inputs, table, running, loudness)
    from kmatch.search.hamming import HammingOptions, hamming_batches
    from kmatch.search.panels.checks import check_ends

    k, strand, exact_5p, exact_3p = wanted
    check_ends(search.panel, {"--exact-5p": exact_5p, "--exact-3p": exact_3p})
    options = HammingOptions(strand=strand, exact_5p=exact_5p, exact_3p=exact_3p)
    search.write(partial(hamming_batches, search.genomes, search.panel, k, options), k)
