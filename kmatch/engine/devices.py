"""Which device runs the kernels."""

import ctypes
import os
import re
import sys
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING

from kmatch.engine.choice import Work, best_device
from kmatch.errors import DeviceError, check_threads

if TYPE_CHECKING:
    from kmatch.engine.protocol import Engine

DEVICE = re.compile(r"auto|cpu|cuda(:(all|\d+(,\d+)*))?")
NO_DRIVER = "the library of the NVIDIA driver was not found"
KNOWN = "auto, cpu, cuda, cuda:N, cuda:N,M or cuda:all"
REPEATED = False  # whether several engines may share a GPU, which tests with one GPU want
DRIVERS = {"win32": ["nvcuda.dll"], "linux": ["libcuda.so.1", "libcuda.so"]}


def choose_engine(device: str, threads: int | None = None, work: Work | None = None) -> "Engine":
    """The Engine for a device (see `kmatch.engine.protocol`).

    device: `auto`, `cpu`, `cuda`, `cuda:N`, several GPUs as `cuda:0,1`, or `cuda:all`; threads: of
    the CPU, None for all cores; work: for which `auto` takes the device that is expected to finish
    first. Raises DeviceError for a device that is unknown or cannot be used.
    """
    check_threads(threads)
    if not isinstance(device, str) or not DEVICE.fullmatch(device):
        raise DeviceError(f"unknown device '{device}'; use {KNOWN}")
    if device == "cpu":
        return _cpu_engine(threads, "asked for", work)
    if device == "auto":
        return _first_done(threads, work)
    try:
        return _cuda_engine(_numbers(device), threads, "asked for", work)
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


def _first_done(threads: int | None, work: Work | None) -> "Engine":
    if _no_driver():
        return _cpu_engine(threads, f"no usable GPU: {NO_DRIVER}", work)
    kind, reason = best_device(work, threads or os.cpu_count() or 1)
    if kind == "cpu":
        return _cpu_engine(threads, reason, work)
    try:
        return _cuda_engine([], threads, reason, work)
    except DeviceError as error:
        return _cpu_engine(threads, f"no usable GPU: {error}", work)


def _cpu_engine(threads: int | None, reason: str, work: Work | None) -> "Engine":
    from kmatch.engine.cpu.engine import CpuEngine

    return CpuEngine(threads, reason, work)


def _cuda_engine(
    numbers: list[int] | None, threads: int | None, reason: str, work: Work | None
) -> "Engine":
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

    return CudaEngine([gpus[number] for number in chosen], threads, reason, work)


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
