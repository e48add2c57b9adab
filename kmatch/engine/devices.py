"""Which device runs the kernels."""

from kmatch.errors import DeviceError, InputError

ALGORITHMS = ("bitplane",)


def check_algorithm(algorithm):
    """Raise InputError for an algorithm that does not exist."""
    if algorithm not in ALGORITHMS:
        raise InputError(f"unknown algorithm '{algorithm}'; use {' or '.join(ALGORITHMS)}")


def choose_engine(device, threads=None):
    """The engine for a device, whose methods are the kernels.

    device: `auto`, `cpu`, `cuda` or `cuda:N`; threads: int or None for all cores. Raises
    DeviceError for a device that is unknown or cannot be used.
    """
    if device in ("auto", "cpu"):
        from kmatch.engine.cpu.engine import CpuEngine

        reason = "asked for" if device == "cpu" else "this version searches on the CPU"
        return CpuEngine(threads, reason)
    if device.split(":")[0] != "cuda":
        raise DeviceError(f"unknown device '{device}'; use auto, cpu, cuda or cuda:N")
    from kmatch.engine.cuda.driver import find_devices

    found, reason = find_devices()
    if not found:
        raise DeviceError(f"device {device}: no usable GPU ({reason}); use cpu")
    raise DeviceError(f"device {device}: this version searches on the CPU; use cpu")
