"""The closest occurrences of each pattern: the smallest distance to any substring, and where it is.

A first pass over the genome keeps the smallest distance of each pattern, a second one finds the
hits at it; no pass for every k.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.genome import Genome
from kmatch.published.run import choose_algorithm
from kmatch.results.batches import HitBatch
from kmatch.search.differences.rules import Rules
from kmatch.search.hamming import checked_ends
from kmatch.search.panels.panel import ReadingPanel, build_reading_panel, select_patterns
from kmatch.search.panels.repeats import Copies, distinct_patterns, with_copies
from kmatch.search.published import difference_search, published_distances
from kmatch.search.running import HOOKS, RUNNING, Hooks, Running
from kmatch.search.scanning.chunks import PackedChunk, packed_chunks, plan_reading
from kmatch.search.scanning.work import difference_work
from kmatch.sequences.patterns import Pattern, PatternSet


class BestOptions(NamedTuple):
    """strand: `both`, `+` or `-`; exact_5p, exact_3p: first and last letters that must match."""

    strand: str = "both"
    exact_5p: int = 0
    exact_3p: int = 0


OPTIONS = BestOptions()


def best_batches(
    genome: Genome,
    patterns: Sequence[Pattern],
    options: BestOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Iterator[HitBatch]:
    """Yield the hits as HitBatches, in order.

    genome: it is read twice if it is not kept; running.on_warning hears of each pattern that
    matches nowhere. Raises InputError and DeviceError as `kmatch.best` does, at the first batch.
    """
    distinct, copies = distinct_patterns(patterns)
    scanned = _scanned(genome, distinct, options, running, hooks)
    distances = _smallest(scanned, options)
    warn_of_none(distinct, copies, distances, running)
    yield from with_copies(_at(scanned, distances, options), copies)


def best_distances(
    genome: Genome,
    patterns: PatternSet,
    options: BestOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Longs:
    """The smallest distance of each of some distinct patterns in a genome, int64[P]; m where none
    is less."""
    return _smallest(_scanned(genome, patterns, options, running, hooks), options)


def best_within(
    genome: Genome,
    patterns: PatternSet,
    distances: Longs,
    options: BestOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Iterator[HitBatch]:
    """Yield the minima of distinct patterns at given distances, int64[P], in order; none at m."""
    yield from _at(_scanned(genome, patterns, options, running, hooks), distances, options)


def warn_of_none(distinct: PatternSet, copies: Copies, distances: Longs, running: Running) -> None:
    """Let running.on_warning hear of each pattern whose smallest distance is m."""
    found = distances < distinct.lengths
    if not found.all():
        for name in copies.names_of(~found):
            running.on_warning(f"pattern '{name}' matches nowhere")


class Scanned(NamedTuple):
    """What is searched more than once: a genome, for distinct patterns, in one way."""

    genome: Genome
    patterns: Any
    engine: Any
    run: Any
    running: Running
    hooks: Hooks


def _scanned(
    genome: Genome, distinct: PatternSet, options: BestOptions, running: Running, hooks: Hooks
) -> Scanned:
    work = difference_work(genome, distinct, None, options.strand)
    engine, run = choose_algorithm("best", distinct, running, work)
    return Scanned(genome, distinct, engine, run, running, hooks)


def _smallest(scanned: Scanned, options: BestOptions) -> Longs:
    """The smallest distance of each pattern, int64[P]; m where none is less."""
    genome, distinct, engine, run, running, hooks = scanned
    rules = _rules(options)
    panel = build_reading_panel(distinct, options.strand)
    # An alignment across the gap between records costs at least the gap.
    longest, layout = int(panel.lengths.max()), run.layout if run else engine.layout
    plan = plan_reading(longest, longest, longest, hooks.chunk_length, layout)
    chunks = packed_chunks(genome, plan, engine, engine.layout.reading_words, running)
    if run:
        distances = published_distances(chunks, panel, len(distinct), engine, run)
    else:
        distances = smallest_distances(chunks, panel, len(distinct), engine)
    if rules.bind_alignments:
        distances = exact_distances(scanned, distances, rules, options.strand)
    return distances


def _at(scanned: Scanned, distances: Longs, options: BestOptions) -> Iterator[HitBatch]:
    """Yield the minima at the distances of the patterns, none at m."""
    found = distances < scanned.patterns.lengths
    if not found.any():
        return
    panel = select_patterns(scanned.patterns, found, options.strand)
    limits = distances[panel.pattern]
    search, chunks = _again(scanned, panel, limits, "minima", _rules(options))
    yield from search.run(chunks)
    running = scanned.running
    if running.on_edges and (edges := search.edges()):
        running.on_edges(edges)


def _rules(options: BestOptions) -> Rules:
    return Rules(ends=checked_ends(options.exact_5p, options.exact_3p))


def _again(scanned: Scanned, panel: ReadingPanel, limits: Longs, report: str, rules: Rules) -> Any:
    """A search of a panel within limits, and the chunks for it."""
    genome, _, engine, run, running, hooks = scanned
    longest, k, layout = int(panel.lengths.max()), int(limits.max()), (run or engine).layout
    plan = plan_reading(longest, k, k + 1, hooks.chunk_length, layout)
    chunks = packed_chunks(genome, plan, engine, engine.layout.reading_words, running)
    extent = genome.extent if report == "minima" else None
    return difference_search(engine, run, panel, limits, report, rules, hooks, extent), chunks


def exact_distances(scanned: Scanned, least: Longs, rules: Rules, strand: str) -> Longs:
    """The smallest distance of each pattern where its ends match; m where none is less.

    least: int64[P], the distances without this rule, from which larger ones are tried.
    """
    lengths = scanned.patterns.lengths
    # What does not have to match can be left out, unless letters lie between two ends that do.
    most = lengths - 1 if all(rules.ends) else np.minimum(lengths - sum(rules.ends), lengths - 1)
    distances, limits, step = lengths.copy(), least, 1
    wanted = limits <= most
    while wanted.any():
        panel = select_patterns(scanned.patterns, wanted, strand)
        within = limits[panel.pattern]
        search, chunks = _again(scanned, panel, within, "ends", rules)
        found = search.smallest(chunks)
        near = found <= within
        np.minimum.at(distances, panel.pattern[near], found[near])
        wanted &= (distances == lengths) & (limits < most)
        limits, step = np.minimum(limits + step, most), 2 * step
    return distances


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
