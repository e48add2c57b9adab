#!/usr/bin/env python
"""Time kmatch's k-differences search against Sassy's, one thread each, in one run.

    scripts/bench_edit.py [--length BASES] [--patterns N] [--repeat N] [--json FILE]

The text is random and held in memory: packed for kmatch, as bytes for Sassy
(`pip install sassy-rs`). Patterns are random, on the forward strand; as many edited copies as there
are patterns are planted. kmatch reports every end position; Sassy runs in the faster of its modes
`single` (alphabet dna) and `batch_patterns` (alphabet iupac), which report minima only. That both
find the same ends is checked once, with Sassy's `search_all`. Each figure is the median of the
repeats, in turn; the ratio is the median of the ratios.

Gbp·pattern/s is text length × patterns ÷ time. GCUPS, billions of cell updates a second, is text
length × m × patterns ÷ time: the cells of the whole matrices, whether or not they were computed.
"""

import random
import statistics
from functools import partial

from benchmarks import parse_options, random_text, timed, write_results

import kmatch

SETTINGS = [(20, 1), (20, 3), (32, 6), (100, 10)]
MODES = [("dna", "single"), ("iupac", "batch_patterns")]


def main():
    options = parse_options(__doc__, length=1 << 25, patterns=8)
    rng = random.Random(20)
    text = random_text(rng, options.length)
    rows = [measure(rng, text, m, k, options) for m, k in SETTINGS]
    write_results(options.json, rows)


def measure(rng, text, m, k, options):
    patterns = ["".join(rng.choices("ACGT", k=m)) for _ in range(options.patterns)]
    for pattern in patterns:
        copy = edited(rng, pattern, rng.randrange(k + 1)).encode()
        at = rng.randrange(len(text) - 2 * m)
        text[at : at + len(copy)] = copy
    fixed = bytes(text)
    genome = kmatch.Genome.from_records([("random", fixed)])

    def search():
        return kmatch.edit(genome, patterns, k, report="ends", threads=1, device="cpu", strand="+")

    hits, packing = timed(search)
    peer = Peer.load(patterns, fixed, k)
    if peer:
        assert ends_of(hits) == peer.ends(), "kmatch and Sassy found different ends"
    ours, theirs = [], []
    for _ in range(options.repeat):
        ours.append(timed(search)[1])
        if peer:
            theirs.append(peer.seconds())
    return report(m, k, len(text) * len(patterns) / 1e9, ours, theirs, len(hits), packing)


def edited(rng, pattern, edits):
    letters = list(pattern)
    for _ in range(edits):
        at, kind = rng.randrange(len(letters)), rng.randrange(3)
        letter = rng.choice([x for x in "ACGT" if x != letters[at]])
        letters[at : at + 1] = [[letter], [letter, letters[at]], []][kind]
    return "".join(letters)


def ends_of(hits):
    columns = (hits.pattern_number, hits.end, hits.distance)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


class Peer:
    """Sassy, with the same work to do."""

    @classmethod
    def load(cls, patterns, text, k):
        try:
            import sassy
        except ImportError:
            return None
        return cls(sassy, [pattern.encode() for pattern in patterns], text, k)

    def __init__(self, sassy, patterns, text, k):
        self._searchers = {name: sassy.Searcher(name, rc=False) for name, _ in MODES}
        self._work = (patterns, text, k)

    def ends(self):
        """(pattern, end, distance) of every end position, sorted."""
        patterns, text, k = self._work
        return sorted(
            (number, match.text_end, match.cost)
            for number, pattern in enumerate(patterns)
            for match in self._searchers["dna"].search_all(pattern, text, k)
        )

    def seconds(self):
        """The time of the faster mode."""
        patterns, text, k = self._work
        times = []
        for name, mode in MODES:
            search = partial(self._searchers[name].search_many, patterns, [text], k, 1, mode)
            times.append(timed(search)[1])
        return min(times)


def report(m, k, work, ours, theirs, ends, packing):
    speed = work / statistics.median(ours)
    row = {"m": m, "k": k, "ends": ends, "kmatch": speed, "kmatch_gcups": speed * m}
    line = f"m={m} k={k}: kmatch {speed:.1f} Gbp·pattern/s, {speed * m:.0f} GCUPS, {ends} ends"
    if theirs:
        row["sassy"] = work / statistics.median(theirs)
        row["ratio"] = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
        line += f", equal; sassy {row['sassy']:.2f}; ratio {row['ratio']:.1f}"
    print(f"{line}; first search, packing included, {packing:.2f} s", flush=True)
    return row


if __name__ == "__main__":
    main()
