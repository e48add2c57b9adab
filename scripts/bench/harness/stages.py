#!/usr/bin/env python3
"""Run a kmatch command and write how long each stage of its start took.

    stages.py JSON BEGAN WORD …

BEGAN is the time.time() at which the process was started. A stage is an import, a call of Numba's
part for CUDA or of kmatch's; its `own` seconds are those outside other stages. Stages of several
threads overlap.
"""

import sys
import time

STARTED = time.time()  # the interpreter is there

import functools  # noqa: E402
import importlib.abc  # noqa: E402
import importlib.machinery  # noqa: E402
import json  # noqa: E402
import threading  # noqa: E402

IMPORTS = {
    "click", "numpy", "Bio", "rich", "llvmlite", "numba", "numba.cuda", "numba.cuda.dispatcher",
    "kmatch.cli.command", "kmatch.search.hamming", "kmatch.search.edit", "kmatch.search.multi",
    "kmatch.engine.cpu.engine", "kmatch.engine.cuda.gpu.driver", "kmatch.engine.cuda.engine",
}  # fmt: skip
# Of a module once it is imported: the functions that are stages.
CALLS = {
    "kmatch.engine.devices": ["choose_engine"],
    "kmatch.engine.cuda.gpu.driver": [
        "find_devices", "open_device", "use_device", "new_stream", "pinned", "pinned_counter",
        "on_device", "empty", "memory",
    ],
    "kmatch.engine.cuda.gpu.device": ["Gpu.__init__", "Gpu._copy", "Gpu.pack"],
    "kmatch.engine.cuda.gpu.scans": ["Scan.__init__", "Scan.found"],
    "kmatch.search.scanning.chunks": ["_pack"],
    "kmatch.sequences.chunks": [],
    "numba.cuda.dispatcher": [
        "CUDADispatcher.call", "CUDADispatcher.compile", "_Kernel.__init__", "_Kernel.launch",
    ],
    "numba.cuda.codegen": ["CUDACodeLibrary.get_cufunc", "CUDACodeLibrary.get_cubin"],
    "numba.core.base": ["BaseContext.refresh"],
    "kmatch.jit.files": ["KernelFiles.load"],
}  # fmt: skip


class Stages:
    """Times of stages, by thread."""

    def __init__(self):
        self.rows, self._local = [], threading.local()

    def time(self, name, call):
        """call(), noted as a stage."""
        stack = self._local.__dict__.setdefault("stack", [])
        began = time.time()
        stack.append(0.0)
        try:
            return call()
        finally:
            seconds = time.time() - began
            inside = stack.pop()
            if stack:
                stack[-1] += seconds
            self.rows.append((name, threading.current_thread().name, began, seconds, inside))


class Watched(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of IMPORTS and CALLS, whose imports and functions become stages."""

    def __init__(self, stages):
        self._stages, self._loaders = stages, {}

    def find_spec(self, name, path=None, target=None):
        if name not in IMPORTS and name not in CALLS and not name.startswith("numba_cuda"):
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)):
                break
        else:
            return None
        self._loaders[name], spec.loader = spec.loader, self
        return spec

    def create_module(self, spec):
        return self._loaders[spec.name].create_module(spec)

    def exec_module(self, module):
        name = module.__spec__.name
        loader = self._loaders[name]
        module.__spec__.loader = module.__loader__ = loader
        if name in IMPORTS:
            self._stages.time(f"import {name}", lambda: loader.exec_module(module))
        else:
            loader.exec_module(module)
        for function in CALLS.get(name.replace("numba_cuda.numba.cuda", "numba.cuda"), ()):
            self._wrap(module, function)

    def _wrap(self, module, function):
        *owners, last = function.split(".")
        owner = module
        for part in owners:
            owner = getattr(owner, part, None)
        plain, stages = getattr(owner, last, None), self._stages
        if plain is None:
            return

        @functools.wraps(plain)
        def staged(*given, **named):
            return stages.time(f"{label}{_of(given)}", lambda: plain(*given, **named))

        label = f"{module.__name__.rpartition('.')[2]}.{function}"
        setattr(owner, last, staged)


def _of(given):
    """Which kernel a call of Numba's is about."""
    kernel = getattr(given[0], "py_func", None) if given else None
    kernel = getattr(kernel, "__qualname__", None)
    named = given[0].name if given and type(given[0]).__name__ == "KernelFiles" else kernel
    return f" {named.split('-')[0]}" if named else ""


def summed(rows, since):
    """A row for each stage, in the order of their beginnings: seconds with and without others."""
    found = {}
    for name, thread, began, seconds, inside in sorted(rows, key=lambda row: row[2]):
        row = found.setdefault(
            (name, thread),
            {
                "stage": name,
                "thread": thread,
                "at": began - since,
                "calls": 0,
                "s": 0.0,
                "own": 0.0,
            },
        )
        row["calls"] += 1
        row["s"] += seconds
        row["own"] += seconds - inside
    return list(found.values())


def main():
    path, began, *words = sys.argv[1:]
    stages, status = Stages(), 0
    sys.meta_path.insert(0, Watched(stages))
    sys.argv = ["kmatch", *words]
    from kmatch.cli.main import main as command

    try:
        stages.time("command", command)
    except SystemExit as end:
        status = end.code
    ended, began = time.time(), float(began)
    rows = [{"stage": "interpreter", "at": 0.0, "calls": 1, "s": STARTED - began}]
    record = {"seconds": ended - began, "rows": rows + summed(stages.rows, began)}
    with open(path, "w") as handle:
        json.dump(record, handle)
    sys.exit(status)


if __name__ == "__main__":
    main()
