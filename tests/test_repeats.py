"""Patterns that repeat are searched once and reported under each name, as if searched each."""

import io
import pickle

import naive
import numpy as np
import pytest
from support.commands import here
from support.hooks import edit_batches, hamming_batches

import kmatch
from kmatch.errors import KmatchWarning
from kmatch.results.batches import joined, taken
from kmatch.results.table import Hits
from kmatch.search.panel import distinct_patterns, with_copies
from kmatch.sequences.patterns import load_patterns


def tsv(batches, panel):
    table = io.StringIO()
    Hits(batches, panel).to_tsv(table)
    return table.getvalue()


def cut(batches, sizes):
    """The rows of batches in other batches of these sizes, over and over."""
    turn = 0
    for batch in batches:
        first = 0
        while first < len(batch):
            size = sizes[turn % len(sizes)]
            turn += 1
            yield batch.picked(slice(first, first + size))
            first += size


@pytest.mark.parametrize("sizes", [[1], [0, 2, 1], [3], [7, 1, 1], [1000]])
def test_batches_may_be_cut_anywhere(sizes):
    patterns = ["ACGT", "AGGT", "acgu", "ATGT", "AGGT", "AGGU", "CCGT"]
    panel = load_patterns({f"p{number}": pattern for number, pattern in enumerate(patterns)})
    records = [("a", "ACGTTACGTAGGTA" * 3), ("b", ""), ("c", "TACGTATGT")]
    expected = naive.hamming(records, patterns, 2)
    distinct, copies = distinct_patterns(panel)
    assert len(distinct) == 4
    batches = hamming_batches(kmatch.Genome.from_records(records), distinct, 2, chunk_length=9)
    found = tsv(with_copies(cut(batches, sizes), copies), panel)
    assert found == naive.tsv(records, list(panel.names), patterns, expected)


@pytest.mark.parametrize("aligned", [True, False])
def test_rows_of_batches_are_picked_and_joined(aligned):
    panel = load_patterns({"a": "ACGTA", "b": "ACCTA", "c": "acgua", "d": "ACGTA"})
    text = kmatch.Genome.from_records([("r", "ACGTAGGTACCTA" * 5), ("s", "ACGGTA")])
    search = edit_batches(text, panel, 2, report="ends", aligned=aligned, chunk_length=20)
    batches = [batch for batch in search if len(batch)]
    whole = joined(batches)
    assert len(whole) == sum(map(len, batches)) and whole.names == {0: "r", 1: "s"}
    again = joined([whole.picked(slice(first, first + 3)) for first in range(0, len(whole), 3)])
    order = np.argsort(-np.arange(len(whole)) % 7)
    for one, other in ((whole, again), (whole.picked(order), taken(batches, order))):
        assert pickle.dumps(pickle.loads(pickle.dumps(one))) == pickle.dumps(other)
    assert (whole.columns is not None) == aligned
    if aligned:
        assert len(whole.picked(slice(3, 1)).columns.ops) == 0


def test_nothing_is_done_where_nothing_repeats():
    panel = load_patterns(["ACGT", "ACGA", "RCGT"])
    distinct, copies = distinct_patterns(panel)
    batches = iter([])
    assert distinct is panel and with_copies(batches, copies) is batches


def test_one_warning_of_all_that_match_nowhere(tmp_path):
    panel = {"a": "GGGG", "b": "AC", "c": "gggg", "d": "GGGG"}
    text = kmatch.Genome.from_records([("r", "ACACAA")])
    with pytest.warns(KmatchWarning) as told:
        found = kmatch.best(text, panel, strand="+")
    assert [str(one.message) for one in told] == [
        f"pattern '{name}' matches nowhere" for name in "acd"
    ]
    assert set(found.pattern_number.tolist()) == {1}
    path = tmp_path / "panel.txt"
    path.write_text("".join(f"{name}\tACGT\n" for name in "aabbbc"))
    result = here("hamming", "-", path, "-k", 0, "--strand", "+", stdin=b">r\nACGT\n")
    assert result.out.count(b"\n") == 6 and result.err.count(b"\n") == 1
    assert b"'a', 'b'" in result.err
