"""`kmatch model`."""

import sys
from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import click

from kmatch.cli.command import command
from kmatch.cli.numbers import Count
from kmatch.cli.options import Decorator, debug_option

if TYPE_CHECKING:
    from kmatch.model.runs import Run

SIZE = Count(min=1)
WIDTH = 110  # characters of a table
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
    from kmatch.model import runs
    from kmatch.results.files.output import open_output

    rows = [_row(run) for some in product(*sizes) for run in runs.simulate(runs.Sizes(*some))]
    with open_output(output) as handle:
        if form == "table" or (form is None and output is None and sys.stdout.isatty()):
            handle.write(_table(rows).encode())
        else:
            lines = ["\t".join(row) + "\n" for row in (COLUMNS, *rows)]
            handle.write("".join(lines).encode())


def _row(run: "Run") -> list[str]:
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
    Console(file=drawn, width=WIDTH).print(table)
    return drawn.getvalue()
