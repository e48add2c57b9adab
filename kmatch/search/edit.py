"""Every occurrence within k differences of a pattern."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kmatch.arguments import REPORTS, check_choice
from kmatch.genome import Genome
from kmatch.genomes import Genomes, as_genomes
from kmatch.published.run import choose_algorithm
from kmatch.results.hits import HitBatch
from kmatch.search.chunks import packed_chunks, plan_reading
from kmatch.search.circles import Reading, reading_circles
from kmatch.search.differences.ends import DifferenceSearch
from kmatch.search.panel import build_reading_panel, check_distance
from kmatch.search.published import difference_search
from kmatch.search.repeats import distinct_patterns, with_copies
from kmatch.search.running import HOOKS, RUNNING, Hooks, Running
from kmatch.search.several import over_genomes
from kmatch.search.work import difference_work
from kmatch.sequences.patterns import Pattern


class EditOptions(NamedTuple):
    """report: `minima`, `ends` or `loci`; strand: `both`, `+` or `-`."""

    report: str = "minima"
    strand: str = "both"


OPTIONS = EditOptions()


def edit_batches(
    genome: Genome | Genomes,
    patterns: Sequence[Pattern],
    k: int,
    options: EditOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Iterator[HitBatch]:
    """Yield the hits as HitBatches, in order, while the genome is read.

    k: 0 ≤ k < m. Raises InputError and DeviceError as `kmatch.edit` does, at the first batch.
    """
    genomes = as_genomes(genome)
    distinct, copies = distinct_patterns(patterns)
    k = check_distance(distinct, k)
    check_choice("report", options.report, REPORTS)
    work = difference_work(genomes, distinct, k, options.strand)
    engine, run = choose_algorithm("edit", distinct, running, work)
    panel = build_reading_panel(distinct, options.strand)
    limits = np.full(len(panel.lengths), k, np.int64)
    layout = run.layout if run else engine.layout
    plan = plan_reading(int(panel.lengths.max()), k, k + 1, hooks.chunk_length, layout)

    def make(report: str) -> DifferenceSearch:
        return difference_search(engine, run, panel, limits, report, hooks)

    search = make(options.report)

    def batches(each: Genome, running: Running) -> Iterable[HitBatch]:
        if circular := genomes.circular:
            circles = reading_circles(circular, int(panel.lengths.max()), k)
            reading = Reading(circles, plan, engine, make)
            return with_copies(reading.run(each, running, options.report), copies)
        chunks = packed_chunks(each, plan, engine, engine.layout.reading_words, running)
        return with_copies(search.run(chunks), copies)

    yield from over_genomes(genomes, running, batches)
