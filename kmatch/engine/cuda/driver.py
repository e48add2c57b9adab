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
        # Failures of the driver come in several classes, some of them internal to Numba.
        return [], _reason(error)
    return found, "" if found else "no CUDA device was found"


def _reason(error):
    lines = [line.strip(" .:") for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith("Error at driver init")]
    return told[0] if told else type(error).__name__


def _text(name):
    return name.decode() if isinstance(name, bytes) else name
