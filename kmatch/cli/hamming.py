"""`kmatch hamming`."""

from functools import partial

import click

from kmatch.cli.options import Talk, algorithm_option, pattern_arguments, search_options
from kmatch.cli.searching import load_panel, write_hits


@click.command(short_help="Every window within k mismatches of a pattern.")
@click.argument("genome")
@pattern_arguments
@click.option(
    "-k", required=True, type=click.IntRange(min=0), help="Mismatches allowed; less than a pattern."
)
@click.option(
    "--exact-5p", type=click.IntRange(min=0), default=0, help="First letters that must match."
)
@click.option(
    "--exact-3p", type=click.IntRange(min=0), default=0, help="Last letters that must match."
)
@algorithm_option("hamming")
@search_options
def hamming(genome, patterns, sequences, k, output, form, quiet, verbose, debug, **options):
    """Find every window of GENOME with at most k mismatches to a pattern, on both strands.

    GENOME is FASTA, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, or - for
    standard input. PATTERNS is FASTA, or text with one pattern a line: SEQ, or NAME, a tab and SEQ.
    """
    talk = Talk(quiet, verbose)
    panel = load_panel(talk, genome, patterns, sequences)
    from kmatch.search.hamming import hamming_batches
    from kmatch.sequences.genome import Genome

    search = partial(
        hamming_batches, Genome(genome, keep=False, on_warning=talk.warn), panel, k, **options
    )
    write_hits(talk, genome, panel, output, form, search)
