"""The kernels of one GPU, or of several as one engine, as searches call them.

Scans run on the GPU. The CPU packs letters into planes: each core packs several billion letters a
second, and planes take half the bytes of letters. Planes are in pinned memory on the host: the GPU
copies them from there at full speed and keeps its copy, and the CPU's kernels read the few hits
back there for alignments and tracebacks. Modules of kernels take long to import, so a search
imports only the modules that it needs.
"""

from __future__ import annotations

import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise, product
from queue import SimpleQueue
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Ints, Longs, Planes, Table, Words
from kmatch.engine.codes import Found, found_in
from kmatch.engine.cpu.beside import pam_planes
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.device import Gpu, open_gpu, start_scan
from kmatch.engine.engine import Engine, Scan, UnderWay
from kmatch.engine.geometry import Layout, Text
from kmatch.engine.queries import DifferenceQuery, QueryArrays
from kmatch.engine.types import Beside, Starts, part_of
from kmatch.errors import DeviceError
from kmatch.jit.arguments import example

LAYOUT = Layout(
    length=1 << 27,
    reading_length=1 << 28,
    reading_halos=1 << 20,
    most=1 << 30,
    words=8,  # as a packed genome has
)
CAPACITY = 1 << 25  # hit codes of a chunk
MEMORY_SHARE = 8  # bytes of memory a position: two chunks with IUPAC planes, 2 bytes each, fit
DEEP = 2  # scans that a GPU has at a time: one is copied to it while another runs
SORTED = 1  # scans of a GPU whose hits are sorted while it works on others
PARTS = 2  # of a long target, for every GPU, as one may take longer than another
PART_STARTS = 1 << 18  # that fill a GPU


class CudaEngine(Engine):
    """An Engine for one GPU, or for several of one host.

    devices: the GPUs, each found by the driver; reason: why they were chosen. Raises DeviceError
    where one cannot be used. Planes are in pinned memory of the first GPU, which every GPU reads at
    full speed; of several GPUs the one that is free first takes the next scan.
    """

    name = "cuda"

    def __init__(
        self,
        devices: Sequence[driver.Device],
        threads: int | None = None,
        reason: str = "",
    ) -> None:
        super().__init__(threads)
        with ThreadPoolExecutor(len(devices)) as pool:  # each takes long
            self.gpus = list(pool.map(open_gpu, [device.number for device in devices]))
        self.gpus[0].use()
        self.queues = len(self.gpus)
        self.device = f"cuda:{','.join(str(gpu.number) for gpu in self.gpus)}"
        models = [f"{many} {name}" for name, many in Counter(gpu.name for gpu in devices).items()]
        model = devices[0].name if self.queues == 1 else " and ".join(models)
        self.description = f"{self.device}, {model}, and {self.threads} CPU threads ({reason})"
        self.capacity = CAPACITY
        self.layout = LAYOUT.within(min(gpu.memory for gpu in self.gpus) // MEMORY_SHARE)
        self._plans: dict[tuple[Gpu, type], tuple[Any, Any]] = {}  # see `_planned`
        self._spare: deque[Words] = deque()  # pinned memory of planes that ended
        self._threads = ThreadPoolExecutor((DEEP + SORTED) * self.queues, "kmatch cuda")
        self._free: SimpleQueue[Gpu] = SimpleQueue()  # that take more work
        for gpu in DEEP * self.gpus:
            self._free.put(gpu)

    @contextmanager
    def timing_kernels(self) -> Iterator[Callable[[], float]]:
        """See `Engine.timing_kernels`; the seconds are those of the GPU that took longest."""
        for gpu in reversed(self.gpus):  # the first is the current one in the end
            gpu.use()
            gpu.watch = driver.Stopwatch()
        watches = [gpu.watch for gpu in self.gpus]
        try:
            yield lambda: max(watch.seconds for watch in watches if watch)
        finally:
            for gpu in self.gpus:  # which other engines may share
                gpu.watch = None

    def planes(self, size: int) -> Words:
        """In pinned memory; each GPU keeps its copy.

        To pin memory takes longer than to fill it, so the memory of planes that ended is used
        again.
        """
        self.gpus[0].use()
        while self._spare and len(self._spare[0]) < size:
            self._spare.popleft()
        memory = self._spare.popleft() if self._spare else driver.pinned(size)
        planes = memory[:size]
        weakref.finalize(planes, self._spare.append, memory).atexit = False
        return planes

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> Scan:
        from kmatch.engine.cuda.hamming import WindowScan

        def start(gpu: Gpu) -> UnderWay[Any]:
            here = gpu.text(text, query.masks)
            search = self._planned(gpu, query, lambda: WindowScan(query, k, text.words, gpu))
            return start_scan(gpu, capacity, lambda hits: search.run(here, hits))

        return self._start(start, _sorted)

    def start_edit(
        self,
        text: Text,
        query: DifferenceQuery,
        way: str | None,
        capacity: int,
        owned: int = 0,
        beside: Beside | None = None,
    ) -> Scan:
        """See `Engine.start_edit`; a GPU always scans, and leaves out only the ends without a
        PAM."""
        from kmatch.engine.cuda.edit import scan, upload

        def start(gpu: Gpu) -> UnderWay[Any]:
            here = gpu.text(text, query.reading.masks)
            pam_words = driver.cuda.to_device(_pam_words(text, beside), gpu.stream)
            searches = self._planned(gpu, query, lambda: upload(query, gpu))
            return start_scan(gpu, capacity, lambda hits: scan(here, pam_words, searches, hits))

        return self._start(start, _sorted)

    def extend_primers(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object] | None = None,
    ) -> int:
        """See `Engine.extend_primers`; starts that are open are packed where most are decided."""
        from kmatch.engine.cuda.open_starts import open_starts

        opened = open_starts(starts)
        if opened is None:
            return self._extend_parts(starts, columns, k, on_progress)
        cells = self._extend_parts(opened.starts, columns, k, on_progress)
        opened.hand_back(starts)
        if on_progress:
            on_progress(1.0)
        return cells

    def _extend_parts(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object] | None,
    ) -> int:
        """Raise the bounds of starts; parts of the target go to whichever GPU is free."""
        from kmatch.engine.cpu.primer import settle
        from kmatch.engine.cuda.primer import extend_primers

        # The parts of the target, and the share of each that is done.
        start_count = len(starts.bounds)
        parts_per_gpu = PARTS if start_count >= PART_STARTS and self.queues > 1 else 1
        cuts = np.linspace(0, start_count, parts_per_gpu * self.queues + 1).astype(int)
        part_bounds = list(pairwise(np.unique(cuts).tolist()))
        parts = [part_of(starts, begin, end) for begin, end in part_bounds]
        shares = np.zeros(len(parts))

        def extend(number: int, gpu: Gpu) -> UnderWay[int]:
            """Raise the bounds of a part, which is done when this returns."""

            def listen(share: float) -> None:
                shares[number] = share
                if on_progress:
                    on_progress(float(shares.mean()))

            with gpu.timed(frees=True):
                cells = extend_primers(gpu, self.threads, parts[number], columns, k, listen)
            return UnderWay(lambda: cells)

        # Each GPU takes the next part when it is free.
        tasks = [self._start(partial(extend, number)) for number in range(len(parts))]
        try:
            cells = sum(task.found() for task in tasks)
        finally:
            for task in tasks:
                task.stop()

        for (begin, end), part in zip(part_bounds, parts, strict=True):
            starts.bounds[begin:end] = part.bounds[: end - begin]
        settle(starts.limits, starts.bounds)
        return cells

    def _start(
        self, start: Callable[[Gpu], UnderWay[Any]], finish: Callable[[Any], Any] | None = None
    ) -> UnderWay[Any]:
        """Call start(the GPU that is free first) in a thread.

        finish: is called there with what was found, while the GPU takes other work.
        """
        advice = "use cpu" if self.queues == 1 else "use the others or cpu"

        def found() -> Any:
            result = _carry_out(self._free, start, advice)
            return finish(result) if finish else result

        future = self._threads.submit(found)
        return UnderWay(future.result, lambda: future.cancel() or future.exception())

    def _planned(self, gpu: Gpu, query: Any, make: Callable[[], Any]) -> Any:
        """make(), or its last result on a GPU for this kind of query if that is the same still."""
        before, made = self._plans.get((gpu, type(query)), (None, None))
        if before is not query:
            made = make()
            self._plans[gpu, type(query)] = query, made
        return made


def _sorted(hits: tuple[Longs, int]) -> Found:
    """Return what a scan found (see `start_scan` of the device) as Found."""
    codes, lost = hits
    return found_in(codes, lost, 1.0)


def _pam_words(text: Text, beside: Beside | None) -> Words:
    """Return where PAMs stand beside ends, for each direction of reading; see `edit.scan`."""
    if beside is None:
        return np.zeros(0, np.uint64)
    planes = pam_planes(text, beside)
    upwards_first = planes[::-1] if beside.constraints.leads else planes
    return np.ascontiguousarray(upwards_first).reshape(-1)


def _carry_out(free: SimpleQueue[Gpu], start: Callable[[Gpu], UnderWay[Any]], advice: str) -> Any:
    """Return what the next free GPU finds by start(itself); advice: what to do where it fails, in
    words."""
    gpu = free.get()
    try:
        with gpu.lock:
            gpu.use()
            started = start(gpu)
        return started.found()
    except Exception as error:
        if not driver.is_failure(error):
            raise
        reason = f"device cuda:{gpu.number}: {driver.reason(error)}; {advice}"
        raise DeviceError(reason) from error
    finally:
        free.put(gpu)


class KernelPlan(NamedTuple):
    """A kernel to compile: make(*constants) makes it; types: of its arguments."""

    make: Any
    constants: tuple[Any, ...]
    types: tuple[Any, ...]


def cuda_kernels(pairs: bool | None = None) -> dict[str, KernelPlan]:
    """Return the kernels that searches launch on a GPU, by name, the slowest to compile first.

    pairs: whether copies run in the background, None to ask the current GPU.
    """
    from numba import typeof

    from kmatch.engine.cuda import edit, hamming, primer, primer_kernels, text

    pairs = driver.copies_in_background() if pairs is None else pairs
    plans: dict[str, KernelPlan] = {}

    def add(name: str, make: Any, all_constants: Iterable[tuple[Any, ...]], *kinds: Any) -> None:
        """Add a kernel for each choice of constants; kinds: of its arguments."""
        types = tuple(typeof(example(kind)) for kind in kinds)
        for constants in all_constants:
            plans[" ".join(map(str, (name, *constants)))] = KernelPlan(make, constants, types)

    # Primers.
    shorts = NDArray[np.uint32]
    shape = primer_kernels.PrimerShape
    primer_kinds = Words, shorts, Ints, Ints, Table, shape, Words, Table, Longs
    primer_sizes = product((primer.HEIGHT,), primer.BITS, (primer_kernels.WIDTH,))
    add("primer", primer_kernels.make_extend, primer_sizes, *primer_kinds)

    # Differences, of long patterns in strips.
    steps = Annotated[Ints, 2]
    edit_kinds = Words, edit.EditShape, Words, Annotated[Planes, 2], steps, Longs, Longs
    strip_sizes = product(edit.STRIP_ROWS, edit.STRIP_BITS)
    add("strips", edit.make_strips, strip_sizes, *edit_kinds, int, Words, Words, Words)
    short_rows = range(edit.STEP, edit.SHORT + 1, edit.STEP)
    add("edit", edit.make_scan, product(short_rows, (edit.SHORT_BITS,)), *edit_kinds)

    # Mismatches, by flat and by tall tiles.
    tall_bits = [bits for bits in hamming.BITS if bits <= hamming.TALL_BITS]
    tiles = [(bits, LAYOUT.words, hamming.FLAT, pairs) for bits in hamming.BITS]
    tiles += [(bits, LAYOUT.words, hamming.TALL, pairs) for bits in tall_bits]
    hamming_kinds = Words, hamming.WindowShape, Planes, Ints, Words, steps, Longs, Longs
    add("hamming", hamming.make_scan, tiles, *hamming_kinds)

    # Planes of IUPAC letters.
    add("fill", lambda: text.fill, [()], Words, int, Bytes, Words)
    return plans
