"""Real genomes, held against independent answers."""

import gzip
import re

import naive
import numpy as np
import pytest
from support.differences import check_alignments, edited, rows

import kmatch

# The source gives 64_LEFT an end that does not fit its sequence.
WRONG = "SARS-CoV-2_64_LEFT"


def read(path):
    """(name, sequence) of each record, without kmatch or Biopython."""
    entries = gzip.decompress(path.read_bytes()).decode().split(">")[1:]
    split = [entry.split("\n", 1) for entry in entries]
    return [(title.split()[0], "".join(body.split()).upper()) for title, body in split]


def test_artic_primers_in_place(real):
    lines = real("tables/artic_ncov_V4.1.primer.bed").read_text().splitlines()
    primers = {row[3]: row for row in (line.split("\t") for line in lines)}
    assert len(lines) == len(primers) == 209
    del primers[WRONG]
    panel = {name: row[6] for name, row in primers.items()}
    hits = kmatch.hamming(real("sarscov2_mn908947.fa.gz"), panel, k=0)
    columns = (hits.record, hits.start.tolist(), hits.end.tolist(), hits.pattern, hits.strand)
    places = set(zip(*columns, strict=True))
    expected = {
        (record, int(start), int(end), name, strand)
        for record, start, end, name, _, strand, _ in primers.values()
    }
    assert len(expected) == 208
    assert expected <= places
    assert set(hits.distance.tolist()) == {0}


# k differences in real genomes: what was planted is found, and nothing else is.


@pytest.fixture
def e_coli(real):
    path = real("ecoli_k12_mg1655.fa.gz")
    ((name, sequence),) = read(path)
    return kmatch.Genome(path), name, sequence


@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_pieces_with_edits_are_found_where_they_were_cut(e_coli, k):
    genome, name, sequence = e_coli
    rng = np.random.default_rng(k)
    origins = []
    for number in range(16):
        size = int(rng.integers(20, 31))
        # A few lie at the very ends of the chromosome.
        start = {0: 0, 1: len(sequence) - size}.get(number, int(rng.integers(len(sequence) - size)))
        edits = number % (k + 1)
        pattern = edited(rng, sequence[start : start + size], edits)
        sign = "+-"[number // 2 % 2]
        pattern = pattern if sign == "+" else naive.reverse_complement(pattern)
        origins.append((pattern, sign, start, start + size, edits))
    patterns = [origin[0] for origin in origins]
    hits = kmatch.edit(genome, patterns, k)
    assert set(hits.record) == {name}
    for number, (_, sign, start, end, edits) in enumerate(origins):
        mine = (hits.pattern_number == number) & (hits.strand == sign) & (hits.distance <= edits)
        assert (mine & (hits.start < end) & (hits.end > start)).any(), origins[number]
    check_alignments([(name, sequence)], patterns, rows(hits))
    least = kmatch.best(genome, patterns)
    for number, (*_, edits) in enumerate(origins):
        mine = least.distance[least.pattern_number == number]
        assert len(mine) and mine.max() == mine.min() <= edits
        found = hits.distance[hits.pattern_number == number]
        assert found.min() == mine.min() and (found == mine.min()).sum() == len(mine)


# Products in real genomes, held against what is known of them.


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


def test_products_at_known_distances(real):
    path = real("ecoli_k12_mg1655.fa.gz")
    ((_, text),) = read(path)
    pairs, places = pairs_of(text, 20, 8, (60, 5000))
    products = kmatch.pcr(path, pairs, k=0, sequence=True)
    found = list(zip(products.start.tolist(), products.end.tolist(), products.name, strict=True))
    assert set(places) <= set(found)
    for start, end, strand, sequence in zip(
        products.start, products.end, products.strand, products.sequence, strict=True
    ):
        stretch = text[start:end]
        assert sequence == (stretch if strand == "+" else naive.reverse_complement(stretch))
    assert found == exact_products(text, pairs)
    turned = {name: pair[::-1] for name, pair in pairs.items()}
    mirrored = kmatch.pcr(path, turned, k=0)
    assert mirrored.start.tolist() == products.start.tolist()
    assert (mirrored.strand != products.strand).all()
