"""What is around the searches: `kmatch pack`, `plot`, `bench`, `model`, `info`, `completion`."""

import os
import sys
import time
from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import click

from kmatch.cli.command import COMPLETE, command
from kmatch.cli.messages import Messages
from kmatch.cli.options import (
    Count,
    Decorator,
    Loudness,
    NumberRange,
    check_outputs,
    debug_option,
    device_option,
    quiet_option,
    threads_option,
    verbose_option,
)
from kmatch.pictures import FORMATS

if TYPE_CHECKING:
    from kmatch.published.machines import Simulated


SUFFIX = ".kmatch"


@command(
    short_help="Pack a genome, which is then searched without being read.",
    examples=(
        "kmatch pack genome.fa.gz",
        "kmatch hamming genome.fa.gz.kmatch -p TATCACCGATTGACCTGAAT -k 3",
    ),
)
@click.argument("genome")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    show_default=f"GENOME{SUFFIX}",
    help="Write to FILE, whole or not at all.",
)
@threads_option
@quiet_option
@verbose_option
@debug_option
def pack(genome: str, output: str | None, threads: int | None, loudness: Loudness) -> None:
    """Write GENOME to a file that every command takes as a genome.

    The file holds names, lengths and half a byte a base, and is mapped into memory and searched
    there.
    """
    path = output or _beside(genome)
    _check_output(genome, path)
    messages = Messages(*loudness)
    from kmatch.genome import Genome
    from kmatch.packed.writer import write_packed
    from kmatch.results.output import open_output

    with messages.progress(genome) as advance, open_output(path) as handle:
        text = Genome(genome, keep=False, on_warning=messages.warn)
        records, letters = write_packed(text.parts(advance), handle, threads=threads)
    messages.detail(f"{path}: {letters:,} letters in {records:,} records")


def _beside(genome: str) -> str:
    if genome == "-":
        raise click.UsageError("standard input has no name; give one to the packed genome with -o")
    return genome + SUFFIX


def _check_output(genome: str, output: str) -> None:
    if output == "-" and sys.stdout is not None and sys.stdout.isatty():
        raise click.UsageError("a packed genome is nothing to read on a terminal; give -o a file")
    check_outputs((genome,), {"-o": output})


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
    from kmatch.pictures import load_figure, write_figure

    load_figure("kmatch plot")  # now, not after a long table
    from kmatch.pictures.columns import PRIMERS, read_table
    from kmatch.pictures.hits import draw_hits
    from kmatch.pictures.primers import draw_primers

    columns = read_table(table, genome)
    draw = draw_primers if columns.nouns is PRIMERS else draw_hits
    write_figure(draw(columns, records), output, form)


def _format_of(output: str) -> str:
    """The format that a file's suffix names. Raises UsageError where it names none."""
    suffix = os.path.splitext(output)[1].lower().removeprefix(".")
    if suffix in FORMATS:
        return suffix
    what = "standard output has no suffix" if output == "-" else f"'.{suffix}' names no format"
    raise click.UsageError(
        f"-o {output}: {what}; end the name with .png, .svg or .pdf, or give --format"
    )


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
        from kmatch.pictures import load_figure

        load_figure("--plot")  # now, not after minutes of measuring
    from kmatch.bench.measure import Bench
    from kmatch.bench.report import Report

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


SIZE = Count(min=1)
TABLE_WIDTH = 110  # characters of a table
COLUMNS = (
    *("program", "machine", "n", "m", "w", "l", "threads"),
    *("time", "bound", "statement", "ratio", "stages", "asm"),
)
CAPTION = """\
time: units counted; bound: what the statement of Nakano 2012 gives, without its constant; ratio:
time ÷ bound; stages: of the memory's pipeline, taken by a warp's requests on average. The cells of
an anti-diagonal of d lie in different banks, which the DMM serves at once, but each in an address
group of its own, which the UMM serves one after the other; on the slid matrix s they are neighbours
in one or two groups."""


class Sizes(NamedTuple):
    """Some of each size, of which all combinations run."""

    n: tuple[int, ...]
    m: tuple[int, ...]
    w: tuple[int, ...]
    l: tuple[int, ...]  # noqa: E741  the paper's name
    p: tuple[int, ...]


def _sizes(*names: str, default: int, text: str) -> Decorator:
    return click.option(*names, multiple=True, type=SIZE, default=[default], help=text)


@command(
    short_help="Time units of string matching on memory machine models.",
    examples=("kmatch model -n 4096 -m 128 -m 256",),
)
@_sizes("-n", default=4096, text="Letters of the text; these options can be repeated.")
@_sizes("-m", default=256, text="Letters of the pattern, at most n.")
@_sizes("-w", "--width", "w", default=32, text="Memory banks, and threads of a warp.")
@_sizes("-l", "--latency", "l", default=16, text="Time units of a memory access.")
@_sizes("-p", "--processors", "p", default=1024, text="Threads that access n addresses.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "tsv"]),
    show_default="table on a terminal, otherwise tsv",
    help="Output format.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    show_default="standard output",
    help="Write to FILE, whole or not at all.",
)
@debug_option
def model(sizes: Sizes, form: str | None, output: str | None) -> None:
    """Count the time units of Nakano's access patterns and algorithms on memory machine models.

    The Discrete and the Unified Memory Machine (DMM, UMM) are simulated request by request, over
    all combinations of the sizes, with random letters.
    """
    longest, shortest = max(sizes.m), min(sizes.n)
    if longest > shortest:
        raise click.UsageError(
            f"a pattern of {longest} letters is longer than {shortest}; -m is at most -n"
        )
    from kmatch.published.machines import Sizes as Chosen
    from kmatch.published.machines import simulate
    from kmatch.results.output import open_output

    rows = [_row(run) for some in product(*sizes) for run in simulate(Chosen(*some))]
    with open_output(output) as handle:
        if form == "table" or (form is None and output is None and sys.stdout.isatty()):
            handle.write(_table(rows).encode())
        else:
            lines = ["\t".join(row) + "\n" for row in (COLUMNS, *rows)]
            handle.write("".join(lines).encode())


def _row(run: "Simulated") -> list[str]:
    n, m, w, l, _ = run.sizes  # noqa: E741
    asm = "." if run.asm is None else str(run.asm)
    whole = (n, m, w, l, run.threads, run.time, round(run.bound))
    named = (run.statement, f"{run.ratio:.2f}", f"{run.stages:.2f}", asm)
    return [run.program, run.machine, *map(str, whole), *named]


def _table(rows: Iterable[list[str]]) -> str:
    import io

    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), caption=CAPTION, caption_justify="left")
    text = ("program", "machine", "statement")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in text else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    drawn = io.StringIO()
    Console(file=drawn, width=TABLE_WIDTH).print(table)
    return drawn.getvalue()


DEVICES = {"cpu": "the CPU", "cuda": "CUDA"}


@command(
    short_help="Versions, devices and folders.",
    examples=("kmatch info",),
)
@click.option("--short", is_flag=True, help="Versions only, at once.")
@click.option(
    "--compile", "ahead", is_flag=True, help="Compile all kernels now, not at the first searches."
)
@debug_option
def info(short: bool, ahead: bool) -> None:
    """Show versions, CPU features, threads, CUDA devices or why there are none, and the cache."""
    if short and ahead:
        raise click.UsageError("--short shows versions and compiles nothing; leave one of them out")
    from kmatch.engine.machine import describe_versions

    _show(describe_versions())
    if not short:
        from kmatch.engine.machine import describe_machine

        _show(describe_machine())
    if ahead:
        _compile()


def _show(pairs: Iterable[tuple[str, str]]) -> None:
    for name, value in pairs:
        click.echo(f"{name:<12}{value}")


def _compile() -> None:
    from kmatch.rehearsal.compiling import compile_all

    began = time.perf_counter()
    with Messages().compiling_progress() as advance:
        functions, devices = compile_all(advance)
    seconds = time.perf_counter() - began
    named = " and ".join(DEVICES[device] for device in devices)
    _show([("kernels", f"compiled for {named}: {functions} functions in {seconds:.1f} s")])


SHELLS = ("bash", "zsh", "fish")


@command(
    short_help="A script that lets a shell complete commands.",
    examples=(
        'eval "$(kmatch completion bash)"',
        "kmatch completion zsh >> ~/.zshrc",
        "kmatch completion fish > ~/.config/fish/completions/kmatch.fish",
    ),
)
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Write the script that makes a SHELL complete commands, options, their values and files.

    Give it to the shell once, as above, or let every shell do so by writing it to ~/.bashrc,
    ~/.zshrc behind compinit, or fish's folder of completions.
    """
    from click.shell_completion import get_completion_class

    root = click.get_current_context().find_root()
    complete = get_completion_class(shell)
    assert complete is not None, shell
    click.echo(complete(root.command, {}, "kmatch", COMPLETE).source())
