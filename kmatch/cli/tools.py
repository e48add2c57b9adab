"""The other commands: `kmatch pack`, `plot`, `bench`, `model`, `info` and `completion`."""

import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

import click

from kmatch.cli import options
from kmatch.cli.command import (
    COMPLETE,
    OUTPUT,
    RUNNING,
    Argument,
    Given,
    Option,
    check_files,
    command,
    grouped,
)
from kmatch.cli.messages import Messages
from kmatch.cli.options import ONE, READ, Count, Number
from kmatch.errors import InputError, warn
from kmatch.nucleases import NUCLEASES
from kmatch.pictures import DOTS, FORMATS, Size
from kmatch.published.registry import PUBLISHED

PACKED = ".kmatch"  # the suffix of packed genomes
SMALLEST = 2  # inches of a picture
LARGEST = 30
DEVICES = {"cpu": "the CPU", "cuda": "CUDA"}
LEFT = ("program", "machine", "statement", "algorithm", "device", "same hits")  # columns
CAPTION = """\
time: units counted; bound: what the statement of Nakano 2012 gives, without its constant; ratio:
time ÷ bound; stages: of the memory's pipeline, taken by a warp's requests on average. The cells of
an anti-diagonal of d lie in different banks, which the DMM serves at once, but each in an address
group of its own, which the UMM serves one after the other; on the slid matrix s they are neighbours
in one or two groups."""


def _inches(context: click.Context, option: click.Parameter, given: str | None) -> Size | None:
    """Return the Size out of WIDTHxHEIGHT in inches, None where it is not given."""
    if given is None:
        return None
    found = re.fullmatch(r"(\d{1,2}(?:\.\d{1,3})?)[x×](\d{1,2}(?:\.\d{1,3})?)", given, re.ASCII)
    size = Size(float(found[1]), float(found[2])) if found else None
    if size is None or min(size) < SMALLEST or max(size) > LARGEST:
        raise InputError(
            f"{given!r} is not WIDTHxHEIGHT in inches, each from {SMALLEST} to {LARGEST}, as in 7x5"
        )
    return size


@command(
    "Pack a genome, so that searches start at once.",
    Argument("genome", READ),
    Option(
        "-o --output",
        "FILE",
        f"GENOME{PACKED}",
        "Write to FILE, whole or not at all.",
        group=OUTPUT,
    ),
    options.GAPS,
    options.THREADS,
    options.QUIET,
    options.VERBOSE,
    options.DEBUG,
    examples=(
        "kmatch pack genome.fa.gz",
        "kmatch hamming genome.fa.gz.kmatch -p TATCACCGATTGACCTGAAT -k 3",
    ),
)
def pack(given: Given) -> None:
    """Write GENOME to a packed file, which every command takes as a genome.

    The file holds names, lengths and half a byte a base. Searches map it into memory.
    """
    genome = given.genome
    path = given.output or given.genome + PACKED
    if genome == "-" and not given.output:
        raise click.UsageError("standard input has no name; give one to the packed genome with -o")
    if path == "-" and sys.stdout is not None and sys.stdout.isatty():
        raise click.UsageError("a packed genome is nothing to read on a terminal; give -o a file")
    check_files(given.inputs, {"-o": path})
    messages = Messages(given.quiet, given.verbose)
    from kmatch.engine.workers import Workers, cores
    from kmatch.genome import Genome
    from kmatch.packed.writer import write_packed
    from kmatch.results.output import open_output

    with messages.progress(genome) as advance, open_output(path) as handle:
        packed = Genome(genome, keep=False, gaps=given.gaps)
        parts = packed.parts(advance, Workers(given.threads or cores()).ahead)
        records, letters = write_packed(parts, handle, threads=given.threads)
    packed.warn_of_circles()
    messages.detail(f"{path}: {letters:,} letters in {records:,} records")


@command(
    "Draw hits, products, primers, guides or assays (needs Matplotlib).",
    Argument(
        "table", "A table of kmatch: TSV, CSV or BED, compressed or not; - is standard input."
    ),
    *grouped(
        OUTPUT,
        Option(
            "-o --output",
            "FIGURE",
            None,
            "Write to FIGURE, whole or not at all. The suffix is .png, .svg or .pdf.",
            required=True,
        ),
        Option("--format form", FORMATS, "FIGURE's suffix", "Write this format."),
        Option(
            "--size",
            "WIDTHxHEIGHT",
            "9 wide, at most 12 high",
            "Draw a picture of this size in inches, such as 7x5.",
            callback=_inches,
        ),
        Option("--dpi", Count(50, 600), None, "Draw so many dots an inch in PNG.", default=DOTS),
        Option("--title", "TEXT", "the number of rows", "Write this above the picture."),
    ),
    Option(
        "--most",
        ONE,
        "24, of primers and guides 12",
        "Draw the N records with the most hits.",
    ),
    Option("--records", ONE, None, "Do what --most does, under its old name.", hidden=True),
    Option("--pattern", "NAME", "all", "Draw only the rows of this pattern, pair or guide."),
    Option(
        "--genome",
        "FILE",
        "each record ends with its last hit",
        "Read the lengths of records from this genome.",
        reads=True,
    ),
    Option(
        "--json report",
        "FILE",
        "none",
        "Read the lengths of records, and the patterns or pairs without a row, from the report of "
        "the search.",
        reads=True,
    ),
    options.GAPS,
    options.DEBUG,
    examples=(
        "kmatch plot hits.tsv -o hits.png",
        "kmatch plot products.tsv --json products.json --size 7x5 -o products.svg",
    ),
    finds="What to draw",
)
def plot(given: Given) -> None:
    """Draw a TABLE of hits, products, primers, guides or assays that kmatch has written.

    Hits are drawn along their records, by strand and distance, and counted by pattern and distance.
    Hits of TSV are also counted by score and by mismatches and bulges. Primers and guides are drawn
    along the target, with their properties, and the best guides by rank. Assays are drawn with the
    differences in each genome, and a table of --positions with the differences at each letter.
    """
    output = given.output
    suffix = os.path.splitext(output)[1].lower().removeprefix(".")
    form = given.form or (suffix if suffix in FORMATS else None)
    if not form:
        what = "standard output has no suffix" if output == "-" else f"'.{suffix}' names no format"
        raise click.UsageError(
            f"-o {output}: {what}; end the name with .png, .svg or .pdf, or give --format"
        )
    if given.records is not None:
        if given.most is not None:
            raise click.UsageError("--records is what --most was called before; give --most alone")
        warn("plot --records N is --most N now, as --records of searches takes names")
    import logging

    from kmatch.pictures import load_figure, saved

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it warns where there is no home
    load_figure("kmatch plot")  # now, not after a long table
    from kmatch.pictures.tables import read_table
    from kmatch.results.output import open_output

    table = read_table(given.table, given.genome, given.pattern, given.report, given.gaps)
    asked = replace(table, size=given.size, heading=given.title or "")
    picture = saved(asked.draw(given.most or given.records), form, given.dpi)
    with open_output(output) as handle:
        handle.write(picture)


@command(
    "Time all algorithms on the same data.",
    Argument(
        "commands",
        "The searches to time: hamming, multi, edit, best, primer or all, the default.",
        nargs=-1,
        metavar="[COMMANDS]...",
        type=click.Choice((*PUBLISHED, "all")),
    ),
    Option("--genome", "FILE", "random letters", "Search this genome.", reads=True),
    Option("--size", Count(1000), "by device", "Search N letters of text, 1,000 or more."),
    Option(
        "--seconds",
        Number(1e-9),
        None,
        "Cut the text for a slow algorithm so that it takes at most X seconds.",
        default=2.0,
        group=RUNNING,
    ),
    *grouped(
        OUTPUT,
        Option("--json", "FILE", "none", "Write also the figures to FILE, table by table."),
    ),
    options.DEVICE,
    *grouped(
        RUNNING,
        Option("-t --threads", ONE, "all cores", "Use N threads of the CPU."),
        Option("-q --quiet", bool, None, "Print no line about each measurement."),
    ),
    options.DEBUG,
    examples=("kmatch bench hamming edit --genome genome.fa.gz",),
    finds="What to measure",
)
def bench(given: Given) -> None:
    """Time all algorithms of COMMANDS, and compare their hits.

    Slow algorithms search the beginning of the text. The exit status is 1 if an algorithm finds
    other hits than the engine.
    """
    from kmatch import __version__, bench
    from kmatch.results.output import open_output

    messages = Messages(given.quiet, verbose=True)
    timer = bench.Bench(given.device, given.threads, given.seconds)
    for line in timer.devices:
        messages.detail(line)
    every = not given.commands or "all" in given.commands
    commands = PUBLISHED if every else dict.fromkeys(given.commands)
    definitions = [line.format(seconds=given.seconds) for line in bench.DEFINITIONS]
    record = {
        "kmatch": __version__,
        "machine": f"{platform.platform()}, {os.cpu_count()} cores",
        "devices": timer.devices,
        "text": given.genome or "random letters",
        "definitions": definitions,
    }
    done = []
    for rows in timer.of_commands(commands, given.genome, given.size):
        done += rows
        one = rows[0]
        sizes = f"{one['patterns']} of {one['m']} letters, " if one["m"] else ""
        click.echo(f"kmatch {one['command']}: {sizes}k = {one['k']}")
        click.echo("\n".join((*_aligned(bench.COLUMNS, map(bench.cells, rows)), "")))
        if given.json:
            with open_output(given.json) as handle:
                handle.write(json.dumps(record | {"rows": done}, indent=1).encode())
    click.echo("\n".join(definitions))
    if not all(row["equal"] for row in done):
        raise click.exceptions.Exit(1)


def _sizes(names: str, default: int, text: str) -> Option:
    return Option(names, ONE, None, text, multiple=True, default=[default])


@command(
    "Count time units of string matching on memory machine models.",
    _sizes("-n", 4096, "Letters of the text. Each option for a size can be repeated."),
    _sizes("-m", 256, "Letters of the pattern, at most n."),
    _sizes("-w --width w", 32, "Memory banks, and threads of a warp."),
    _sizes("-l --latency l", 16, "Time units of a memory access."),
    _sizes("-p --processors p", 1024, "Threads that access n addresses."),
    *grouped(
        OUTPUT,
        Option(
            "--format form",
            ("table", "tsv"),
            "table on a terminal, otherwise tsv",
            "Write this format.",
        ),
        Option("-o --output", "FILE", "standard output", "Write to FILE, whole or not at all."),
    ),
    options.DEBUG,
    examples=("kmatch model -n 4096 -m 128 -m 256",),
    finds="What to simulate",
)
def model(given: Given) -> None:
    """Count the time units of Nakano's access patterns and algorithms on memory machine models.

    The models are the Discrete and the Unified Memory Machine (DMM, UMM). kmatch simulates them
    request by request with random letters, for all combinations of the sizes.
    """
    longest = max(given.m)
    shortest = min(given.n)
    if longest > shortest:
        raise click.UsageError(
            f"a pattern of {longest} letters is longer than {shortest}; -m is at most -n"
        )
    from kmatch.published.machines import Simulated, simulate
    from kmatch.results.output import open_output

    combined = product(given.n, given.m, given.w, given.l, given.p)
    found = (run for some in combined for run in simulate(*some))
    rows = [[_figure(value) for value in run] for run in found]
    drawn = given.form is None and given.output is None and sys.stdout.isatty()
    with open_output(given.output) as handle:
        if given.form == "table" or drawn:
            handle.write("\n".join((*_aligned(Simulated._fields, rows), "", CAPTION, "")).encode())
        else:
            lines = ["\t".join(row) + "\n" for row in (Simulated._fields, *rows)]
            handle.write("".join(lines).encode())


def _figure(value: object) -> str:
    if value is None:
        return "."
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _aligned(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table in columns."""
    columns = []
    for name, *cells in zip(header, *rows, strict=True):
        width = max(map(len, (name, *cells)))
        aligned = str.ljust if name in LEFT else str.rjust
        columns.append([aligned(cell, width) for cell in (name, *cells)])
    return [" ".join(cells).rstrip() for cells in zip(*columns, strict=True)]


@command(
    "Show versions, devices and folders.",
    Option("--short", bool, None, "Show versions only."),
    Option("--compile ahead", bool, None, "Compile all kernels now, before the first searches."),
    Option("--nucleases", bool, None, "List the nucleases that --nuclease knows."),
    Option("--clear", bool, None, "Remove all compiled kernels, and show which."),
    options.DEBUG,
    examples=("kmatch info",),
    finds="What to show",
)
def info(given: Given) -> None:
    """Show versions, CPU features, threads, CUDA devices or why there are none, and the cache."""
    if given.short and given.ahead:
        raise click.UsageError("--short shows versions and compiles nothing; leave one of them out")
    if given.nucleases:
        _list_nucleases()
        return
    if given.clear:
        _clear(given)
        return
    from kmatch.engine.devices import describe_versions

    _show(describe_versions())
    made = []
    if given.ahead:
        from kmatch.ahead import compile_all

        began = time.perf_counter()
        with Messages().progress("compiling kernels", in_tasks=True) as advance:
            named = " and ".join(DEVICES[device] for device in compile_all(advance))
        made = [("kernels", f"compiled for {named} in {time.perf_counter() - began:.1f} s")]
    if not given.short:
        from kmatch.engine.devices import describe_machine

        _show([*describe_machine(), *made])


def _list_nucleases() -> None:
    """List the nucleases that --nuclease knows, as TSV."""
    click.echo("name\tnuclease\tpam\tside\tlength")
    for name, nuclease in NUCLEASES.items():
        click.echo("\t".join(map(str, (name, *nuclease))))


def _clear(given: Given) -> None:
    """Remove all compiled kernels, and show which."""
    if given.short or given.ahead:
        raise click.UsageError("--clear removes kernels and shows nothing else; give it alone")
    from kmatch.jit.folders import kernel_folders, remove_kernels

    removed = list(remove_kernels())
    nothing = f"nothing, as there are no kernels in {kernel_folders()[0].parent}"
    _show(("removed", folder) for folder in removed or [nothing])


def _show(pairs: Iterable[tuple[str, str]]) -> None:
    for name, value in pairs:
        click.echo(f"{name:<12}{value}")


@command(
    "Write a script that lets a shell complete commands.",
    Argument(
        "shell",
        "The shell: bash, zsh or fish.",
        metavar="SHELL",
        type=click.Choice(("bash", "zsh", "fish")),
    ),
    examples=(
        'eval "$(kmatch completion bash)"',
        "kmatch completion zsh >> ~/.zshrc",
        "kmatch completion fish > ~/.config/fish/completions/kmatch.fish",
    ),
)
def completion(given: Given) -> None:
    """Write the script that makes a SHELL complete commands, options, their values and files.

    The first example gives the script to this shell alone. For every shell, write it to ~/.bashrc,
    to ~/.zshrc behind compinit, or to fish's folder of completions.
    """
    from click.shell_completion import get_completion_class

    root = click.get_current_context().find_root()
    complete = get_completion_class(given.shell)
    assert complete is not None, given.shell
    click.echo(complete(root.command, {}, "kmatch", COMPLETE).source())
