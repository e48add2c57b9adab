#!/usr/bin/env python
"""Rates of searches on one thread and on more, beside what the machine gives to any program.

    scripts/bench/threads.py [--threads N,…] [--length BASES] [--repeat N] [--json FILE]

Calls on random letters in memory that are packed, the least seconds of the repeats: `edit` with 128
patterns of 23 letters, k = 3, and `hamming` with 256 of 20, k = 3. Rates are Gbp·pattern/s, both
strands counted; `share` is a rate ÷ that of one thread ÷ the threads, and `busy` the CPU seconds of
all threads ÷ seconds ÷ threads. `machine` is the share that a loop reaches on as many threads which
only computes, in registers and the nearest cache, and waits for nothing: where cores run slower
together, or are halves of cores, no program has more.
"""

import resource
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from harness.options import plain_parser
from harness.processes import CpuCounted
from harness.records import Table, write_results
from harness.timing import timed
from harness.workloads import random_panel, random_text
from numba import njit

import kmatch
from kmatch.threads import cores

SEARCHES = {
    "edit": (kmatch.edit, 23, 128),
    "hamming": (kmatch.hamming, 20, 256),
}
K, STRANDS = 3, 2
ROUNDS, WORDS = 4_000_000, 512  # of the loop: about half a second
COLUMNS = (
    ("threads", "threads", ">7d"),
    ("edit", "edit", ">8.1f"),
    ("edit_share", "share", ">6.2f"),
    ("edit_busy", "busy", ">5.2f"),
    ("hamming", "hamming", ">8.1f"),
    ("hamming_share", "share", ">6.2f"),
    ("hamming_busy", "busy", ">5.2f"),
    ("machine", "machine", ">7.2f"),
)


@njit(nogil=True)
def add_planes(planes, rounds):
    """Carry-save additions of words, uint64[4, WORDS], over and over."""
    x, y, z, w = planes[0], planes[1], planes[2], planes[3]
    for _ in range(rounds):
        for i in range(WORDS):
            total = x[i] ^ y[i] ^ z[i]
            carry = (x[i] & y[i]) | (z[i] & (x[i] ^ y[i]))
            x[i] = total ^ w[i]
            y[i] = carry ^ (w[i] & total)
            z[i] ^= carry & w[i]


def compute(threads, rounds):
    """Run the loop on each of so many threads."""
    rng = np.random.default_rng(1)
    planes = [rng.integers(0, 1 << 63, (4, WORDS), np.uint64) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(partial(add_planes, rounds=rounds), planes))


def least(call, repeat):
    """The least seconds of a call, and the CPU seconds of that one."""
    counted = CpuCounted(call, resource.RUSAGE_SELF)
    seconds = [timed(counted)[1] for _ in range(repeat)]
    return min(zip(seconds, counted.cpu, strict=True))


def measure(genome, panels, threads, options):
    """The row of so many threads, without shares."""
    row, size = {"threads": threads}, sum(genome.lengths)
    for name, (search, _, count) in SEARCHES.items():
        call = partial(search, genome, panels[name], k=K, device="cpu", threads=threads)
        seconds, cpu = least(call, options.repeat)
        row[name] = STRANDS * size * count / seconds / 1e9
        row[f"{name}_busy"] = cpu / seconds / threads
    seconds, _ = least(partial(compute, threads, options.rounds), options.repeat)
    return row | {"machine": threads / seconds}


def with_shares(row, one):
    """A row whose rates are beside those of one thread."""
    shares = {f"{name}_share": row[name] / one[name] / row["threads"] for name in SEARCHES}
    return row | shares | {"machine": row["machine"] / one["machine"] / row["threads"]}


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("--length", type=int, default=1 << 27, help="letters of the text")
    parser.add_argument("--threads", metavar="N,…", help="counts, 1 first; 1, 2, 4 … all cores")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of the loop")
    options = parser.parse_args()
    counts = [2**i for i in range(cores().bit_length())]
    if options.threads:
        counts = [int(word) for word in options.threads.split(",")]
    text = random_text(options.length).letters.tobytes()
    genome = kmatch.Genome.from_records([("text", text)])
    panels = {name: random_panel(count, m) for name, (_, m, count) in SEARCHES.items()}
    for search, m, _ in SEARCHES.values():  # packs, compiles
        search(genome, random_panel(2, m), k=K, device="cpu")
    compute(1, 1)
    shown, one = Table(COLUMNS), None
    for threads in counts:
        row = measure(genome, panels, threads, options)
        one = one or row
        shown.add(with_shares(row, one))
    write_results(options.json, shown.rows, length=options.length)


if __name__ == "__main__":
    main()
