"""`kmatch multi`."""

from functools import partial

import click

from kmatch.arguments import PAM_SIDES
from kmatch.cli.command import command
from kmatch.cli.options import (
    algorithm_option,
    distance_option,
    exact_options,
    pattern_arguments,
    search_options,
)
from kmatch.cli.places import check_places
from kmatch.cli.searching import drain, load_panel, write_hits


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
def multi(genome, patterns, k, table, talk, **options):
    """Find every window of GENOME with at most k mismatches to a pattern of a panel.

    All patterns have one length. A hit spans the pattern and the PAM, its distance counts the
    pattern alone. GENOME is FASTA, 2bit or GenBank, compressed or not, a genome packed by kmatch
    pack, or - for standard input. PATTERNS is FASTA, or text with one pattern a line: SEQ, or NAME,
    a tab and SEQ.
    """
    summary, summary_only = options.pop("summary"), options.pop("summary_only")
    _check_tables(summary, summary_only, table.asked)
    check_places((genome, patterns.path), {"-o": table.path or "-", "--summary": summary})
    panel = load_panel(talk, genome, patterns)
    from kmatch.search.checks import check_ends, check_pam

    check_ends(panel, {f"--exact-{end}": options[f"exact_{end}"] for end in ("5p", "3p")})
    check_pam(panel, options["pam"], options["pam_side"], talk.warn)
    from kmatch.genome import Genome
    from kmatch.results.summary import Summary
    from kmatch.search.multi import multi_batches
    from kmatch.search.running import by_name

    text = Genome(genome, keep=False, on_warning=talk.warn)
    search = partial(by_name, multi_batches, text, panel, k, **options)
    if summary_only:
        _write_summary(talk, text, Summary(panel, k), table.path, search)
    elif summary:
        _write_both(talk, text, Summary(panel, k), table, summary, search)
    else:
        write_hits(talk, text, panel, table, search)


def _check_tables(summary, summary_only, form):
    if summary_only and (summary or form):
        other = "--summary" if summary else "--format"
        raise click.UsageError(
            f"--summary-only writes one table, to standard output or -o; leave {other} out"
        )


def _write_summary(talk, text, counts, output, search):
    from kmatch.results.files.output import open_output

    with open_output(output) as handle:
        drain(talk, text, counts.patterns, search, counts.add)
        counts.write(handle)


def _write_both(talk, text, counts, table, summary, search):
    from kmatch.results.files.output import flush_all, open_output
    from kmatch.results.tables import TableWriter

    panel, to_terminal = counts.patterns, table.to_terminal
    with open_output(table.path) as hits, open_output(summary) as handle:
        writer = TableWriter(hits, table.form, panel)
        drain(talk, text, panel, search, writer.write, counts.add, to_terminal=to_terminal)
        counts.write(handle)
        flush_all(hits, handle)
