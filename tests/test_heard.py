"""What a search says it went through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kmatch
from kmatch.search.hooked import hooked
from kmatch.search.scanning.lengths import Heard

records = st.lists(st.integers(0, 150), min_size=1, max_size=12)


@pytest.mark.parametrize("command, k", [("hamming", [1]), ("edit", [1]), ("best", [])])
@given(sizes=records, length=st.sampled_from([40, 64, 1000]))
def test_records_and_letters(command, k, sizes, length):
    """`best` reads twice, and counts once."""
    pairs = [(f"r{i}", ("ACGTTGCA" * 20)[:size]) for i, size in enumerate(sizes)]
    heard = Heard()
    genome = kmatch.Genome.from_records(pairs)
    hearing = {"on_spans": heard.hear, "on_warning": str}
    hooked(command, genome, "ACGTA", *k, chunk_length=length, threads=1, **hearing)
    if sum(sizes):
        assert (heard.records, heard.letters) == (len(sizes), sum(sizes))
        assert heard.longest == max(sizes)
