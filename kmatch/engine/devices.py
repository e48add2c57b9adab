"""Which device runs the kernels, and what kmatch runs on."""

import ctypes
import os
import platform
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from kmatch import __version__
from kmatch.errors import DeviceError, check_threads

if TYPE_CHECKING:
    from kmatch.engine.engine import Engine

DEVICE = re.compile(r"auto|cpu|cuda(:(all|\d+(,\d+)*))?")

NO_DRIVER = "the library of the NVIDIA driver was not found"

KNOWN = "auto, cpu, cuda, cuda:N, cuda:N,M or cuda:all"

REPEATED = False  # whether several engines may share a GPU, which tests with one GPU want

DRIVERS = {"win32": ["nvcuda.dll"], "linux": ["libcuda.so.1", "libcuda.so"]}


def choose_engine(device: str, threads: int | None = None, work: int | None = None) -> "Engine":
    """The Engine for a device (see `kmatch.engine.engine`).

    device: `auto`, `cpu`, `cuda`, `cuda:N`, several GPUs as `cuda:0,1`, or `cuda:all`; threads: of
    the CPU, None for all cores; work: letters that a scan compares, by which `auto` chooses, None
    where that is unknown. Raises DeviceError for a device that is unknown or cannot be used.
    """
    check_threads(threads)
    if not isinstance(device, str) or not DEVICE.fullmatch(device):
        raise DeviceError(f"unknown device '{device}'; use {KNOWN}")
    if device == "cpu":
        return _cpu_engine(threads, "asked for")
    if device == "auto":
        return _first_done(threads, work)
    try:
        return _cuda_engine(_numbers(device), threads, "asked for")
    except DeviceError as error:
        raise DeviceError(f"device {device}: no usable GPU ({error}); use cpu") from error


def wake(device: str) -> None:
    """Have the driver open the GPUs that a device names in the background.

    That takes about as long as the imports of a search, which may go on meanwhile.
    """
    kind, _, named = device.partition(":")
    if kind == "cuda" and not _elsewhere():
        _wake(named or "0")


def _numbers(device: str) -> list[int] | None:
    """The GPUs of `cuda:…`, None for all; for `cuda` [], the first one that can be used."""
    _, _, named = device.partition(":")
    if named == "all":
        return None
    numbers = [int(number) for number in named.split(",") if number]
    if len(set(numbers)) < len(numbers) and not REPEATED:
        raise DeviceError("a GPU is named twice")
    return numbers


def _first_done(threads: int | None, work: int | None) -> "Engine":
    if _no_driver():
        return _cpu_engine(threads, f"no usable GPU: {NO_DRIVER}")
    from kmatch.engine.ways import device_for  # with NumPy, which names of devices do without

    kind, reason = device_for(work)
    if kind == "cpu":
        return _cpu_engine(threads, reason)
    try:
        return _cuda_engine([], threads, reason)
    except DeviceError as error:
        return _cpu_engine(threads, f"no usable GPU: {error}")


def _cpu_engine(threads: int | None, reason: str) -> "Engine":
    from kmatch.engine.cpu.engine import CpuEngine

    return CpuEngine(threads, reason)


def _cuda_engine(numbers: list[int] | None, threads: int | None, reason: str) -> "Engine":
    """The engine of GPUs (see `_numbers`). Raises DeviceError with the reason there is none."""
    if _no_driver():
        raise DeviceError(NO_DRIVER)
    wake("cuda:all" if numbers is None else f"cuda:{','.join(map(str, numbers))}")
    from kmatch.engine.cuda.driver import find_devices

    found, why = find_devices()
    gpus = {gpu.number: gpu for gpu in found}
    if not gpus:
        raise DeviceError(why)
    chosen = list(gpus) if numbers is None else numbers or list(gpus)[:1]
    if not gpus.keys() >= set(chosen):
        raise DeviceError(f"the GPUs here are {', '.join(f'cuda:{n}' for n in gpus)}")
    from kmatch.engine.cuda.engine import CudaEngine

    return CudaEngine([gpus[number] for number in chosen], threads, reason)


def _no_driver() -> bool:
    """Whether CUDA's driver is missing; does not load Numba's part for CUDA to find out."""
    return not _elsewhere() and _driver() is None


def _elsewhere() -> bool:
    """Whether Numba uses another driver, or simulates one."""
    simulated = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") != "0"
    return simulated or bool(os.environ.get("NUMBA_CUDA_DRIVER"))


@cache
def _driver() -> ctypes.CDLL | None:
    for name in DRIVERS.get(sys.platform, []):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


@cache
def _wake(named: str) -> None:
    """Have the driver open GPUs, `all` or their numbers, in the background, each in a thread.

    Numba asks for the same primary contexts later, and reports what fails. A process that ends
    early waits for them, as the driver may not be left half open.
    """

    def open_all() -> None:
        many, driver = ctypes.c_int(), _driver()
        if driver and driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(many)) == 0:
            numbers = range(many.value) if named == "all" else set(map(int, named.split(",")))
            for number in numbers:
                Thread(target=open_context, args=(driver, number)).start()

    def open_context(driver: ctypes.CDLL, number: int) -> None:
        device, context = ctypes.c_int(), ctypes.c_void_p()
        if driver.cuDeviceGet(ctypes.byref(device), number) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)

    Thread(target=open_all).start()


PACKAGES = ("numba", "llvmlite", "numpy", "biopython", "click", "rich", "xopen")

VECTOR_FEATURES = ("avx512f", "avx512vl", "avx2", "avx", "sse4.2", "neon", "sve")


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
    from kmatch.jit.folders import kernel_folders, measure
    from kmatch.threads import kernel_threads

    features = llvm.get_host_cpu_features()
    vectors = [name for name in VECTOR_FEATURES if features.get(name)]
    yield "cpu", f"{llvm.get_host_cpu_name()}: {', '.join(vectors) or 'no vector features'}"
    yield "threads", f"{kernel_threads()} of {os.cpu_count()} cores"
    found, reason = find_devices()
    yield "cuda", "; ".join(_gpu(*gpu) for gpu in found) or f"none: {reason}"
    yield "target", f"{target()}, for kernels on a GPU"
    yield "cache", "; ".join(_kernels(folder, *measure(folder)) for folder in kernel_folders())


def _kernels(folder: Path, kernels: int, size: int) -> str:
    return f"{folder} ({kernels} kernels, {size / 1e6:.1f} MB)"


def _gpu(number: int, name: str, capability: tuple[int, int]) -> str:
    return f"cuda:{number} {name} (compute capability {'.'.join(map(str, capability))})"
