"""Every search against its oracle: agreed cases, then whatever Hypothesis thinks of, in chunks and
buffers of any size, in every way, with patterns that repeat, as hits and as tables."""

import io

import naive
import naive_bounds
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import (
    EDIT,
    HAMMING,
    MULTI,
    edit_cases,
    edit_geometries,
    geometries,
    hamming_cases,
    multi_cases,
)
from support.constraints import CASES, constrained_cases
from support.differences import check_alignments, mirrored, rows
from support.hooks import hooked
from support.mismatches import EQUAL
from support.mismatches import oracle as windows
from support.mismatches import rows as intervals

import kmatch
from kmatch.results.table import Hits
from kmatch.sequences.patterns import checked_patterns

pytestmark = pytest.mark.filterwarnings("ignore:pattern .* matches nowhere")
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
WAYS = {
    "hamming": [None],
    "multi": ["scan", "lookup", "sites", None],
    "edit": ["scan", "lookup", "filter", None],
    "best": [None],
}


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


def with_repeats(patterns, order):
    """Patterns and further copies of them, with U for T or in lower case."""
    copies = [(patterns[number % len(patterns)], how) for number, how in order]
    written = {"": str, "U": lambda p: p.replace("T", "U"), "lower": str.lower}
    return [*patterns, *(written[how](pattern) for pattern, how in copies)]


@st.composite
def with_reports(draw):
    *case, options = draw(edit_cases())
    return *case, options | {"report": draw(st.sampled_from(REPORTS))}


@st.composite
def of_long_patterns(draw):
    records, patterns, k, options = draw(edit_cases(longest=90))
    patterns = ["ACGTTGCATTAGCCAGTA" * 4 + pattern for pattern in patterns]
    return [(name, patterns[0][9:] + text) for name, text in records], patterns, k, options


@st.composite
def with_exact_ends(draw):
    records, patterns, k, options = draw(edit_cases(longest=9))
    shortest = min(map(len, patterns))
    for name in ("exact_5p", "exact_3p"):
        options[name] = min(draw(st.sampled_from([0, 0, 1, 2, 4])), shortest)
    return records, patterns, k, options


PROBLEMS = {
    "k mismatches": ("hamming", hamming_cases()),
    "a panel": ("multi", multi_cases()),
    "k differences": ("edit", with_reports()),
    "long patterns": ("edit", of_long_patterns()),
    "rules": ("edit", constrained_cases()),
    "the closest": ("best", with_exact_ends()),
}


@pytest.mark.parametrize("name", PROBLEMS)
@given(data=st.data())
def test_any_text_and_geometry(name, data):
    problem, cases = PROBLEMS[name]
    records, patterns, k, options = data.draw(cases)
    order = st.tuples(st.integers(0, 3), st.sampled_from(["", "U", "lower"]))
    patterns = with_repeats(patterns, data.draw(st.lists(order, max_size=4)))
    how = data.draw(geometries if problem in ("hamming", "multi") else edit_geometries)
    how |= {"way": data.draw(st.sampled_from(WAYS[problem]))}
    how |= {"threads": data.draw(st.integers(1, 3))}
    how |= {"capacity": data.draw(st.sampled_from([None, None, 1, 8, 40]))}
    expected = check(problem, (records, patterns, k, options), **how)
    if problem == "edit" and name != "rules":
        check_alignments(records, patterns, expected)


@pytest.mark.parametrize("name", ["k differences", "rules"])
@given(data=st.data())
def test_the_mirror_image_has_the_mirrored_hits(name, data):
    records, patterns, k, options = data.draw(PROBLEMS[name][1])
    geometry = data.draw(edit_geometries)
    turned = [(name, naive.reverse_complement(naive.known(text))) for name, text in records]
    there = dict(options, strand={"+": "-", "-": "+"}.get(options["strand"], "both"))
    found = rows(search("edit", (records, patterns, k, options), **geometry))
    mirror = rows(search("edit", (turned, patterns, k, there), **geometry))
    assert sorted(mirror) == sorted(mirrored(records, found))
    if name != "rules":
        assert mirror == mirrored(records, found)
