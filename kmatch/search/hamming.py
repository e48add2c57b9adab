"""Every window within k mismatches of a pattern."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.ways import work_of
from kmatch.errors import checked_count
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.published.run import Run, choose_algorithm
from kmatch.results.batches import HitBatch
from kmatch.search.mismatches.compared import WindowSearch
from kmatch.search.panels.distances import merged, pattern_distances, renumbered
from kmatch.search.panels.panel import Request
from kmatch.search.panels.repeats import distinct_patterns
from kmatch.search.running import HOOKS, RUNNING, Hooks, Running
from kmatch.search.scanning.chunks import Chunking, PackedChunk, plan_chunks
from kmatch.search.several import find_windows
from kmatch.sequences.patterns import Pattern


class HammingOptions(NamedTuple):
    """strand: `both`, `+` or `-`; exact_5p, exact_3p: first and last letters that must match."""

    strand: str = "both"
    exact_5p: int = 0
    exact_3p: int = 0


OPTIONS = HammingOptions()


def hamming_batches(
    genome: Genome | Genomes,
    patterns: Sequence[Pattern],
    k: int | str,
    options: HammingOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Iterator[HitBatch]:
    """Yield the hits as HitBatches, in order, while the genome is read.

    k: 0 ≤ k < m, or a share of m such as `10%`. Raises InputError and DeviceError as
    `kmatch.hamming` does, at the first batch.
    """
    genomes = as_genomes(genome)
    distinct, copies = distinct_patterns(patterns)
    distances = pattern_distances(distinct, k)
    k = int(distances.max())
    ends = checked_ends(options.exact_5p, options.exact_3p)
    work = work_of(genomes.expected_letters, distinct.lengths, options.strand)
    engine, run = choose_algorithm("hamming", distinct, running, work)
    searches = []
    for each in np.unique(distances):
        numbers = np.flatnonzero(distances == each)
        request = Request(distinct.take(numbers), int(each), options.strand, ends, running.aligned)
        searches.append((numbers, _search(engine, run, request, hooks)))
    lengths = np.concatenate([search.panel.lengths for _, search in searches])
    layout = run.layout if run else engine.layout
    longest = int(lengths.max())
    plan = plan_chunks(longest, k, len(lengths), hooks.chunk_length, layout)
    search = searches[0][1].run if len(searches) == 1 else partial(_each_k, searches)
    chunking = Chunking(plan, engine, hooks.words)
    yield from find_windows(genomes, search, chunking, longest, copies, running)


def _search(engine: Any, run: Run | None, request: Request, hooks: Hooks) -> Any:
    """The search for windows by the engine, or by a published algorithm."""
    if run:
        from kmatch.published.search import PublishedWindows

        return PublishedWindows(engine, run, request)
    return WindowSearch(engine, request, hooks.capacity)


def _each_k(
    searches: list[tuple[Longs, Any]], chunks: Iterable[PackedChunk]
) -> Generator[HitBatch]:
    """Yield the hits of several searches, each of patterns with one k, chunk by chunk.

    searches: (the numbers of a search's patterns, the search).
    """
    for chunk in chunks:
        batches = [
            renumbered(batch, numbers)
            for numbers, search in searches
            for batch in search.run([chunk])
        ]
        if batches:
            yield merged(batches)


def checked_ends(exact_5p: int, exact_3p: int) -> tuple[int, int]:
    """How many letters must match at a pattern's beginning and at its end, as ints.

    Raises InputError for what is no such number.
    """
    return checked_count("exact_5p", exact_5p), checked_count("exact_3p", exact_3p)
