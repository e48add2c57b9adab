"""`kmatch best`."""

from functools import partial

import click

from kmatch.cli.command import command
from kmatch.cli.options import (
    Inputs,
    Loudness,
    algorithm_option,
    pattern_arguments,
    search_options,
)
from kmatch.cli.outputs import Table
from kmatch.cli.pattern_search import PatternSearch
from kmatch.search.running import Running


@command(short_help="The closest occurrences of each pattern.")
@click.argument("genome")
@pattern_arguments
@algorithm_option("best")
@search_options
def best(inputs: Inputs, strand: str, table: Table, running: Running, loudness: Loudness) -> None:
    """Find where GENOME comes closest to each pattern, counting differences, on both strands.

    GENOME is FASTA, FASTQ, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, or -
    for standard input. PATTERNS is FASTA, text with one pattern a line (SEQ, or NAME, a tab and
    SEQ), BED with the sequence in column 7, or by --column a table with a header line.
    """
    search = PatternSearch(inputs, table, running, loudness, rereads=True)
    from kmatch.search.best import BestOptions, best_batches

    options = BestOptions(strand=strand)
    search.write(partial(best_batches, search.genome, search.panel, options))
