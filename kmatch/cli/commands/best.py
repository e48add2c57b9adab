"""`kmatch best`."""

from functools import partial
from typing import NamedTuple

import click

from kmatch.cli.command import command
from kmatch.cli.options import (
    Inputs,
    Loudness,
    algorithm_option,
    exact_options,
    pattern_arguments,
    search_options,
)
from kmatch.cli.outputs import Table
from kmatch.cli.pattern_search import PatternSearch
from kmatch.search.running import Running


class Wanted(NamedTuple):
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
    inputs: Inputs, wanted: Wanted, table: Table, running: Running, loudness: Loudness
) -> None:
    """Find where GENOME comes closest to each pattern, counting differences, on both strands."""
    search = PatternSearch(inputs, table, running, loudness, rereads=True, narrows=False)
    from kmatch.search.best import BestOptions, best_batches
    from kmatch.search.panels.checks import check_ends

    strand, exact_5p, exact_3p = wanted
    check_ends(search.panel, {"--exact-5p": exact_5p, "--exact-3p": exact_3p})
    options = BestOptions(strand=strand, exact_5p=exact_5p, exact_3p=exact_3p)
    search.write(partial(best_batches, search.genomes, search.panel, options))
