#!/usr/bin/env python3
"""A score of your own for sites of a guide: a mismatch weighs more the nearer it is to the PAM."""

from pathlib import Path

import numpy as np

import kmatch

GENOME = Path(__file__).parents[1] / "data" / "human_mito_rcrs.fa.gz"
GUIDE = "GGTCAGCTAAATAAGCTATC"

hits = kmatch.multi(GENOME, GUIDE, k=8, pam="NGG")

# `match` has the letters of each hit as the guide reads them, with the PAM behind.
letters = np.array([[*match] for match in hits.match])[:, : len(GUIDE)]
differ = letters != [*GUIDE]
score = differ @ np.linspace(0, 1, len(GUIDE))

for row in np.argsort(score):
    hit = hits[row]
    print(hit.start, hit.strand, hit.distance, hits.match[row], f"{score[row]:.2f}", sep="\t")
