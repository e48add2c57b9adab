"""`kmatch hamming`."""

import click

from kmatch.cli.options import Talk, check_inputs, format_of, pattern_arguments, search_options


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
@click.option("--algorithm", type=click.Choice(["bitplane"]), default="bitplane", hidden=True)
@search_options
def hamming(
    genome, patterns, sequences, k, output, form, quiet, verbose, debug, **search_arguments
):
    """Find every window of GENOME with at most k mismatches to a pattern, on both strands.

    GENOME is FASTA, 2bit or GenBank, compressed or not, or - for standard input. PATTERNS is
    FASTA, or text with one pattern a line: SEQ, or NAME, a tab and SEQ.
    """
    check_inputs(genome, patterns, sequences)
    from kmatch.output.files import open_output
    from kmatch.output.tables import TableWriter
    from kmatch.search.hamming import hamming_batches
    from kmatch.sequences.genome import Genome
    from kmatch.sequences.patterns import load_patterns, repeated_names

    talk = Talk(quiet, verbose)
    panel = load_patterns(patterns or list(sequences))
    for name in repeated_names(panel):
        talk.warn(f"the name '{name}' stands for more than one pattern; all are searched")
    hits = 0
    with talk.progress(genome) as advance:
        batches = hamming_batches(
            Genome(genome, keep=False),
            panel,
            k,
            on_progress=advance,
            on_engine=lambda engine: talk.detail(f"device: {engine.description}"),
            **search_arguments,
        )
        with open_output(output) as handle:
            writer = TableWriter(handle, format_of(form, output), panel, k)
            for batch in batches:
                writer.write(batch)
                hits += len(batch)
    talk.detail(f"{hits:,} hits of {len(panel):,} patterns")
