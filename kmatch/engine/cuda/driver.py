"""The one module that imports numba.cuda; kernels take `cuda` from here.

Numba's own target works, and so does the package numba-cuda, which replaces it where installed. The
package after that, numba-cuda-mlir, would be imported here too: docs/install.md says why not.
"""

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np

from kmatch.arrays import Words
from kmatch.errors import DeviceError
from kmatch.jit import folders
from kmatch.jit.entries import report

# A short text does not fill a GPU. Numba has read its environment, numba-cuda will.
if os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0") == "0":
    numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0

try:
    from numba import cuda as cuda  # kernels import it from here
except Exception as error:  # numba-cuda fails at import beside a NumPy that is too new for it
    cuda = None
    _broken = error

SIMULATED = bool(numba.config.ENABLE_CUDASIM)
OLDEST = (5, 0)  # compute capability: the first with three-input logic
BACKGROUND = (8, 0)  # the first that copies to shared memory in the background

DeviceArray = Any  # an array on the GPU; Numba does not type its parts for CUDA
Stream = Any
Event = Any


class Device(NamedTuple):
    """A GPU as the driver lists it; capability: its compute capability, (major, minor)."""

    number: int
    name: str
    capability: tuple[int, int]


def target() -> str:
    """Return the compiler of kernels for GPUs: the package numba-cuda, or Numba itself."""
    if SIMULATED:
        return "Numba's simulator"
    package = sys.modules.get("numba_cuda")  # which numba.cuda then comes from
    return f"numba-cuda {package.__version__}" if package else "Numba's own target"


def kept(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return `cuda.jit` for kernels that are kept on disk, beside the CPU's kernels."""

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = cuda.jit(**options)(function)
        if hasattr(kernel, "_cache"):  # not in the simulator
            kernel._cache = Cache(kernel.py_func)
        return kernel

    return decorate


class Cache:
    """Where a kernel for GPUs looks for code before it compiles: all that kmatch uses of Numba's
    private parts.

    Numba's own cache has an index of signatures, and two processes that write it at once can leave
    one that points at the wrong code; it sees changes in a function's own file only, and reads no
    folder that it cannot write. These parts are private. Where one is not as expected, each
    process compiles:

    - a kernel of `cuda.jit` asks its `_cache` before it compiles, by load_overload(signature,
      context), and gives it the compiled code, by save_overload(signature, compiled);
    - the compiled code can be pickled, and has a `codegen`, as the context has;
    - a codegen's magic_tuple() tells the versions of toolkit and GPU.
    """

    cache_path = None

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    def _file(self, signature: Any, codegen: Any) -> str:
        """Return the file of the code for a signature: beside sources it depends on numbers,
        constants of the functions around it."""
        function = self._function
        constants = [int(cell.cell_contents) for cell in function.__closure__ or ()]
        made_of = function.__qualname__, constants, signature, codegen.magic_tuple(), target()
        return folders.file_of(function.__module__, function.__name__, *made_of)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the code for a signature, None where nothing is kept."""
        reason = ""
        try:
            if (found := folders.find(self._file(signature, context.codegen()))) is not None:
                return pickle.loads(found)
        except Exception as error:  # not as expected, which may be anything
            reason = repr(error)
        report(self._function.__name__, reason)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep the code for a signature."""
        try:
            file = self._file(signature, compiled.codegen)
            content = pickle.dumps(compiled)
        except Exception as error:
            report(self._function.__name__, repr(error))
        else:
            folders.keep(file, content)


def find_devices() -> tuple[list[Device], str]:
    """Return the usable GPUs, and the reason where there is none."""
    if cuda is None:
        return [], f"numba.cuda cannot be imported: {reason(_broken)}"
    try:
        found = [_device(number, gpu) for number, gpu in enumerate(cuda.list_devices())]
    except Exception as error:
        # Failures of the driver come in several classes, some of them internal to Numba.
        return [], reason(error)
    usable = [gpu for gpu in found if gpu.capability >= OLDEST]
    if found and not usable:
        capability, oldest = (".".join(map(str, each)) for each in (found[0].capability, OLDEST))
        return [], f"{found[0].name} has compute capability {capability}, below {oldest}"
    return usable, "" if usable else "no CUDA device was found"


def _device(number: int, gpu: Any) -> Device:
    if SIMULATED:
        return Device(number, "simulator", OLDEST)
    name = gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name
    major, minor = gpu.compute_capability
    return Device(number, name, (major, minor))


def is_failure(error: BaseException) -> bool:
    """Return whether the GPU or its driver failed, which raises several classes of Numba's."""
    return type(error).__module__.startswith("numba.cuda")


def is_lack_of_memory(error: BaseException) -> bool:
    """Return whether memory of the GPU, or pinned memory, does not suffice."""
    return "OUT_OF_MEMORY" in str(error)


def reason(error: BaseException) -> str:
    """Return the words of an error of the driver, on one line."""
    lines = [line.strip(" .:-") for line in str(error).splitlines()]
    said = (line for line in lines if line and not line.startswith("Error at driver init"))
    return next(said, type(error).__name__)


def open_device(number: int) -> None:
    """Make a GPU the current one and run a kernel on it, to see whether it can run any.

    Raises DeviceError with the reason where it cannot: no compiler, or one too new for the driver.
    """
    try:
        cuda.select_device(number)
        tried = cuda.to_device([0])
        _try[1, 1](tried)
        worked = tried.copy_to_host()[0] == 1
    except Exception as error:
        raise DeviceError(f"it cannot run kernels: {reason(error)}") from error
    if not worked:
        raise DeviceError("it cannot run kernels: a test kernel had no effect")


if cuda is not None:

    @kept()
    def _try(numbers: DeviceArray) -> None:
        numbers[0] = 1

    @kept()
    def _wait(numbers: DeviceArray) -> None:
        x = numbers[0]
        for _ in range(400_000):  # some milliseconds, as each step waits for the one before
            x = x * x + 1
        numbers[0] = x


def mark(stream: Stream, timing: bool = False) -> Event:
    """Return an event that occurs when the work now in a stream is done; timing: whether it has a
    time."""
    event = cuda.event(timing=timing) if not SIMULATED else cuda.event()
    event.record(stream)
    return event


class Stopwatch:
    """Adds up the time of the work put into streams; 0 in the simulator, which has no clock.

    The GPU is kept busy until all of the work is queued, so the time that Python takes to launch it
    does not count.
    """

    def __init__(self) -> None:
        self._marks: list[tuple[Event, Event]] = []
        self._numbers = cuda.to_device([1])

    @contextmanager
    def timing(self, stream: Stream, frees: bool = False) -> Iterator[None]:
        """Time the work that is put into a stream inside.

        frees: whether memory may be given back meanwhile, which waits for all that is queued; else
        it is given back later.
        """
        with nullcontext() if frees else cuda.defer_cleanup():
            if not SIMULATED:
                _wait[1, 1, stream](self._numbers)
            begin = mark(stream, timing=True)
            yield
            self._marks.append((begin, mark(stream, timing=True)))

    @property
    def seconds(self) -> float:
        """The sum of all times; waits until the work is done."""
        for _, end in self._marks:
            end.synchronize()
        if SIMULATED:
            return 0.0
        return float(sum(cuda.event_elapsed_time(*marks) for marks in self._marks)) / 1000


def pinned(size: int) -> Words:
    """Return uint64[size] in pinned memory of the host, from which the GPU copies at full speed and
    while it computes; in ordinary memory where the system grants no more of it."""
    try:
        return cuda.pinned_array(size, "uint64")
    except Exception as error:
        if not is_lack_of_memory(error):
            raise
        return np.empty(size, np.uint64)


def multiprocessors() -> int:
    """Return how many multiprocessors the current GPU has."""
    if SIMULATED:
        return 2
    return cuda.get_current_device().MULTIPROCESSOR_COUNT


def copies_in_background() -> bool:
    """Return whether the current GPU copies to shared memory in the background."""
    return SIMULATED or cuda.get_current_device().compute_capability >= BACKGROUND


def memory() -> tuple[int, int]:
    """Return the bytes of memory of the current GPU: (free, total)."""
    if SIMULATED:
        return 1 << 30, 1 << 31
    free, total = cuda.current_context().get_memory_info()
    return int(free), int(total)
