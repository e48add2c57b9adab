"""Sites of a VCF and their blocks, for tests of what is made of them."""

import numpy as np

from kmatch.variants.alleles import block_of, part_around
from kmatch.variants.vcf import Site

RECORD = np.frombuffer(b"ACGTACGTTTGACCAGGATCCATG", np.uint8)


def site(start, alleles, copies, record="r"):
    """A line of VCF; copies: of each allele, a bit for each copy."""
    words = np.array(copies, np.uint64)[:, None]
    names = [each.encode() for each in alleles.split(",")]
    return Site(record, start, start, names, [0.5] * len(names), words)


def block(*sites):
    """The Block of sites, with the whole of RECORD."""
    return block_of(list(sites), part_around(list(sites), RECORD, 100))
