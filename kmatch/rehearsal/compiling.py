"""All kernels compiled in several processes, or those of a search beside it.

A process of its own runs each search on a tiny genome, so that each compiles other kernels; what
several need is compiled by the first, and the others wait for it (see `kmatch.jit.claims`). They
are started anew, not forked, which threads and CUDA would not survive.
"""

import os
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager, nullcontext, suppress

import numpy as np

from kmatch.engine.geometry import LANES_PER_WORD
from kmatch.engine.host.packing import packing_by
from kmatch.errors import DeviceError, KmatchWarning
from kmatch.jit import telling_of_compiling
from kmatch.jit.claims import sharing, take
from kmatch.jit.folders import open_folder, own_folder
from kmatch.rehearsal.searches import FILES, TASKS, rehearse

KERNEL, TASK = "kernel", "task"  # what a process says that it has done
CUDA_WORKERS = 4  # each takes half a gigabyte of a GPU's memory

# The tasks that compile what a first search needs beside it. Searches for mismatches need few
# kernels, one after the other: two processes on two busy cores took longer than one.
NEEDED = {"edit": ("edit", "filter"), "best": ("best", "filter")}


def compile_all(on_progress=None, workers=None):
    """Compile all kernels, for the CPU and for CUDA where there is a GPU.

    on_progress(functions, done, tasks) hears how many functions were compiled, and how many tasks
    of all are done; workers: processes at once, by default one a core. Returns the number of
    functions compiled and the devices.
    """
    devices = ["cpu"]
    with suppress(DeviceError):
        from kmatch.engine.devices import choose_engine

        choose_engine("cuda")
        devices.append("cuda")
    workers = min(workers or _cores(), len(TASKS))
    counts = [0, 0, len(TASKS) * len(devices)]

    def tell(what):
        counts[0] += what == KERNEL
        counts[1] += what == TASK
        if on_progress:
            on_progress(*counts)

    with tempfile.TemporaryDirectory(prefix="kmatch-claims-") as claims:
        for device in devices:
            many = min(workers, CUDA_WORKERS) if device == "cuda" else workers
            if many == 1 or not _run_workers(many, claims, device, tell):
                # The same here, where what fails says why; what was compiled is only loaded.
                with telling_of_compiling(lambda name: tell(KERNEL)):
                    for name in TASKS:
                        rehearse(device, [name])
                        tell(TASK)
    return counts[0], devices


def _run_workers(many, claims, device, tell):
    """Whether all tasks were done by processes, `many` of them."""
    read, write = os.pipe()
    with open(read) as lines, _processes() as start:
        running = [start(write, claims, device, *TASKS) for _ in range(many)]
        os.close(write)
        for line in lines:
            tell(line.strip())
        return all(process is not None and process.wait() == 0 for process in running)


@contextmanager
def _processes():
    """Give a function that starts work(*arguments) in a process; at the end of the block all end.

    Its first argument is where the process writes to. It returns None where none can be started.
    """
    program = (
        f"import sys; sys.path[:] = {sys.path}; from {__name__} import work; work(*sys.argv[1:])"
    )
    running, none = [], subprocess.DEVNULL

    def start(output, *arguments):
        command = [sys.executable or "python", "-c", program, *arguments]
        try:
            running.append(subprocess.Popen(command, stdin=none, stdout=output, stderr=none))
        except OSError:
            return None
        return running[-1]

    try:
        yield start
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def work(claims, device, *tasks):
    """Run the tasks that no other process took; a line on standard output for what is done.

    Fails where what it compiles cannot be kept: then it is of no use.
    """
    warnings.simplefilter("error", KmatchWarning)
    with sharing(claims), telling_of_compiling(lambda name: print(KERNEL, flush=True)):
        for name in tasks:
            if take(f"{device} {name}"):
                with nullcontext() if name == FILES else packing_by(_pack):
                    rehearse(device, [name])
                print(TASK, flush=True)


def _pack(letters, text):
    """As the kernel `pack`, which all searches would otherwise wait for, by NumPy and slowly."""
    planes, words, rows, plane_words = text
    lanes = rows * np.arange(LANES_PER_WORD * words)
    upper = letters[np.arange(plane_words // words)[:, None] + lanes] & 0xDF
    upper[upper == ord("U")] = ord("T")
    for plane, base in enumerate(b"ACGT"):
        bits = np.packbits(upper == base, axis=1, bitorder="little").view(np.uint64)
        planes[plane * bits.size : (plane + 1) * bits.size] = bits.ravel()


@contextmanager
def compiling_beside(command):
    """While a first search runs, other processes compile what it will need, if on the CPU.

    command: that of the search; gives a function to call with its engine, once that is known.
    """
    with (
        tempfile.TemporaryDirectory(prefix="kmatch-claims-") as claims,
        sharing(claims),
        _processes() as start,
    ):

        def begin(engine):
            with suppress(OSError):
                open_folder(own_folder())  # where nothing can be kept, none can help
                for name in NEEDED.get(command, ())[: _cores() - 1] if engine.name == "cpu" else ():
                    start(subprocess.DEVNULL, claims, "cpu", name)

        yield begin


def _cores():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
