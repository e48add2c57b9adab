"""`kmatch hamming`."""

from functools import partial

import click

from kmatch.cli.checks import check_ends
from kmatch.cli.command import command
from kmatch.cli.options import (
    algorithm_option,
    distance_option,
    exact_options,
    pattern_arguments,
    search_options,
)
from kmatch.cli.places import check_places, format_of
from kmatch.cli.searching import load_panel, write_hits
from kmatch.cli.talk import Talk


@command(short_help="Every window within k mismatches of a pattern.")
@click.argument("genome")
@pattern_arguments
@distance_option("Mismatches allowed; less than a pattern.")
@exact_options
@algorithm_option("hamming")
@search_options
def hamming(genome, patterns, sequences, k, output, form, quiet, verbose, debug, **options):
    """Find every window of GENOME with at most k mismatches to a pattern, on both strands.

    GENOME is FASTA, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, or - for
    standard input. PATTERNS is FASTA, or text with one pattern a line: SEQ, or NAME, a tab and SEQ.
    """
    form = format_of(form, output)
    check_places((genome, patterns), {"-o": output or "-"})
    talk = Talk(quiet, verbose)
    panel = load_panel(talk, genome, patterns, sequences)
    check_ends(panel, options["exact_5p"], options["exact_3p"])
    from kmatch.genome import Genome
    from kmatch.search.hamming import hamming_batches

    text = Genome(genome, keep=False, on_warning=talk.warn)
    search = partial(hamming_batches, text, panel, k, **options)
    write_hits(talk, text, panel, output, form, search)
