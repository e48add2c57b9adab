"""k mismatches of a panel of equal-length patterns, anywhere or beside a PAM."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.engine.ways import LONGEST, window_way, work_of
from kmatch.errors import PAM_SIDES, InputError, check_choice, shown
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.published.registry import ENGINE
from kmatch.published.run import choose_algorithm
from kmatch.published.search import PublishedWindows
from kmatch.results.batches import HitBatch
from kmatch.search.edit import EditOptions, edit_batches
from kmatch.search.hamming import checked_ends
from kmatch.search.mismatches.compared import WindowSearch
from kmatch.search.mismatches.seeds import SeedSearch
from kmatch.search.mismatches.sites import SiteSearch
from kmatch.search.panels.distances import pattern_distances
from kmatch.search.panels.pam import Pam
from kmatch.search.panels.pams import load_pams
from kmatch.search.panels.panel import Request
from kmatch.search.panels.repeats import distinct_patterns
from kmatch.search.running import HOOKS, RUNNING, Hooks, Running
from kmatch.search.scanning.chunks import Chunking, plan_chunks
from kmatch.search.several import find_windows
from kmatch.sequences.patterns import Pattern, PatternSet


class MultiOptions(NamedTuple):
    """pam: IUPAC letters that must stand beside a pattern, one PAM or several, after it (pam_side
    `3p`) or before it (`5p`), or None; the others are those of HammingOptions."""

    pam: str | Sequence[str] | None = None
    pam_side: str = "3p"
    strand: str = "both"
    exact_5p: int = 0
    exact_3p: int = 0


OPTIONS = MultiOptions()


def multi_batches(
    genome: Genome | Genomes,
    patterns: Sequence[Pattern],
    k: int | str,
    options: MultiOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Iterator[HitBatch]:
    """Yield the hits as HitBatches, in order, while the genome is read.

    patterns: of one length m; k: 0 ≤ k < m, or a share of m such as `10%`. A hit spans the pattern
    and the PAM, its distance counts the pattern alone. Raises InputError and DeviceError as
    `kmatch.multi` does, at the first batch.
    """
    genomes = as_genomes(genome)
    distinct, copies = distinct_patterns(patterns)
    _check_lengths(distinct)
    k = int(pattern_distances(distinct, k).max())
    check_choice("side of the PAM", options.pam_side, PAM_SIDES)
    pams = load_pams(options.pam, options.pam_side)
    if len({len(pam) for pam in pams}) > 1:
        yield from _beside_unequal(genomes, patterns, k, options, running, hooks)
        return
    ends = checked_ends(options.exact_5p, options.exact_3p)
    request = Request(distinct, k, options.strand, ends, running.aligned)
    work = work_of(genomes.expected_letters, distinct.lengths, options.strand)
    engine, run = choose_algorithm("multi", distinct, running, work)
    if run:
        search: Any = PublishedWindows(engine, run, request, pams)
    else:
        search = _search(engine, request, pams, hooks)
    layout = run.layout if run else engine.layout
    longest = len(distinct[0]) + (len(pams[0]) if pams else 0)
    plan = plan_chunks(longest, k, search.queries, hooks.chunk_length, layout)
    chunking = Chunking(plan, engine, hooks.words)
    yield from find_windows(genomes, search.run, chunking, longest, copies, running)


def _search(engine: Any, request: Request, pams: Sequence[Pam], hooks: Hooks) -> Any:
    """The search of the way that is asked for, where it serves, or of the fastest."""
    patterns, length, many = len(request.patterns), len(request.patterns[0]), len(pams)
    way = hooks.way or window_way(engine.name, patterns, length, request.k, many)
    if many > 1 or (many and way != "scan"):
        return SiteSearch(engine, request, pams, hooks.capacity)
    if way == "lookup" and engine.name == "cpu" and length <= LONGEST:
        return SeedSearch(engine, request, hooks.capacity)
    return WindowSearch(engine, request, hooks.capacity, pams[0] if pams else None)


def _beside_unequal(
    genomes: Genomes,
    patterns: Sequence[Pattern],
    k: int,
    options: MultiOptions,
    running: Running,
    hooks: Hooks,
) -> Iterator[HitBatch]:
    """The hits beside PAMs of several lengths: those of `edit` without insertions and deletions."""
    if running.algorithm != ENGINE:
        *others, last = (pam.sequence for pam in load_pams(options.pam, options.pam_side))
        raise InputError(
            f"the PAMs {', '.join(others)} and {last} have different lengths, which algorithm "
            f"'{running.algorithm}' does not search beside; use --algorithm {ENGINE}, or one PAM"
        )
    wanted = EditOptions("ends", max_insertions=0, max_deletions=0)
    wanted = wanted._replace(**options._asdict())
    yield from edit_batches(genomes, patterns, k, wanted, running, hooks)


def _check_lengths(patterns: PatternSet) -> None:
    if len(others := np.flatnonzero(patterns.lengths != patterns.lengths[0])):
        first, pattern = patterns[0], patterns[others[0]]
        raise InputError(
            f"pattern '{shown(pattern.name)}' has {len(pattern)} letters and the first one, "
            f"'{shown(first.name)}', {len(first)}: a panel has one length; "
            "search others with kmatch hamming"
        )
