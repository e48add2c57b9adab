"""Every search against its oracle: agreed cases, in tiny chunks and in every way.

tests/test_fuzz.py draws more, and compares tables."""

import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import hypothesis
import naive
import naive_circles
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import random_letters
from support.devices import PROBLEMS, check
from support.searches import aligned, settings

import kmatch
from kmatch.apps.searches import begin_search
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.engine import read_text
from kmatch.engine.workers import Workers
from kmatch.genome import as_genomes
from kmatch.search.chunks import Chunking, plan_chunks
from kmatch.search.query import Query, Run
from kmatch.search.turns import CircleEnds, loci_on_circles
from kmatch.sequences.patterns import load_patterns

pytestmark = pytest.mark.filterwarnings("ignore:pattern .* (matches nowhere|ends|begins)")
REPORTS = ("minima", "ends", "loci")
SIZES = ({}, {"chunk_length": 7}, {"chunk_length": 7, "words": 1})
HOW = {
    "hamming": SIZES,
    "multi": [size | {"way": way} for size in SIZES for way in ("scan", "lookup")],
    "edit": [size | {"way": way} for size in SIZES[:2] for way in ("scan", "filter")],
    "best": SIZES[:2],
    "constraints": ({}, {"chunk_length": 7}, {"way": "filter"}, {"way": "lookup"}),
    "pcr": SIZES[:2],
    "primer": ({}, {"part": 1, "height": 8, "block": 7}),
}
NONE = ("a PAM across records",)
CASES = [(problem, name) for problem in HOW for name in PROBLEMS[problem].cases]


@pytest.mark.parametrize("problem, name", CASES)
def test_cases(problem, name):
    *case, options = PROBLEMS[problem].cases[name]
    for how in HOW[problem]:
        for report in REPORTS if problem == "edit" else (None,):
            more = {"report": report} if report else {}
            found = check(problem, (*case, options | more), device="cpu", **how)
            assert problem != "constraints" or bool(found) == (name not in NONE)


RECORDS = st.lists(st.integers(0, 150), min_size=1, max_size=12)


@pytest.mark.parametrize("problem", ["hamming", "edit", "best"])
@given(sizes=RECORDS, length=st.sampled_from([40, 64, 1000]), listed=st.booleans())
def test_records_and_letters_are_counted(problem, sizes, length, listed):
    """`best` reads twice, and counts once."""
    pairs = [(f"r{i}", ("ACGTTGCA" * 20)[:size]) for i, size in enumerate(sizes)]
    parts = [part for part in (pairs[::2], pairs[1::2]) if part] if listed else [pairs]
    genomes = as_genomes([kmatch.Genome.from_records(part) for part in parts])
    with settings({"chunk_length": length}), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search = begin_search(Query(problem, load_patterns("ACGTA"), 1), genomes, Run("cpu", 1))
        list(search)
    progress = search.progress
    assert (progress.records, progress.letters) == (len(sizes), sum(sizes))
    assert progress.longest == max(sizes)


# Hits beside PAMs of several lengths that have both ends in common, over the origin of a circle.
CIRCLES = {
    "5p": ("TTAAGTACAGAAA", "TTAA", "NNA,NNNNT,NNNR,R", "5p"),
    "3p": ("AAACATGTTCGTG", "CATGTT", "NA,NNNA,NNNNY,R", "3p"),
    "all round, 3p": ("AAAAAAAAA", "AAA", "NN,NAN", "3p"),
    "all round, 5p": ("AAAAAAAAA", "AAA", "NN,NAN", "5p"),
    "minima": ("TTTATTATAACTT", "TAACT", "NNA,NR,NNNNR,R", "3p"),
}


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("name", CIRCLES)
def test_turns_of_a_circle_do_not_decide(name, report):
    text, pattern, pam, side = CIRCLES[name]
    rules, n = {"pam": pam, "pam_side": side, "report": report}, len(text)
    whole = naive_circles.edit([("r", text)], [pattern], 2, **rules)
    for turn in range(n if len({*text}) > 1 else 1):  # where a plateau ends, if all is one
        genome = kmatch.Genome.from_records([("r", text[turn:] + text[:turn])])
        hits = kmatch.edit(genome, [pattern], 2, circular=True, device="cpu", **rules)
        found = aligned(hits)
        back = [((start + turn) % n, end - start, *rest) for _, start, end, *rest in found]
        there = [(start, end - start, *rest) for _, start, end, *rest in whole]
        assert sorted(back, key=lambda row: (row[:2], row[4])) == there


@st.composite
def circle_with_arcs(draw):
    """(size, arcs): of each arc its start, its length, the letters before its anchor and the
    distance of a hit there."""
    size = draw(st.integers(1, 12))
    arc = st.tuples(
        st.integers(0, size - 1), st.integers(1, size), st.integers(0, 1), st.integers(0, 2)
    )
    return size, draw(st.lists(arc, min_size=1, max_size=5, unique=True))


@hypothesis.settings(max_examples=300)
@given(st.lists(circle_with_arcs(), min_size=1, max_size=3))
def test_loci_of_arcs(circles):
    rows = [(number, size, arc) for number, (size, arcs) in enumerate(circles) for arc in arcs]
    group, size = np.array([row[:2] for row in rows]).T
    columns = np.array([row[2] for row in rows]).T
    none = 0 * group
    ends = CircleEnds(none, none, group, size, none, columns[3], *columns[:3])
    found = [rows[row] for row in loci_on_circles(ends)]
    expected = [
        (number, size, hit[:4])
        for number, (size, arcs) in enumerate(circles)
        for hit in naive_circles.loci([(*arc, "") for arc in arcs], size)
    ]
    assert sorted(found) == sorted(expected)


def test_over_the_origin_of_a_long_record():
    text = random_letters(70_000)
    pattern = text[-11:] + text[:12]
    genome = kmatch.Genome.from_records([("r", text)])
    for function in (kmatch.hamming, kmatch.multi, kmatch.edit):
        hits = function(genome, pattern, 2, circular=True, device="cpu")
        assert [tuple(row)[1:] for row in hits] == [(69_989, 70_012, pattern, 0, "+")]
        assert hits.match.tolist() == [pattern] and hits.cigar.tolist() == ["23="]
        assert len(function(genome, pattern, 2, device="cpu")) == 0
    turned = naive.reverse_complement(pattern)
    hits = kmatch.best(genome, turned, circular=["r"], device="cpu")
    assert [tuple(row)[1:] for row in hits] == [(69_989, 70_012, turned, 0, "-")]


@pytest.fixture
def switching():
    """Threads that take turns all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_searches_side_by_side(switching):
    """They share the chunks of a genome, and none sees the planes of another's letters."""
    genome = kmatch.Genome.from_records([("r", random_letters(2000))])
    panels = [["ACRT", "YACG"], ["SSAT"], ["KTMA", "BDHV"], ["ACGT"], ["NNAN", "WWWW"]]

    def found(panel):
        hits = kmatch.hamming(genome, panel, 1, device="cpu", threads=1)
        return list(zip(hits.start.tolist(), hits.pattern.tolist(), hits.strand, strict=True))

    expected = [found(panel) for panel in panels]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(found, 60 * panels)) == 60 * expected


def test_one_thread_reads_letters_and_others_wait_for_them():
    genome = kmatch.Genome.from_records([("r", random_letters(2000))])
    plan = plan_chunks(20, 2, CpuEngine(1).layout)._replace(length=4000)
    (chunk,) = Chunking(plan, CpuEngine(1), None).fresh(genome.parts())

    waiting = []

    def run(kernel, items, text, letters):
        letters[:] = 0
        waiting.append(pool.submit(chunk.unpack, engine))
        Workers(1).run(kernel, items, text, letters)

    engine = SimpleNamespace(workers=SimpleNamespace(run=run))
    with ThreadPoolExecutor(1) as pool:
        letters = chunk.unpack(engine)
    (other,) = waiting
    assert other.result() is letters and letters.any()


def test_a_part_has_letters_of_its_whole_and_planes_for_a_scan_alone():
    """A record of 300 letters and one of 500, and a part from letter 250 of the first one on.

    positions      0        250  300  316       466           816
    records        |--- one ------|     |---- two -------------|
    part                     |------------------|~~ halo ~~|
    """
    records = [("one", random_letters(300, seed=1)), ("two", random_letters(500, seed=2))]
    engine = CpuEngine(1)
    plan = plan_chunks(20, 2, engine.layout)
    genome = kmatch.Genome.from_records(records)
    (chunk,) = Chunking(plan, engine, None).fresh(genome.parts())
    part = chunk.part(250, 466)

    assert (part.base, part.length, part.shown) == (250, 216, 216 + chunk.halo)
    assert part.spans.begins.tolist() == [-250, 66] and list(part.spans.names) == ["one", "two"]
    assert not len(part.plain.planes)
    letters = part.unpack(engine)
    assert np.array_equal(letters, chunk.unpack(engine)[250 : 250 + part.shown])

    # The planes have the same letters, and are packed once.
    text = part.packed(engine)
    shown = np.empty(part.shown, np.uint8)
    read_text(np.array([0, text.words]), text, shown)
    assert np.array_equal(shown, letters) and part.packed(engine) is text


def test_letters_that_match_at_the_far_end_cost_little():
    """A pattern of which nearly all letters may differ: where its first letters stand, every end is
    looked at."""
    text, pattern = random_letters(300, 5), random_letters(231, 6)
    genome = kmatch.Genome.from_records([("r", text[:150] + pattern[:8] + text[150:])])
    kmatch.edit(genome, pattern[:20], 3, exact_5p=2, device="cpu")  # which loads kernels
    began = time.process_time()
    kmatch.edit(genome, pattern, 228, device="cpu")
    plain = time.process_time() - began
    assert len(kmatch.edit(genome, pattern, 228, exact_5p=8, device="cpu"))
    assert time.process_time() - began - plain < 4 * plain + 0.3  # 5 s where each total is tried
