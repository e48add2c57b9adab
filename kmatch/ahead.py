"""All kernels compiled ahead, by several processes, for the types that searches call them with.

Each kernel is compiled for itself, so that none waits for another. The processes are started, not
forked, which threads and CUDA would not survive.
"""

import os
import signal
import warnings
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
from contextlib import suppress
from itertools import zip_longest
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

from kmatch.engine.cpu import engine  # noqa: F401  with what names kernels
from kmatch.engine.devices import choose_engine
from kmatch.errors import DeviceError, KmatchError, KmatchWarning
from kmatch.jit.entries import ahead
from kmatch.results import scores, writer  # noqa: F401
from kmatch.search import alignments, windows  # noqa: F401
from kmatch.sequences.records import Progress
from kmatch.threads import cores

CUDA_MEMORY = 1 << 30  # bytes of a GPU's free memory for each process, which takes half of them
LONGEST = ("trace", "scan_edit", "extend_tile", "scan_lookup", "scan", "constrained_distances")


def compile_all(on_progress: Progress | None = None) -> list[str]:
    """Compile all kernels, for the CPU and for CUDA where there is a GPU; returns the devices.

    on_progress(done, kernels) is called after each. Raises a KmatchError where kernels cannot be
    made or kept.
    """
    workers = cores()
    kernels = {"cpu": sorted(ahead, key=lambda name: name.split(":")[1] not in LONGEST)}
    with suppress(DeviceError):
        choose_engine("cuda")
        from kmatch.engine.cuda import ahead as on_gpu
        from kmatch.engine.cuda import driver

        kernels["cuda"] = [*on_gpu.kernels(driver.copies_in_background())]
        workers = max(min(workers, driver.memory()[0] // CUDA_MEMORY), 1)
    # Those that take longest come first, of either device.
    turns = zip_longest(*([(device, name) for name in names] for device, names in kernels.items()))
    names = [name for turn in turns for name in turn if name]
    try:
        with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_begin) as pool:
            running = [pool.submit(compile_kernel, *name) for name in names]
            for done, kernel in enumerate(as_completed(running), 1):
                if kernel.exception():
                    pool.shutdown(cancel_futures=True)
                kernel.result()
                if on_progress:
                    on_progress(done, len(names))
    except (BrokenExecutor, OSError):  # no processes here, or no memory for all of them
        for name in names:
            compile_kernel(*name)
    except KmatchWarning as warning:
        raise KmatchError(str(warning)) from None
    return [*kernels]


def _begin() -> None:
    warnings.simplefilter("error", KmatchWarning)  # that kernels cannot be kept ends it all
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # silently
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)


def compile_kernel(device: str, name: str) -> None:
    """Compile one of a device's kernels, unless it is there."""
    if device == "cuda":
        from kmatch.engine.cuda import ahead as on_gpu

        choose_engine(device)
        on_gpu.compile_kernel(name)
        return
    kernel, types = ahead[name]
    try:
        kernel.open(tuple(kinds_of(types)))
    except Exception as error:  # some of which other processes cannot raise
        warnings.warn(f"not compiled ahead: {name}: {error}", KmatchWarning, stacklevel=2)


def kinds_of(annotation: Any) -> Iterator[Any]:
    """The kinds (see `kmatch.jit.entries.take`) of arguments that are annotated so."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:  # with an array's dimensions, or with its dtype
        array, more = parts
        yield from (more, 1) if isinstance(more, np.dtype) else (next(kinds_of(array)), more)
    elif origin is np.ndarray:
        yield from (np.dtype(get_args(parts[1])[0]), 1)
    elif issubclass(origin or annotation, tuple):
        fields = parts or get_type_hints(annotation, include_extras=True).values()
        yield from (origin or annotation, len(fields))
        for field in fields:
            yield from kinds_of(field)
    else:
        yield annotation
