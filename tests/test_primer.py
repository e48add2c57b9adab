"""k-difference primers against the oracle: agreed cases, laws, and what Hypothesis thinks of."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import random_letters
from support.hooks import settings as sizes
from support.primers import CASES, primer, primer_cases, records, related, rows

import kmatch
from kmatch.engine.cpu.primer import extend_primers
from kmatch.engine.types import Starts
from kmatch.sequences.alphabet import encode_text


@pytest.mark.parametrize("name", CASES)
def test_cases(name):
    target, background, k, options = CASES[name]
    assert rows(primer(target, background, k, **options)) == naive.primers(
        target, background, k, **options
    )


def test_the_published_example():
    target, background, k, options = CASES["as published"]
    assert rows(primer(target, background, k, **options)) == [(0, 0, 3, "+"), (0, 1, 4, "+")]


geometries = st.fixed_dictionaries(
    {
        "part": st.sampled_from([1, 30, 1 << 20]),
        "threads": st.integers(1, 3),
        "height": st.sampled_from([8, 16, 24]),
        "block": st.sampled_from([1, 2, 7, 30, 200]),
    }
)


@settings(max_examples=100)
@given(primer_cases(), geometries)
def test_any_text_and_geometry(case, geometry):
    target, background, k, options = case
    expected = naive.primers(target, background, k, **options)
    assert rows(primer(target, background, k, **options, **geometry)) == expected


@settings(max_examples=60)
@given(primer_cases(), st.text("ACGTN", max_size=60))
def test_laws(case, more):
    target, background, k, options = case
    found = rows(primer(target, background, k, **options))
    for record, start, end, _ in found:
        assert k <= end - start and end <= len(target[record][1])
        assert end - start <= (options["max_length"] or end)
    for sign in "+-":
        mine = [row for row in found if row[3] == sign]
        assert sorted(mine, key=lambda row: (row[0], row[2])) == mine
    # More background or its second strand never shorten a primer, nor make one.
    lengths = by_place(found)
    for texts, strand in (
        ([*background, ("more", more)], options["background_strand"]),
        (background, "both"),
    ):
        wider = primer(target, texts, k, **{**options, "background_strand": strand})
        for place, length in by_place(rows(wider)).items():
            assert lengths[place] <= length
    short = by_place(rows(primer(target, background, k, **{**options, "max_length": k + 2})))
    few = min(options["max_length"] or k + 2, k + 2)
    assert {place: length for place, length in short.items() if length <= few} == {
        place: length for place, length in lengths.items() if length <= few
    }


def by_place(found):
    """Lengths by record, strand and where the first letter is."""
    return {(n, t, start if t == "+" else end): end - start for n, start, end, t in found}


def columns_of(*texts):
    """Background texts as an engine takes them."""
    codes = {letter: code for code, letter in enumerate("ACGT")}
    return np.array([x for text in texts for x in (5, *(codes.get(c, 4) for c in text))], np.uint8)


def extended(texts, background, k, longest=None, bounds=None, **geometry):
    """The bounds of all starts after `extend_primers`, and their limits."""
    return worked(texts, background, k, longest, bounds, **geometry)[:2]


def worked(texts, background, k, longest=None, bounds=None, **geometry):
    """The bounds of all starts after `extend_primers`, their limits, and the cells computed."""
    masks = encode_text(np.frombuffer("".join(texts).encode(), np.uint8))
    begins = np.cumsum([0, *map(len, texts)])
    limits = np.concatenate([np.arange(len(text), 0, -1) for text in texts])
    limits = np.minimum(limits, longest or len(masks))
    bounds = np.minimum(k, limits + 1) if bounds is None else bounds.copy()
    threads = geometry.pop("threads", 2)
    starts, columns = Starts(masks, begins, limits, bounds), columns_of(*background)
    with sizes(geometry):
        return bounds, limits, extend_primers(starts, columns, k, threads=threads)


def far_lengths(texts, background, k, starts, longest=None):
    """The bounds of some starts by a matrix whose rows are NumPy's; background as texts."""
    columns = columns_of(*background)
    fresh, place = columns == 5, np.arange(len(columns))
    apart = place + np.cumsum(fresh) * 10 * len(columns)
    whole, ends = "".join(texts), np.cumsum([len(text) for text in texts])
    found = []
    for r in starts:
        end = int(ends[np.searchsorted(ends, r, side="right")])
        rows = min(end - r, longest or end - r)
        row = np.zeros(len(columns), np.int64)
        for length in range(1, rows + 2):
            if length > rows:  # there is none
                break
            wrong = columns != "ACGT".find(whole[r + length - 1])
            row[1:] = np.minimum(row[:-1] + wrong[1:], row[1:] + 1)
            row[fresh] = length
            row = np.minimum.accumulate(row - apart) + apart
            if row.min() >= k:
                break
        found.append(length)
    return found


TALL = [
    ("random", 10, None, {"height": 8, "block": 64}),
    ("random", 33, None, {}),
    ("random", 33, 60, {"block": 100}),
    ("random", 200, None, {"height": 32}),
    ("a relative", 20, None, {"height": 8, "block": 32}),
    ("a relative", 20, None, {"height": 32, "block": 16}),
    ("a relative", 45, None, {}),
    ("a far relative", 40, None, {"height": 16, "block": 100}),
    ("the target", 40, None, {"height": 8, "block": 10}),
    ("the target", 40, 200, {}),
    ("a repeat", 12, None, {"height": 8, "block": 50}),
    ("a repeat", 12, 70, {}),
]


@pytest.mark.parametrize("kind, k, longest, geometry", TALL)
def test_tiles_of_many_strips(kind, k, longest, geometry):
    rng = np.random.default_rng(k)
    texts = [random_letters(1300, k), random_letters(500, k + 1)]
    if kind == "a repeat":
        texts = [random_letters(7, 5) * 180, random_letters(500, k + 1)]
    share = {"a relative": 0.1, "a far relative": 0.3, "a repeat": 0.05, "the target": 0}
    copy = related(rng, texts[0][100:1100], share[kind]) if kind in share else ""
    if kind == "the target":
        copy = texts[0]
    background = [random_letters(500, 7) + copy + random_letters(300, 8), random_letters(700, 9)]
    bounds, limits = extended(texts, background, k, longest, **geometry)
    starts = [*range(0, 1800, 90), 511, 512, 1023, 1024, 1299, 1300]
    lengths = far_lengths(texts, background, k, starts, longest)
    # Above its limit a bound says only that there is no primer.
    assert [min(bounds[r], limits[r] + 1) for r in starts] == lengths
    if kind == "the target":
        assert (bounds[:1300] > limits[:1300]).all()


def test_only_what_is_alike_goes_deeper():
    rng = np.random.default_rng(6)
    text, other = random_letters(12_000), random_letters(60_000, 2)
    copy = related(rng, text, 0.08)
    _, _, cells = worked([text], [other], 20)
    bounds, limits, more = worked([text], [other[:20_000] + copy + other[32_000:]], 20)
    assert np.median(bounds - 20) > 100 and (bounds <= limits).any()
    assert more < 2.5 * cells


def test_human_dna(real):
    gene = next(iter(kmatch.Genome(real("human_il1rapl1.fa.gz")).records())).letters
    text = gene.tobytes().decode().upper()
    target, background = text[50_000:54_000], text[60_000:100_000]
    bounds, limits = extended([target], [background], 30)
    starts = range(0, 4_000, 400)
    lengths = far_lengths([target], [background], 30, starts)
    for start, length in zip(starts, lengths, strict=True):
        assert min(bounds[start], limits[start]) == length


def test_a_thousand_differences():
    texts, background = [random_letters(2600)], [random_letters(700, 2)]
    bounds, _ = extended(texts, background, 1000)
    starts = [0, 100, 400]
    assert bounds[starts].tolist() == far_lengths(texts, background, 1000, starts)


def test_bounds_do_not_depend_on_how_they_are_found():
    rng = np.random.default_rng(3)
    texts = [random_letters(900, 4), random_letters(40, 5), random_letters(600, 6)]
    background = [related(rng, texts[0], 0.2), random_letters(5_000, 8), texts[2][:300] + "N" * 50]
    expected, limits = extended(texts, background, 15)
    for geometry in ({"height": 8}, {"block": 33}, {"threads": 1}, {"threads": 7, "block": 90}):
        assert (extended(texts, background, 15, **geometry)[0] == expected).all()
    known = None
    for text in background:  # one by one, bounds going on from those before
        known, _ = extended(texts, [text], 15, bounds=known)
    assert (known == expected).all()
    # The columns are parted between the threads, where rows are few enough.
    few, limits = extended(texts[1:2], background, 15, 40, threads=1)
    assert (extended(texts[1:2], background, 15, 40, threads=4)[0] == few).all()
    lengths = far_lengths(texts[1:2], background, 15, range(40), 40)
    assert np.minimum(few, limits + 1).tolist() == lengths
    assert 0 < np.count_nonzero(few <= limits) < 40


@pytest.mark.parametrize("longest", [None, 14, 13])
def test_a_primer_as_long_as_it_may_be(longest):
    """The last start with a primer has one that ends with the record, or at the longest length."""
    text, other = random_letters(60, 18), random_letters(300, 3)
    bounds, limits = extended([text], [other], 6, longest)
    lengths = far_lengths([text], [other], 6, range(60), longest)
    assert np.minimum(bounds, limits + 1).tolist() == lengths
    assert (bounds == limits).any() and (bounds > limits).any()
    found = primer(records(text), records(other), 6, max_length=longest, background_strand="+")
    assert found.length.tolist() == [
        x for x, most in zip(lengths, limits, strict=True) if x <= most
    ]


def test_a_target_inside_the_background_yields_nothing():
    text = random_letters(3_000)
    for background in (text, naive.reverse_complement(text), "GG" + text + "CC"):
        assert len(primer(records(text), records(background), 9)) == 0
    assert len(primer(records(text), records(text[:-9]), 9)) > 0
