"""Cases for the CUDA simulator, which is slow: few and tiny. Run by test_cuda_sim.py."""

import naive
import numpy as np
import pytest
from cases import EDIT, HAMMING, edit_cases, hamming_cases
from differences import best, edit
from differences import rows as rows_of
from hypothesis import given, settings
from published_cases import algorithms, case, check, label
from test_hamming import rows, search

from kmatch.engine.cuda import edit as cuda_edit
from kmatch.engine.cuda import strips
from kmatch.engine.geometry import Geometry

MISMATCHES = (
    "at 0",
    "m = 1",
    "runs of N",
    "gaps and other letters",
    "empty records",
    "mixed lengths",
    "exact both and more than all",
    "every counter width",
    "long pattern",
    "IUPAC",
)
DIFFERENCES = (
    "at the end",
    "k = m - 1, two letters",
    "runs of N",
    "records apart",
    "IUPAC",
    "equal ends beside one another",
)
PUBLISHED = {  # none of many positions: a block for each has its threads
    "hamming": ("at the end", "m = 1", "exact 3'"),
    "multi": ("a palindromic PAM",),
    "edit": ("at the end", "runs of N", "IUPAC", "records apart"),
    "best": ("palindrome",),
}
FEW = settings(max_examples=3, deadline=None)


@pytest.mark.parametrize("name", MISMATCHES)
def test_hamming(name):
    records, patterns, k, options = HAMMING[name]
    found = rows(search(records, patterns, k, device="cuda", **options))
    assert found == naive.hamming(records, patterns, k, **options)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_edit(name):
    records, patterns, k, options = EDIT[name]
    found = rows_of(edit(records, patterns, k, device="cuda", **options))
    assert found == naive.edit(records, patterns, k, **options)


@pytest.mark.parametrize("name", ["palindrome", "loci that only touch"])
def test_best(name):
    records, patterns, _, options = EDIT[name]
    found = rows_of(best(records, patterns, device="cuda", **options))
    assert found == naive.best(records, patterns, **options)


@FEW
@given(hamming_cases())
def test_any_windows(case):
    records, patterns, k, options = case
    found = rows(search(records, patterns, k, device="cuda", chunk_length=90, words=2, **options))
    assert found == naive.hamming(records, patterns, k, **options)


@FEW
@given(edit_cases(longest=10))
def test_any_differences(case):
    records, patterns, k, options = case
    found = rows_of(edit(records, patterns, k, device="cuda", **options))
    assert found == naive.edit(records, patterns, k, **options)


def test_no_hit_is_dropped_when_there_is_room_for_one():
    records, patterns = [("r", "ACGTACG")], ["ACG", "TAC"]
    found = rows(search(records, patterns, 1, device="cuda", key_room=(1, 1), strand="+"))
    assert found == naive.hamming(records, patterns, 1, strand="+")
    found = rows_of(edit(records, ["ACG"], 1, device="cuda", key_room=(1, 2), strand="+"))
    assert found == naive.edit(records, ["ACG"], 1, strand="+")


def test_strips(monkeypatch):
    monkeypatch.setattr(strips, "SPAN", 8)
    strips.make_scan.cache_clear()
    pattern = "ACGTTGCATTAGCCAGTACTGAACCGGTTAAGCT"  # 34 letters
    records = [("r", "GATT" + pattern[:20] + "C" + pattern[20:] + "TTAC")]
    found = rows_of(edit(records, [pattern], 2, device="cuda"))
    assert found == naive.edit(records, [pattern], 2)
    strips.make_scan.cache_clear()


def test_little_device_memory(monkeypatch):
    monkeypatch.setattr(strips, "memory", lambda: (1, 1))
    pattern = "ACGTTGCATTAGCCAGTACTGAACCGGTTAAGC"
    records = [("r", "GATT" + pattern + "TTAC")]
    found = rows_of(edit(records, [pattern], 1, device="cuda", strand="+"))
    assert found == naive.edit(records, [pattern], 1, strand="+")


def test_stretches_cover_all_rows():
    geometry = Geometry(1, 37, 24)
    shape = (geometry.words, geometry.rows, geometry.plane_words)
    reading = (np.zeros(20, np.int64), np.array([0, 20]), np.zeros(1, np.uint8))
    limits = np.array([3])
    searches = cuda_edit.Searches(shape, reading, limits, np.array([0]), 3, 0)
    ((plan, *_),) = searches._plans
    assert plan.blocks * plan.stretch >= geometry.rows > (plan.blocks - 1) * plan.stretch
    assert plan.blocks > 1


@pytest.mark.parametrize(("command", "algorithm"), algorithms("cuda"), ids=label)
def test_published(command, algorithm):
    for name in PUBLISHED[command]:
        records, patterns, k, options = case(command, name, algorithm, "cuda")
        check(command, algorithm, records, patterns, k, options, device="cuda")
