"""All kernels compiled ahead, by several processes, for the types that searches call them with.

Each kernel is compiled for itself, so that none waits for another. The processes are started, not
forked, which threads and CUDA would not survive.
"""

import os
import signal
import warnings
from collections.abc import Iterable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import suppress
from itertools import product
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Ints, Longs, Planes, Table, Words
from kmatch.engine.cpu import engine  # noqa: F401  with what names kernels
from kmatch.engine.devices import choose_engine
from kmatch.errors import DeviceError, KmatchError, KmatchWarning
from kmatch.jit.entries import ahead, example, spell
from kmatch.results import lines, scores  # noqa: F401
from kmatch.search import alignments, windows  # noqa: F401
from kmatch.sequences.records import Progress
from kmatch.threads import cores

CUDA_MEMORY = 1 << 30  # bytes of a GPU's free memory for each process, which takes half of them


def compile_all(on_progress: Progress | None = None) -> list[str]:
    """Compile all kernels, for the CPU and for CUDA where there is a GPU; returns the devices.

    on_progress(done, kernels) is called after each. Raises a KmatchError where kernels cannot be
    made or kept.
    """
    workers = cores()
    # What takes many arguments compiles for long, and is begun first.
    names = [("cpu", name) for name in sorted(ahead, key=lambda name: -len(_spelled(name)[0]))]
    with suppress(DeviceError):
        choose_engine("cuda")
        from kmatch.engine.cuda.driver import memory

        names += [("cuda", name) for name in cuda_kernels()]
        workers = max(min(workers, memory()[0] // CUDA_MEMORY), 1)
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
                make, constants, types = cuda_kernels()[name]
                make(*constants).compile(types)
            else:
                ahead[name][0].open(*_spelled(name))
    except Exception as error:  # some of which other processes cannot raise
        raise KmatchError(f"not compiled ahead: {name}: {error}") from None


def _spelled(name: str) -> tuple[str, list[Any]]:
    """The arguments of a kernel for the CPU, as its entry spells them."""
    kinds: list[Any] = []
    return spell(example(ahead[name][1]), [0], kinds), kinds


def cuda_kernels(pairs: bool | None = None) -> dict[str, tuple[Any, tuple[Any, ...], Any]]:
    """What searches launch on a GPU, by name, those that compile longest first.

    The function that makes a kernel, the constants it is called with, and the types of the kernel's
    arguments. pairs: whether the GPU copies in the background, else it is the current GPU's.
    """
    from numba import typeof

    from kmatch.engine.cuda import edit, hamming, primer, primer_kernels, text
    from kmatch.engine.cuda.driver import copies_in_background
    from kmatch.engine.cuda.engine import LAYOUT

    pairs = copies_in_background() if pairs is None else pairs
    found: dict[str, tuple[Any, tuple[Any, ...], Any]] = {}

    def add(name: str, make: Any, kinds: Iterable[tuple[Any, ...]], *types: Any) -> None:
        signature = tuple(typeof(example(each)) for each in types)
        for constants in kinds:
            found[" ".join(map(str, (name, *constants)))] = make, constants, signature

    steps, shorts = Annotated[Ints, 2], NDArray[np.uint32]
    tile = Words, shorts, Ints, Ints, Table, primer_kernels.Shape, Words, Table, Longs
    heights = product((primer.HEIGHT,), primer.BITS, (primer_kernels.WIDTH,))
    add("primer", primer_kernels.make_extend, heights, *tile)
    scan = Words, edit.Shape, Annotated[Planes, 2], steps, Longs, Longs
    strips = product(edit.STRIP_ROWS, edit.STRIP_BITS)
    add("strips", edit.make_strips, strips, *scan, int, Words, Words, Words)
    short = product(range(edit.STEP, edit.SHORT + 1, edit.STEP), (edit.SHORT_BITS,))
    add("edit", edit.make_scan, short, *scan)
    tiles = [(bits, LAYOUT.words, hamming.FLAT, pairs) for bits in hamming.BITS]
    tall = [bits for bits in hamming.BITS if bits <= hamming.TALL_BITS]
    tiles += [(bits, LAYOUT.words, hamming.TALL, pairs) for bits in tall]
    hamming_types = Words, hamming.Shape, Planes, Ints, Words, steps, Longs, Longs
    add("hamming", hamming.make_scan, tiles, *hamming_types)
    add("fill", lambda: text.fill, [()], Words, int, Bytes, Words)
    return found
