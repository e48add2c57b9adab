"""The device that runs the kernels, and the versions that kmatch runs on."""

import ctypes
import os
import platform
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from kmatch import __version__
from kmatch.arguments import check_threads
from kmatch.errors import DeviceError

if TYPE_CHECKING:
    from kmatch.engine.engine import Engine

DEVICE = re.compile(r"auto|cpu|cuda(:(all|\d+(,\d+)*))?")

NO_DRIVER = "the library of the NVIDIA driver was not found"

KNOWN = "auto, cpu, cuda, cuda:N, cuda:N,M or cuda:all"

REPEATED = False  # whether several engines may share a GPU, which tests with one GPU want

PACKAGES = ("numba", "llvmlite", "numpy", "biopython", "click", "rich", "xopen")

VECTOR_FEATURES = ("avx512f", "avx512vl", "avx2", "avx", "sse4.2", "neon", "sve")


def choose_engine(device: str, threads: int | None = None, work: int | None = None) -> "Engine":
    """Return the Engine for a device (see `kmatch.engine.engine`).

    device: `auto`, `cpu`, `cuda`, `cuda:N`, several GPUs as `cuda:0,1`, or `cuda:all`; threads: of
    the CPU, None for all cores; work: letters that a scan compares, by which `auto` chooses, None
    where that is unknown. Raises DeviceError for a device that is unknown or cannot be used.
    """
    check_threads(threads)
    if not isinstance(device, str) or not DEVICE.fullmatch(device):
        raise DeviceError(f"unknown device '{device}'; use {KNOWN}")
    kind = device.partition(":")[0]
    reason = "asked for"
    if kind == "auto" and _has_driver():
        from kmatch.engine.ways import device_for  # with NumPy, which names of devices do without

        kind, reason = device_for(work)
    if kind != "cpu":
        try:
            return _cuda_engine(device, threads, reason)
        except DeviceError as error:
            if device != "auto":
                raise DeviceError(f"device {device}: no usable GPU ({error}); use cpu") from error
            reason = f"no usable GPU: {error}"
    from kmatch.engine.cpu.engine import CpuEngine

    return CpuEngine(threads, reason)


def _cuda_engine(device: str, threads: int | None, reason: str) -> "Engine":
    """Return the engine of the GPUs that a device names, `auto` and `cuda` the first one that can
    be used.

    Raises DeviceError with the reason there is none.
    """
    numbers = [int(number) for number in re.findall(r"\d+", device)]
    if len(set(numbers)) < len(numbers) and not REPEATED:
        raise DeviceError("a GPU is named twice")
    if not _has_driver():
        raise DeviceError(NO_DRIVER)
    wake(device.replace("auto", "cuda"))
    from kmatch.engine.cuda.driver import find_devices

    found, why = find_devices()
    gpus = {gpu.number: gpu for gpu in found}
    if not gpus:
        raise DeviceError(why)
    chosen = numbers or (list(gpus) if device == "cuda:all" else list(gpus)[:1])
    if not gpus.keys() >= set(chosen):
        raise DeviceError(f"the GPUs here are {', '.join(f'cuda:{n}' for n in gpus)}")
    from kmatch.engine.cuda.engine import CudaEngine

    return CudaEngine([gpus[number] for number in chosen], threads, reason)


@cache
def wake(device: str) -> None:
    """Have the driver open the first GPU that a device names while a search is imported.

    Either takes 0.2 s or more, of the 0.7 s of a small search. Numba asks for the same context
    later, and reports errors. A process that ends early waits for the thread, as the driver may not
    be left half open.
    """
    driver = _driver()
    if driver is None or not device.startswith("cuda"):
        return

    def open_context() -> None:
        gpu = ctypes.c_int()
        context = ctypes.c_void_p()
        first = re.search(r"\d+", device)
        number = int(first[0]) if first else 0
        if driver.cuInit(0) == 0 and driver.cuDeviceGet(ctypes.byref(gpu), number) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), gpu)

    Thread(target=open_context).start()


def _has_driver() -> bool:
    """Return whether a driver for CUDA is there, or simulated; finds out without Numba's part for
    CUDA."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") != "0" or _driver() is not None


@cache
def _driver() -> ctypes.CDLL | None:
    for name in (os.environ.get("NUMBA_CUDA_DRIVER"), "libcuda.so.1", "libcuda.so"):
        with suppress(OSError):
            if name:
                return ctypes.CDLL(name)
    return None


def describe_versions() -> Iterator[tuple[str, str]]:
    """Yield (name, value) pairs: the versions of packages, without loading these."""
    from importlib.metadata import version

    yield "kmatch", __version__
    yield "python", f"{platform.python_version()} ({platform.platform()})"
    yield "packages", ", ".join(f"{name} {version(name)}" for name in PACKAGES)


def describe_machine() -> Iterator[tuple[str, str]]:
    """Yield (name, value) pairs: CPU, CUDA devices, folders of compiled kernels."""
    import llvmlite.binding as llvm

    from kmatch.engine.cuda.driver import find_devices, target
    from kmatch.engine.workers import cores
    from kmatch.jit.folders import describe_kernels, kernel_folders

    features = llvm.get_host_cpu_features()
    vectors = [name for name in VECTOR_FEATURES if features.get(name)]
    yield "cpu", f"{llvm.get_host_cpu_name()}: {', '.join(vectors) or 'no vector features'}"
    yield "threads", f"{cores()} of {os.cpu_count()} cores"
    found, reason = find_devices()
    gpus = [
        f"cuda:{number} {name} (compute capability {major}.{minor})"
        for number, name, (major, minor) in found
    ]
    yield "cuda", "; ".join(gpus) or f"none: {reason}"
    yield "target", f"{target()}, for kernels on a GPU"
    own, *others = kernel_folders()
    filled = [own, *filter(Path.is_dir, others)]
    yield "cache", "; ".join(map(describe_kernels, filled))
