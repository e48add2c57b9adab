"""Every window within k mismatches of a pattern."""

from itertools import chain

import numpy as np

from kmatch.published.run import choose_algorithm
from kmatch.search.chunks import packed_chunks, plan_chunks
from kmatch.search.hits import Columns, HitBatch, Hits
from kmatch.search.panel import build_panel, check_distance, exact_ends
from kmatch.search.repeats import distinct_patterns, with_copies
from kmatch.search.scanning import KeyBuffer
from kmatch.sequences.genome import as_genome
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
    key_room=(),
):
    """Yield the hits as HitBatches, in order, while the genome is read.

    genome: a Genome; patterns: a list of Pattern; k: int, 0 ≤ k < m; strand: `both`, `+` or `-`;
    exact_5p, exact_3p: first and last letters of a pattern that must match; device: `auto`, `cpu`,
    `cuda` or `cuda:N`; threads: int or None for all cores; algorithm: `bitplane`, or the name of a
    published one (see `kmatch.published.registry`); on_progress(consumed, size) hears of
    bytes read, on_engine(engine) of the engine chosen; chunk_length, words, key_room: positions
    and words a row of a chunk and the room for hits (see KeyBuffer), which tests make tiny.
    """
    patterns, copies = distinct_patterns(patterns)
    check_distance(patterns, k)
    engine, run = choose_algorithm("hamming", algorithm, patterns, device, threads)
    if on_engine:
        on_engine(engine)
    ends, layout = (exact_5p, exact_3p), run.layout if run else engine.layout
    if run:
        from kmatch.search.published import PublishedWindows

        search = PublishedWindows(engine, run, patterns, k, strand, ends)
    else:
        search = WindowSearch(engine, patterns, k, strand, ends, key_room)
    lengths = search.panel.lengths
    plan = plan_chunks(int(lengths.max()), k, len(lengths), chunk_length, layout)
    chunks = packed_chunks(genome, plan, engine, words, on_progress)
    yield from with_copies(chain.from_iterable(map(search.scan, chunks)), copies)


class WindowSearch:
    """Every window of chunks held against every pattern.

    engine: of a device; patterns, k, strand, key_room: as for `hamming_batches`; ends: the letters
    that must match, of a pattern's beginning and of its end; pam: a Pam that must stand beside
    every pattern, or None.
    """

    def __init__(self, engine, patterns, k, strand, ends, key_room, pam=None):
        self._engine, self._k = engine, k
        patterns = pattern_set(patterns)
        exact = exact_ends(patterns, k, ends)
        if pam:
            exact = pam.beside_each(exact, np.ones(len(pam), bool), len(patterns))
            patterns = pam.join_all(patterns)
        self.panel = build_panel(patterns, k, strand, exact)
        self._buffer = KeyBuffer(engine.tasks, *(key_room or engine.key_room))

    def scan(self, chunk):
        """Yield the HitBatches of a PackedChunk."""
        engine, letters = self._engine, self.panel.letters
        text = chunk.text(letters.masks, engine.unite)
        queries = (letters.planes, letters.shifts, letters.bounds)

        def kernel(lanes, keys, counts):
            engine.scan(*text, *queries, self._k, lanes, keys, counts)

        yield from report_keys(kernel, chunk, text, self.panel, self._k, self._buffer, engine)


def report_keys(kernel, chunk, text, panel, k, buffer, engine):
    """Yield HitBatches of the keys that a kernel finds in a chunk (see KeyBuffer)."""
    for keys, _ in buffer.scan(kernel, chunk.geometry.words):
        keys, distance = np.divmod(keys, k + 1)
        position, rank = np.divmod(keys, len(panel.lengths))
        batch = hit_batch(position, rank, distance, chunk, text, panel, engine)
        if len(batch):
            yield batch


def hit_batch(position, rank, distance, chunk, text, panel, engine):
    """The HitBatch of windows of a chunk, sorted by position and rank in the panel, int64[n].

    Windows of the next chunk, or that leave their record, are dropped.
    """
    spans = chunk.spans
    span = np.searchsorted(spans.begins, position, side="right") - 1
    start = position - spans.begins[span]
    inside = (span >= 0) & (start + panel.lengths[rank] <= spans.lengths[span])
    inside &= position < chunk.length
    if not inside.all():
        position, rank, span = position[inside], rank[inside], span[inside]
        start, distance = start[inside], distance[inside]
    pattern, minus = panel.pattern[rank], panel.minus[rank]

    def align(rows):
        return _align(engine, text, position[rows], panel, rank[rows])

    return HitBatch(
        record=spans.first + span,
        start=start,
        end=start + panel.lengths[rank],
        pattern=pattern,
        distance=distance.astype(np.int32),
        minus=minus,
        spans=spans,
        align=align,
    )


def _align(engine, text, position, panel, rank):
    ends = np.concatenate([[0], np.cumsum(panel.lengths[rank])])
    columns = np.empty(ends[-1], np.uint8)
    ops = np.empty(ends[-1], np.uint8)
    engine.align_gapless(
        *text, position, panel.pattern[rank], panel.minus[rank], *panel.written, ends, columns, ops
    )
    return Columns(ends, ops, ends, columns)
