"""What a search is expected to cost on the CPU and on a GPU; `auto` takes the cheaper device.

Other machines than those of `kmatch.engine.costs` differ by factors that matter little: the two
devices differ by more, except where start-up decides.
"""

from typing import NamedTuple

from kmatch.engine.costs import CPU, CUDA, FIRST_ROWS, compared

SECOND = 1e9  # nanoseconds


class Work(NamedTuple):
    """A search before it begins.

    letters: of the text, None where that is unknown; queries: patterns times strands; length:
    letters of a pattern, on average; differences: whether insertions and deletions count.
    """

    letters: int | None
    queries: int
    length: float
    k: int
    differences: bool


class SiteWork(NamedTuple):
    """Windows to compare with a panel, all of them or those beside the sites of a PAM.

    patterns, length: of the panel, letters of each; k: mismatches that they may have; strands: that
    are searched; positions: of the text, 0 where that is unknown; share: of them that are sites, on
    each strand; live: how likely a window is within k; hits: at a position, as far as is known.
    """

    patterns: int
    length: int
    k: int
    strands: int
    positions: int
    share: float
    live: float = 0.0
    hits: float = 0.0


def cpu_seconds(work: Work, threads: int) -> float:
    """Seconds for packing and kernels on the CPU, without what both devices have in common."""
    letters = work.letters or 0
    if work.differences:
        rows = min(work.length, 2 * work.k + FIRST_ROWS + CPU.recurrence.deeper)
        found = work.queries * (CPU.recurrence.column + CPU.recurrence.cell * rows)
    else:
        found = compared(CPU.scan, work.queries, work.k, 0.0)
    return letters * (CPU.pack + found) / threads / SECOND


def gpu_seconds(work: Work, threads: int) -> float:
    """The same on a GPU, with its start-up and the copies to it."""
    letters = work.letters or 0
    pair, plans = CUDA.recurrence.cell * work.length, 0.0
    if not work.differences:
        pair = CUDA.scan.pair / min(max(letters, 1) / CUDA.full, 1)
        plans = CUDA.query * work.queries
    copies = letters * (CPU.pack / threads + CUDA.copy)
    return (CUDA.start + plans + copies + letters * work.queries * pair) / SECOND


def best_device(work: Work | None, threads: int) -> tuple[str, str]:
    """The device that is expected to finish first where there is a GPU: (`cpu` or `cuda`, why)."""
    if work is None or work.letters is None:
        return "cuda", "a usable GPU, and a text of unknown length"
    cpu, gpu = cpu_seconds(work, threads), gpu_seconds(work, threads)
    kind = "cpu" if cpu < gpu else "cuda"
    return kind, f"expected to take {cpu:.2g} s on the CPU and {gpu:.2g} s on a GPU"


def expected_seconds(kind: str, work: Work | None, threads: int) -> float | None:
    """Seconds that `cpu` or `cuda` is expected to take for Work; None where that is unknown."""
    if work is None or work.letters is None:
        return None
    return (gpu_seconds if kind == "cuda" else cpu_seconds)(work, threads)
