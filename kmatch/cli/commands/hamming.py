"""`kmatch hamming`."""

from functools import partial

import click

from kmatch.cli.command import command
from kmatch.cli.options import (
    algorithm_option,
    distance_option,
    exact_options,
    pattern_arguments,
    search_options,
)
from kmatch.cli.places import check_places
from kmatch.cli.searching import load_panel, write_hits


@command(short_help="Every window within k mismatches of a pattern.")
@click.argument("genome")
@pattern_arguments
@distance_option("Mismatches allowed; less than a pattern.")
@exact_options
@algorithm_option("hamming")
@search_options
def hamming(genome, patterns, k, table, talk, **options):
    """Find every window of GENOME with at most k mismatches to a pattern, on both strands.

    GENOME is FASTA, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, or - for
    standard input. PATTERNS is FASTA, or text with one pattern a line: SEQ, or NAME, a tab and SEQ.
    """
    check_places((genome, patterns.path), {"-o": table.path or "-"})
    panel = load_panel(talk, genome, patterns)
    from kmatch.search.checks import check_ends

    check_ends(panel, {f"--exact-{end}": options[f"exact_{end}"] for end in ("5p", "3p")})
    from kmatch.genome import Genome
    from kmatch.search.hamming import hamming_batches
    from kmatch.search.running import by_name

    text = Genome(genome, keep=False, on_warning=talk.warn)
    search = partial(by_name, hamming_batches, text, panel, k, **options)
    write_hits(talk, text, panel, table, search)
