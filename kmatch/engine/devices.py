"""Which device runs the kernels."""

import ctypes
import os
import re
import sys

from kmatch.errors import DeviceError

DRIVERS = {"win32": ["nvcuda.dll"], "linux": ["libcuda.so.1", "libcuda.so"]}


def choose_engine(device, threads=None):
    """The engine for a device, whose methods are the kernels.

    device: `auto`, `cpu`, `cuda` or `cuda:N`; threads: int or None for all cores. Raises
    DeviceError for a device that is unknown or cannot be used.
    """
    if not re.fullmatch(r"auto|cpu|cuda(:\d+(,\d+)*)?", device):
        raise DeviceError(f"unknown device '{device}'; use auto, cpu, cuda or cuda:N")
    if device == "cpu":
        return _cpu_engine(threads, "asked for")
    if device == "auto":
        try:
            return _cuda_engine(None, threads, "a usable GPU")
        except DeviceError as error:
            return _cpu_engine(threads, f"no usable GPU: {error}")
    if "," in device:
        raise DeviceError(f"device {device}: a search runs on one GPU; use cuda:N or cpu")
    try:
        number = int(device[5:]) if ":" in device else None
        return _cuda_engine(number, threads, "asked for")
    except DeviceError as error:
        raise DeviceError(f"device {device}: no usable GPU ({error}); use cpu") from error


def _cpu_engine(threads, reason):
    from kmatch.engine.cpu.engine import CpuEngine

    return CpuEngine(threads, reason)


def _cuda_engine(number, threads, reason):
    """The engine of a GPU, None for the first. Raises DeviceError with the reason there is none."""
    if _no_driver():
        raise DeviceError("the library of the NVIDIA driver was not found")
    from kmatch.engine.cuda.driver import find_devices

    found, why = find_devices()
    chosen = [gpu for gpu in found if number in (None, gpu[0])]
    if not chosen:
        raise DeviceError(why or f"the GPUs here are {', '.join(f'cuda:{n}' for n, *_ in found)}")
    from kmatch.engine.cuda.engine import CudaEngine

    return CudaEngine(chosen[0][0], chosen[0][1], threads, reason)


def _no_driver():
    """Whether CUDA's driver is missing, told without loading Numba's part for it."""
    names = DRIVERS.get(sys.platform, [])
    if os.environ.get("NUMBA_CUDA_DRIVER") or os.environ.get("NUMBA_ENABLE_CUDASIM", "0") != "0":
        return False
    for name in names:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return False
    return True
