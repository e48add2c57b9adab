"""Runs of the programs on both machines, beside the bounds that the paper proves for them."""

from typing import NamedTuple

import numpy as np

from kmatch.errors import InputError
from kmatch.model import programs
from kmatch.model.machine import Machine

SEED = 2012


class Sizes(NamedTuple):
    """n, m: letters of Y and of X; w, l: a machine's width and latency; p: the threads of the two
    contiguous accesses to n addresses."""

    n: int
    m: int
    w: int
    l: int  # noqa: E741  the paper's name
    p: int


class Run(NamedTuple):
    """A program on a machine: `threads` took `time` units, of which `bound` is what `statement` of
    the paper gives without its constant; `stages` a warp went through in the memory's pipeline;
    asm: the distance computed, None for a program that computes none."""

    program: str
    machine: str
    sizes: Sizes
    threads: int
    time: int
    statement: str
    bound: float
    stages: float
    asm: int | None

    @property
    def ratio(self):
        """Time units for one of the bound's."""
        return self.time / self.bound


def simulate(sizes):
    """Yield the Runs of all programs, with random letters for X and Y.

    Raises InputError for sizes below 1 or m > n.
    """
    n, m, w, l, p = sizes  # noqa: E741
    if min(sizes) < 1 or m > n:
        raise InputError(
            f"n = {n}, m = {m}, w = {w}, l = {l}, p = {p}: give 1 ≤ m ≤ n and 1 or more"
        )
    letters = np.random.default_rng(SEED).integers(0, 4, n + m).astype(np.uint8)
    x, y = letters[:m], letters[m:]
    access = n / w + n * l / p
    cells = n * m / w + n * l
    windows = n * m / w + m * l
    for unified in (False, True):
        machine = Machine(unified, w, l)

        def run(name, threads, statement, bound, program, *arguments, machine=machine):
            counts = np.zeros(2, np.int64)
            result = program(*arguments, machine, counts)
            time, asm = result if isinstance(result, tuple) else (result, None)
            kind = "UMM" if machine.unified else "DMM"
            stages = int(counts[1]) / int(counts[0])
            return Run(name, kind, sizes, threads, int(time), statement, bound, stages, asm)

        # Where the UMM has no upper bound, sections III and VI tell what it costs.
        bank = ("section III", float(n)) if unified else ("Lemma 2", access)
        on_d = ("section VI", float(n * m)) if unified else ("Lemma 3", cells)
        yield run("contiguous", p, "Lemma 1", access, programs.contiguous, n, p)
        yield run("contiguous bank", p, *bank, programs.contiguous_bank, n, p)
        yield run("diagonals on d", m, *on_d, programs.diagonals, x, y, programs.D)
        yield run("diagonals on s", m, "Lemma 4", cells, programs.diagonals, x, y, programs.SLID)
        yield run(
            "diagonals on s'", m, "Theorem 5", cells, programs.diagonals, x, y, programs.THREE_ROWS
        )
        threads = max(-(-n // m) - 2, 1) * m
        yield run("partition", threads, "Theorem 6", windows, programs.partition, x, y)
