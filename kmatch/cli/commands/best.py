"""`kmatch best`."""

import os
from functools import partial

import click

from kmatch.cli.command import command
from kmatch.cli.options import algorithm_option, pattern_arguments, search_options
from kmatch.cli.places import check_places, format_of
from kmatch.cli.searching import load_panel, write_hits
from kmatch.cli.talk import Talk


@command(short_help="The closest occurrences of each pattern.")
@click.argument("genome")
@pattern_arguments
@algorithm_option("best")
@search_options
def best(genome, patterns, sequences, output, form, quiet, verbose, debug, **options):
    """Find where GENOME comes closest to each pattern, counting differences, on both strands.

    GENOME is FASTA, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, or - for
    standard input. PATTERNS is FASTA, or text with one pattern a line: SEQ, or NAME, a tab and SEQ.
    """
    form = format_of(form, output)
    check_places((genome, patterns), {"-o": output or "-"})
    talk = Talk(quiet, verbose)
    panel = load_panel(talk, genome, patterns, sequences)
    from kmatch.genome import Genome
    from kmatch.search.best import best_batches

    def nowhere(names):
        for name in names:
            talk.warn(f"pattern '{name}' matches nowhere")

    # It is read twice, which a pipe cannot be.
    text = Genome(genome, keep=not os.path.isfile(genome), on_warning=talk.warn)
    search = partial(best_batches, text, panel, on_nowhere=nowhere, **options)
    write_hits(talk, text, panel, output, form, search)
