"""The closest occurrences of each pattern: the smallest distance to any substring, and where it is.

A first pass over the genome keeps the smallest distance of each pattern, a second one finds the
hits at it; no pass for every k.
"""

import warnings

import numpy as np

from kmatch.genome import as_genome
from kmatch.published.run import choose_algorithm
from kmatch.results.hits import Hits
from kmatch.search.chunks import packed_chunks, plan_reading
from kmatch.search.panel import build_reading_panel, select_patterns
from kmatch.search.published import difference_search, published_distances
from kmatch.search.repeats import distinct_patterns, with_copies
from kmatch.search.work import difference_work
from kmatch.sequences.patterns import load_patterns


def best(genome, patterns, **options):
    """Find the closest occurrences of patterns in a genome, by differences.

    genome: a Genome or a path; patterns: a list of sequences, a dict name → sequence, or a path;
    options: those of `best_batches`. Returns Hits. A pattern that matches nowhere has none, and a
    UserWarning names it.
    Raises InputError for an unusable file or pattern, and DeviceError for the device.
    """
    panel = load_patterns(patterns)
    options.setdefault("on_nowhere", _warn)
    return Hits(best_batches(as_genome(genome), panel, **options), panel)


def best_batches(
    genome,
    patterns,
    *,
    strand="both",
    device="auto",
    threads=None,
    algorithm="bitplane",
    on_progress=None,
    on_engine=None,
    on_nowhere=None,
    chunk_length=None,
    capacity=None,
    filtering=None,
):
    """Yield the hits as HitBatches, in order.

    genome: a Genome, which is read twice if it is not kept; on_nowhere(names) hears of the
    patterns that match nowhere; other arguments: as for `edit_batches`.
    """
    patterns, copies = distinct_patterns(patterns)
    work = difference_work(genome, patterns, None, strand)
    engine, run = choose_algorithm("best", algorithm, patterns, device, threads, work)
    if on_engine:
        on_engine(engine)
    panel = build_reading_panel(patterns, strand)
    # An alignment across the gap between records costs at least the gap.
    longest, layout = int(panel.lengths.max()), run.layout if run else engine.layout
    plan = plan_reading(longest, longest, longest, chunk_length, layout)
    chunks = packed_chunks(genome, plan, engine, engine.layout.reading_words, on_progress)
    if run:
        distances = published_distances(chunks, panel, len(patterns), engine, run)
    else:
        distances = smallest_distances(chunks, panel, len(patterns), engine)
    found = distances < patterns.lengths
    if on_nowhere and not found.all():
        on_nowhere(copies.names_of(~found))
    if not found.any():
        return
    panel = select_patterns(patterns, found, strand)
    limits = distances[panel.pattern]
    longest, k = int(panel.lengths.max()), int(limits.max())
    plan = plan_reading(longest, k, k + 1, chunk_length, layout)
    chunks = packed_chunks(genome, plan, engine, engine.layout.reading_words, on_progress)
    search = difference_search(engine, run, panel, limits, "minima", filtering, capacity)
    yield from with_copies(search.run(chunks), copies)


def smallest_distances(chunks, panel, patterns, engine):
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


def _warn(names):
    for name in names:
        warnings.warn(f"pattern '{name}' matches nowhere", stacklevel=3)
