"""Runs of the programs on both machines, beside the bounds that the paper proves."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from kmatch.errors import InputError
from kmatch.model import programs
from kmatch.model.machine import Machine

SEED = 2012


class Sizes(NamedTuple):
    """n, m: letters of Y and X; w, l: a machine's width and latency; p: threads of the two
    contiguous accesses to n addresses."""

    n: int
    m: int
    w: int
    l: int  # noqa: E741  the paper's name
    p: int


class Run(NamedTuple):
    """A program on a machine.

    time: units counted; bound: those of the paper's `statement`, without its constant; stages: of
    the memory's pipeline, for a warp's requests on average; asm: the distance computed, or None.
    """

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
    def ratio(self) -> float:
        """Time units counted ÷ those of the bound."""
        return self.time / self.bound


def simulate(sizes: Sizes) -> Iterator[Run]:
    """Yield the Runs of all programs on random strings X and Y.

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

        def run(
            name: str,
            threads: int,
            statement: str,
            bound: float,
            program: Callable[..., Any],
            *arguments: Any,
            machine: Machine = machine,
        ) -> Run:
            counts = np.zeros(2, np.int64)
            result = program(*arguments, machine, counts)
            time, asm = result if isinstance(result, tuple) else (result, None)
            kind = "UMM" if machine.unified else "DMM"
            stages = int(counts[1]) / int(counts[0])
            return Run(name, kind, sizes, threads, int(time), statement, bound, stages, asm)

        # The UMM has no upper bound here; sections III and VI say what it costs.
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
