"""`kmatch bench`."""

from typing import NamedTuple

import click

from kmatch.cli.command import command
from kmatch.cli.numbers import Count, NumberRange
from kmatch.cli.options import debug_option, device_option
from kmatch.cli.outputs import check_outputs
from kmatch.cli.terminal.messages import Messages

COMMANDS = ("hamming", "multi", "edit", "best", "primer")
PAPERS = ("liu2012", "pmasm2017", "wspasm2017", "nakano2012", "feuser2018")
WIDTH = 200  # of tables that do not go to a terminal


class Measured(NamedTuple):
    """What is measured: commands, or those of a paper, on a genome or on random letters."""

    commands: tuple[str, ...]
    paper: str | None
    genome: str | None
    size: int | None


class Records(NamedTuple):
    """Files for the figures."""

    json: str | None
    plot: str | None


@command(
    short_help="All algorithms side by side on the same data.",
    examples=("kmatch bench hamming edit --genome genome.fa.gz",),
)
@click.argument(
    "commands", nargs=-1, metavar="[COMMANDS]...", type=click.Choice((*COMMANDS, "all"))
)
@click.option(
    "--genome", metavar="FILE", show_default="random letters", help="The genome that is searched."
)
@click.option(
    "--size", type=Count(min=1000), show_default="what suits the device", help="Letters of text."
)
@click.option(
    "--paper",
    type=click.Choice(PAPERS),
    show_default="none",
    help="What a paper measured, in place of COMMANDS.",
)
@click.option(
    "--seconds",
    type=NumberRange(min=0, min_open=True),
    default=2.0,
    help="Seconds that a search takes at most; slower ones get less of the text.",
)
@click.option(
    "--json",
    metavar="FILE",
    show_default="none",
    help="Also write the figures to FILE, table by table.",
)
@click.option(
    "--plot", metavar="FILE", show_default="none", help="Also draw them (needs Matplotlib)."
)
@device_option
@click.option(
    "-t",
    "--threads",
    type=Count(min=1),
    show_default="all cores",
    help="CPU threads of the engine.",
)
@click.option("-q", "--quiet", is_flag=True, help="No line on what is measured.")
@debug_option
def bench(
    measured: Measured,
    seconds: float,
    records: Records,
    device: str,
    threads: int | None,
    quiet: bool,
) -> None:
    """Time all algorithms of some COMMANDS, or of all, and compare their hits.

    Slow algorithms get the beginning of the text. Exit status 1 when any finds other hits than the
    engine.
    """
    commands, paper, genome, size = measured
    if paper and commands:
        raise click.UsageError(
            f"--paper says which commands are measured; type kmatch bench --paper {paper}"
        )
    check_outputs((genome,), {"--json": records.json, "--plot": records.plot})
    if records.plot:
        from kmatch.pictures.figure import load_figure

        load_figure("--plot")  # now, not after minutes of measuring
    from kmatch.bench.report import Report
    from kmatch.bench.rows import Bench

    messages = Messages(quiet, verbose=True)
    timer = Bench(device, threads, seconds=seconds)
    for line in timer.describe():
        messages.detail(line)
    report = Report(timer, genome, size, WIDTH, records.json)
    if paper:
        report.paper(paper)
    else:
        chosen = COMMANDS if not commands or "all" in commands else dict.fromkeys(commands)
        report.commands(chosen)
    if records.plot:
        report.draw(records.plot)
    if not report.equal:
        raise click.exceptions.Exit(1)
