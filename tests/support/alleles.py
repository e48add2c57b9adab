"""Sites of a VCF and their blocks, for tests of what is made of them."""

import numpy as np

from kmatch.variants.alleles import block_of, part_around
from kmatch.variants.genotypes import nobody
from kmatch.variants.vcf import Site, spelled

RECORD = np.frombuffer(b"ACGTACGTTTGACCAGGATCCATG", np.uint8)


def site(start, alleles, copies, record="r"):
    """A line of VCF; copies: of each allele, a bit for each copy."""
    words = np.array(copies, np.uint64)[:, None]
    names = [each.encode() for each in alleles.split(",")]
    end = start + len(names[0])
    return Site(
        record,
        start,
        end,
        line_number=start,
        alleles=names,
        spelled=spelled(names),
        frequencies=[0.5] * len(names),
        copies=words,
        called=nobody(len(names)),
    )


def block(*sites):
    """The Block of sites, with the whole of RECORD."""
    return block_of(list(sites), part_around(list(sites), RECORD, 100))
