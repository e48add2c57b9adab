"""`kmatch primer`."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import click

from kmatch.arguments import BACKGROUND_STRANDS
from kmatch.cli.command import command
from kmatch.cli.numbers import Count, Number, NumberRange
from kmatch.cli.options import Loudness, algorithm_option, common_options
from kmatch.cli.outputs import Table, check_table
from kmatch.cli.pattern_search import ending
from kmatch.cli.terminal.conclusion import Conclusion, counted
from kmatch.cli.terminal.messages import Messages
from kmatch.search.running import Running

if TYPE_CHECKING:
    from kmatch.results.tables.primers import PrimerWriter, RegionWriter


class Inputs(NamedTuple):
    """What primers are to bind, and what they are not to bind."""

    target: str
    background: str


class Wanted(NamedTuple):
    """The primers to find."""

    k: int
    min_length: int | None
    max_length: int | None
    gc: tuple[float, float] | None
    tm: tuple[float, float] | None
    both_strands: bool
    background_strand: str


@command(
    short_help="Shortest substrings of a target unlike anything in a background.",
    examples=(
        "kmatch primer virus.fa genome.fa.gz -k 4 -o primers.bed",
        "kmatch primer virus.fa genome.fa.gz -k 4 --max-length 25 --gc 0.4 0.6",
    ),
)
@click.argument("target")
@click.argument("background")
@click.option(
    "-k",
    required=True,
    type=Count(min=1),
    help="Differences from the background that a primer has at least.",
)
@click.option(
    "--min-length",
    type=Count(min=1),
    show_default="none",
    help="Letters of a primer at least; shorter ones are lengthened.",
)
@click.option(
    "--max-length", type=Count(min=1), show_default="none", help="Letters of a primer at most."
)
@click.option(
    "--gc",
    type=NumberRange(0, 1),
    nargs=2,
    metavar="MIN MAX",
    show_default="any",
    help="Only primers with this share of G and C, 0 to 1.",
)
@click.option(
    "--tm",
    type=Number(),
    nargs=2,
    metavar="MIN MAX",
    show_default="any",
    help="Only primers with this melting temperature in °C (Biopython's Tm_NN).",
)
@click.option("--both-strands", is_flag=True, help="Find primers of the target's strand - too.")
@click.option(
    "--background-strand",
    type=click.Choice(BACKGROUND_STRANDS),
    default="both",
    help="Strands of the background that primers differ from.",
)
@click.option(
    "--regions",
    metavar="FILE",
    show_default="none",
    help="Also write, as BED, where every position has a primer of allowed length.",
)
@algorithm_option("primer")
@common_options
def primer(
    inputs: Inputs,
    wanted: Wanted,
    table: Table,
    regions: str | None,
    running: Running,
    loudness: Loudness,
) -> None:
    """Find where primers can lie that bind TARGET and nothing in BACKGROUND.

    For each position of TARGET, the shortest substring from there on with at least k differences
    (mismatches, insertions, deletions) from every substring of BACKGROUND.
    """
    if inputs.target == inputs.background == "-":
        raise click.UsageError("only one of TARGET and BACKGROUND can be standard input")
    for name, path in zip(("TARGET", "BACKGROUND"), inputs, strict=True):
        if path.startswith("@") and not os.path.exists(path):
            raise click.UsageError(
                f"{name} is one file, and not a list of files as {path} is elsewhere; join them: "
                "cat *.fa | kmatch primer TARGET - -k N"
            )
    table = check_table(table, inputs, {"--regions": regions})
    messages = Messages(*loudness)
    conclusion = Conclusion(messages)
    from kmatch.distributed import run_anywhere
    from kmatch.genome import Genome
    from kmatch.search.primer import PrimerOptions, primer_batches
    from kmatch.search.scanning.lengths import Heard

    target, background = (Genome(path, keep=False, on_warning=messages.warn) for path in inputs)
    options = PrimerOptions(
        min_length=wanted.min_length,
        max_length=wanted.max_length,
        gc=wanted.gc,
        tm=wanted.tm,
        both_strands=wanted.both_strands,
        background_strand=wanted.background_strand,
    )
    primers, heard = 0, Heard()
    with (
        _writers(wanted, table, regions) as writers,
        messages.progress(inputs.background, running.scheduler is not None) as advance,
    ):
        running = running._replace(
            on_progress=advance,
            on_engine=conclusion.hear,
            on_expected=messages.expected,
            on_spans=heard.hear,
            on_warning=messages.warn,
        )
        search = partial(primer_batches, target, background, wanted.k, options)
        batches = run_anywhere(search, running)
        with ending(batches):
            for batch in batches:
                if table.is_standard:
                    messages.make_way()
                for writer in writers:
                    writer.write(batch)
                primers += len(batch)
    conclusion.say(counted(primers, "primer"), heard.records, heard.letters)


@contextmanager
def _writers(
    wanted: Wanted, table: Table, regions: str | None
) -> "Iterator[list[PrimerWriter | RegionWriter]]":
    """Give the writers of the primers and, where they are asked for, of the regions."""
    from kmatch.results.files.output import flush_all, open_output
    from kmatch.results.tables.primers import PrimerWriter, RegionWriter

    both = wanted.both_strands
    with ExitStack() as stack:
        handles = [stack.enter_context(open_output(table.output))]
        writers: list[PrimerWriter | RegionWriter] = [
            PrimerWriter(handles[0], table.form or "bed", wanted.k, both)
        ]
        if regions:
            handles.append(stack.enter_context(open_output(regions)))
            writers.append(RegionWriter(handles[1], both))
        yield writers
        flush_all(*handles)
