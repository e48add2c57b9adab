"""k mismatches by sums of triplets against the oracle, and against a scan letter by letter."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import HAMMING, hamming_cases
from support.mismatches import oracle, rows, search, search_panel

from kmatch.engine.cpu.bits.vectors import WORDS
from kmatch.engine.cpu.hamming import scan
from kmatch.engine.cpu.hamming.triplets import plan_triplets
from kmatch.engine.queries import Query, query_arrays

LETTERS = "ACGT"
MASKS = {"A": 1, "C": 2, "G": 4, "T": 8, "N": 15}
wide = st.fixed_dictionaries(
    {
        "chunk_length": st.sampled_from([None, 1, 100, 3_000]),
        "words": st.sampled_from([WORDS, WORDS + 1, 2 * WORDS, 2 * WORDS + 3, 5 * WORDS]),
    }
)


@pytest.fixture(scope="module", autouse=True)
def one_query_suffices():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "FEWEST", 0)
        yield


@pytest.mark.parametrize("words", [WORDS, 2 * WORDS + 1])
@pytest.mark.parametrize("name", HAMMING)
def test_cases(name, words):
    records, patterns, k, options = HAMMING[name]
    expected = naive.hamming(records, patterns, k, **options)
    assert rows(search(records, patterns, k, words=words, **options)) == expected


@given(hamming_cases(), wide, st.integers(1, 3), st.sampled_from([1, 40, 1 << 20]))
def test_any_text_and_geometry(case, geometry, threads, capacity):
    records, patterns, k, options = case
    expected = naive.hamming(records, patterns, k, **options)
    found = search(records, patterns, k, threads=threads, capacity=capacity, **options, **geometry)
    assert rows(found) == expected


def near(rng, text, lengths, count, changed):
    """Patterns out of a text, some of their letters changed, a few to IUPAC letters."""
    patterns = []
    for _ in range(count):
        length = int(rng.choice(lengths))
        at = int(rng.integers(len(text) - length))
        letters = list(text[at : at + length])
        for i in np.flatnonzero(rng.random(length) < changed):
            letters[i] = str(rng.choice(list("ACGTACGTACGTRYN")))
        patterns.append("".join(letters))
    return patterns


@pytest.mark.parametrize(
    ("lengths", "k"),
    [
        *(([6], 1), ([9], 0), ([12], 3), ([15, 16], 3), ([20], 3), ([20, 22, 30], 4)),
        *(([32], 7), ([40], 12), ([64], 15), ([64], 16), ([130], 20)),
    ],
)
def test_lengths_and_thresholds(lengths, k):
    rng = np.random.default_rng(sum(lengths) + k)
    text = "".join(rng.choice(list(LETTERS), 3_000)) + "N" * 9
    patterns = near(rng, text, lengths, 12, 1.5 * k / max(lengths) / 2)
    records = [("r", text), ("s", text[500:900])]
    expected = naive.hamming(records, patterns, k)
    assert len(expected) >= len(patterns)
    assert rows(search(records, patterns, k, words=2 * WORDS)) == expected


@pytest.mark.parametrize("filtering", [True, False])
@pytest.mark.parametrize("side", ["3p", "5p"])
def test_beside_a_pam(side, filtering):
    rng = np.random.default_rng(8)
    text = "".join(rng.choice(list(LETTERS), 4_000))
    patterns = [pattern.replace("N", "A") for pattern in near(rng, text, [20], 9, 0.1)]
    records, options = [("r", text)], {"pam": "NGG", "pam_side": side}
    found = search_panel(records, patterns, 9, words=WORDS, filtering=filtering, **options)
    assert rows(found) == oracle(records, patterns, 9, **options) != []


def test_many_queries_and_few():
    # More than a batch of queries, several tiles of rows, the last one short.
    rng = np.random.default_rng(9)
    text = "".join(rng.choice(list(LETTERS), 90_000))
    patterns = near(rng, text, [20], 700, 0.1)
    many = rows(search([("r", text)], patterns, 3))
    few = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "FEWEST", scan.NEVER)
        few = rows(search([("r", text)], patterns, 3))
    assert many == few
    assert len({pattern for _, _, _, pattern, _, _ in many}) > 650


def queries_of(patterns, exact=0):
    """Queries on the forward strand, the last letters of each to match exactly."""
    letters = [[*enumerate(MASKS[letter] for letter in pattern)] for pattern in patterns]
    return [Query(pairs[: len(pairs) - exact], pairs[len(pairs) - exact :]) for pairs in letters]


def plan(queries, k, fewest=0, tile_rows=32):
    arrays = query_arrays(queries, k)
    offsets = np.arange(len(arrays.planes))
    return plan_triplets(arrays, offsets, scan.Tiling(tile_rows, 16, 1, fewest, enough=0)), offsets


def chosen(planned):
    return planned.queries[: planned.number].tolist()


def test_a_plan():
    (made, others, rows_needed), offsets = plan(
        queries_of(["NACGTACGTACGTACGTACG", "ACGTNACGTACGTACGTACG"]), 3
    )
    assert (chosen(made), others.tolist()) == ([0, 1], [])
    assert (made.before_look, made.stride) == (6, 6)
    # The letters of triplets come first: 1 to 18 of the first query, all but 3 and 4 of the second.
    assert made.rests[: made.number].tolist() == [18, 38]
    assert (sorted(offsets[:18]), sorted(offsets[18:20])) == ([*range(1, 19)], [0, 19])
    assert sorted(offsets[38:]) == [23, 24]
    assert len(rows_needed) == 32 + 17
    assert rows_needed.all()


def test_queries_that_are_scanned_letter_by_letter():
    usual = ["ACGTACGTACGTACGTACGT"] * 3
    (made, others, _), _ = plan(queries_of([*usual, "ACNGTNACNGTNACNGTNAC", "ACGTAC"]), 3)
    assert (chosen(made), others.tolist()) == ([0, 1, 2], [3, 4])
    (made, others, _), _ = plan(queries_of(usual), 3, fewest=4)
    assert (made.number, others.tolist()) == (0, [0, 1, 2])
    (made, others, _), _ = plan(queries_of(["AC", "AG"]), 1)
    assert (made.number, others.tolist()) == (0, [0, 1])


def test_exact_letters_are_in_no_triplet():
    (made, _, _), _ = plan(queries_of(["ACGTACGTACGTACGTACGTAGG"], exact=3), 3)
    assert (made.stride, made.rests[: made.number].tolist()) == (6, [18])
    (made, _, _), _ = plan(queries_of(["ACGTACGTACGTACGTGG"], exact=3), 3)
    assert (made.before_look, made.stride, made.rests[: made.number].tolist()) == (5, 5, [15])
