#!/usr/bin/env python3
"""Pairs of primers inside regions, by Primer3, a line each: design.py TARGET REGIONS.BED

TARGET is gzipped FASTA; the regions are what `kmatch primer --both-strands --regions-out` writes.
"""

import gzip
import sys

import primer3

LENGTHS, PRODUCT, PAIRS = (23, 30), (150, 600), 3


def main(target, bed):
    with gzip.open(target, "rt") as handle:
        letters = "".join(line.strip() for line in handle if line[0] != ">")
    left, right = regions(bed, "+"), regions(bed, "-")
    joined = [
        [*one, *other]
        for one in left
        for other in right
        if PRODUCT[0] <= sum(other) - one[0] and other[0] - sum(one) <= PRODUCT[1]
    ]
    if not joined:  # of which Primer3 would make no limit at all
        sys.exit(f"{bed} has no two regions in which a pair fits")
    wanted = {
        "PRIMER_NUM_RETURN": PAIRS,
        "PRIMER_PRODUCT_SIZE_RANGE": [PRODUCT],
        "PRIMER_MIN_SIZE": LENGTHS[0],
        "PRIMER_OPT_SIZE": LENGTHS[0] + 2,
        "PRIMER_MAX_SIZE": LENGTHS[1],
        "PRIMER_MAX_TM": 66.0,
    }
    given = {"SEQUENCE_TEMPLATE": letters, "SEQUENCE_PRIMER_PAIR_OK_REGION_LIST": joined}
    found = primer3.design_primers(given, wanted)
    for number in range(found["PRIMER_PAIR_NUM_RETURNED"]):
        pair = [found[f"PRIMER_{side}_{number}_SEQUENCE"] for side in ("LEFT", "RIGHT")]
        print(f"pair_{number + 1}", *pair, sep="\t")


def regions(bed, strand):
    """The regions of a strand that hold a primer, as (start, letters)."""
    with open(bed) as handle:
        rows = [line.split() for line in handle]
    spans = [(int(row[1]), int(row[2]) - int(row[1])) for row in rows if row[5] == strand]
    return [span for span in spans if span[1] >= LENGTHS[0]]


if __name__ == "__main__":
    main(*sys.argv[1:])
