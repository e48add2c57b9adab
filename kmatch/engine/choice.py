"""What a search is expected to cost on the CPU and on a GPU; `auto` takes the cheaper device.

The constants were measured on one core of an AVX-512 server and on an H200. Other machines differ
by factors that matter little: the two devices differ by more, except where start-up decides.
"""

from typing import NamedTuple

PACK = 0.5e-9  # seconds to pack a letter on one core
GPU_START = 0.45  # seconds until a GPU's context is open and its first kernels are loaded
GPU_COPY = 0.1e-9  # seconds to copy a letter's planes to the GPU
CPU_PAIR = 0.024e-9  # seconds to compare a text position with a query, mismatches alone
GPU_PAIR = 0.08e-12
CPU_CELL, CPU_COLUMN = 0.0019e-9, 0.0065e-9  # a cell and a column of the recurrence
GPU_CELL = 0.0145e-12
DEEPER = 30  # rows of a column that are computed below row 2·k
FULL = 45e6  # letters that keep a GPU busy in a search for mismatches


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


def cpu_seconds(work: Work, threads: int) -> float:
    """Seconds for packing and kernels on the CPU, without what both devices have in common."""
    letters = work.letters or 0
    pair = CPU_PAIR
    if work.differences:
        pair = CPU_COLUMN + CPU_CELL * min(work.length, 2 * work.k + DEEPER)
    return letters * (PACK + pair * work.queries) / threads


def gpu_seconds(work: Work, threads: int) -> float:
    """The same on a GPU, with its start-up and the copies to it."""
    letters = work.letters or 0
    pair = GPU_CELL * work.length
    if not work.differences:
        pair = GPU_PAIR / min(max(letters, 1) / FULL, 1)
    copies = letters * (PACK / threads + GPU_COPY)
    return GPU_START + copies + letters * work.queries * pair


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
