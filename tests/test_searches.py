"""Every search against its oracle: agreed cases, in tiny chunks and in every way, as hits and as
tables. tests/test_fuzz.py draws more."""

import io
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import naive
import naive_bounds
import naive_circles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import EDIT, HAMMING, MULTI
from support.commands import random_letters
from support.constraints import CASES
from support.differences import rows
from support.hooks import hooked, settings
from support.mismatches import EQUAL
from support.mismatches import oracle as windows
from support.mismatches import rows as intervals

import kmatch
from kmatch.genome import as_genomes
from kmatch.results.table import Hits
from kmatch.search.query import Query, Run
from kmatch.search.search import begin_search
from kmatch.sequences.patterns import checked_patterns, load_patterns

pytestmark = pytest.mark.filterwarnings("ignore:pattern .* (matches nowhere|ends|begins)")
REPORTS = ("minima", "ends", "loci")
SIZES = [{}, {"chunk_length": 7}]


def differences(records, patterns, k, **options):
    """The oracle of k differences, without rules the quicker one."""
    oracle = naive if options.keys() <= {"report", "strand"} else naive_bounds
    return oracle.edit(records, patterns, k, **options)


def closest(records, patterns, k, **options):
    ends = any(options.get(name) for name in ("exact_5p", "exact_3p"))
    if not ends:
        options = {"strand": options.get("strand", "both")}
    return (naive_bounds if ends else naive).best(records, patterns, **options)


ORACLES = {"hamming": windows, "multi": windows, "edit": differences, "best": closest}


def search(problem, case, **more):
    """Hits of a case in which names of patterns may repeat."""
    records, patterns, k, options = case
    names = [f"p{number % 3}" for number in range(len(patterns))]
    genome, panel = kmatch.Genome.from_records(records), checked_patterns(names, patterns)
    k = () if problem == "best" else (k,)
    hits = hooked(problem, genome, panel, *k, **options, **more)
    return Hits(hits.batches, panel)


def expected_of(problem, case):
    records, patterns, k, options = case
    return ORACLES[problem](records, patterns, k, **options)


def check(problem, case, **more):
    """Compare hits and tables with those of the oracle."""
    records, patterns, _, options = case
    names = [f"p{number % 3}" for number in range(len(patterns))]
    hits, expected = search(problem, case, **more), expected_of(problem, case)
    written = {}
    for form in ("bed", "tsv"):
        getattr(hits, f"to_{form}")(handle := io.BytesIO())
        written[form] = handle.getvalue().decode()
    assert written["bed"] == naive.bed(records, names, patterns, [hit[:6] for hit in expected])
    pam = options.get("pam") or ""
    if problem in ("edit", "best"):
        assert rows(hits) == expected
        assert written["tsv"] == naive.edit_tsv(records, names, expected)
    elif isinstance(pam, str) and "," not in pam:
        whole = [p + pam if options.get("pam_side") != "5p" else pam + p for p in patterns]
        assert written["tsv"] == naive.tsv(records, names, whole, expected)
    assert [row[:6] for row in intervals(hits)] == [row[:6] for row in expected]
    return expected


@pytest.mark.parametrize("geometry", [*SIZES, {"chunk_length": 7, "words": 1}], ids=str)
@pytest.mark.parametrize("name", HAMMING)
def test_k_mismatches(name, geometry):
    check("hamming", HAMMING[name], **geometry)


@pytest.mark.parametrize("geometry", [*SIZES, {"chunk_length": 7, "words": 1}], ids=str)
@pytest.mark.parametrize("way", ["scan", "lookup"])
@pytest.mark.parametrize("name", [*EQUAL, *MULTI])
def test_panels(name, way, geometry):
    found = check("multi", (EQUAL | MULTI)[name], way=way, **geometry)
    assert name in EQUAL or bool(found) == (name not in ("no site", "a PAM across records"))


@pytest.mark.parametrize("way", ["filter", "scan"])
@pytest.mark.parametrize("geometry", SIZES, ids=str)
@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("name", EDIT)
def test_k_differences(name, report, geometry, way):
    *case, options = EDIT[name]
    check("edit", (*case, options | {"report": report}), way=way, **geometry)


@pytest.mark.parametrize("geometry", SIZES, ids=str)
@pytest.mark.parametrize("name", EDIT)
def test_the_closest(name, geometry):
    check("best", EDIT[name], **geometry)


@pytest.mark.parametrize(
    "geometry", [{}, {"chunk_length": 7}, {"way": "filter"}, {"way": "lookup"}], ids=str
)
@pytest.mark.parametrize("name", CASES)
def test_rules(name, geometry):
    found = check("edit", CASES[name], **geometry)
    assert bool(found) == (name != "a PAM across records")


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
    if all(sizes):
        assert (progress.records, progress.letters) == (len(sizes), sum(sizes))
        assert progress.longest == max(sizes)


# Hits beside PAMs of several lengths that have both ends in common, over the origin of a circle.
CIRCLES = {
    "5p": ("TTAAGTACAGAAA", "TTAA", "NNA,NNNNT,NNNR,R", "5p"),
    "3p": ("AAACATGTTCGTG", "CATGTT", "NA,NNNA,NNNNY,R", "3p"),
    "minima": ("TTTATTATAACTT", "TAACT", "NNA,NR,NNNNR,R", "3p"),
}


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("name", CIRCLES)
def test_turns_of_a_circle_do_not_decide(name, report):
    text, pattern, pam, side = CIRCLES[name]
    rules, n = {"pam": pam, "pam_side": side, "report": report}, len(text)
    whole = naive_circles.edit([("r", text)], [pattern], 2, **rules)
    for turn in range(n):
        genome = kmatch.Genome.from_records([("r", text[turn:] + text[:turn])])
        found = rows(kmatch.edit(genome, [pattern], 2, circular=True, device="cpu", **rules))
        back = [((start + turn) % n, end - start, *rest) for _, start, end, *rest in found]
        there = [(start, end - start, *rest) for _, start, end, *rest in whole]
        assert sorted(back, key=lambda row: (row[:2], row[4])) == there


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
