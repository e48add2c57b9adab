"""Products in real genomes, held against what is known of them."""

import re

import naive
import numpy as np
from test_real_data import read

import kmatch

SCHEME, VIRUS = "tables/artic_ncov_V4.1.primer.bed", "sarscov2_mn908947.fa.gz"


def pairs_of(text, count, seed, lengths):
    """Pairs cut from a text at known distances, name → (forward, reverse), and their products."""
    rng = np.random.default_rng(seed)
    pairs, places = {}, []
    while len(pairs) < count:
        start, length = int(rng.integers(len(text) - 6000)), int(rng.integers(*lengths))
        product = text[start : start + length]
        if "N" not in product:
            places.append((start, start + length, f"p{len(pairs)}"))
            pairs[f"p{len(pairs)}"] = product[:22], naive.reverse_complement(product[-22:])
    return pairs, places


def exact_products(text, pairs):
    """(start, end, name) of the products of pairs that match without a mismatch."""
    hits = []
    for number, primer in enumerate(primer for pair in pairs.values() for primer in pair):
        for strand, letters in (("+", primer), ("-", naive.reverse_complement(primer))):
            hits += [
                (0, found.start(), found.start() + len(primer), number, 0, strand)
                for found in re.finditer(f"(?={letters})", text)
            ]
    roles = [(name, role) for name in pairs for role in "FR"]
    made = naive.pcr(hits, roles, (50, 5000))
    return [(start, end, roles[one[3]][0]) for _, start, end, _, one, _ in made]


def test_the_amplicons_of_artic(real):
    products = kmatch.pcr(real(VIRUS), real(SCHEME), k=0, product=(300, 500))
    rows = [line.split("\t") for line in real(SCHEME).read_text().splitlines()]
    assert set(products.name) == {f"SARS-CoV-2_{number}" for number in range(1, 100)}
    assert set(products.strand) == {"+"} and set(products.distance_forward) == {0}
    # Every pairing of alternates, within the lengths asked for; 64_LEFT has a wrong end in the
    # source, and its start is right.
    left, right = {}, {}
    for _, start, end, name, _, strand, _ in rows:
        sites, place = (left, start) if strand == "+" else (right, end)
        number = name.split("_")[1]
        sites.setdefault(number, []).append(int(place))
    expected = {
        (start, end, f"SARS-CoV-2_{number}")
        for number, starts in left.items()
        for start in starts
        for end in right[number]
        if 300 <= end - start <= 500
    }
    found = zip(products.start.tolist(), products.end.tolist(), products.name, strict=True)
    assert set(found) == expected
    assert len(products) == len(expected) == 113


def test_what_else_a_pool_makes(real):
    options = {"k": 0, "product": (50, 2000)}
    own = kmatch.pcr(real(VIRUS), real(SCHEME), **options)
    every = kmatch.pcr(real(VIRUS), real(SCHEME), pairs="any", **options)
    partners = np.array(["+" not in name for name in every.name])
    assert list(every[partners]) == list(own)
    assert ("SARS-CoV-2_2_LEFT+SARS-CoV-2_1_RIGHT", 324, 431) in zip(
        every.name, every.start.tolist(), every.end.tolist(), strict=True
    )
    assert (~partners).sum() > 500


def test_products_at_known_distances(real):
    path = real("ecoli_k12_mg1655.fa.gz")
    ((_, text),) = read(path)
    pairs, places = pairs_of(text.upper(), 20, 8, (60, 5000))
    products = kmatch.pcr(path, pairs, k=0, sequence=True)
    found = list(zip(products.start.tolist(), products.end.tolist(), products.name, strict=True))
    assert set(places) <= set(found)
    for start, end, strand, sequence in zip(
        products.start, products.end, products.strand, products.sequence, strict=True
    ):
        stretch = text[start:end].upper()
        assert sequence == (stretch if strand == "+" else naive.reverse_complement(stretch))
    assert found == exact_products(text.upper(), pairs)
    turned = {name: pair[::-1] for name, pair in pairs.items()}
    mirrored = kmatch.pcr(path, turned, k=0)
    assert mirrored.start.tolist() == products.start.tolist()
    assert (mirrored.strand != products.strand).all()


def test_a_multiplex_on_a_chromosome(real):
    path = real("human_grch37_chr20.fa.gz")
    ((_, text),) = read(path)
    pairs, places = pairs_of(text.upper(), 200, 4, (100, 1000))
    products = kmatch.pcr(path, pairs, k=3, exact_3p=5)
    found = zip(products.start.tolist(), products.end.tolist(), products.name, strict=True)
    assert set(places) <= set(found)
    assert (products.distance_forward <= 3).all() and (products.distance_reverse <= 3).all()
