"""Panels set up side by side are those that one pattern after another gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import IUPAC

import kmatch
from kmatch.errors import STRANDS
from kmatch.search.panel import (
    build_panel,
    build_reading_panel,
    exact_ends,
    panel_letters,
    pattern_distances,
    select_patterns,
    wanted_strands,
)
from kmatch.sequences.alphabet import complement, reverse_complement
from kmatch.sequences.patterns import load_patterns

one_length = st.integers(1, 20).flatmap(
    lambda m: st.lists(st.text(IUPAC, min_size=m, max_size=m), min_size=1, max_size=9)
)
panels = one_length | st.lists(st.text(IUPAC, min_size=1, max_size=20), min_size=1, max_size=9)
strands = st.sampled_from(sorted(STRANDS))
ends = st.tuples(st.sampled_from([0, 0, 1, 3, 30]), st.sampled_from([0, 0, 2, 40]))


def window(pattern, minus, k, ends):
    """The letters of a pattern on a strand as (offset, mask): counted ones, and exact ones."""
    length = len(pattern)
    place = np.arange(length)
    exact = (place < ends[0]) | (place >= length - ends[1]) | (k == 0)
    masks = reverse_complement(pattern.masks) if minus else pattern.masks
    exact = exact[::-1] if minus else exact
    letters = list(enumerate(masks.tolist()))
    counted = [letter for letter in letters if not exact[letter[0]]]
    return counted, [letter for letter in letters if exact[letter[0]]]


@given(panels, st.integers(0, 5), strands, ends)
def test_windows(patterns, k, strand, ends):
    patterns = load_patterns(patterns)
    panel = build_panel(patterns, strand)
    arrays = panel_letters(panel, k, exact_ends(patterns, k, ends))
    ranked = sorted(
        (len(pattern), minus, number)
        for number, pattern in enumerate(patterns)
        for minus in wanted_strands(strand)
    )
    columns = (panel.lengths.tolist(), panel.minus.tolist(), panel.pattern.tolist())
    assert list(zip(*columns, strict=True)) == ranked
    assert (panel.lengths.dtype, panel.minus.dtype) == (np.int64, np.uint8)
    assert panel.pattern.dtype == np.int32
    queries = [window(patterns[number], minus, k, ends) for _, minus, number in ranked]
    bases = [1, 2, 4, 8, *arrays.masks.tolist()]
    shifts, planes = arrays.shifts.tolist(), arrays.planes.tolist()
    found = [(shift, bases[plane]) for shift, plane in zip(shifts, planes, strict=True)]
    for query, (first, exact, last, look) in zip(queries, arrays.bounds.tolist(), strict=True):
        assert (found[first:exact], found[exact:last]) == query
        assert first <= look <= exact


@given(panels, strands)
def test_readings(patterns, strand):
    patterns = load_patterns(patterns)
    panel = build_reading_panel(patterns, strand)
    queries = [(minus, n) for minus in wanted_strands(strand) for n in range(len(patterns))]
    assert list(zip(panel.minus.tolist(), panel.pattern.tolist(), strict=True)) == queries
    letters, begins, backward, bases = panel.letters
    assert (letters.dtype, begins.dtype, bases.dtype) == (np.int8, np.int64, np.uint8)
    assert backward.tolist() == panel.minus.tolist()
    assert panel.lengths.tolist() == np.diff(begins).tolist()
    for query, (minus, number) in enumerate(queries):
        masks = patterns[number].masks
        read = bases[letters[begins[query] : begins[query + 1]]]
        assert bytes(read) == bytes(complement(masks) if minus else masks)
    wanted = np.arange(len(patterns)) % 2 == 0
    chosen = select_patterns(patterns, wanted, strand)
    assert set(chosen.pattern.tolist()) == set(np.flatnonzero(wanted).tolist())


def test_the_first_pattern_that_is_too_short_is_named():
    patterns = load_patterns({"a": "ACGTA", "b": "ACG", "c": "AC"})
    pattern_distances(patterns, 1)
    with pytest.raises(kmatch.InputError, match="'b' has 3 letters: k = 3"):
        pattern_distances(patterns, 3)
