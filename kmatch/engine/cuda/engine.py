"""The kernels of one GPU, or of several as one engine, as searches call them.

Scans run on the GPU. The CPU packs letters into planes where it has enough cores: each packs
several billion letters a second, planes take half the bytes, and letters in ordinary memory reach
the GPU at ten billion a second. With few cores the GPU packs. Planes are in pinned memory on the
host as well: the GPU copies them from there at full speed and keeps its copy, and the CPU's kernels
read the few hits back there for alignments and tracebacks. What only some searches need is imported
by these: modules of kernels take long.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import Any, TypeVar
from weakref import finalize

import numpy as np

from kmatch.arrays import Bytes, Longs, Words
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.device import Gpu, Scan, Smallest, open_gpus
from kmatch.engine.cuda.words import HitBuffer
from kmatch.engine.engine import Done, Engine, Stopwatch
from kmatch.engine.geometry import Layout, Text, halo_of
from kmatch.engine.queries import DifferenceQuery, QueryArrays, ReadingArrays
from kmatch.engine.types import Starts
from kmatch.errors import DeviceError

_Made = TypeVar("_Made")

WORDS = 1016  # of a row: eight times an odd number, as packing stores a column at a time
LEAST_WORDS = 64  # a thread of a block takes one; the others would have nothing to do
LAYOUT = Layout(
    length=1 << 27,
    reading_length=1 << 28,
    reading_halos=1 << 20,
    most=1 << 30,
    query_positions=1 << 62,
    words=WORDS,
    least_words=LEAST_WORDS,
    site_letters=1 << 24,
    reading_words=None,
)
CAPACITY = 1 << 22  # hit codes of a chunk
PACKERS = 4  # CPU threads that pack faster than the GPU is sent letters
MEMORY_SHARE = 8  # bytes of memory a position: two chunks with IUPAC planes, 2 bytes each, fit
DEEP = 2  # scans that each of several GPUs has at a time: one is copied to it while another runs
PARTS = 2  # of a long target, for every GPU, as one may take longer than another
PART_STARTS = 1 << 18  # that fill a GPU


class CudaEngine(Engine):
    """An Engine for one GPU, or for several of one host.

    devices: the GPUs, each found by the driver; reason: why they were chosen. Raises DeviceError
    where one cannot be used. Planes are in pinned memory of the first GPU, which every GPU reads at
    full speed; of several GPUs the one that has the least to do takes the next scan.
    """

    name = "cuda"

    def __init__(
        self,
        devices: Sequence[driver.Device],
        threads: int | None = None,
        reason: str = "",
    ) -> None:
        super().__init__(threads)
        self._gpus = open_gpus([device.number for device in devices])
        self._gpus[0].use()
        self.queues = len(self._gpus)
        self.device = f"cuda:{','.join(str(gpu.number) for gpu in self._gpus)}"
        models = [f"{many} {name}" for name, many in Counter(gpu.name for gpu in devices).items()]
        model = devices[0].name if self.queues == 1 else " and ".join(models)
        self.description = f"{self.device}, {model}, and {self.threads} CPU threads ({reason})"
        self.capacity = CAPACITY
        self.layout = LAYOUT.within(min(gpu.memory for gpu in self._gpus) // MEMORY_SHARE)
        self._made: dict[Any, tuple[Any, ...]] = {}  # what `_once` made last, for each use
        self._kernel_time: _KernelTime | None = None
        if self.queues > 1:
            self._queue = GpuQueue(self._gpus)
            finalize(self, self._queue.close)

    def time_kernels(self) -> Stopwatch:
        """See `Engine.time_kernels`; primers are timed with the host's part, on one GPU alone."""
        self._watch = self._kernel_time = _KernelTime()
        return self._kernel_time

    def planes(self, size: int) -> Words:
        """In pinned memory; each GPU keeps its copy."""
        first, *others = self._gpus
        first.use()
        planes = first.planes(size)
        for gpu in others:
            gpu.remember(planes)
        return planes

    def keep(self, planes: Words) -> None:
        for gpu in self._gpus:
            gpu.keep(planes)

    def fetch(self, planes: Words) -> None:
        """See `Engine.fetch`; which of several GPUs will scan them is not known yet."""
        if self.queues == 1:
            self._gpus[0].use()
            self._gpus[0].fetch(planes)

    def pack(self, letters: Bytes, text: Text) -> None:
        if self.threads >= PACKERS:
            from kmatch.engine.cpu.pack import pack_by

            pack_by(self._workers, letters, text)
        else:
            with driver.alone():
                self._gpus[0].use()
                self._gpus[0].pack(letters, text)

    def unite(self, text: Text, masks: Bytes) -> Text:
        """See `Engine.unite`; only the GPUs have the planes of IUPAC letters."""
        if not len(masks):
            return text
        first, *others = self._gpus
        united = first.unite(text, masks)
        for gpu in others:
            gpu.remember_united(united.planes, text, masks)
        return united

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> Any:
        from kmatch.engine.cuda.hamming import scan, upload

        def start(gpu: Gpu) -> Scan:
            broad = gpu.broad_text(text)
            plan = self._once(
                ("windows", gpu), query[:3], (k,), lambda: upload(query, k, gpu.stream)
            )
            return self._scan(gpu, capacity, lambda buffer: scan(broad, plan, buffer, gpu.stream))

        return self._start(start, text.plane_words)

    def start_edit(self, text: Text, query: DifferenceQuery, way: str | None, capacity: int) -> Any:
        """See `Engine.start_edit`; a GPU always scans."""
        from kmatch.engine.cuda.edit import Searches

        reading, limits, k = query.reading, query.limits, query.k

        def start(gpu: Gpu) -> Scan:
            broad = gpu.broad_text(text)
            halo, chosen = halo_of(broad), np.arange(len(limits))
            searches = self._once(
                ("differences", gpu),
                (*reading, limits),
                (halo, k),
                lambda: Searches(halo, reading, limits, chosen, k, gpu.stream),
            )
            return self._scan(gpu, capacity, lambda buffer: searches.run(broad, buffer))

        return self._start(start, text.plane_words)

    def start_smallest(self, text: Text, reading: ReadingArrays, bounds: Longs) -> Any:
        from kmatch.engine.cuda.edit import Searches

        chosen = np.flatnonzero(bounds >= 0)
        if not len(chosen):
            return Done(bounds + 1)

        def start(gpu: Gpu) -> Smallest:
            broad, stream = gpu.broad_text(text), gpu.stream
            lowest = driver.on_device(bounds + 1, stream)
            searches = Searches(halo_of(broad), reading, bounds, chosen, 0, stream, lowering=True)
            buffer = HitBuffer(driver.on_device(np.zeros(1, np.int64), stream), lowest)
            with self._timing(gpu):
                searches.run(broad, buffer)
            return Smallest(gpu, lowest)

        return self._start(start, text.plane_words)

    def extend_primers(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object] | None = None,
    ) -> int:
        """See `Engine.extend_primers`; parts of the target go to whichever GPU has less to do."""
        from kmatch.engine.cuda.primer import extend_primers, take_bounds, target_parts

        deeper = self._extend_on_cpu
        if self.queues == 1:
            gpu = self._gpus[0]
            gpu.use()
            with self._timed():
                return extend_primers(gpu, deeper, starts, columns, k, on_progress)
        many = self.queues * (PARTS if len(starts.bounds) >= PART_STARTS else 1)
        parts = target_parts(starts, many)
        shares = np.zeros(len(parts))

        def extend(number: int) -> Any:
            def listen(share: float) -> None:
                shares[number] = share
                if on_progress:
                    on_progress(float(shares.mean()))

            part = parts[number].starts
            arguments = (deeper, part, columns, k, listen)
            return self._start(lambda gpu: Done(extend_primers(gpu, *arguments)), len(part.bounds))

        under_way = list(map(extend, range(len(parts))))
        try:
            done = [part.found() for part in under_way]
        finally:
            for part in under_way:
                part.stop()
        take_bounds(starts, parts)
        return sum(done)

    def compile_primers(self, length: int) -> None:
        """See `Engine.compile_primers`: a search among letters that match nothing, which is short.

        Kernels differ by the bits of counters, which follow from the rows taken first.
        """
        from kmatch.engine.cuda.primer import SIZES, extend_primers

        records, limits = np.array([0, length]), np.full(length, length)
        starts = Starts(np.zeros(length, np.uint8), records, limits, np.full(length, 2))
        columns, sizes = np.zeros(1, np.uint8), SIZES._replace(more=length)
        self._gpus[0].use()
        extend_primers(self._gpus[0], self._extend_on_cpu, starts, columns, 2, sizes=sizes)

    def _extend_on_cpu(self, starts: Starts, columns: Bytes, k: int) -> None:
        from kmatch.engine.cpu.primer import extend_primers

        extend_primers(starts, columns, k, threads=self.threads)

    def _timing(self, gpu: Gpu) -> AbstractContextManager[object]:
        """A context in which kernels are launched; times them where that is wanted."""
        if self._kernel_time is None:
            return nullcontext()
        if gpu not in self._kernel_time.events:
            self._kernel_time.events[gpu] = driver.Stopwatch()
        return self._kernel_time.events[gpu].timing(gpu.stream)

    def _scan(self, gpu: Gpu, capacity: int, launch: Callable[[HitBuffer], object]) -> Scan:
        def timed(buffer: HitBuffer) -> None:
            with self._timing(gpu):
                launch(buffer)

        return Scan(gpu, capacity, timed)

    def _start(self, start: Callable[[Gpu], Any], size: int) -> Any:
        """start(the GPU), or the same on whichever of several has the least to do.

        size: of this work, in whatever all of it has.
        """
        if self.queues > 1:
            return self._queue.hand_out(start, size)
        self._gpus[0].use()
        return start(self._gpus[0])

    def _once(
        self,
        use: tuple[str, Gpu],
        arrays: tuple[Any, ...],
        values: tuple[Any, ...],
        make: Callable[[], _Made],
    ) -> _Made:
        """make(), or its last result for this use if arrays and values are still the same."""
        before, values_before, made = self._made.get(use, ((), (), None))
        same = len(before) == len(arrays) and all(map(operator.is_, before, arrays))
        if not same or values != values_before:
            made = make()
            self._made[use] = arrays, values, made
        return made


class _KernelTime(Stopwatch):
    """A Stopwatch; events: a stopwatch of each GPU, of which the slowest counts."""

    def __init__(self) -> None:
        super().__init__()
        self.events: dict[Gpu, driver.Stopwatch] = {}

    @property
    def seconds(self) -> float:
        return self._seconds + max((each.seconds for each in self.events.values()), default=0.0)


class HandedOut:
    """A scan that threads of a GPU carry out."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def found(self) -> Any:
        """What was found; waits until it is there, and raises what went wrong."""
        return self._future.result()

    def stop(self) -> None:
        """Give it up; returns when no GPU is at work on it."""
        if not self._future.cancel():
            self._future.exception()


class GpuQueue:
    """Hands work out to GPUs, each piece to the one that has the least to do; close it at the end.

    Each GPU has threads of its own, which start a piece one after the other, and wait for it.
    """

    def __init__(self, gpus: Sequence[Gpu]) -> None:
        self._gpus, self._lock = gpus, Lock()
        self._starting = [Lock() for _ in gpus]
        self._left, self._taken = [0] * len(gpus), [0] * len(gpus)
        self._pools = [ThreadPoolExecutor(DEEP, f"kmatch cuda:{gpu.number}") for gpu in gpus]

    def hand_out(self, start: Callable[[Gpu], Any], size: int) -> HandedOut:
        """Let a GPU do start(itself), which returns what ends it, as a Scan does."""
        with self._lock:
            load = list(zip(self._left, self._taken, strict=True))
            number = load.index(min(load))
            self._left[number] += size
            self._taken[number] += size
        future = self._pools[number].submit(self._carry_out, number, start)
        future.add_done_callback(lambda _: self._note(number, size))
        return HandedOut(future)

    def _note(self, number: int, size: int) -> None:
        with self._lock:
            self._left[number] -= size

    def _carry_out(self, number: int, start: Callable[[Gpu], Any]) -> Any:
        gpu = self._gpus[number]
        try:
            with self._starting[number], driver.alone():
                gpu.use()
                started = start(gpu)
            return started.found()
        except Exception as error:
            if not driver.is_failure(error):
                raise
            reason = f"device cuda:{gpu.number}: {driver.reason(error)}; use the others or cpu"
            raise DeviceError(reason) from error

    def close(self) -> None:
        """Let the threads end."""
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)
