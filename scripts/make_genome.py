#!/usr/bin/env python
"""Make a genome with the record lengths, repeats, satellites and runs of N of a human one.

    scripts/make_genome.py [--length BASES] [--seed N] FILE

FILE is written as FASTA, or as a packed genome where its name ends in `.kmatch`. The same seed
gives the same genome on every machine. A quarter of it consists of copies of 30 families of repeats
of 300 to 3,000 letters, diverged by 2 to 20 %; a fiftieth of every chromosome is a satellite of 171
letters; runs of N stand before the satellite and at both ends.
"""

import argparse
import sys
import time

import numpy as np
from numba import njit, prange

from kmatch.packed.writer import write_packed
from kmatch.results.output import open_output
from kmatch.sequences.records import Record

WIDTH = 60  # letters of a line
# Human chromosomes 1 to 22, X and Y in Mbp, GRCh38; the rest of the genome is scaffolds.
CHROMOSOMES = {
    **dict(enumerate((
        248.96, 242.19, 198.30, 190.21, 181.54, 170.81, 159.35, 145.14, 138.39, 133.80, 135.09,
        133.28, 114.36, 107.04, 101.99, 90.34, 83.26, 80.37, 58.62, 64.44, 46.71, 50.82,
    ), 1)),
    "X": 156.04, "Y": 57.23,
}  # fmt: skip
LENGTH = 3_100_000_000
SCAFFOLD = 73_000
SLOT = 4096  # letters that hold one copy of a repeat, or none
FAMILIES, LONGEST = 30, 3000
MONOMER = 171
LETTERS = np.frombuffer(b"ACGT", np.uint8)
SEED_OF_FAMILIES = 1 << 40


@njit(inline="always")
def mix(x):
    """A hash of a uint64 (splitmix64)."""
    x = np.uint64(x) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(inline="always")
def draw(seed, index, many):
    """A number below `many`, another one for every index."""
    return np.int64((mix(seed + np.uint64(index)) >> np.uint64(33)) % np.uint64(many))


@njit(cache=True)
def fill_random(letters, seed):
    for i in range(0, len(letters), 32):
        bits = mix(seed + np.uint64(i))
        for j in range(i, min(i + 32, len(letters))):
            letters[j] = LETTERS[np.int64(bits & np.uint64(3))]
            bits >>= np.uint64(2)


@njit(cache=True)
def plant(out, source, seed, percent):
    """Fill `out` with copies of a source, a share of whose letters is drawn anew."""
    for i in range(len(out)):
        out[i] = source[i % len(source)]
        if draw(seed, i, 100) < percent:
            out[i] = LETTERS[draw(seed, ~i, 4)]


@njit(parallel=True, cache=True)
def fill(letters, number, families):
    """Fill chromosome `number`, slot by slot."""
    size, seed = len(letters), mix(number)
    ends, arm = min(10_000, size // 100), size * 2 // 5
    for slot in prange(-(-size // SLOT)):
        first = slot * SLOT
        part = letters[first : first + SLOT]
        own = mix(seed + np.uint64(slot))
        fill_random(part, own)
        if arm <= first < arm + size // 50:
            plant(part, families[0, :MONOMER], own, 5)
        elif draw(own, 1, 10) < 7:
            family = draw(own, 2, FAMILIES)
            length = min(300 + 90 * family, len(part))
            at = draw(own, 3, len(part) - length + 1)
            source = families[family, :length]
            if draw(own, 4, 2):
                source = source[::-1]  # not complemented: no less unlike the others
            plant(part[at : at + length], source, own, 2 + draw(own, 5, 19))
        elif draw(own, 6, 10_000) == 0:
            part[: 50 + draw(own, 7, SLOT)] = ord("N")
    letters[:ends] = ord("N")
    letters[size - ends :] = ord("N")
    letters[arm - size // 40 : arm] = ord("N")


def records(length=LENGTH, seed=1):
    """Yield the Records of a genome of `length` letters."""
    families = np.empty((FAMILIES, LONGEST), np.uint8)
    fill_random(families.reshape(-1), np.uint64(SEED_OF_FAMILIES))
    for number, (name, size) in enumerate(sizes(length)):
        letters = np.empty(size, np.uint8)
        fill(letters, seed * 1_000_003 + number, families)
        yield Record(name, letters)


def sizes(length):
    """Yield the names and lengths of records of `length` letters in all."""
    left = length
    for name, size in CHROMOSOMES.items():
        size = int(size * 1e6 * length / LENGTH)
        left -= size
        yield f"chr{name}", size
    number = 0
    while left > 0:
        number += 1
        yield f"scaffold_{number}", min(SCAFFOLD, left)
        left -= SCAFFOLD


def write_fasta(genome, handle):
    """Write Records as FASTA; returns how many records and letters there are."""
    count = letters = 0
    for record in genome:
        handle.write(f">{record.name}\n".encode())
        whole = len(record.letters) // WIDTH * WIDTH
        lines = np.full((whole // WIDTH, WIDTH + 1), ord("\n"), np.uint8)
        lines[:, :WIDTH] = record.letters[:whole].reshape(-1, WIDTH)
        handle.write(lines.tobytes())
        if whole < len(record.letters):
            handle.write(record.letters[whole:].tobytes() + b"\n")
        count, letters = count + 1, letters + len(record.letters)
    return count, letters


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--length", type=int, default=LENGTH)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.perf_counter()
    write = write_packed if options.file.endswith(".kmatch") else write_fasta
    with open_output(options.file) as handle:
        count, letters = write(records(options.length, options.seed), handle)
    seconds = time.perf_counter() - began
    print(f"{letters:,} letters in {count:,} records in {seconds:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
