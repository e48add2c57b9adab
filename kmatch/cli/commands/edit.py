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
    distance_option,
    pattern_arguments,
    search_options,
)
from kmatch.cli.outputs import Table
from kmatch.cli.pattern_search import PatternSearch
from kmatch.search.running import Running


class Wanted(NamedTuple):
    """The occurrences to find."""

    k: int
    report: str
    strand: str


@command(short_help="Every occurrence within k differences of a pattern.")
@click.argument("genome")
@pattern_arguments
@distance_option("Differences (mismatches, insertions, deletions) allowed; less than a pattern.")
@click.option(
    "--report",
    type=click.Choice(REPORTS),
    default="minima",
    show_default=True,
    help="The best of neighbouring ends, every end, or the best of overlapping minima.",
)
@algorithm_option("edit")
@search_options
def edit(
    inputs: Inputs, wanted: Wanted, table: Table, running: Running, loudness: Loudness
) -> None:
    """Find the occurrences of patterns in GENOME with at most k differences, on both strands.

    GENOME is FASTA, FASTQ, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, or -
    for standard input. PATTERNS is FASTA, text with one pattern a line (SEQ, or NAME, a tab and
    SEQ), BED with the sequence in column 7, or by --column a table with a header line.
    """
    search = PatternSearch(inputs, table, running, loudness)
    from kmatch.search.edit import EditOptions, edit_batches

    options = EditOptions(report=wanted.report, strand=wanted.strand)
    search.write(partial(edit_batches, search.genome, search.panel, wanted.k, options))
