"""`kmatch pack`."""

import sys

import click

from kmatch.cli.command import command
from kmatch.cli.options import debug_option, quiet_option, threads_option, verbose_option
from kmatch.cli.places import check_places
from kmatch.cli.talk import Talk

SUFFIX = ".kmatch"


@command(short_help="Pack a genome, which is then searched without being read.")
@click.argument("genome")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help=f"Write to FILE, whole or not at all; by default to GENOME{SUFFIX}.",
)
@threads_option
@quiet_option
@verbose_option
@debug_option
def pack(genome, output, threads, quiet, verbose, debug):
    """Write GENOME to a file that every command takes as a genome.

    GENOME is FASTA, 2bit or GenBank, compressed or not, or - for standard input. The file holds
    names, lengths and half a byte a base, and is mapped into memory and searched there.
    """
    output = output or _beside(genome)
    _check_output(genome, output)
    talk = Talk(quiet, verbose)
    from kmatch.genome import Genome
    from kmatch.packed.packing import pack

    with talk.progress(genome) as advance:
        text = Genome(genome, keep=False, on_warning=talk.warn)
        records, letters = pack(text, output, threads=threads, on_progress=advance)
    talk.detail(f"{output}: {letters:,} letters in {records:,} records")


def _beside(genome):
    if genome == "-":
        raise click.UsageError("standard input has no name; give one to the packed genome with -o")
    return genome + SUFFIX


def _check_output(genome, output):
    if output == "-" and sys.stdout is not None and sys.stdout.isatty():
        raise click.UsageError("a packed genome is nothing to read on a terminal; give -o a file")
    check_places((genome,), {"-o": output})
