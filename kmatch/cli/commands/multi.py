"""`kmatch multi`."""

from functools import partial
from typing import NamedTuple

import click

from kmatch.arguments import PAM_SIDES
from kmatch.cli.command import command
from kmatch.cli.options import (
    Inputs,
    Loudness,
    algorithm_option,
    distance_option,
    exact_options,
    pattern_arguments,
    search_options,
)
from kmatch.cli.outputs import Table
from kmatch.cli.pattern_search import Batches, PatternSearch
from kmatch.search.running import Running


class Wanted(NamedTuple):
    """The windows to find."""

    k: int
    pam: str | None
    pam_side: str
    strand: str
    exact_5p: int
    exact_3p: int


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
    type=click.Choice(PAM_SIDES),
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
    others = {"--summary": counts.summary}
    search = PatternSearch(inputs, table, running, loudness, others=others)
    from kmatch.search.checks import check_ends, check_pam
    from kmatch.search.multi import MultiOptions, multi_batches

    k, pam, side, strand, exact_5p, exact_3p = wanted
    check_ends(search.panel, {"--exact-5p": exact_5p, "--exact-3p": exact_3p})
    check_pam(search.panel, pam, side, search.messages.warn)
    options = MultiOptions(
        pam=pam, pam_side=side, strand=strand, exact_5p=exact_5p, exact_3p=exact_3p
    )
    batches = partial(multi_batches, search.genome, search.panel, k, options)
    if counts.summary_only:
        _write_summary(search, batches, k)
    elif counts.summary:
        _write_both(search, batches, k, counts.summary)
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
        writer = TableWriter(hits, form or "bed", search.panel, search.genome.named)
        to_terminal = search.table.is_standard
        search.drain(batches, writer.write, summary.add, to_terminal=to_terminal)
        summary.write(handle)
        flush_all(hits, handle)
