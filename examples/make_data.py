#!/usr/bin/env python3
"""Make up the data of examples: make_data.py relative|reads GENOME OUTPUT

relative: the genome with a tenth of its letters changed, now and then one left out or put in.
reads: FASTQ of 300 reads of 100 letters with sequencing errors; a third end in an adapter.
The same each time. GENOME is FASTA, gzipped.
"""

import gzip
import random
import sys

ADAPTER = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA"
READS, LENGTH = 300, 100


def main():
    what, genome, output = sys.argv[1:]
    with gzip.open(genome, "rt") as handle:
        letters = "".join(handle.read().split("\n")[1:])
    draw = random.Random(1)
    with open(output, "w") as handle:
        if what == "relative":
            handle.write(f">relative\n{changed(letters, 0.1, draw)}\n")
        else:
            handle.writelines(read(number, letters, draw) for number in range(READS))


def read(number, letters, draw):
    """A read as FASTQ; of every third one the end is adapter."""
    start = draw.randrange(len(letters) - LENGTH)
    own = draw.randrange(20, 80) if number % 3 == 0 else LENGTH
    text = changed(letters[start : start + own] + ADAPTER * 3, 0.02, draw)[:LENGTH]
    return f"@read_{number}\n{text}\n+\n{'I' * len(text)}\n"


def changed(letters, share, draw):
    """The letters with differences: nine in ten are mismatches, others insertions or deletions."""
    out = []
    for letter in letters:
        if draw.random() >= share:
            out.append(letter)
        elif draw.random() < 0.9:
            out.append(draw.choice("ACGT".replace(letter, "")))
        elif draw.random() < 0.5:
            out.append(letter + draw.choice("ACGT"))
    return "".join(out)


if __name__ == "__main__":
    main()
