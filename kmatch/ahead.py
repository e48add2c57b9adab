"""All kernels compiled ahead, by several processes, for the types that searches call them with.

Each kernel is compiled for itself, so that none waits for another. The processes are started, not
forked, which threads and CUDA would not survive.
"""

import os
import signal
import warnings
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
from contextlib import suppress
from itertools import zip_longest
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any

import numpy as np

from kmatch.engine import types
from kmatch.engine.codes import HitBuffer
from kmatch.engine.cpu.items import Tiling
from kmatch.engine.cpu.primer import Tile
from kmatch.engine.cpu.tables import Piece, Seeds
from kmatch.engine.devices import choose_engine
from kmatch.engine.geometry import Text
from kmatch.engine.queries import DifferenceQuery, Profile, QueryArrays, ReadingArrays
from kmatch.errors import DeviceError, KmatchError, KmatchWarning
from kmatch.jit.entries import entry, take, unfit
from kmatch.search.plateaus import PLATEAU, ROW, Chains, State
from kmatch.sequences.records import Progress
from kmatch.threads import cores

CUDA_MEMORY = 1 << 30  # bytes of a GPU's free memory for each process, which takes half of them


def _array(kind: Any, dimensions: int = 1) -> Any:
    return np.zeros((0,) * dimensions, kind)


# Arguments of the types that kernels are called with.
BOOLS, BYTES, PLANES, INTS, LONGS, WORDS, FLOATS = map(
    _array, (np.bool_, np.uint8, np.int8, np.int32, np.int64, np.uint64, np.float64)
)
CODES, TABLE, PAMS = _array(np.uint8, 2), _array(np.int64, 2), _array(np.uint8, 3)
TEXT, BUFFER = Text(WORDS, 0, 0, 0), HitBuffer(LONGS, LONGS)
VIEW = types.View(TEXT, BYTES, BYTES, 0)
READING = ReadingArrays(PLANES, LONGS, BYTES, BYTES)
QUERY = DifferenceQuery(READING, LONGS, 0, Profile(WORDS, LONGS), 0)
STATES = types.States(LONGS, LONGS, LONGS, LONGS, 0, 0, True)
CONSTRAINTS = types.Constraints(PAMS, LONGS, 0, 0, STATES, 0, BYTES, True)
ENDS = types.Ends(LONGS, LONGS, LONGS, LONGS)
PLATEAUS, ROWS = State(BYTES, _array(PLATEAU)), _array(ROW)
SPANS, COLUMNS = (LONGS, LONGS, LONGS), (LONGS, LONGS)
SEEDS = Seeds(TABLE, INTS, WORDS, INTS, WORDS, WORDS, LONGS, LONGS, 0)
TREE = (_array(np.uint64, 2), LONGS)
SITES, GUIDES = (LONGS, BYTES), (INTS, CODES)
WEIGHTS, BEST = _array(np.float64, 3), _array(np.float64, 4)

# By module and name, those that compile longest first.
KERNELS: dict[str, tuple[Any, ...]] = {
    "kmatch.engine.trace trace": (
        *(LONGS, VIEW, QUERY, CONSTRAINTS, ENDS),
        *(types.Traced(LONGS, LONGS, LONGS), types.Columns(LONGS, BYTES, LONGS, BYTES)),
    ),
    "kmatch.engine.cpu.edit scan_edit": (LONGS, TEXT, QUERY, LONGS, 0, BUFFER),
    "kmatch.engine.cpu.primer_kernels extend_tile": (
        Tile(_array(np.uint64, 2), 0, LONGS, LONGS, BOOLS, 0, 0, 0),
        *(BYTES, LONGS),
    ),
    "kmatch.engine.cpu.lookup scan_lookup": (
        *(LONGS, TEXT, VIEW, PAMS, LONGS, TABLE, SEEDS, LONGS, BUFFER),
    ),
    "kmatch.engine.cpu.hamming scan": (
        *(LONGS, TEXT, QueryArrays(PLANES, INTS, TABLE, BYTES), 0, Tiling(0, 0, 0), BUFFER),
    ),
    "kmatch.engine.trace constrained_distances": (LONGS, VIEW, QUERY, CONSTRAINTS, ENDS),
    "kmatch.engine.trace stand_beside": (LONGS, VIEW, QUERY, CONSTRAINTS, (LONGS, LONGS), BOOLS),
    "kmatch.results.kernels score_cfd": (SITES, GUIDES, INTS, (0, 0, 0), WEIGHTS, BEST, FLOATS),
    "kmatch.search.kernels split_windows": (
        *(LONGS, LONGS, 0, (INTS, BYTES, LONGS), COLUMNS, 0, SPANS),
        *((LONGS, INTS, INTS, INTS, BYTES), LONGS),
    ),
    "kmatch.engine.cpu.pack pack": (LONGS, BYTES, TEXT),
    "kmatch.results.kernels number_texts": (LONGS, BYTES, LONGS, LONGS, LONGS),
    "kmatch.engine.letters copy_rows": (BYTES, LONGS, LONGS, BYTES),
    "kmatch.results.kernels fill_lines": (BOOLS, BOOLS, LONGS, LONGS, LONGS, BYTES, BYTES),
    "kmatch.search.kernels feed_plateaus": (LONGS, PLATEAUS, LONGS, LONGS, LONGS, TABLE, LONGS),
    "kmatch.search.kernels fill_columns": (
        *(ROWS, 0, COLUMNS, (INTS, BYTES), SPANS, (INTS, INTS, BYTES)),
    ),
    "kmatch.search.kernels split_ends": (
        *(LONGS, LONGS, 0, 0, BYTES, COLUMNS, (0, 0), SPANS, LONGS),
    ),
    "kmatch.search.kernels join_chains": (BYTES, Chains(*[LONGS] * 7), BOOLS),
    "kmatch.engine.letters read_text": (LONGS, TEXT, BYTES),
    "kmatch.search.kernels close_plateaus": (PLATEAUS, 0, 0, TABLE, LONGS),
    "kmatch.engine.letters read_windows": (LONGS, TEXT, BYTES, LONGS, BYTES, LONGS, BYTES, BYTES),
    "kmatch.engine.cpu.lookup list_codes": ((WORDS, WORDS), Piece(0, 0, 0), TREE, INTS, LONGS),
    "kmatch.engine.cpu.lookup walk": ((np.uint64(0), np.uint64(0)), 0, 0, TREE, INTS),
    "kmatch.search.kernels compare_windows": (LONGS, BYTES, LONGS, BYTES, LONGS, BYTES),
    "kmatch.engine.cpu.pack unite": (WORDS, 0, BYTES),
    "kmatch.engine.trace read_view": (VIEW, 0, 0, BYTES),
    "kmatch.engine.cpu.lookup sort_entries": (INTS, LONGS, LONGS, INTS),
    "kmatch.engine.cpu.primer_kernels climb": (LONGS, LONGS, BOOLS, 0, 0),
    "kmatch.search.kernels place_windows": (LONGS, LONGS, (0, 0), (LONGS, BYTES), 0),
}


def compile_all(on_progress: Progress | None = None) -> list[str]:
    """Compile all kernels, for the CPU and for CUDA where there is a GPU; returns the devices.

    on_progress(done, kernels) is called after each. Raises a KmatchError where kernels cannot be
    made or kept.
    """
    workers = cores()
    kernels: dict[str, list[str]] = {"cpu": [*KERNELS]}
    with suppress(DeviceError):
        choose_engine("cuda")
        from kmatch.engine.cuda import ahead, driver

        kernels["cuda"] = [*ahead.kernels(driver.copies_in_background())]
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
        from kmatch.engine.cuda import ahead

        choose_engine(device)
        ahead.compile_kernel(name)
        return
    module, _, kernel = name.partition(" ")
    kinds: list[Any] = []
    take(KERNELS[name], kinds, [])
    if entry(module, kernel).open(tuple(kinds)) is None:
        warnings.warn(f"not compiled ahead: {unfit[0]}", KmatchWarning, stacklevel=2)
