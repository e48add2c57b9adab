"""The memory machine models: what they count, beside hand-made counts and the paper's bounds."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmatch.published.machines import (
    SLID,
    THREE_ROWS,
    D,
    Machine,
    diagonals,
    partition,
    run,
    run_bodies,
    simulate,
)

CONSTANTS = {  # time units for one of a bound's, at most; those of cells count six accesses
    "Lemma 1": 1.5,
    "Lemma 2": 1.5,
    "Lemma 3": 16,
    "Lemma 4": 16,
    "Theorem 5": 16,
    "Theorem 6": 60,
}


def units(requests, unified, width=4, latency=5):
    return tuple(run_bodies(np.array([requests]), Machine(unified, width, latency)))


@pytest.mark.parametrize(
    ("requests", "dmm", "umm"),
    [
        ([[0, 1, 2, 3]], (5, 1, 1), (5, 1, 1)),
        ([[0, 5, 10, 15]], (5, 1, 1), (8, 1, 4)),  # an anti-diagonal: four banks, four groups
        ([[0, 4, 8, 12]], (8, 1, 4), (8, 1, 4)),  # a column: one bank
        ([[7, 7, 7, 7]], (5, 1, 1), (5, 1, 1)),  # one address, once
        ([[3, 4, 5, 6]], (5, 1, 1), (6, 1, 2)),  # neighbours in two groups
        ([[-1, -1, -1, -1]], (0, 0, 0), (0, 0, 0)),
        ([list(range(12))], (7, 3, 3), (7, 3, 3)),  # three warps behind one another
        ([[0, 1, 2, 3], [4, 5, 6, 7]], (10, 2, 2), (10, 2, 2)),  # a warp waits for its request
        ([list(range(24))] * 2, (16, 12, 12), (16, 12, 12)),  # six warps hide the latency
        ([[-1] * 4 + [0] * 4, [0] * 4 + [-1] * 4], (6, 2, 2), (6, 2, 2)),  # a warp without requests
        ([[9, 2]], (5, 1, 1), (6, 1, 2)),  # fewer threads than a warp has
    ],
)
def test_parallel_loops(requests, dmm, umm):
    assert units(requests, False) == dmm
    assert units(requests, True) == umm


def letters(text):
    return np.frombuffer(text.encode(), np.uint8)


def closest(x, y, width=4):
    """ASM(X, Y) by all programs on both machines."""
    programs = [
        diagonals(letters(x), letters(y), matrix, width) for matrix in (D, SLID, THREE_ROWS)
    ]
    machines = Machine(False, width, 3), Machine(True, width, 3)
    programs.append(partition(letters(x), letters(y), width))
    return {run(program, *machines)[0] for program in programs}


def test_the_worked_example():
    """Fig. 3, the matrix of which has Y = aaabbbaa, with A for a and C for b."""
    assert closest("ACACA", "AAACCCAA") == {1}


@settings(max_examples=40)
@given(st.text("ACGT", min_size=1, max_size=9), st.text("ACGT", max_size=40), st.integers(1, 6))
def test_any_strings(x, y, width):
    y = y + "ACGTACGTA"[: max(len(x) - len(y), 0)]
    assert closest(x, y, width) == {min(naive.differences(x, y)[-1])}


SIZES = [
    *((n, 32, 8, 20, 64) for n in (64, 512, 2048)),
    *((1024, m, 8, 20, 64) for m in (1, 16, 128, 512)),
    *((1024, 64, w, 20, 256) for w in (1, 4, 32, 128)),
    *((1024, 64, 16, latency, 256) for latency in (1, 10, 100, 1000)),
]


@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: "-".join(map(str, sizes)))
def test_counts_stay_within_a_constant_of_the_bounds(sizes):
    found = list(simulate(*sizes))
    assert len({each.asm for each in found} - {None}) == 1
    for each in found:
        if each.statement in CONSTANTS:
            assert each.ratio <= CONSTANTS[each.statement], each
        elif each.program == "diagonals on d":
            assert each.time >= each.n * each.m  # no O(nm/w) on the UMM


def test_the_umm_needs_the_slid_matrix():
    """The wider the memory, the more an anti-diagonal of d costs on the UMM beside one of s."""
    advantage = []
    for width in (4, 16, 64):
        found = simulate(1024, 128, width, 2, width)
        runs = {(each.program, each.machine): each for each in found}
        on_d, on_s = runs["diagonals on d", "UMM"], runs["diagonals on s", "UMM"]
        assert on_d.stages > 0.5 * width and on_s.stages < 2.1
        assert runs["diagonals on d", "DMM"].time < 1.1 * on_s.time
        advantage.append(on_d.time / on_s.time)
    assert advantage == sorted(advantage) and advantage[-1] > 10
