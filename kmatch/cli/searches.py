"""The searches for patterns: `kmatch hamming`, `multi`, `edit` and `best`."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

import click

from kmatch.cli.command import Given, Option, command
from kmatch.cli.messages import counted
from kmatch.cli.options import (
    BOUNDS,
    EXACT_3P,
    EXACT_5P,
    GENOME,
    HITS,
    MISMATCHES,
    PAMS,
    PATTERNS,
    algorithm,
    distance,
)
from kmatch.cli.search import Search, check_inputs, check_sequences
from kmatch.errors import REPORTS, listed, warn
from kmatch.search.query import Query

if TYPE_CHECKING:
    from kmatch.results.batches import HitBatch
    from kmatch.results.columns import HitRows
    from kmatch.results.limit import Counts
    from kmatch.sequences.patterns import PatternSet

BESIDE = 100  # letters of a PAM and around a hit, at the most
DIFFERS = (
    "hamming counts mismatches; multi does so for a panel of one length, beside a PAM too; edit "
    "counts insertions and deletions as well; best finds the closest and takes no k."
)


@command(
    "Every window within k mismatches of a pattern.",
    GENOME,
    *PATTERNS,
    MISMATCHES,
    EXACT_5P,
    EXACT_3P,
    algorithm("hamming"),
    *HITS,
    examples=(
        "kmatch hamming genome.fa.gz -p TATCACCGATTGACCTGAAT -k 3",
        "kmatch hamming genome.fa.gz primers.fa -k 10% -o hits.tsv",
    ),
    differs=DIFFERS,
)
def hamming(given: Given) -> None:
    """Find every window of GENOME with at most k mismatches to a pattern, on both strands."""
    _search(given, "hamming")


@command(
    "k mismatches for a panel of equal-length patterns in one pass.",
    GENOME,
    *PATTERNS,
    MISMATCHES,
    *PAMS,
    EXACT_5P,
    EXACT_3P,
    algorithm("multi"),
    *HITS,
    examples=(
        "kmatch multi genome.fa.gz guides.txt -k 4",
        "kmatch multi genome.fa.gz guides.txt -k 4 --pam NGG -o hits.tsv",
    ),
    differs=DIFFERS,
)
def multi(given: Given) -> None:
    """Find every window of GENOME with at most k mismatches to a pattern of a panel.

    All patterns have one length. A hit spans the pattern and the PAM, its distance counts the
    pattern alone.
    """
    _search(given, "multi")


@command(
    "Every occurrence within k differences of a pattern.",
    GENOME,
    *PATTERNS,
    distance("Differences (mismatches, insertions, deletions) allowed: N, or N% of a pattern."),
    Option(
        *("--report", REPORTS, "minima, beside a PAM ends"),
        "minima: the best of neighbouring ends; ends: every end; loci: the best of overlapping "
        "minima.",
    ),
    *PAMS,
    EXACT_5P,
    EXACT_3P,
    *BOUNDS,
    algorithm("edit"),
    *HITS,
    examples=(
        "kmatch edit genome.fa.gz -p TATCACCGATTGACCTGAAT -k 2 --format view",
        "kmatch edit genome.fa.gz guides.txt -k 4 --pam NGG -o hits.tsv",
    ),
    differs=DIFFERS,
)
def edit(given: Given) -> None:
    """Find the occurrences of patterns in GENOME with at most k differences, on both strands.

    A hit spans the pattern and the PAM, if one is asked for; its distance counts the pattern alone.
    """
    _search(given, "edit")


@command(
    "The closest occurrences of each pattern.",
    GENOME,
    *PATTERNS,
    EXACT_5P,
    EXACT_3P,
    algorithm("best"),
    *HITS,
    examples=(
        "kmatch best genome.fa.gz -p TATCACCGATTGACCTGAAT",
        "kmatch best genome.fa.gz primers.fa --limit 1 -o closest.tsv",
    ),
    differs=DIFFERS,
)
def best(given: Given) -> None:
    """Find where GENOME comes closest to each pattern, counting differences, on both strands."""
    _search(given, "best", rereads=True)


def _search(given: Given, problem: str, *, rereads: bool = False) -> None:
    """Search for the hits of a problem, and write their tables: files are whole or absent.

    rereads: whether the search reads the genome twice.
    """
    others = {"--summary": given.summary, "--format": given.form, "--limit": given.limit}
    for option, value in others.items():
        if given.summary_only and value:
            raise click.UsageError(
                f"--summary-only writes one table, to standard output or -o; leave {option} out"
            )
    inputs = (given.genome.removeprefix("@"), given.patterns, given.regions)
    search = Search(given, inputs, {"--summary": given.summary}, of_hits=True)
    panel = _panel(given)
    search.search_for(panel, rereads)
    from kmatch.cluster import begin_anywhere
    from kmatch.results.columns import HitRows
    from kmatch.results.formats import FORMATS
    from kmatch.results.limit import Counts, limited
    from kmatch.results.output import flush_all, open_output
    from kmatch.search.panel import check_ends, check_pam, pattern_distances

    query = Query(problem, panel, **given.values(Query._fields[2:]))
    check_ends(panel, {"--exact-5p": query.exact_5p, "--exact-3p": query.exact_3p})
    check_pam(panel, query.pam, query.pam_side)
    each = None if problem == "best" else pattern_distances(panel, query.k)
    counts = Counts(panel, None if each is None else int(each.max()))
    shares = each if isinstance(query.k, str) else None
    rows = HitRows(panel, search.genomes, query.pam_side == "5p", shares)
    rows.threads = given.threads
    search.aligned = search.form != "bed" and not given.summary_only
    begin = partial(begin_anywhere, query, search.genomes, search.run, search.regions)
    with ExitStack() as stack:
        handles = [stack.enter_context(open_output(given.output))]
        if search.form == "view":
            _look_around(rows, search, stack)
        writer = None if given.summary_only else FORMATS[search.form](handles[0], rows)
        if given.summary:
            handles.append(stack.enter_context(open_output(given.summary)))
        with search.batches(begin, search.genomes.label) as found:
            for batch in limited(_counted(found, counts), panel, given.limit):
                if writer:
                    writer.write(batch)
            if writer:
                writer.finish()
        if given.summary or given.summary_only:
            counts.write(handles[-1])
        flush_all(*handles)
    some = int(counts.hits.any(axis=1).sum())
    part = f"{some:,} of " if 0 < some < len(panel) else ""
    search.conclude(f"{counted(search.rows, 'hit')} of {part}{counted(len(panel), 'pattern')}")


def _panel(given: Given) -> "PatternSet":
    """The patterns of a file or of `-p`; warns of names that repeat."""
    check_sequences(given.sequences)
    check_inputs(given, "PATTERNS", given.patterns)
    if given.sequences and given.column is not None:
        raise click.UsageError("--column is one of a file of patterns; leave it out beside -p")
    from kmatch.sequences.patterns import load_patterns, read_patterns, repeated_names

    if given.patterns:
        panel = read_patterns(given.patterns, given.column)
    else:
        panel = load_patterns(list(given.sequences))
    if repeated := repeated_names(panel):
        warn(f"{listed(repeated)}: the name stands for more than one pattern; all are searched")
    return panel


def _counted(batches: "Iterable[HitBatch]", counts: "Counts") -> "Iterator[HitBatch]":
    """The batches, whose hits are counted."""
    for batch in batches:
        counts.add(batch)
        yield batch


def _look_around(rows: "HitRows", search: Search, stack: ExitStack) -> None:
    """Have lines for eyes made for the screen on which they are shown, if there is one, with
    letters around hits, if the genomes can be read beside the search."""
    if search.is_standard and sys.stdout is not None and sys.stdout.isatty():
        from kmatch.results.columns import Screen

        colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        rows.screen = Screen(shutil.get_terminal_size().columns, colour)
    if search.genomes.can_reread:
        from kmatch.search.alignments import GenomeTexts

        # As long as an occurrence, a PAM and letters around them can be.
        texts = GenomeTexts(search.genomes, 2 * int(rows.panel.lengths.max()) + BESIDE)
        stack.callback(texts.close)
        rows.letters = texts.letters
