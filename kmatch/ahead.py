"""All kernels compiled ahead, by several processes, for the types that searches call them with.

Each kernel is compiled for itself, so that none waits for another. The processes are started, not
forked, which threads and CUDA would not survive.
"""

import os
import signal
import warnings
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any

from kmatch.engine.cpu import engine  # noqa: F401  with what names kernels
from kmatch.engine.devices import choose_engine
from kmatch.errors import DeviceError, KmatchError, KmatchWarning
from kmatch.jit.entries import ahead, example, take
from kmatch.results import lines, scores  # noqa: F401
from kmatch.search import alignments, windows  # noqa: F401
from kmatch.sequences.records import Progress
from kmatch.threads import cores

CUDA_MEMORY = 1 << 30  # bytes of a GPU's free memory for each process, which takes half of them

# Those of the CPU that compile for longest, up to 14 s.
LONGEST = (
    *("kmatch.engine.cpu.primer_kernels:extend_tile", "kmatch.engine.trace:trace"),
    *("kmatch.engine.cpu.edit:scan_edit", "kmatch.engine.cpu.lookup:scan_lookup"),
    *("kmatch.engine.cpu.hamming:scan", "kmatch.engine.trace:keep_ends"),
)


def compile_all(on_progress: Progress | None = None) -> list[str]:
    """Compile all kernels, for the CPU and for CUDA where there is a GPU; returns the devices.

    on_progress(done, kernels) is called after each. Raises a KmatchError where kernels cannot be
    made or kept.
    """
    workers = cores()
    names = [("cpu", name) for name in LONGEST]
    with suppress(DeviceError):
        choose_engine("cuda")
        from kmatch.engine.cuda import ahead as on_gpu
        from kmatch.engine.cuda import driver

        names += [("cuda", name) for name in on_gpu.kernels(driver.copies_in_background())]
        workers = max(min(workers, driver.memory()[0] // CUDA_MEMORY), 1)
    names += [("cpu", name) for name in ahead if name not in LONGEST]
    try:
        with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_begin) as pool:
            for done, _ in enumerate(pool.map(compile_kernel, *zip(*names, strict=True)), 1):
                if on_progress:
                    on_progress(done, len(names))
    except (BrokenExecutor, OSError):  # no processes here, or no memory for all of them
        for name in names:
            compile_kernel(*name)
    return sorted({device for device, _ in names})


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # silently
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)


def compile_kernel(device: str, name: str) -> None:
    """Compile one of a device's kernels, unless it is there. Raises a KmatchError."""
    try:
        with warnings.catch_warnings(action="error", category=KmatchWarning):  # it cannot be kept
            if device == "cuda":
                from kmatch.engine.cuda import ahead as on_gpu

                choose_engine(device)
                on_gpu.compile_kernel(name)
            else:
                (kernel, types), kinds = ahead[name], list[Any]()
                take(example(types), kinds, [])
                kernel.open(tuple(kinds))
    except Exception as error:  # some of which other processes cannot raise
        raise KmatchError(f"not compiled ahead: {name}: {error}") from None
