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

from kmatch.engine.cpu import engine, seeds  # noqa: F401  with what names kernels
from kmatch.engine.devices import choose_engine
from kmatch.engine.workers import cores
from kmatch.errors import DeviceError, KmatchError, KmatchWarning
from kmatch.jit.arguments import Kinds, example, lay_out_all
from kmatch.jit.entries import ahead
from kmatch.results import limit, lines, scores  # noqa: F401
from kmatch.search import alignments, edit, sites, windows  # noqa: F401
from kmatch.sequences.records import Progress

CUDA_MEMORY = 1 << 30  # bytes of a GPU's free memory for each process, which takes half of them


def compile_all(on_progress: Progress | None = None) -> list[str]:
    """Compile all kernels, for the CPU and for CUDA where there is a GPU; returns the devices.

    on_progress(done, kernels) is called after each. Raises a KmatchError where kernels cannot be
    made or kept.
    """
    workers = cores()
    # What takes many arguments compiles for long, and is begun first.
    names = [("cpu", name) for name in sorted(ahead, key=lambda name: -len(str(_kinds(name))))]
    with suppress(DeviceError):
        choose_engine("cuda")
        from kmatch.engine.cuda import driver
        from kmatch.engine.cuda.engine import cuda_kernels

        names += [("cuda", name) for name in cuda_kernels()]
        workers = max(min(workers, driver.memory()[0] // CUDA_MEMORY), 1)
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
                choose_engine(device)
                from kmatch.engine.cuda.engine import cuda_kernels

                make, constants, types = cuda_kernels()[name]
                make(*constants).compile(types)
            else:
                ahead[name][0].open(_kinds(name))
    except Exception as error:  # some of which other processes cannot raise
        raise KmatchError(f"not compiled ahead: {name}: {error}") from None


def _kinds(name: str) -> Kinds:
    """Return the kinds of the arguments of a kernel for the CPU."""
    _, types = ahead[name]
    return lay_out_all(example(types), [])
