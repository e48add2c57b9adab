"""The closest hits of each pattern, and the summary of all."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.api import GENOME, call
from support.commands import fasta, here, misused, random_letters
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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.fa").write_bytes(fasta([("one", random_letters(900)), ("two", "ACGTACGT")]))
    (tmp_path / "p.txt").write_text("x\tACGTA\ny\tCCGTNA\nx\tTTACG\n")
    return tmp_path


SEARCHES = {
    "hamming": ("-k", 2),
    "edit": ("-k", 1),
    "best": (),
}


@pytest.mark.parametrize("form", ["bed", "tsv", "sam"])
@pytest.mark.parametrize("command", SEARCHES)
def test_on_the_command_line(folder, command, form):
    search = (command, "g.fa", "p.txt", *SEARCHES[command])
    whole = here(*search, "--format", form).out.splitlines(keepends=True)
    result = here(*search, "--format", form, "--limit", 1)
    lines = result.out.splitlines(keepends=True)
    assert [line for line in whole if line in lines] == lines
    more = [line for line in whole if line.startswith((b"one", b"two", b"x\t", b"y\t"))]
    assert len(more) > 3 and len(more) - len(lines) + (len(whole) - len(more)) == len(more) - 3
    warnings = result.err.decode().splitlines()[1:]
    assert all("of which the limit keeps 1" in line for line in warnings) and warnings


@pytest.mark.parametrize("command", SEARCHES)
def test_summaries(folder, command):
    """A row a pattern, in the file's order, of names that repeat too; a limit changes nothing."""
    search = (command, "g.fa", "p.txt", *SEARCHES[command], "-q")
    result = here(*search, "--summary", "s.tsv", "--limit", 2, "--format", "tsv")
    rows = [line.split("\t") for line in here(*search, "--format", "tsv").out.decode().split("\n")]
    rows = rows[1:-1]
    header, *table = [line.split("\t") for line in (folder / "s.tsv").read_text().splitlines()]
    last = max(int(row[4]) for row in rows) if command == "best" else SEARCHES[command][1]
    assert header == ["pattern", *(f"d{d}" for d in range(last + 1)), "total"]
    assert [row[0] for row in table] == ["x", "y", "x"]
    written = sum(min(int(row[-1]), 2) for row in table)
    assert result.status == 0 and len(result.out.splitlines()) == 1 + written
    for name in "xy":
        counts = [sum(map(int, column)) for column in zip(*_counts(table, name), strict=True)]
        mine = [int(row[4]) for row in rows if row[3] == name]
        assert counts == [*(mine.count(d) for d in range(last + 1)), len(mine)]
    assert command == "best" or table[0] != table[2]
    only = here(*search, "--summary-only")
    assert only == (0, (folder / "s.tsv").read_bytes(), b"")


def _counts(table, name):
    return [row[1:] for row in table if row[0] == name]


@pytest.mark.parametrize(
    "option", [("--limit", 0), ("--limit", "x"), ("--limit", 1, "--summary-only")]
)
def test_wrong_usage(folder, option):
    misused(here("hamming", "g.fa", "p.txt", "-k", 1, *option), "limit")
