"""Dense texts: chunks are scanned once or twice, and threads that scan ahead change nothing."""

import io
import threading
from contextlib import closing

import numpy as np
import pytest
from support.searches import batches, hooked

import kmatch
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.workers import SLAB
from kmatch.results.batches import joined
from kmatch.results.limit import limited
from kmatch.search import scan
from kmatch.search.scan import Scanner
from kmatch.sequences.patterns import load_patterns
from kmatch.threads import run_ahead

LETTERS = "".join(np.random.default_rng(8).choice(list("ACGT"), 3_000))
DENSE = "AATGG" * 900 + LETTERS + "A" * 4_000 + "AATGC" * 300
RECORDS = [("dense", DENSE), ("short", "AATGGAATG"), ("other", "TTACC" * 500)]
GENOME = kmatch.Genome.from_records(RECORDS)
PANEL = ["AATGGAATGGAA", "AAAAAAAAA", "TTCCATTCCATT", "AATGGNATG"]
NINE = ["AATGGAATG", "AAAAAAAAA", "TTCCATTCC", "AATGGNATG"]


@pytest.mark.parametrize(
    ("problem", "options"),
    [
        ("hamming", {}),
        ("multi", {"way": "lookup"}),
        ("edit", {"way": "scan"}),
        ("multi", {"pam": "N", "way": "lookup"}),
    ],
)
def test_rows_scanned_do_not_grow_with_the_hits(problem, options, monkeypatch):
    """Rows of chunks that kernels are given, and how often: the dense text against the sparse."""
    random = np.random.default_rng(3)
    unit = "".join(random.choice(list("ACGT"), 40))
    panel = [(2 * unit)[i : i + 20] for i in range(0, 40, 5)]
    started, start = [], CpuEngine._start

    def counting(self, kernel, items, capacity, text, *arguments, **more):
        started.append(text.words * text.rows)
        return start(self, kernel, items, capacity, text, *arguments, **more)

    monkeypatch.setattr(CpuEngine, "_start", counting)
    rows = []
    for text in ("".join(random.choice(list("ACGT"), 60_000)), unit * 1500):
        started.clear()
        genome, sizes = kmatch.Genome.from_records([("r", text)]), {"chunk_length": 6000}
        hits = len(hooked(problem, genome, panel, 3, **options, **sizes, capacity=2000))
        rows.append((hits, sum(started), len(started)))
    (few, sparse, _), (many, dense, launches) = rows
    assert many > 100 * max(few, 10)
    assert dense <= 2.2 * sparse
    assert launches <= 10 * many / 2000 + 120


def beside():
    """Threads that run ahead."""
    names = ("kmatch rows", "kmatch hits")
    return [thread for thread in threading.enumerate() if thread.name in names]


def lines(hits):
    hits.to_tsv(handle := io.BytesIO())
    return handle.getvalue().splitlines()


@pytest.mark.parametrize(
    ("problem", "panel", "k", "options"),
    [
        ("hamming", PANEL, [3], {}),
        ("edit", PANEL, [2], {}),
        ("edit", PANEL, [2], {"report": "ends"}),
        ("edit", PANEL, [2], {"report": "loci"}),
        ("edit", PANEL, [2], {"pam": "NGG"}),
        ("best", PANEL, [], {}),
        *(("multi", NINE, [8], {"pam": "NGG", "strand": strand}) for strand in ("both", "+", "-")),
    ],
)
def test_threads_ahead_find_the_same(monkeypatch, problem, panel, k, options):
    options = options | {"chunk_length": 1_500, "capacity": 20_000}
    ways = ["scan", "lookup"] if problem == "multi" else [None, None]
    expected = lines(hooked(problem, GENOME, panel, *k, way=ways[0], **options))
    monkeypatch.setattr(scan, "MANY", 0)
    monkeypatch.setattr("kmatch.engine.engine.cores", lambda: 4)
    for threads in (2, 4):
        found = hooked(problem, GENOME, panel, *k, way=ways[1], threads=threads, **options)
        assert lines(found) == expected
    assert len(expected) > len(panel) and beside() == []


def test_ends_are_taken_apart_by_several_threads(monkeypatch):
    """A run of one letter has more ends than an item of work holds."""
    genome = kmatch.Genome.from_records([("a", "A" * 9_000 + "C" + "A" * 9_000), *RECORDS])
    monkeypatch.setattr(scan, "BATCH", 8 * SLAB)
    for report in ("minima", "ends", "loci"):
        one, two = (lines(kmatch.edit(genome, PANEL, 2, report=report, threads=n)) for n in (1, 2))
        assert one == two and (len(one) > 8 * SLAB or report != "ends")


@pytest.mark.parametrize("problem", ["hamming", "edit"])
def test_threads_end_with_the_search(monkeypatch, problem):
    monkeypatch.setattr(scan, "MANY", 0)
    with closing(batches(problem, GENOME, load_patterns(PANEL), 2, chunk_length=300)) as found:
        assert len(next(found)) and len(next(found))
        assert beside()
    assert beside() == []


def test_a_thread_ends_whose_items_nobody_takes(monkeypatch):
    """Closing waits for it no longer than PATIENCE, and it has an item in its hands."""
    monkeypatch.setattr("kmatch.threads.PATIENCE", 0.01)
    go_on, ended = threading.Event(), threading.Event()

    def items():
        try:
            yield 1
            go_on.wait(10)
            yield 2
        finally:
            ended.set()

    with closing(run_ahead(items(), "kmatch hits")) as found:
        assert next(found) == 1
    go_on.set()
    assert ended.wait(10)
    for thread in beside():
        thread.join(10)
    assert beside() == []


def test_what_fails_ahead_is_raised_behind_the_hits_before(monkeypatch):
    monkeypatch.setattr(scan, "MANY", 0)
    finish, chunks, found = Scanner._finish, [], []

    def failing(self, chunk, *others):
        chunks.append(chunk)
        if len(chunks) == 4:
            raise MemoryError("none left")
        return finish(self, chunk, *others)

    monkeypatch.setattr(Scanner, "_finish", failing)
    with pytest.raises(MemoryError, match="none left"):
        found.extend(batches("hamming", GENOME, load_patterns(PANEL), 2, chunk_length=300))
    assert len(chunks) == 4 and beside() == []


@pytest.mark.parametrize("most", [1, 10])
def test_the_memory_of_a_limit_goes_by_what_is_kept(most, monkeypatch):
    monkeypatch.setattr("kmatch.results.limit.FEW", 1)
    hits, sizes = hooked("edit", GENOME, PANEL, 2, chunk_length=99), []
    monkeypatch.setattr(
        "kmatch.results.limit.joined",
        lambda parts: sizes.append(sum(map(len, parts))) or joined(parts),
    )
    with pytest.warns(UserWarning, match="limit keeps"):
        kept = list(limited(hits.batches * 3, load_patterns(PANEL), most))
    assert max(sizes) <= 3 * most * len(PANEL)  # kept, as many that wait, and the last batch
    assert sum(len(part.names) for part in kept) <= most * len(PANEL)
