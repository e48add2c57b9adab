"""Tracebacks, and lines formatted beside the search."""

import io

import naive
import numpy as np
import pytest
from support.commands import fasta, here, random_letters
from support.differences import edit, edited, rows

import kmatch
from kmatch.results import writer


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("alphabet", ["AC", "ACGT"])
def test_ties_of_alignments(alphabet, k):
    rng = np.random.default_rng(k)
    text = "".join(rng.choice(list(alphabet), 150))
    patterns = [edited(rng, text[40 : 40 + m], k - 1)[:m] for m in (12, 64, 65, 100)]
    patterns[0] = patterns[0][:5] + "R" + patterns[0][6:]
    records = [("first", text[:70]), ("second", text), ("third", text[30:])]
    found = rows(edit(records, patterns, k, report="ends"))
    assert found == naive.edit(records, patterns, k, report="ends")
    assert {row[3] for row in found if row[4] > 0} == {0, 1, 2, 3}


def written(hits, form):
    table = io.BytesIO()
    getattr(hits, f"to_{form}")(table)
    return table.getvalue()


@pytest.mark.parametrize("form", ["bed", "tsv"])
def test_lines_are_formatted_beside_the_search(monkeypatch, form):
    genome = kmatch.Genome.from_records([("one", random_letters(900)), ("two", "ACGT" * 50)])
    hits = kmatch.edit(genome, ["ACGTAC", "TTGACC"], 2, report="ends")
    expected = written(hits, form)
    monkeypatch.setattr(writer, "MANY", 1)
    monkeypatch.setattr(writer, "ROWS", 7)
    assert written(hits, form) == expected and expected.count(b"\n") > 100


def test_what_the_thread_raises_is_reported(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "MANY", 1)
    monkeypatch.setattr(writer, "fill_lines", fail)
    genome, out = tmp_path / "genome.fa", tmp_path / "hits.bed"
    genome.write_bytes(fasta([("one", random_letters(900))]))
    result = here("edit", genome, "-p", "ACGTAC", "-k", 2, "-o", out)
    assert result.status == 1 and b"No space left on device" in result.err
    assert not out.exists()
