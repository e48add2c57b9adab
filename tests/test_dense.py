"""Searches with many hits: threads that scan and report ahead change nothing but the time."""

import io
import threading
from contextlib import closing
from itertools import product

import numpy as np
import pytest
from support.hooks import edit_batches, hamming_batches, hooked

import kmatch
from kmatch.engine.workers import SLAB
from kmatch.search import scan
from kmatch.search import scan as dense
from kmatch.sequences.patterns import load_patterns

LETTERS = "".join(np.random.default_rng(8).choice(list("ACGT"), 3_000))
DENSE = "AATGG" * 900 + LETTERS + "A" * 4_000 + "AATGC" * 300
RECORDS = [("dense", DENSE), ("short", "AATGGAATG"), ("other", "TTACC" * 500)]
PANEL = ["AATGGAATGGAA", "AAAAAAAAA", "TTCCATTCCATT", "AATGGNATG"]
SEARCHES = {
    "hamming": ("hamming", [3], {}),
    "edit": ("edit", [2], {}),
    "ends": ("edit", [2], {"report": "ends"}),
    "loci": ("edit", [2], {"report": "loci"}),
    "beside a PAM": ("edit", [2], {"pam": "NGG"}),
    "best": ("best", [], {}),
}
NAMES = ("kmatch scan", "kmatch rows", "kmatch hits")


def beside():
    """Threads that run ahead."""
    return [thread for thread in threading.enumerate() if thread.name in NAMES]


def lines(hits):
    hits.to_tsv(handle := io.BytesIO())
    return handle.getvalue().splitlines()


@pytest.mark.parametrize("name", SEARCHES)
def test_threads_ahead_find_the_same(monkeypatch, name):
    command, k, options = SEARCHES[name]
    genome = kmatch.Genome.from_records(RECORDS)
    options = options | {"chunk_length": 1_500, "capacity": 20_000}
    expected = lines(hooked(command, genome, PANEL, *k, **options))
    monkeypatch.setattr(dense, "MANY", 0)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "4")  # as if there were so many cores
    for ahead, threads in product((0, 10_000), (2, 4)):
        monkeypatch.setattr(dense, "CODES_AHEAD", ahead)
        monkeypatch.setattr(dense, "HITS_AHEAD", ahead)
        assert lines(hooked(command, genome, PANEL, *k, threads=threads, **options)) == expected
    assert len(expected) > len(PANEL) and beside() == []


def test_ends_are_taken_apart_by_several_threads(monkeypatch):
    """A run of one letter has more ends than an item of work holds."""
    genome = kmatch.Genome.from_records([("a", "A" * 9_000 + "C" + "A" * 9_000), *RECORDS])
    expected = None
    for threads in (1, 2):
        monkeypatch.setattr(scan, "BATCH", 1 << 14)
        found = [
            lines(kmatch.edit(genome, PANEL, 2, report=report, threads=threads))
            for report in ("minima", "ends", "loci")
        ]
        assert found == (expected or found)
        expected = found
    assert len(expected[1]) > 1 << 14


@pytest.mark.parametrize("strand", ["both", "+", "-"])
def test_hits_at_sites_are_found_ahead_and_by_several_threads(monkeypatch, strand):
    genome = kmatch.Genome.from_records(RECORDS)
    panel = ["AATGGAATG", "AAAAAAAAA", "TTCCATTCC", "AATGGNATG"]
    options = {"pam": "NGG", "strand": strand, "capacity": 20_000}
    expected = lines(hooked("multi", genome, panel, 8, way="scan", **options))
    assert len(expected) > SLAB
    monkeypatch.setattr(dense, "MANY", 0)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "4")
    for threads in (1, 2, 4):
        found = hooked("multi", genome, panel, 8, way="lookup", threads=threads, **options)
        assert lines(found) == expected
    assert beside() == []


@pytest.mark.parametrize("batches", [hamming_batches, edit_batches])
def test_threads_end_with_the_search(monkeypatch, batches):
    monkeypatch.setattr(dense, "MANY", 0)
    monkeypatch.setattr(dense, "HITS_AHEAD", 0)
    genome = kmatch.Genome.from_records(RECORDS)
    with closing(batches(genome, load_patterns(PANEL), 2, chunk_length=300)) as found:
        assert len(next(found)) and len(next(found))
        assert beside()
    assert beside() == []


def test_what_fails_ahead_is_raised_behind_the_hits_before(monkeypatch):
    monkeypatch.setattr(dense, "MANY", 0)
    finish = scan.Scanner._finish
    chunks = []

    def failing(self, chunk, *others):
        chunks.append(chunk)
        if len(chunks) == 4:
            raise MemoryError("none left")
        return finish(self, chunk, *others)

    monkeypatch.setattr(scan.Scanner, "_finish", failing)
    genome, found = kmatch.Genome.from_records(RECORDS), []
    with pytest.raises(MemoryError, match="none left"):
        found.extend(hamming_batches(genome, load_patterns(PANEL), 2, chunk_length=300))
    assert len(chunks) == 4 and beside() == []
