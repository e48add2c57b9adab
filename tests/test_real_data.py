"""Real genomes, held against independent answers."""

import gzip

import naive
import numpy as np
import pytest
from support.differences import check_alignments, edited
from support.searches import aligned

import kmatch


@pytest.fixture
def e_coli(real):
    """Its path, name and letters, read without kmatch or Biopython."""
    path = real("ecoli_k12_mg1655.fa.gz")
    title, body = gzip.decompress(path.read_bytes()).decode()[1:].split("\n", 1)
    return path, title.split()[0], "".join(body.split()).upper()


@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_pieces_with_edits_are_found_where_they_were_cut(e_coli, k):
    path, name, sequence = e_coli
    genome, rng, origins = kmatch.Genome(path), np.random.default_rng(k), []
    for number in range(16):
        size = int(rng.integers(20, 31))
        # A few lie at the very ends of the chromosome.
        start = {0: 0, 1: len(sequence) - size}.get(number, int(rng.integers(len(sequence) - size)))
        edits, sign = number % (k + 1), "+-"[number // 2 % 2]
        pattern = edited(rng, sequence[start : start + size], edits)
        pattern = pattern if sign == "+" else naive.reverse_complement(pattern)
        origins.append((pattern, sign, start, start + size, edits))
    patterns = [origin[0] for origin in origins]
    hits, least = kmatch.edit(genome, patterns, k), kmatch.best(genome, patterns)
    assert set(hits.record) == {name}
    check_alignments([(name, sequence)], patterns, aligned(hits))
    for number, (_, sign, start, end, edits) in enumerate(origins):
        found = hits[hits.pattern_number == number]
        near = found[(found.strand == sign) & (found.distance <= edits)]
        assert ((near.start < end) & (near.end > start)).any(), origins[number]
        closest = least[least.pattern_number == number].distance
        assert set(closest) == {found.distance.min()} and closest[0] <= edits
        assert len(closest) == (found.distance == closest[0]).sum()


def test_the_amplicons_of_artic(real):
    """Every pairing of alternates, within the lengths asked for, where the scheme has it.

    64_LEFT has a wrong end in the source, and its start is right.
    """
    scheme = real("tables/artic_ncov_V4.1.primer.bed")
    genome = real("sarscov2_mn908947.fa.gz")
    with pytest.warns(kmatch.KmatchWarning, match="alternates of one pair.*'SARS-CoV-2_10'"):
        products = kmatch.pcr(genome, scheme, k=0, product=(300, 500))
    assert set(products.strand) == {"+"} and set(products.distance_forward) == {0}
    left, right = {}, {}
    for line in scheme.read_text().splitlines():
        _, start, end, name, _, strand, _ = line.split("\t")
        sites, place = (left, start) if strand == "+" else (right, end)
        sites.setdefault(name.split("_")[1], []).append(int(place))
    expected = {
        (start, end, f"SARS-CoV-2_{number}")
        for number in left
        for start in left[number]
        for end in right[number]
        if 300 <= end - start <= 500
    }
    found = zip(products.start.tolist(), products.end.tolist(), products.name, strict=True)
    assert len(products) == 113 and set(found) == expected
    assert {name for *_, name in expected} == {f"SARS-CoV-2_{n}" for n in range(1, 100)}
