"""What a search will cost on the CPU and on a GPU, from which `auto` chooses the device.

The constants are of one core of an AVX-512 server and of an H200; other machines differ by factors
that matter little, as the two devices differ by more except where start-up decides.
"""

from typing import NamedTuple

PACK = 0.5e-9  # seconds a letter on one core, to pack it
GPU_START = 0.45  # seconds until a GPU's context is open and its first kernels are loaded
GPU_COPY = 0.1e-9  # a letter, as planes, to the GPU
CPU_PAIR = 0.024e-9  # a text position and a query, mismatches
GPU_PAIR = 0.08e-12
CPU_CELL, CPU_COLUMN = 0.0019e-9, 0.0065e-9  # a cell and a column of the recurrence
GPU_CELL = 0.0145e-12
DEEPER = 30  # rows of a column that are computed beyond 2·k
FULL = 45e6  # letters with which a search for mismatches fills a GPU


class Work(NamedTuple):
    """A search before it begins.

    letters: of the text, None where that is unknown; queries: patterns times strands; length:
    letters of a pattern, on average; k: int; differences: whether insertions and deletions count.
    """

    letters: int | None
    queries: int
    length: float
    k: int
    differences: bool


def cpu_seconds(work, threads):
    """What kernels and packing take on the CPU; what both devices have in common does not count."""
    pair = CPU_PAIR
    if work.differences:
        pair = CPU_COLUMN + CPU_CELL * min(work.length, 2 * work.k + DEEPER)
    return work.letters * (PACK + pair * work.queries) / threads


def gpu_seconds(work, threads):
    """The same on a GPU, with its start and copies."""
    pair = GPU_CELL * work.length
    if not work.differences:
        pair = GPU_PAIR / min(max(work.letters, 1) / FULL, 1)
    copies = work.letters * (PACK / threads + GPU_COPY)
    return GPU_START + copies + work.letters * work.queries * pair


def best_device(work, threads):
    """(`cpu` or `cuda`, why): the one that will be done first, where there is a GPU."""
    if work is None or work.letters is None:
        return "cuda", "a usable GPU, and a text of unknown length"
    cpu, gpu = cpu_seconds(work, threads), gpu_seconds(work, threads)
    kind = "cpu" if cpu < gpu else "cuda"
    return kind, f"expected to take {cpu:.2g} s on the CPU and {gpu:.2g} s on a GPU"


def expected_seconds(kind, work, threads):
    """What a device, `cpu` or `cuda`, will take for some Work; None where that is unknown."""
    if work is None or work.letters is None:
        return None
    return (gpu_seconds if kind == "cuda" else cpu_seconds)(work, threads)
