"""Products as tuples, from kmatch and from the oracle, and cases of pairs of primers."""

import naive
import naive_bounds
from hypothesis import strategies as st

from kmatch.genome import Genome
from kmatch.results.table import Products
from kmatch.sequences.primer_pairs import load_pairs
from support.hooks import pcr_batches

BASES = st.text("ACGT", min_size=2, max_size=6)


def numbered(given):
    """The primers of a dict, name → (forwards, reverses), as kmatch numbers them: sequences, and
    (pair, role)."""
    sequences, primers = [], []
    for pair, sides in enumerate(given.values()):
        for role, side in zip("FR", sides, strict=True):
            sequences += side
            primers += [(pair, role)] * len(side)
    return sequences, primers


def expected(records, given, k, product=(50, 5000), pairs="own", edit=False, exact_3p=0):
    """What the oracle makes of a call of kmatch.pcr."""
    sequences, primers = numbered(given)
    if edit and exact_3p:
        hits = naive_bounds.edit(records, sequences, k, "loci", exact_3p=exact_3p)
    elif edit:
        hits = naive.edit(records, sequences, k, "loci")
    else:
        hits = naive.hamming(records, sequences, k, exact_3p=exact_3p)
    return naive.pcr(hits, primers, product, pairs)


def products(records, given, k, **options):
    """The Products of a call of kmatch.pcr, to which hooks may be given too."""
    panel = load_pairs(given)
    genome = Genome.from_records(records)
    batches = pcr_batches(genome, panel, k, **options)
    return Products(batches, panel, options.get("sequence", False))


def rows(found):
    """Products as the oracle gives them, hits without their strand and CIGAR."""
    sides = [
        (f"{side}_number", f"{side}_start", f"{side}_end", f"distance_{side}")
        for side in ("forward", "reverse")
    ]
    names = ("record_number", "start", "end", "strand", *sides[0], *sides[1])
    columns = [getattr(found, name).tolist() for name in names]
    return [(*row[:4], row[4:8], row[8:]) for row in zip(*columns, strict=True)]


def plain(products):
    """Products of the oracle as `rows` gives those of kmatch."""
    return [(*row[:4], *((hit[3], hit[1], hit[2], hit[4]) for hit in row[4:])) for row in products]


@st.composite
def cases(draw):
    """(records, primers, k, options): short primers, strewn over records on both strands."""
    sides = st.lists(BASES, min_size=1, max_size=2)
    given = {f"p{number}": (draw(sides), draw(sides)) for number in range(draw(st.integers(1, 3)))}
    written = [primer for both in given.values() for side in both for primer in side]
    written += [naive.reverse_complement(primer) for primer in written]
    part = st.sampled_from(written) | st.text("ACGTN", max_size=5)
    texts = draw(st.lists(st.lists(part, max_size=12).map("".join), min_size=1, max_size=4))
    records = [(f"r{number}", text) for number, text in enumerate(texts)]
    most = min(map(len, written))
    k = draw(st.integers(0, min(2, most - 1)))
    least = draw(st.integers(0, 12))
    options = {
        "product": (least, least + draw(st.integers(0, 40))),
        "pairs": draw(st.sampled_from(["own", "any"])),
        "edit": draw(st.booleans()),
        "exact_3p": draw(st.sampled_from([0, 0, 1, most])),
    }
    return records, given, k, options
