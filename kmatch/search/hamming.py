"""Every window within k mismatches of a pattern."""

import numpy as np

from kmatch.genome import as_genome
from kmatch.published.run import choose_algorithm
from kmatch.results.hits import Hits
from kmatch.search.chunks import packed_chunks, plan_chunks
from kmatch.search.mismatches.windows import WindowScans
from kmatch.search.panel import build_panel, check_distance, exact_ends
from kmatch.search.repeats import distinct_patterns, with_copies
from kmatch.search.scanning import Scanner
from kmatch.search.work import window_work
from kmatch.sequences.patterns import load_patterns, pattern_set


def hamming(genome, patterns, k, **options):
    """Find every window of a genome with at most k mismatches to a pattern.

    genome: a Genome or a path; patterns: a list of sequences, a dict name → sequence, or a path;
    options: those of `hamming_batches`. Returns Hits.
    Raises InputError for an unusable file or pattern, or k ≥ m, and DeviceError for the device.
    """
    panel = load_patterns(patterns)
    return Hits(hamming_batches(as_genome(genome), panel, k, **options), panel)


def hamming_batches(
    genome,
    patterns,
    k,
    *,
    strand="both",
    exact_5p=0,
    exact_3p=0,
    device="auto",
    threads=None,
    algorithm="bitplane",
    on_progress=None,
    on_engine=None,
    chunk_length=None,
    words=None,
    capacity=None,
):
    """Yield the hits as HitBatches, in order, while the genome is read.

    genome: a Genome; patterns: a list of Pattern; k: int, 0 ≤ k < m; strand: `both`, `+` or `-`;
    exact_5p, exact_3p: first and last letters of a pattern that must match; device: `auto`, `cpu`,
    `cuda` or `cuda:N`; threads: int or None for all cores; algorithm: `bitplane`, or the name of a
    published one (see `kmatch.published.registry`); on_progress(consumed, size) hears of
    bytes read, on_engine(engine) of the engine chosen; chunk_length, words, capacity: positions
    and words a row of a chunk and the room for hits (see Scanner), which tests make tiny.
    """
    patterns, copies = distinct_patterns(patterns)
    check_distance(patterns, k)
    work = window_work(genome, patterns, k, strand)
    engine, run = choose_algorithm("hamming", algorithm, patterns, device, threads, work)
    if on_engine:
        on_engine(engine)
    ends, layout = (exact_5p, exact_3p), run.layout if run else engine.layout
    if run:
        from kmatch.search.published import PublishedWindows

        search = PublishedWindows(engine, run, patterns, k, strand, ends)
    else:
        search = WindowSearch(engine, patterns, k, strand, ends, capacity)
    lengths = search.panel.lengths
    plan = plan_chunks(int(lengths.max()), k, len(lengths), chunk_length, layout)
    chunks = packed_chunks(genome, plan, engine, words, on_progress)
    yield from with_copies(search.run(chunks), copies)


class WindowSearch(WindowScans):
    """Every window of chunks held against every pattern.

    engine: of a device; patterns, k, strand, capacity: as for `hamming_batches`; ends: the letters
    that must match, of a pattern's beginning and of its end; pam: a Pam that must stand beside
    every pattern, or None.
    """

    def __init__(self, engine, patterns, k, strand, ends, capacity, pam=None):
        self._engine, self._k = engine, k
        patterns = pattern_set(patterns)
        exact = exact_ends(patterns, k, ends)
        if pam:
            exact = pam.beside_each(exact, np.ones(len(pam), bool), len(patterns))
            patterns = pam.join_all(patterns)
        self.panel = build_panel(patterns, k, strand, exact)
        self._scanner = Scanner(engine, len(self.panel.lengths) * (k + 1), capacity)

    def _start(self, chunk, capacity):
        letters = self.panel.letters
        text = chunk.text(letters.masks, self._engine)
        return self._engine.start_scan(text, letters, self._k, capacity)
