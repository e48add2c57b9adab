"""The one place that imports numba.cuda."""

from numba import cuda


def find_devices():
    """Usable GPUs as a list of (number, name, (major, minor)), and a reason when there is none."""
    try:
        found = [
            (number, _text(gpu.name), gpu.compute_capability)
            for number, gpu in enumerate(cuda.list_devices())
        ]
    except Exception as error:
        # Numba wraps driver failures in several classes of its own, some only defined with a driver.
        lines = [line.strip() for line in str(error).splitlines() if line.strip(" :-")]
        return [], lines[-1] if lines else type(error).__name__
    return found, "" if found else "no CUDA device was found"


def _text(name):
    return name.decode() if isinstance(name, bytes) else name
