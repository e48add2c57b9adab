"""`kmatch best`."""

import os
from functools import partial

import click

from kmatch.cli.command import command
from kmatch.cli.options import algorithm_option, pattern_arguments, search_options
from kmatch.cli.places import check_places
from kmatch.cli.searching import load_panel, write_hits


@command(short_help="The closest occurrences of each pattern.")
@click.argument("genome")
@pattern_arguments
@algorithm_option("best")
@search_options
def best(genome, patterns, table, talk, **options):
    """Find where GENOME comes closest to each pattern, counting differences, on both strands.

    GENOME is FASTA, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, or - for
    standard input. PATTERNS is FASTA, or text with one pattern a line: SEQ, or NAME, a tab and SEQ.
    """
    check_places((genome, patterns.path), {"-o": table.path or "-"})
    panel = load_panel(talk, genome, patterns)
    from kmatch.genome import Genome
    from kmatch.search.best import best_batches
    from kmatch.search.running import by_name

    # It is read twice, which a pipe cannot be.
    text = Genome(genome, keep=not os.path.isfile(genome), on_warning=talk.warn)
    search = partial(by_name, best_batches, text, panel, **options)
    write_hits(talk, text, panel, table, search)
