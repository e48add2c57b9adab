"""`kmatch plot`."""

import os

import click

from kmatch.cli.command import command
from kmatch.cli.numbers import Count
from kmatch.cli.options import debug_option
from kmatch.cli.outputs import check_outputs
from kmatch.pictures.formats import FORMATS


@command(
    short_help="Draw hits, products or primers (needs Matplotlib).",
    examples=("kmatch plot hits.tsv -o hits.png",),
)
@click.argument("table")
@click.option(
    "-o",
    "--output",
    metavar="FIGURE",
    required=True,
    help="Write to FIGURE, whole or not at all: .png, .svg or .pdf.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    show_default="what FIGURE's suffix says",
    help="Format of the picture.",
)
@click.option(
    "--records",
    type=Count(min=1),
    show_default="24, of primers 12",
    help="Draw the N records with the most hits by themselves.",
)
@click.option(
    "--genome",
    metavar="FILE",
    show_default="each record ends with its last hit",
    help="The genome, for the lengths of its records.",
)
@debug_option
def plot(
    table: str, output: str, form: str | None, records: int | None, genome: str | None
) -> None:
    """Draw the TABLE of hits, products or primers that kmatch has written.

    Hits are drawn along their records, by strand and distance, and counted by pattern and distance;
    primers by length, GC and Tm along the target, of which BED has the length alone.
    """
    form = form or _format_of(output)
    if table == genome == "-":
        raise click.UsageError("only one of TABLE and --genome can be standard input")
    check_outputs((table, genome), {"-o": output})
    from kmatch.pictures.figure import load_figure, write_figure

    load_figure("kmatch plot")  # now, not after a long table
    from kmatch.pictures.drawing import draw_table

    write_figure(draw_table(table, records, genome), output, form)


def _format_of(output: str) -> str:
    """The format that a file's suffix names. Raises UsageError where it names none."""
    suffix = os.path.splitext(output)[1].lower().removeprefix(".")
    if suffix in FORMATS:
        return suffix
    what = "standard output has no suffix" if output == "-" else f"'.{suffix}' names no format"
    raise click.UsageError(
        f"-o {output}: {what}; end the name with .png, .svg or .pdf, or give --format"
    )
