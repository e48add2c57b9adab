"""`kmatch multi`."""

from functools import partial
from typing import NamedTuple

import click

from kmatch.cli.checks import check_ends, check_pam
from kmatch.cli.command import command
from kmatch.cli.options import (
    Inputs,
    Loudness,
    Running,
    algorithm_option,
    distance_option,
    exact_options,
    pattern_arguments,
    search_options,
)
from kmatch.cli.outputs import Table
from kmatch.cli.pattern_search import Batches, PatternSearch


class Wanted(NamedTuple):
    """The windows to find."""

    k: int
    pam: str | None
    pam_side: str
    exact_5p: int
    exact_3p: int
    strand: str


class Counts(NamedTuple):
    """The table of hits by pattern and distance: where it goes, and whether it is the only one."""

    summary: str | None
    summary_only: bool


@command(short_help="k mismatches for a panel of equal-length patterns in one pass.")
@click.argument("genome")
@pattern_arguments
@distance_option("Mismatches allowed; less than a pattern.")
@click.option("--pam", metavar="SEQ", help="What must stand, without mismatch, beside a pattern.")
@click.option(
    "--pam-side",
    type=click.Choice(["3p", "5p"]),
    default="3p",
    show_default=True,
    help="The PAM follows the pattern (NGG) or comes before it (TTTV).",
)
@exact_options
@click.option(
    "--summary", metavar="FILE", help="Also write how many hits each pattern has by distance."
)
@click.option(
    "--summary-only", is_flag=True, help="Write that table, to -o if given, in place of the hits."
)
@algorithm_option("multi")
@search_options
def multi(
    inputs: Inputs,
    wanted: Wanted,
    table: Table,
    counts: Counts,
    running: Running,
    loudness: Loudness,
) -> None:
    """Find every window of GENOME with at most k mismatches to a pattern of a panel.

    All patterns have one length. A hit spans the pattern and the PAM, its distance counts the
    pattern alone. GENOME is FASTA, 2bit or GenBank, compressed or not, a genome packed by kmatch
    pack, or - for standard input. PATTERNS is FASTA, or text with one pattern a line: SEQ, or NAME,
    a tab and SEQ.
    """
    _check_tables(counts, table)
    search = PatternSearch(inputs, table, loudness, others={"--summary": counts.summary})
    check_ends(search.panel, wanted.exact_5p, wanted.exact_3p)
    if wanted.pam:
        check_pam(search.messages, search.panel, wanted.pam, wanted.pam_side)
    from kmatch.search.multi import multi_batches

    options = wanted._asdict() | running._asdict()
    batches = partial(multi_batches, search.genome, search.panel, **options)
    if counts.summary_only:
        _write_summary(search, batches, wanted.k)
    elif counts.summary:
        _write_both(search, batches, wanted.k, counts.summary)
    else:
        search.write(batches)


def _check_tables(counts: Counts, table: Table) -> None:
    if counts.summary_only and (counts.summary or table.form):
        other = "--summary" if counts.summary else "--format"
        raise click.UsageError(
            f"--summary-only writes one table, to standard output or -o; leave {other} out"
        )


def _write_summary(search: PatternSearch, batches: Batches, k: int) -> None:
    from kmatch.results.files.output import open_output
    from kmatch.results.summary import Summary

    summary = Summary(search.panel, k)
    with open_output(search.table.output) as handle:
        search.drain(batches, summary.add)
        summary.write(handle)


def _write_both(search: PatternSearch, batches: Batches, k: int, path: str) -> None:
    from kmatch.results.files.output import flush_all, open_output
    from kmatch.results.summary import Summary
    from kmatch.results.tables import TableWriter

    output, form = search.table
    summary = Summary(search.panel, k)
    with open_output(output) as hits, open_output(path) as handle:
        writer = TableWriter(hits, form, search.panel)
        to_terminal = search.table.is_standard
        search.drain(batches, writer.write, summary.add, to_terminal=to_terminal)
        summary.write(handle)
        flush_all(hits, handle)
