#!/usr/bin/env python
"""Time kmatch's k-mismatches search against Sassy's edit search, one thread each, in one run.

    scripts/bench_hamming.py [--length BASES] [--patterns N] [--repeat N] [--json FILE]

The text is random and held in memory: packed for kmatch, as bytes for Sassy
(`pip install sassy-rs`), whose search allows insertions and deletions too. Patterns are random, on
the forward strand; as many occurrences as there are patterns are planted. Each figure is the median
of the repeats, in turn; Gbp·pattern/s is text length × patterns ÷ time.
"""

import random
import statistics
from contextlib import suppress

from benchmarks import parse_options, random_text, timed, write_results

import kmatch

SETTINGS = [(20, 3), (23, 4), (32, 6)]


def main():
    options = parse_options(__doc__, length=1 << 25, patterns=16)
    rng = random.Random(20)
    text = random_text(rng, options.length)
    rows = [measure(rng, text, m, k, options) for m, k in SETTINGS]
    write_results(options.json, rows)


def measure(rng, text, m, k, options):
    patterns = ["".join(rng.choices("ACGT", k=m)) for _ in range(options.patterns)]
    for pattern in patterns:
        at = rng.randrange(len(text) - m)
        text[at : at + m] = pattern.encode()
    genome = kmatch.Genome.from_records([("random", bytes(text))])
    search = {"threads": 1, "device": "cpu", "strand": "+"}
    _, packing = timed(lambda: kmatch.hamming(genome, patterns, k, **search))
    ours, theirs = [], []
    for _ in range(options.repeat):
        hits, seconds = timed(lambda: kmatch.hamming(genome, patterns, k, **search))
        ours.append(seconds)
        with suppress(ImportError):
            theirs.append(sassy_seconds(patterns, bytes(text), k))
    return report(m, k, len(text) * len(patterns) / 1e9, ours, theirs, len(hits), packing)


def sassy_seconds(patterns, text, k):
    import sassy

    searcher = sassy.Searcher("dna", rc=False)
    found, seconds = timed(lambda: [searcher.search(p.encode(), text, k) for p in patterns])
    assert all(found), "Sassy missed a planted occurrence"
    return seconds


def report(m, k, work, ours, theirs, hits, packing):
    row = {"m": m, "k": k, "hits": hits, "kmatch": work / statistics.median(ours)}
    line = f"m={m} k={k}: kmatch {row['kmatch']:.1f} Gbp·pattern/s, {hits} hits"
    if theirs:
        row["sassy"] = work / statistics.median(theirs)
        row["ratio"] = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
        line += f"; sassy {row['sassy']:.2f}; ratio {row['ratio']:.1f}"
    print(f"{line}; first search, packing included, {packing:.2f} s", flush=True)
    return row


if __name__ == "__main__":
    main()
