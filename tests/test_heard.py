"""What a search says it went through."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hooks import settings

import kmatch
from kmatch.genome import as_genomes
from kmatch.search.query import Query, Run
from kmatch.search.search import begin_search
from kmatch.sequences.patterns import load_patterns

records = st.lists(st.integers(0, 150), min_size=1, max_size=12)


@pytest.mark.parametrize("problem", ["hamming", "edit", "best"])
@given(sizes=records, length=st.sampled_from([40, 64, 1000]), named=st.booleans())
def test_records_and_letters(problem, sizes, length, named):
    """`best` reads twice, and counts once."""
    pairs = [(f"r{i}", ("ACGTTGCA" * 20)[:size]) for i, size in enumerate(sizes)]
    parts = [pairs[::2], pairs[1::2]] if named else [pairs]
    genomes = [kmatch.Genome.from_records(part) for part in parts if part]
    query = Query(problem, load_patterns("ACGTA"), 1)
    with settings({"chunk_length": length}), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search = begin_search(query, as_genomes(genomes if named else genomes[0]), Run("cpu", 1))
        list(search)
    progress = search.progress
    if all(sizes):
        assert (progress.records, progress.letters) == (len(sizes), sum(sizes))
        assert progress.longest == max(sizes)
