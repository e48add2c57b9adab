"""`kmatch pack`."""

import sys

import click

from kmatch.cli.command import command
from kmatch.cli.options import (
    Loudness,
    debug_option,
    quiet_option,
    threads_option,
    verbose_option,
)
from kmatch.cli.outputs import check_outputs
from kmatch.cli.terminal.messages import Messages

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
    from kmatch.packed.packing import write_packed
    from kmatch.results.files.output import open_output

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
