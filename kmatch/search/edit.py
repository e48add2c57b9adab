"""Every occurrence within k differences of a pattern."""

import numpy as np

from kmatch.errors import InputError
from kmatch.genome import as_genome
from kmatch.published.run import choose_algorithm
from kmatch.results.hits import Hits
from kmatch.search.chunks import packed_chunks, plan_reading
from kmatch.search.differences.ends import REPORTS
from kmatch.search.panel import build_reading_panel, check_distance
from kmatch.search.published import difference_search
from kmatch.search.repeats import distinct_patterns, with_copies
from kmatch.search.work import difference_work
from kmatch.sequences.patterns import load_patterns


def edit(genome, patterns, k, **options):
    """Find the occurrences of patterns in a genome with at most k differences.

    genome: a Genome or a path; patterns: a list of sequences, a dict name → sequence, or a path;
    options: those of `edit_batches`. Returns Hits.
    Raises InputError for an unusable file or pattern, or k ≥ m, and DeviceError for the device.
    """
    panel = load_patterns(patterns)
    return Hits(edit_batches(as_genome(genome), panel, k, **options), panel)


def edit_batches(
    genome,
    patterns,
    k,
    *,
    report="minima",
    strand="both",
    device="auto",
    threads=None,
    algorithm="bitplane",
    on_progress=None,
    on_engine=None,
    chunk_length=None,
    capacity=None,
    filtering=None,
):
    """Yield the hits as HitBatches, in order, while the genome is read.

    genome: a Genome; patterns: a list of Pattern; k: int, 0 ≤ k < m; report: `minima`, `ends` or
    `loci`; strand: `both`, `+` or `-`; device, threads, algorithm, on_progress, on_engine: as for
    `hamming_batches`; chunk_length, capacity, filtering: positions of a chunk, room for hits (see
    Scanner) and whether to filter, which tests set and the engine chooses otherwise.
    """
    patterns, copies = distinct_patterns(patterns)
    check_distance(patterns, k)
    if report not in REPORTS:
        raise InputError(f"unknown report '{report}'; use {', '.join(REPORTS)}")
    work = difference_work(genome, patterns, k, strand)
    engine, run = choose_algorithm("edit", algorithm, patterns, device, threads, work)
    if on_engine:
        on_engine(engine)
    panel = build_reading_panel(patterns, strand)
    limits = np.full(len(panel.lengths), k, np.int64)
    layout = run.layout if run else engine.layout
    plan = plan_reading(int(panel.lengths.max()), k, k + 1, chunk_length, layout)
    chunks = packed_chunks(genome, plan, engine, engine.layout.reading_words, on_progress)
    search = difference_search(engine, run, panel, limits, report, filtering, capacity)
    yield from with_copies(search.run(chunks), copies)
