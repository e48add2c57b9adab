"""The closest hits of each pattern, and the summary of all."""

import numpy as np
import pytest
from support.searches import GENOME, call, hooked

import kmatch
from kmatch.results import limit as limiting
from kmatch.results.limit import Closest

PANEL = {"a": "ACGTAC", "b": "TTNRCA", "again": "acgtac", "none": "ACGTTGCATTAGCCAGTACTGAACCGGTT"}


@pytest.fixture(scope="module")
def hits():
    """Hits of many batches, some of one place in several."""
    return hooked("edit", GENOME, PANEL, 2, report="ends", chunk_length=99, threads=1)


@pytest.mark.parametrize("most", [1, 10])
def test_memory_goes_by_what_is_kept(hits, most, monkeypatch):
    monkeypatch.setattr(limiting, "FEW", 1)
    limit = Closest(len(PANEL), most)
    for batch in hits.batches * 3:
        limit.add(batch)
        assert sum(map(len, limit._parts)) <= 2 * most * len(PANEL)
    assert sum(len(part.names) for part in limit.kept()) <= most * len(PANEL)


def test_one_warning_counts_the_patterns():
    whole = call(kmatch.hamming, GENOME, PANEL, 2)
    counts = np.bincount(whole.pattern_number, minlength=len(PANEL)).tolist()
    for most in (1, 2, sorted(counts)[-1] - 1):
        over = [(count, name) for name, count in zip(PANEL, counts, strict=True) if count > most]
        with pytest.warns(UserWarning) as warned:
            call(kmatch.hamming, GENOME, PANEL, 2, limit=most)
        said, (count, _) = str(warned[0].message), max(over)
        assert f"' has {count:,} hits, of which the limit keeps {most:,}" in said
        assert said.startswith(f"{len(over):,} patterns have more" if over[1:] else "pattern")
        assert len(warned) == 1
