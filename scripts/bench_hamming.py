#!/usr/bin/env python
"""Time kmatch's k-mismatches search against Sassy's edit search, one thread each, in one run.

    scripts/bench_hamming.py [--length BASES] [--patterns N] [--repeat N] [--json FILE]

The text is random and held in memory: packed for kmatch, as bytes for Sassy
(`pip install sassy-rs`), whose search allows insertions and deletions too. Patterns are random, on
the forward strand; as many occurrences as there are patterns are planted. Each figure is the median
of the repeats, in turn; Gbp·pattern/s is text length × patterns ÷ time.
"""

import argparse
import json
import platform
import random
import statistics
import time
from contextlib import suppress

import kmatch

SETTINGS = [(20, 3), (23, 4), (32, 6)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=1 << 25)
    parser.add_argument("--patterns", type=int, default=16)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    rng = random.Random(20)
    text = bytearray("".join(rng.choices("ACGT", k=options.length)), "ascii")
    rows = [measure(rng, text, m, k, options) for m, k in SETTINGS]
    if options.json:
        with open(options.json, "w") as handle:
            json.dump({"machine": platform.platform(), "rows": rows}, handle, indent=1)


def measure(rng, text, m, k, options):
    patterns = ["".join(rng.choices("ACGT", k=m)) for _ in range(options.patterns)]
    for pattern in patterns:
        at = rng.randrange(len(text) - m)
        text[at : at + m] = pattern.encode()
    genome = kmatch.Genome.from_records([("random", bytes(text))])
    search = {"threads": 1, "device": "cpu", "strand": "+"}
    began = time.perf_counter()
    kmatch.hamming(genome, patterns, k, **search)
    packing = time.perf_counter() - began
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


def timed(call):
    began = time.perf_counter()
    result = call()
    return result, time.perf_counter() - began


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
