"""Dense texts: chunks are scanned once or twice, and threads change nothing."""

import io
from collections import defaultdict

import numpy as np
import pytest
from naive import ends_a_low_plateau, reverse_complement
from support.searches import hooked

import kmatch
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.workers import SLAB
from kmatch.results.batches import joined
from kmatch.results.limit import limited
from kmatch.search import scan
from kmatch.sequences.patterns import load_patterns

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
    started = []
    for name in ("start_scan", "start_edit", "start_lookup"):
        start = getattr(CpuEngine, name)

        def counting(self, what, *arguments, name=name, start=start):
            text = what().text if name == "start_lookup" else what
            started.append(text.words * text.rows)
            return start(self, what, *arguments)

        monkeypatch.setattr(CpuEngine, name, counting)
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
def test_threads_find_the_same(monkeypatch, problem, panel, k, options):
    options = options | {"chunk_length": 1_500, "capacity": 20_000}
    ways = ["scan", "lookup"] if problem == "multi" else [None, None]
    expected = lines(hooked(problem, GENOME, panel, *k, way=ways[0], **options))
    monkeypatch.setattr("kmatch.engine.engine.cores", lambda: 4)
    for threads in (2, 4):
        found = hooked(problem, GENOME, panel, *k, way=ways[1], threads=threads, **options)
        assert lines(found) == expected
    assert len(expected) > len(panel)


def test_ends_are_taken_apart_by_several_threads(monkeypatch):
    """A run of one letter has more ends than an item of work holds."""
    genome = kmatch.Genome.from_records([("a", "A" * 9_000 + "C" + "A" * 9_000), *RECORDS])
    monkeypatch.setattr(scan, "BATCH", 8 * SLAB)
    for report in ("minima", "ends", "loci"):
        one, two = (lines(kmatch.edit(genome, PANEL, 2, report=report, threads=n)) for n in (1, 2))
        assert one == two and (len(one) > 8 * SLAB or report != "ends")


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


def test_a_part_may_begin_where_a_record_ends_and_an_empty_one_begins(monkeypatch):
    records = [("a", "ACGTA"), ("b", ""), ("c", "ACGTA")]
    expected = list(kmatch.edit(kmatch.Genome.from_records(records), "ACGTA", k=2))

    def parts(scanner, chunk, least=1):
        return (chunk.part(at, at + 1) for at in range(chunk.length))

    monkeypatch.setattr(scan.Scanner, "_parts", parts)
    assert list(kmatch.edit(kmatch.Genome.from_records(records), "ACGTA", k=2)) == expected


@pytest.mark.parametrize(
    ("chunk_length", "way"), [(200_000, "scan"), (9_999, None), (5_003, "scan")]
)
def test_minima_are_those_among_all_ends(chunk_length, way):
    """In lanes of some letters and of hundreds, over whose borders plateaus go."""
    random = np.random.default_rng(5)
    units = ["A", "AC", "AATGG", "ACGTTGCAAGT", LETTERS[:90]]
    text = np.array(list("".join(unit * (20_000 // len(unit)) for unit in units)))
    changed = np.flatnonzero(random.random(len(text)) < 0.02)
    text[changed] = random.choice(list("ACGTN"), len(changed))
    panel = ["A" * 12, "AC" * 7, "AATGGAATGGAATGGAAT", "ACGTTGCAAGTACG", LETTERS[20:60]]
    whole = "".join(text)
    records = [("a", whole), ("b", whole[7_001:]), ("c", reverse_complement(whole))]
    genome = kmatch.Genome.from_records(records)
    for strand in "+-":
        options = {"strand": strand, "chunk_length": chunk_length, "way": way}
        ends, low = (
            dict(zip(places(hits, len(whole)), hits.distance.tolist(), strict=True))
            for report in ("ends", "minima")
            for hits in [hooked("edit", genome, panel, 3, report=report, **options)]
        )
        values = defaultdict(lambda: [99] * (len(whole) + 1))
        for (*where, at), distance in ends.items():
            values[tuple(where)][at] = distance
        assert low == {
            (*where, at): distance
            for (*where, at), distance in ends.items()
            if ends_a_low_plateau(values[tuple(where)], at)
        }
        assert len(ends) > 2 * len(low) > 20_000


def places(hits, most):
    """(record, pattern, anchored end) of each hit, ends of the strand `-` from `most` downwards."""
    anchor = np.where(hits.strand == "-", most - hits.start, hits.end)
    columns = hits.record_number, hits.pattern_number, anchor
    return zip(*(column.tolist() for column in columns), strict=True)
