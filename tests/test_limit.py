"""The closest hits of each pattern, and the summary of all."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.api import GENOME, call
from support.hooks import hooked

import kmatch
from kmatch.results import limit as limiting
from kmatch.results.limit import Closest, limited

PANEL = {"a": "ACGTAC", "b": "TTNRCA", "again": "acgtac", "none": "ACGTTGCATTAGCCAGTACTGAACCGGTT"}


@pytest.fixture(scope="module")
def hits():
    """Hits of many batches, some of one place in several."""
    return hooked("edit", GENOME, PANEL, 2, report="ends", chunk_length=99, threads=1)


def closest(hits, most):
    """Numbers of the rows that a limit keeps, slowly."""
    rows = list(enumerate(zip(hits.pattern_number.tolist(), hits.distance.tolist(), strict=True)))
    kept = []
    for pattern in range(len(PANEL)):
        mine = sorted((distance, row) for row, (each, distance) in rows if each == pattern)
        kept += [row for _, row in mine[:most]]
    return sorted(kept)


@settings(max_examples=30)
@given(most=st.integers(1, 300), few=st.sampled_from([1, 7, 1 << 16]))
def test_the_closest_are_kept(hits, most, few):
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as heard:
        patch.setattr(limiting, "FEW", few)
        warnings.simplefilter("always")
        found = kmatch.Hits(limited(hits.batches, hits.patterns, most), hits.patterns)
    expected = hits[closest(hits, most)]
    assert list(found) == list(expected) and len(hits.batches) > 20
    assert found.record_number.tolist() == expected.record_number.tolist()
    assert found.cigar.tolist() == expected.cigar.tolist()
    assert found.match.tolist() == expected.match.tolist()
    counts = np.bincount(hits.pattern_number, minlength=len(PANEL)).tolist()
    over = [(count, name) for name, count in zip(PANEL, counts, strict=True) if count > most]
    assert len(heard) == bool(over)
    if over:
        said, (count, _) = str(heard[0].message), max(over)
        assert f"' has {count:,} hits, of which the limit keeps {most:,}" in said
        assert said.startswith(f"{len(over):,} patterns have more" if over[1:] else "pattern")


@pytest.mark.parametrize("most", [1, 10])
def test_memory_goes_by_what_is_kept(hits, most, monkeypatch):
    monkeypatch.setattr(limiting, "FEW", 1)
    limit = Closest(len(PANEL), most)
    for batch in hits.batches * 3:
        limit.add(batch)
        assert sum(map(len, limit._parts)) <= 2 * most * len(PANEL)
    assert sum(len(part.names) for part in limit.kept()) <= most * len(PANEL)


def test_in_python():
    whole = call(kmatch.hamming, GENOME, PANEL, 2)
    with pytest.warns(UserWarning, match="which the limit keeps 2") as warned:
        found = call(kmatch.hamming, GENOME, PANEL, 2, limit=2)
    assert list(found) == list(whole[closest(whole, 2)]) and len(warned) == 1
    for odd in (0, -1, 1.5, "1"):
        with pytest.raises(kmatch.InputError, match="limit"):
            call(kmatch.best, GENOME, PANEL, limit=odd)
