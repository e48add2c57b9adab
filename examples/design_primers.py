#!/usr/bin/env python3
"""Design pairs of primers by Primer3 that bind a phage and not its relative.

    design_primers.py [FOLDER]        needs primer3-py: pip install primer3-py

kmatch gives the regions of the target in which every primer of 24 letters or more has at least
three differences from everything in the relative; Primer3 chooses pairs there. From the shell,
`kmatch primer --regions` writes the same regions.
"""

import subprocess
import sys
from pathlib import Path

import primer3

import kmatch

HERE = Path(__file__).parent
TARGET = HERE / "data" / "phix174.fa.gz"
K, LETTERS = 3, 24  # differences at least; letters of the shortest primer that Primer3 may choose
PAIRS, PRODUCT = 3, (150, 600)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    relative = folder / "relative.fa"
    make = (sys.executable, HERE / "make_data.py", "relative", TARGET, relative)
    subprocess.run(make, check=True)
    genome = kmatch.Genome(relative)

    found = kmatch.primer(TARGET, genome, K, max_length=LETTERS, both_strands=True)
    found.regions_to_bed(folder / "regions.bed")
    left, right = (regions(folder / "regions.bed", strand) for strand in "+-")
    print(f"{len(left)} and {len(right)} regions on + and -")

    print("pair  left                              right                             letters")
    for number, (forward, reverse, size) in enumerate(design(left, right), 1):
        print(f"{number:<5} {forward:<33} {reverse:<33} {size}")
        for primer in (forward, reverse):
            closest = kmatch.best(genome, primer)
            assert closest.distance.min() >= K, primer


def regions(path, strand):
    """Regions of a strand that hold a primer, as (start, letters)."""
    rows = (line.split() for line in path.read_text().splitlines())
    spans = [(int(row[1]), int(row[2]) - int(row[1])) for row in rows if row[5] == strand]
    return [span for span in spans if span[1] >= LETTERS]


def design(left, right):
    """Pairs by Primer3: (left primer, right primer, letters of the product)."""
    letters = record(TARGET)
    joined = [
        [*one, *other]
        for one in left
        for other in right
        if PRODUCT[0] <= sum(other) - one[0] and other[0] - sum(one) <= PRODUCT[1]
    ]
    sequence = {"SEQUENCE_TEMPLATE": letters, "SEQUENCE_PRIMER_PAIR_OK_REGION_LIST": joined}
    wanted = {
        "PRIMER_NUM_RETURN": PAIRS,
        "PRIMER_PRODUCT_SIZE_RANGE": [[*PRODUCT]],
        "PRIMER_MIN_SIZE": LETTERS,
        "PRIMER_OPT_SIZE": LETTERS + 1,
        "PRIMER_MAX_SIZE": LETTERS + 6,
        "PRIMER_MIN_TM": 56.0,
        "PRIMER_OPT_TM": 60.0,
        "PRIMER_MAX_TM": 66.0,
    }
    found = primer3.design_primers(sequence, wanted)
    for number in range(found["PRIMER_PAIR_NUM_RETURNED"]):
        pair = (found[f"PRIMER_{side}_{number}_SEQUENCE"] for side in ("LEFT", "RIGHT"))
        yield *pair, found[f"PRIMER_PAIR_{number}_PRODUCT_SIZE"]


def record(path):
    """The letters of the first record of a FASTA file."""
    from Bio.SeqIO.FastaIO import SimpleFastaParser
    from xopen import xopen

    with xopen(path) as handle:
        return next(iter(SimpleFastaParser(handle)))[1]


if __name__ == "__main__":
    main()
