"""`kmatch edit`."""

from functools import partial

import click

from kmatch.cli.command import command
from kmatch.cli.options import (
    algorithm_option,
    distance_option,
    pattern_arguments,
    search_options,
)
from kmatch.cli.places import check_places, format_of
from kmatch.cli.searching import load_panel, write_hits
from kmatch.cli.talk import Talk


@command(short_help="Every occurrence within k differences of a pattern.")
@click.argument("genome")
@pattern_arguments
@distance_option("Differences (mismatches, insertions, deletions) allowed; less than a pattern.")
@click.option(
    "--report",
    type=click.Choice(["minima", "ends", "loci"]),
    default="minima",
    show_default=True,
    help="The best of neighbouring ends, every end, or the best of overlapping minima.",
)
@algorithm_option("edit")
@search_options
def edit(genome, patterns, sequences, k, output, form, quiet, verbose, debug, **options):
    """Find the occurrences of patterns in GENOME with at most k differences, on both strands.

    GENOME is FASTA, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, or - for
    standard input. PATTERNS is FASTA, or text with one pattern a line: SEQ, or NAME, a tab and SEQ.
    """
    form = format_of(form, output)
    check_places((genome, patterns), {"-o": output or "-"})
    talk = Talk(quiet, verbose)
    panel = load_panel(talk, genome, patterns, sequences)
    from kmatch.genome import Genome
    from kmatch.search.edit import edit_batches

    text = Genome(genome, keep=False, on_warning=talk.warn)
    search = partial(edit_batches, text, panel, k, **options)
    write_hits(talk, text, panel, output, form, search)
