"""All kernels compiled ahead, by several processes, for the types that searches call them with.

Each kernel is compiled for itself, so that none waits for another. The processes are started, not
forked, which threads and CUDA would not survive.
"""

import os
import signal
import warnings
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, as_completed
from contextlib import suppress
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
from kmatch.jit.entries import entry, unfit
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
    "kmatch.engine.cpu.edit smallest_edit": (LONGS, TEXT, READING, LONGS, 0, TABLE),
    "kmatch.search.kernels split_windows": (
        *(LONGS, LONGS, 0, (INTS, BYTES, LONGS), COLUMNS, 0, SPANS),
        *((LONGS, INTS, INTS, INTS, BYTES), LONGS),
    ),
    "kmatch.engine.cpu.pack pack": (LONGS, BYTES, TEXT),
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


def compile_all(on_progress: Progress | None = None, workers: int | None = None) -> list[str]:
    """Compile all kernels, for the CPU and for CUDA where there is a GPU; returns the devices.

    on_progress(done, kernels) is called after each; workers: processes at once, by default one a
    core. Raises a KmatchError where kernels cannot be made or kept.
    """
    workers = workers or cores()
    shares = {"cpu": workers}
    with suppress(DeviceError):
        shares["cuda"] = _cuda_workers(workers)
    try:
        _compile(shares, on_progress)
    except (BrokenExecutor, OSError):  # no processes here, or no memory for all of them
        for device in shares:
            for name in _kernels(device):
                compile_kernel(device, name)
    except KmatchWarning as warning:
        raise KmatchError(str(warning)) from None
    return [*shares]


def _cuda_workers(workers: int) -> int:
    """How many processes compile for CUDA beside those for the CPU: as many where the GPU's memory
    suffices. Raises DeviceError where no GPU can be used."""
    choose_engine("cuda")
    from kmatch.engine.cuda.driver import memory

    return max(min(workers, memory()[0] // CUDA_MEMORY), 1)


def _compile(shares: dict[str, int], on_progress: Progress | None) -> None:
    """Have processes compile all kernels of all devices at once, so many of each."""
    pools: list[Executor] = []
    running = []
    try:
        for device, workers in shares.items():
            spawned = get_context("spawn")
            pools.append(ProcessPoolExecutor(workers, spawned, initializer=_begin))
            running += [pools[-1].submit(compile_kernel, device, name) for name in _kernels(device)]
        for done, kernel in enumerate(as_completed(running), 1):
            kernel.result()
            if on_progress:
                on_progress(done, len(running))
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """A process that compiles ends with the one that started it, and silently."""
    warnings.simplefilter("error", KmatchWarning)  # that kernels cannot be kept ends it all
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = parent_process()

    def end() -> None:
        if parent:
            parent.join()
            os._exit(1)

    Thread(target=end, daemon=True).start()


def compile_kernel(device: str, name: str) -> None:
    """Compile one of a device's kernels, unless it is there."""
    if device == "cpu":
        if entry(*name.split()).open(KERNELS[name]) is None:
            warnings.warn(f"not compiled ahead: {unfit[0]}", KmatchWarning, stacklevel=2)
    else:
        from kmatch.engine.cuda import ahead

        choose_engine(device)
        ahead.compile_kernel(name)


def _kernels(device: str) -> list[str]:
    if device == "cpu":
        return [*KERNELS]
    from kmatch.engine.cuda.ahead import kernels

    return [*kernels()]
