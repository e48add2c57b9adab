#!/usr/bin/env python
"""Show where the time of kmatch's k-differences search goes, on one thread.

    scripts/bench/edit_stages.py [--length BASES] [--patterns N] [--repeat N] [--json FILE]

Random text in one chunk, forward strand. Nanoseconds are for a text position and pattern, or for a
base or an end where so named, and medians of the repeats. The recurrence runs alone over the same
cells; the rest of a scan is counters, borders, and ends with their sorting.
"""

import random
import statistics

import numpy as np
from harness.options import plain_parser
from harness.records import shown_figure, write_results
from harness.timing import timed
from harness.workloads import random_text

import kmatch
from kmatch.engine.alignments import Ends, Traced
from kmatch.engine.cpu.bits.vectors import WORDS, aligned
from kmatch.engine.cpu.edit.recurrence import PAIR, TextRows, advance
from kmatch.engine.cpu.edit.tile import BLOCK
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.differences import difference_query
from kmatch.jit import kernel
from kmatch.search.differences.anchored import view_of
from kmatch.search.differences.constrained import NO_COLUMNS
from kmatch.search.differences.rules import Bounds, Rules, make_constraints
from kmatch.search.hooked import hooked
from kmatch.search.panels.panel import build_reading_panel
from kmatch.search.scanning.chunks import packed_chunks, plan_reading
from kmatch.sequences.patterns import load_patterns

SETTINGS = [(20, 1), (20, 3), (32, 6), (12, 6)]
SPARE = 2  # capacity for ends ÷ cells: a chunk's last lane goes on after the text
FEW = 10_000  # ends, too few for their tracebacks to be timed
TRACED = 1_000_000


@kernel
def recurrence_alone(text, reading, state):
    planes, words, rows, plane_words = text
    letters, begins = reading.letters, reading.begins
    for tile in range(words // WORDS):
        for query in range(len(begins) - 1):
            pattern = letters[begins[query] : begins[query + 1]] * plane_words + tile * WORDS
            border = PAIR * len(pattern)
            for row in range(0, rows - BLOCK + 1, BLOCK):
                text_rows = TextRows(row * words, words, BLOCK)
                advance(planes, state, pattern, 0, len(pattern), border, text_rows)


def main():
    parser = plain_parser(__doc__, repeat=5)
    parser.add_argument("--length", type=int, default=1 << 23)
    parser.add_argument("--patterns", type=int, default=8)
    options = parser.parse_args()
    rng = random.Random(20)
    text = random_text(options.length).letters
    rows = [measure(rng, text, m, k, options) for m, k in SETTINGS]
    write_results(options.json, rows)


def measure(rng, text, m, k, options):
    patterns = load_patterns(["".join(rng.choices("ACGT", k=m)) for _ in range(options.patterns)])
    engine, panel = CpuEngine(1), build_reading_panel(patterns, "+")
    query = difference_query(panel.letters, np.full(len(patterns), k), engine)
    genome = kmatch.Genome.from_records([("random", text)])
    plan = plan_reading(m, k, k + 1, len(text), engine.layout)
    packing, chunk = stage(options, lambda: pack(genome, plan, engine))
    planes = chunk.text(panel.letters.masks, engine)
    state = aligned(PAIR * (m + BLOCK))
    alone, _ = stage(options, lambda: recurrence_alone(planes, query.reading, state))
    cells = len(text) * len(patterns)
    capacity = SPARE * cells  # for as many ends as there can be
    scan, found = stage(options, lambda: engine.start_edit(planes, query, False, capacity).found())
    whole, hits = stage(options, lambda: search(genome, patterns, k, len(text)))
    row = {
        "m": m,
        "k": k,
        "pack, ns a base": packing / len(text) * 1e9,
        "recurrence": alone / cells * 1e9,
        "counters, borders, ends": (scan - alone) / cells * 1e9,
        "search as chosen, whole": whole / cells * 1e9,
        "ends": len(found.codes),
        "hits": len(hits),
    }
    if len(found.codes) > FEW:
        chunk.unpack(engine)  # as in a search with many ends
        ends = first_ends(query, chunk, found.codes)
        row["traceback, ns an end"] = trace_time(options, engine, query, chunk, ends)
        row |= bounded_times(options, engine, (query, panel), chunk, ends)
    print("; ".join(f"{name}: {shown_figure(x)}" for name, x in row.items()), flush=True)
    return row


def first_ends(query, chunk, codes):
    """The first TRACED Ends of the record."""
    ends_of_patterns, distance = np.divmod(codes, query.k + 1)
    position, number = np.divmod(ends_of_patterns, len(query.limits))
    begin, length = chunk.spans.begins[0], chunk.spans.lengths[0]
    own = np.flatnonzero(position < begin + length)[:TRACED]
    return Ends(position[own], number[own], distance[own], np.full(len(own), begin))


def trace_time(options, engine, query, chunk, ends):
    """Nanoseconds of a traceback, the median."""
    traced = Traced(*np.empty((2, len(ends.position)), np.int64))

    def trace():
        engine.trace(chunk.plain, chunk.letters, query, ends, traced, NO_COLUMNS)

    return stage(options, trace)[0] / len(ends.position) * 1e9


def bounded_times(options, engine, searched, chunk, ends):
    """Nanoseconds in which an end is held against a bound for each kind of difference, and of a
    traceback within them, medians."""
    query, panel = searched
    constraints = make_constraints(Rules(bounds=Bounds(query.k - 1, 1, 1)), panel, query.k)
    view = view_of(chunk)

    def decide():
        decided = ends._replace(distance=ends.distance.copy())
        engine.constrained_distances(view, query, constraints, decided)
        return decided

    deciding, decided = stage(options, decide)
    within = Ends(*(column[decided.distance >= 0] for column in decided))
    traced = tuple(np.empty((3, len(within.position)), np.int64))

    def trace():
        engine.trace_constrained(view, query, constraints, within, traced, NO_COLUMNS)

    return {
        "bounds, ns an end": deciding / len(ends.position) * 1e9,
        "traceback within bounds": stage(options, trace)[0] / max(len(within.position), 1) * 1e9,
    }


def pack(genome, plan, engine):
    genome.keep = False  # or it would be packed once
    return next(packed_chunks(genome, plan, engine, engine.layout.reading_words))


def search(genome, patterns, k, length):
    sequences = [pattern.sequence for pattern in patterns]
    options = {"threads": 1, "device": "cpu", "strand": "+", "chunk_length": length}
    return hooked("edit", genome, sequences, k, **options)


def stage(options, call):
    """(median seconds, result) of a call, after one that is not counted."""
    call()
    runs = [timed(call) for _ in range(options.repeat)]
    return statistics.median(seconds for _, seconds in runs), runs[-1][0]


if __name__ == "__main__":
    main()
