"""`kmatch primer`."""

from contextlib import ExitStack

import click

from kmatch.arguments import BACKGROUND_STRANDS
from kmatch.cli.command import command
from kmatch.cli.numbers import Count, Number
from kmatch.cli.options import algorithm_option, common_options
from kmatch.cli.places import check_places


@command(short_help="Shortest substrings of a target unlike anything in a background.")
@click.argument("target")
@click.argument("background")
@click.option(
    "-k", required=True, type=Count(min=1), help="Differences that a primer has at least."
)
@click.option(
    "--min-length",
    type=Count(min=1),
    help="Letters of a primer at least; shorter ones are lengthened.",
)
@click.option("--max-length", type=Count(min=1), help="Letters of a primer at most.")
@click.option(
    "--gc",
    type=Number(0, 1),
    nargs=2,
    metavar="MIN MAX",
    help="Only primers with this share of G and C, 0 to 1.",
)
@click.option(
    "--tm",
    type=Number(),
    nargs=2,
    metavar="MIN MAX",
    help="Only primers with this melting temperature in °C (Biopython's Tm_NN).",
)
@click.option("--both-strands", is_flag=True, help="Primers of the target's strand - too.")
@click.option(
    "--background-strand",
    type=click.Choice(BACKGROUND_STRANDS),
    default="both",
    show_default=True,
    help="Strands of the background that primers differ from.",
)
@click.option(
    "--regions",
    metavar="FILE",
    help="Also write, as BED, where every position has a primer of allowed length.",
)
@algorithm_option("primer")
@common_options
def primer(target, background, k, regions, table, talk, **options):
    """Find where primers can lie that bind TARGET and nothing in BACKGROUND.

    For each position of TARGET, the shortest substring from there on with at least k differences
    (mismatches, insertions, deletions) from every substring of BACKGROUND. Both are FASTA, 2bit or
    GenBank, compressed or not, one of them perhaps - for standard input.
    """
    if target == background == "-":
        raise click.UsageError("only one of TARGET and BACKGROUND can be standard input")
    check_places((target, background), {"-o": table.path or "-", "--regions": regions})
    from kmatch.genome import Genome
    from kmatch.results.files.output import flush_all, open_output
    from kmatch.results.primer_tables import PrimerWriter, RegionWriter
    from kmatch.search.primer import primer_batches
    from kmatch.search.running import by_name

    primers, both = 0, options["both_strands"]
    with ExitStack() as stack:
        handles = [stack.enter_context(open_output(table.path))]
        writers = [PrimerWriter(handles[0], table.form, k, both)]
        if regions:
            handles.append(stack.enter_context(open_output(regions)))
            writers.append(RegionWriter(handles[1], both))
        advance = stack.enter_context(talk.progress(background))
        for batch in by_name(
            primer_batches,
            Genome(target, keep=False, on_warning=talk.warn),
            Genome(background, keep=False, on_warning=talk.warn),
            k,
            on_progress=advance,
            on_engine=talk.device,
            **options,
        ):
            if table.to_terminal:
                talk.make_way()
            for writer in writers:
                writer.write(batch)
            primers += len(batch)
        flush_all(*handles)
    talk.detail(f"{primers:,} primers")
