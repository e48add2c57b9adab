"""k mismatches against the oracle: agreed cases, then whatever Hypothesis thinks of."""

import io

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import HAMMING, geometries, hamming_cases
from support.hooks import hamming_batches
from support.mismatches import rows, search

import kmatch
from kmatch.results.table import Hits
from kmatch.search import chunks


@pytest.mark.parametrize("geometry", [{}, {"chunk_length": 7, "words": 1}, {"chunk_length": 64}])
@pytest.mark.parametrize("name", HAMMING)
def test_cases(name, geometry):
    records, patterns, k, options = HAMMING[name]
    expected = naive.hamming(records, patterns, k, **options)
    assert rows(search(records, patterns, k, **options, **geometry)) == expected


@given(hamming_cases(), geometries, st.integers(1, 3))
def test_any_text_and_geometry(case, geometry, threads):
    records, patterns, k, options = case
    expected = naive.hamming(records, patterns, k, **options)
    found = search(records, patterns, k, threads=threads, **options, **geometry)
    assert rows(found) == expected


@given(hamming_cases(), geometries)
def test_tables(case, geometry):
    records, patterns, k, options = case
    names = [f"p{i % 3}" for i in range(len(patterns))]  # names may repeat
    panel = kmatch.sequences.patterns.checked_patterns(names, patterns, print)
    hits = Hits(
        hamming_batches(kmatch.Genome.from_records(records), panel, k, **options, **geometry), panel
    )
    expected = naive.hamming(records, patterns, k, **options)
    bed, tsv = io.StringIO(), io.BytesIO()
    hits.to_bed(bed)
    hits.to_tsv(tsv)
    assert bed.getvalue() == naive.bed(records, names, patterns, expected)
    assert tsv.getvalue().decode() == naive.tsv(records, names, patterns, expected)


@given(hamming_cases(), st.sampled_from([1, 8, 40]))
def test_no_hit_is_dropped_when_room_is_short(case, capacity):
    records, patterns, k, options = case
    expected = naive.hamming(records, patterns, k, **options)
    found = search(records, patterns, k, capacity=capacity, chunk_length=150, **options)
    assert rows(found) == expected


def test_a_tile_has_borders_too():
    # Long enough for many tiles, with hits everywhere and at their borders.
    rng = np.random.default_rng(5)
    text = "".join(rng.choice(list("ACGT"), 70_000))
    pattern = text[40_000:40_009]
    expected = naive.hamming([("r", text)], [pattern], 4)
    for words in (1, 2, 16):
        assert rows(search([("r", text)], [pattern], 4, words=words)) == expected


def test_a_genome_packs_itself_once(monkeypatch):
    genome = kmatch.Genome.from_records([("r", "ACGTACGTTT")])
    first = kmatch.hamming(genome, ["ACGT"], 1)
    monkeypatch.setattr(chunks, "join_records", None)
    again = kmatch.hamming(genome, ["ACGR", "CGT"], 1)
    assert rows(first) == naive.hamming([("r", "ACGTACGTTT")], ["ACGT"], 1)
    assert rows(again) == naive.hamming([("r", "ACGTACGTTT")], ["ACGR", "CGT"], 1)


@pytest.mark.parametrize("length", [10_000, 12_345])
def test_very_long_patterns(length):
    rng = np.random.default_rng(7)
    text = "".join(rng.choice(list("ACGT"), 30_000))
    changed = list(text[5_000 : 5_000 + length])
    for at in rng.choice(length, 300, replace=False):
        changed[at] = "ACGT"["TGCA".index(changed[at])]
    found = search([("r", text)], ["".join(changed)], 300)
    assert rows(found) == [(0, 5_000, 5_000 + length, 0, 300, "+")]
    assert len(search([("r", text)], ["".join(changed)], 299)) == 0
