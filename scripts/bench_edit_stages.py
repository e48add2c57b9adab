#!/usr/bin/env python
"""Show where the time of kmatch's k-differences search goes, on one thread.

    scripts/bench_edit_stages.py [--length BASES] [--patterns N] [--repeat N] [--json FILE]

Random text in one chunk, forward strand. Nanoseconds are those of a text position and pattern, or
of a base or an end where it says so; each is the median of the repeats. The recurrence is run by
itself, over the same cells; the rest of a full scan is counters, borders and ends.
"""

import random
import statistics

import numpy as np
from benchmarks import parse_options, timed, write_results
from workloads import random_text

import kmatch
from kmatch.engine.cpu.edit_tile import BLOCK
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.cpu.recurrence import PAIR, advance
from kmatch.engine.cpu.vectors import WORDS, aligned
from kmatch.jit import kernel
from kmatch.search.chunks import packed_chunks, plan_reading
from kmatch.search.differences import NO_COLUMNS
from kmatch.search.panel import build_reading_panel
from kmatch.sequences.patterns import load_patterns

SETTINGS = [(20, 1), (20, 3), (32, 6), (12, 6)]
FEW = 10_000  # ends, whose tracing takes no time to speak of
TRACED = 1_000_000


@kernel
def recurrence_alone(planes, words, rows, plane_words, letters, begins, state):
    for tile in range(words // WORDS):
        for query in range(len(begins) - 1):
            pattern = letters[begins[query] : begins[query + 1]] * plane_words + tile * WORDS
            border = PAIR * len(pattern)
            for row in range(0, rows - BLOCK + 1, BLOCK):
                advance(planes, state, pattern, 0, len(pattern), border, row * words, words, BLOCK)


def main():
    options = parse_options(__doc__, length=1 << 23, patterns=8)
    rng = random.Random(20)
    text = random_text(options.length).letters
    rows = [measure(rng, text, m, k, options) for m, k in SETTINGS]
    write_results(options.json, rows)


def measure(rng, text, m, k, options):
    patterns = load_patterns(["".join(rng.choices("ACGT", k=m)) for _ in range(options.patterns)])
    engine, panel = CpuEngine(1), build_reading_panel(patterns, "+")
    genome = kmatch.Genome.from_records([("random", text)])
    plan = plan_reading(m, k, k + 1, len(text), engine.layout)
    packing, chunk = stage(options, lambda: pack(genome, plan, engine))
    letters = panel.letters
    planes = chunk.text(letters.masks, engine.unite)
    reading = (letters.letters, letters.begins, letters.backward)
    limits, every = np.full(len(patterns), k), np.arange(len(patterns))
    lanes = np.full(planes[1], np.uint64(0xFFFFFFFFFFFFFFFF))
    keys, found = np.empty((1, 1 << 24), np.int64), np.zeros(1, np.int64)
    state = aligned(PAIR * (m + BLOCK))
    alone, _ = stage(
        options, lambda: recurrence_alone(*planes, letters.letters, letters.begins, state)
    )
    scan, _ = stage(
        options,
        lambda: engine.scan_edit(*planes, *reading, limits, every, k, lanes, keys, found),
    )
    whole, hits = stage(options, lambda: search(genome, patterns, k, len(text)))
    cells = len(text) * len(patterns)
    row = {
        "m": m,
        "k": k,
        "pack, ns a base": packing / len(text) * 1e9,
        "recurrence": alone / cells * 1e9,
        "counters, borders, ends": (scan - alone) / cells * 1e9,
        "search as chosen, whole": whole / cells * 1e9,
        "ends": int(found.sum()),
        "hits": len(hits),
    }
    if found.sum() > FEW:
        tracing = trace_time(options, engine, panel, chunk, planes, k, np.sort(keys[0, : found[0]]))
        row["traceback, ns an end"] = tracing / min(found.sum(), TRACED) * 1e9
    print("; ".join(f"{key}: {value:.4g}" for key, value in row.items()), flush=True)
    return row


def trace_time(options, engine, panel, chunk, planes, k, keys):
    """Median seconds to trace the first TRACED ends, without writing alignments."""
    keys, distance = np.divmod(keys[:TRACED], k + 1)
    position, query = np.divmod(keys, len(panel.lengths))
    letters = panel.letters
    limit = np.full(len(keys), chunk.spans.begins[0])
    other, size = np.empty((2, len(keys)), np.int64)
    profile = engine.profiles(letters.letters, letters.begins, letters.bases)
    queries = (profile, letters.begins, letters.backward)
    hits = (position, query, distance, limit, k, other, size)
    return stage(options, lambda: engine.trace(*planes, *queries, *hits, *NO_COLUMNS))[0]


def pack(genome, plan, engine):
    genome.packed.clear()
    return next(packed_chunks(genome, plan, engine, engine.layout.reading_words))


def search(genome, patterns, k, length):
    sequences = [pattern.sequence for pattern in patterns]
    options = {"threads": 1, "device": "cpu", "strand": "+", "chunk_length": length}
    return kmatch.edit(genome, sequences, k, **options)


def stage(options, call):
    """(median seconds, result) of a call, after one that is not counted."""
    call()
    runs = [timed(call) for _ in range(options.repeat)]
    return statistics.median(seconds for _, seconds in runs), runs[-1][0]


if __name__ == "__main__":
    main()
