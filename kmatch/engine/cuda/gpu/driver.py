"""The one place that imports numba.cuda; kernels take `cuda` from here.

Numba's own target and the package numba-cuda, which takes its place where installed, both serve.
"""

import os
from contextlib import contextmanager

import numpy as np
from numba.core import config

from kmatch.errors import DeviceError
from kmatch.jit.numba_parts import keep_cuda_kernels

# A short text does not fill a GPU, and that is nothing to warn of.
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0

try:
    from numba import cuda
except Exception as error:  # numba-cuda fails at import beside a NumPy that is too new for it
    cuda, _broken = None, error

SIMULATED = bool(config.ENABLE_CUDASIM)
if cuda is not None and not SIMULATED:
    keep_cuda_kernels()
OLDEST = (5, 0)  # the compute capability with which three-input logic came
BACKGROUND = (8, 0)  # that with which copies to shared memory beside other work came
SIMULATED_PROCESSORS = 2


def find_devices():
    """Usable GPUs as a list of (number, name, (major, minor)), and a reason when there is none."""
    if cuda is None:
        return [], f"numba.cuda cannot be imported: {_reason(_broken)}"
    try:
        found = [_device(number, gpu) for number, gpu in enumerate(cuda.list_devices())]
    except Exception as error:
        # Failures of the driver come in several classes, some of them internal to Numba.
        return [], _reason(error)
    usable = [gpu for gpu in found if gpu[2] >= OLDEST]
    if found and not usable:
        _, name, capability = found[0]
        return [], f"{name} has compute capability {_dotted(capability)}, below {_dotted(OLDEST)}"
    return usable, "" if usable else "no CUDA device was found"


def _device(number, gpu):
    if SIMULATED:
        return number, "simulator", OLDEST
    name = gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name
    return number, name, tuple(gpu.compute_capability)


def _dotted(capability):
    return ".".join(map(str, capability))


def _reason(error):
    lines = [line.strip(" .:-") for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith("Error at driver init")]
    return told[0] if told else type(error).__name__


def open_device(number):
    """Make a GPU the current one and run a kernel on it, which shows whether any can run.

    Raises DeviceError with the reason where none can: no compiler, or one too new for the driver.
    """
    try:
        use_device(number)
        tried = cuda.to_device([0])
        _try[1, 1](tried)
        worked = tried.copy_to_host()[0] == 1
    except Exception as error:
        raise DeviceError(f"it cannot run kernels: {_reason(error)}") from error
    if not worked:
        raise DeviceError("it cannot run kernels: one that it ran had no effect")


if cuda is not None:

    @cuda.jit(cache=True)
    def _try(numbers):
        numbers[0] = 1

    @cuda.jit(cache=True)
    def _wait(numbers):
        x = numbers[0]
        for _ in range(400_000):  # some milliseconds: each waits for the one before
            x = x * x + 1
        numbers[0] = x


def use_device(number):
    """Make a GPU the one that this thread's calls go to."""
    cuda.select_device(number)


def new_stream():
    """A queue of work on the GPU that runs beside others."""
    return cuda.stream()


def mark(stream, timing=False):
    """An event that has come when the work now in a stream is done; with a time where wanted."""
    event = cuda.event(timing=timing) if not SIMULATED else cuda.event()
    event.record(stream)
    return event


class Stopwatch:
    """Adds up the time of the work put into streams; none in the simulator, which keeps none.

    A GPU is kept busy until all of a block is queued: what Python takes to launch does not count.
    """

    def __init__(self):
        self._marks = []
        self._numbers = cuda.to_device([1])

    @contextmanager
    def timing(self, stream):
        """Time what the block puts into a stream."""
        if not SIMULATED:
            _wait[1, 1, stream](self._numbers)
        begin = mark(stream, timing=True)
        yield
        self._marks.append((begin, mark(stream, timing=True)))

    @property
    def seconds(self):
        """All times together; waits until the work is done."""
        for _, end in self._marks:
            end.synchronize()
        if SIMULATED:
            return 0.0
        return sum(cuda.event_elapsed_time(*marks) for marks in self._marks) / 1000


def pinned(size):
    """uint64[size] on the host, from where the GPU copies at full speed and while it computes.

    None where the system grants no such memory.
    """
    try:
        return cuda.pinned_array(size, "uint64")
    except Exception as error:
        if "OUT_OF_MEMORY" not in str(error):
            raise
        return None


def pinned_counter():
    """int64[1] on the host, to which the GPU copies without the host waiting."""
    return np.empty(1, np.int64) if SIMULATED else cuda.pinned_array(1, "int64")


def on_device(array, stream):
    """A copy of an array on the GPU."""
    return cuda.to_device(array, stream)


def empty(shape, dtype, stream):
    """An uninitialised array on the GPU. Raises DeviceError where it has no room left."""
    try:
        return cuda.device_array(shape, dtype, stream=stream)
    except Exception as error:
        if "OUT_OF_MEMORY" not in str(error):
            raise
        raise DeviceError("the GPU is out of memory") from error


def multiprocessors():
    """Multiprocessors of the GPU in use."""
    if SIMULATED:
        return SIMULATED_PROCESSORS
    return cuda.get_current_device().MULTIPROCESSOR_COUNT


def background_grain(words):
    """Words that the GPU in use copies to shared memory at once while its threads go on.

    0 where it cannot; 2 need rows of an even number of words.
    """
    if not SIMULATED and cuda.get_current_device().compute_capability < BACKGROUND:
        return 0
    return 2 - words % 2


def memory():
    """Bytes of memory of the GPU in use: (free, all)."""
    if SIMULATED:
        return 1 << 30, 1 << 31
    free, total = cuda.current_context().get_memory_info()
    return int(free), int(total)
