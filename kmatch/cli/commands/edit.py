"""`kmatch edit`."""

from functools import partial

import click

from kmatch.arguments import REPORTS
from kmatch.cli.command import command
from kmatch.cli.options import (
    algorithm_option,
    distance_option,
    pattern_arguments,
    search_options,
)
from kmatch.cli.places import check_places
from kmatch.cli.searching import load_panel, write_hits


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
def edit(genome, patterns, k, table, talk, **options):
    """Find the occurrences of patterns in GENOME with at most k differences, on both strands.

    GENOME is FASTA, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, or - for
    standard input. PATTERNS is FASTA, or text with one pattern a line: SEQ, or NAME, a tab and SEQ.
    """
    check_places((genome, patterns.path), {"-o": table.path or "-"})
    panel = load_panel(talk, genome, patterns)
    from kmatch.genome import Genome
    from kmatch.search.edit import edit_batches
    from kmatch.search.running import by_name

    text = Genome(genome, keep=False, on_warning=talk.warn)
    search = partial(by_name, edit_batches, text, panel, k, **options)
    write_hits(talk, text, panel, table, search)
