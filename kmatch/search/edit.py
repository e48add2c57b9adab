"""Every occurrence within k differences of a pattern, anywhere or beside a PAM."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kmatch.engine.ways import work_of
from kmatch.errors import PAM_SIDES, REPORTS, check_choice
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.published.run import choose_algorithm
from kmatch.published.search import difference_search
from kmatch.results.batches import HitBatch
from kmatch.search.circles import Reading
from kmatch.search.differences.ends import DifferenceSearch
from kmatch.search.differences.rules import Bounds, Rules, checked_bounds, smallest_k
from kmatch.search.hamming import checked_ends
from kmatch.search.panels.distances import pattern_distances
from kmatch.search.panels.pams import load_pams
from kmatch.search.panels.panel import build_reading_panel
from kmatch.search.panels.repeats import distinct_patterns, with_copies
from kmatch.search.running import HOOKS, RUNNING, Hooks, Running
from kmatch.search.scanning.chunks import Chunking, plan_reading
from kmatch.search.scanning.dense import hits_ahead
from kmatch.search.several import over_genomes
from kmatch.sequences.patterns import Pattern


class EditOptions(NamedTuple):
    """report: `minima`, `ends` or `loci`, or None for `ends` beside a PAM and `minima` elsewhere;
    strand: `both`, `+` or `-`; pam: what must stand beside a pattern, one or several, after it
    (pam_side `3p`) or before it (`5p`), or None; exact_5p, exact_3p: first and last letters that
    must match; max_…: the most differences of each kind, None where only k bounds it."""

    report: str | None = None
    strand: str = "both"
    pam: str | Sequence[str] | None = None
    pam_side: str = "3p"
    exact_5p: int = 0
    exact_3p: int = 0
    max_mismatches: int | None = None
    max_insertions: int | None = None
    max_deletions: int | None = None


OPTIONS = EditOptions()


def edit_batches(
    genome: Genome | Genomes,
    patterns: Sequence[Pattern],
    k: int | str,
    options: EditOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Iterator[HitBatch]:
    """Yield the hits as HitBatches, in order, while the genome is read.

    k: 0 ≤ k < m, or a share of m such as `10%`. Raises InputError and DeviceError as
    `kmatch.edit` does, at the first batch.
    """
    genomes = as_genomes(genome)
    distinct, copies = distinct_patterns(patterns)
    distances = pattern_distances(distinct, k)
    rules, k = _rules(options, int(distances.max()))
    report = options.report or ("ends" if rules.pams else "minima")
    check_choice("report", report, REPORTS)
    work = work_of(genomes.expected_letters, distinct.lengths, options.strand)
    engine, run = choose_algorithm("edit", distinct, running, work)
    panel = build_reading_panel(distinct, options.strand, rules.leads)
    limits = np.minimum(distances, k)[panel.pattern]
    layout = run.layout if run else engine.layout
    longest, gap = int(panel.lengths.max()) + rules.reach, max(k + 1, rules.reach)
    plan = plan_reading(longest, k, gap, hooks.chunk_length, layout)
    chunking = Chunking(plan, engine, engine.layout.reading_words)

    def make(report: str) -> DifferenceSearch:
        # On a circle alignments say which of several PAMs stands beside a hit.
        aligned = running.aligned or (genomes.circular is not None and rules.unequal)
        return difference_search(engine, run, panel, limits, report, rules, hooks, aligned)

    search, reading = make(report), Reading(longest + k, distinct.lengths, rules, make)

    def find(each: Genome, running: Running) -> Iterable[HitBatch]:
        if genomes.circular is None:
            found = hits_ahead(search.run(chunking.chunks(each, running)), engine.threads)
            return with_copies(found, copies)
        found = reading.run(each, genomes.circular, chunking, running, report)
        return with_copies(found, copies)

    yield from over_genomes(genomes, running, find)


def _rules(options: EditOptions, k: int) -> tuple[Rules, int]:
    """The Rules that options make, and the k that they leave."""
    check_choice("side of the PAM", options.pam_side, PAM_SIDES)
    pams = load_pams(options.pam, options.pam_side)
    ends = checked_ends(options.exact_5p, options.exact_3p)
    most = Bounds(options.max_mismatches, options.max_insertions, options.max_deletions)
    bounds = checked_bounds(k, most)
    return Rules(tuple(pams), ends, bounds), smallest_k(k, bounds)
