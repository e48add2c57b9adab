"""The closest occurrences of each pattern: the smallest distance to any substring, and where it is.

A first pass over the genome keeps the smallest distance of each pattern, a second one finds the
hits at it; no pass for every k.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.genome import Genome
from kmatch.genomes import Genomes, as_genomes
from kmatch.published.run import choose_algorithm
from kmatch.results.hits import HitBatch
from kmatch.search.chunks import PackedChunk, fresh_chunks, packed_chunks, plan_reading
from kmatch.search.circles import Reading, reading_circles
from kmatch.search.panel import ReadingPanel, build_reading_panel, select_patterns
from kmatch.search.published import difference_search, published_distances
from kmatch.search.repeats import distinct_patterns, with_copies
from kmatch.search.running import HOOKS, RUNNING, Hooks, Running
from kmatch.search.several import over_genomes
from kmatch.search.work import difference_work
from kmatch.sequences.patterns import Pattern


class BestOptions(NamedTuple):
    """strand: `both`, `+` or `-`."""

    strand: str = "both"


OPTIONS = BestOptions()


def best_batches(
    genome: Genome | Genomes,
    patterns: Sequence[Pattern],
    options: BestOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Iterator[HitBatch]:
    """Yield the hits as HitBatches, in order.

    genome: it is read twice if it is not kept; running.on_warning hears of each pattern that
    matches nowhere. Raises InputError and DeviceError as `kmatch.best` does, at the first batch.
    """
    genomes = as_genomes(genome)
    distinct, copies = distinct_patterns(patterns)
    strand = options.strand
    work = difference_work(genomes, distinct, None, strand)
    engine, run = choose_algorithm("best", distinct, running, work)
    panel = build_reading_panel(distinct, strand)
    # An alignment across the gap between records costs at least the gap.
    longest, layout = int(panel.lengths.max()), run.layout if run else engine.layout
    plan = plan_reading(longest, longest, longest, hooks.chunk_length, layout)

    def batches(each: Genome, running: Running) -> Iterable[HitBatch]:
        circular = genomes.circular
        if circular:
            circles = reading_circles(circular, longest, longest)
            parts = circles.parts(each.parts(running.on_progress))
            chunks = fresh_chunks(parts, plan, engine, engine.layout.reading_words, running)
        else:
            chunks = packed_chunks(each, plan, engine, engine.layout.reading_words, running)
        if run:
            distances = published_distances(chunks, panel, len(distinct), engine, run)
        else:
            distances = smallest_distances(chunks, panel, len(distinct), engine)
        found = distances < distinct.lengths
        if not found.all():
            where = f" in {each.label}" if genomes.named else ""
            for name in copies.names_of(~found):
                running.on_warning(f"pattern '{name}' matches nowhere{where}")
        if not found.any():
            return []
        near = select_patterns(distinct, found, strand)
        limits = distances[near.pattern]
        most, k = int(near.lengths.max()), int(limits.max())
        closer = plan_reading(most, k, k + 1, hooks.chunk_length, layout)
        make = partial(difference_search, engine, run, near, limits, hooks=hooks)
        if circular:
            reading = Reading(reading_circles(circular, most, k), closer, engine, make)
            return with_copies(reading.run(each, running, "minima"), copies)
        chunks = packed_chunks(each, closer, engine, engine.layout.reading_words, running)
        return with_copies(make("minima").run(chunks), copies)

    yield from over_genomes(genomes, running, batches)


def smallest_distances(
    chunks: Iterable[PackedChunk], panel: ReadingPanel, patterns: int, engine: Any
) -> Longs:
    """The smallest distance of each pattern over all chunks, int64[patterns]; m where none is less.

    chunks: PackedChunks whose records lie further apart than any pattern is long.
    """
    reading = panel.letters
    distances = np.zeros(patterns, np.int64)
    distances[panel.pattern] = panel.lengths
    for chunk in chunks:
        text = chunk.text(reading.masks, engine)
        found = engine.smallest_edit(text, reading, distances[panel.pattern] - 1)
        np.minimum.at(distances, panel.pattern, found)
    return distances
