"""The GPU's kernels as searches call them.

Scans run on the GPU. The CPU packs letters into planes where it has enough cores: each packs
several billion letters a second, planes take half the bytes, and letters in ordinary memory reach
the GPU at ten billion a second. With few cores the GPU packs. Planes are in pinned memory on the
host as well: the GPU copies them from there at full speed and keeps its copy, and the CPU's kernels
read the few hits back there for alignments and tracebacks. What only some searches need is imported
by these: modules of kernels take long.
"""

import operator
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np

from kmatch.arrays import Bytes, Longs, Words
from kmatch.engine.choice import SiteWork, Work
from kmatch.engine.cuda.bits.buffer import HitBuffer
from kmatch.engine.cuda.gpu import driver
from kmatch.engine.cuda.gpu.device import open_gpu
from kmatch.engine.cuda.gpu.driver import DeviceArray, Stream
from kmatch.engine.cuda.gpu.scans import Arrays, Scan, Smallest
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.geometry import Layout, Text, halo_of
from kmatch.engine.host.done import Done
from kmatch.engine.host.engine import HostEngine
from kmatch.engine.host.stopwatch import Stopwatch
from kmatch.engine.primers import Starts, WorkDone
from kmatch.engine.protocol import KernelTime
from kmatch.engine.queries import QueryArrays, ReadingArrays

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


class CudaEngine(HostEngine):
    """An Engine (see `kmatch.engine.protocol`) for one GPU.

    number, name: of the GPU; threads: of the CPU, None for all cores; reason: why the GPU was
    chosen; work: see HostEngine; nth: of the engines that work side by side on this GPU. Raises
    DeviceError where the GPU cannot be used.
    """

    name = "cuda"

    def __init__(
        self,
        number: int,
        name: str,
        threads: int | None = None,
        reason: str = "",
        work: Work | None = None,
        nth: int = 0,
    ) -> None:
        super().__init__(threads, work)
        self._gpu = open_gpu(number, nth)
        self._gpu.use()
        self.device, self.model = f"cuda:{number}", name
        self.description = f"{self.device}, {name}, and {self.threads} CPU threads ({reason})"
        self.capacity = CAPACITY
        self.layout = LAYOUT.within(driver.memory()[1] // MEMORY_SHARE)
        self._made: dict[str, tuple[Any, ...]] = {}  # what `_once` made last, for each use
        self.arrays = Arrays(self._gpu)
        self._host_counts: list[Longs] = []  # int64[1] each, in pinned memory
        self._results = driver.new_stream()  # copies results while the next scan runs
        # Kernels run inside timing(stream).
        self.timing: Callable[[Stream], AbstractContextManager[object]] = nullcontext

    def time_kernels(self) -> KernelTime:
        self._gpu.use()
        watch = _Stopwatch()
        self._watch, self.timing = watch, watch.events.timing
        return watch

    def planes(self, size: int) -> Words:
        """In pinned memory; the GPU keeps its copy."""
        self._gpu.use()
        return self._gpu.planes(size)

    def keep(self, planes: Words) -> None:
        self._gpu.keep(planes)

    def share(self, planes: Words) -> None:
        """Take note that planes in pinned memory of another GPU do not change."""
        self._gpu.remember(planes)

    def fetch(self, planes: Words) -> None:
        self._gpu.use()
        self._gpu.fetch(planes)

    def pack(self, letters: Bytes, text: Text) -> None:
        if self.threads >= PACKERS:
            from kmatch.engine.cpu.text.pack import pack_by

            pack_by(self._workers, letters, text)
        else:
            self._gpu.use()
            self._gpu.pack(letters, text)

    def unite(self, text: Text, masks: Bytes) -> Text:
        """See `Engine.unite`; only the GPU has the planes of IUPAC letters."""
        return self._gpu.unite(text, masks) if len(masks) else text

    def share_united(self, united: Text, text: Text, masks: Bytes) -> None:
        """Take note of what `unite` of another GPU's engine returned for a text and masks."""
        if len(masks):
            self._gpu.remember_united(united.planes, text, masks)

    @property
    def stream(self) -> Stream:
        """The queue of kernels."""
        return self._gpu.stream

    def use(self) -> None:
        """Make the GPU the current one of the calling thread."""
        self._gpu.use()

    def new_count(self) -> DeviceArray:
        """int64[1] on the GPU; it is 0 for whatever enters the stream from now on."""
        return driver.on_device(np.zeros(1, np.int64), self.stream)

    def take_host_count(self) -> Longs:
        """int64[1] on the host, to which the GPU copies meanwhile; see `give_host_count`."""
        return self._host_counts.pop() if self._host_counts else driver.pinned_counter()

    def give_host_count(self, count: Longs) -> None:
        """Take such an array back."""
        self._host_counts.append(count)

    def copy_back(self, array: DeviceArray, codes: Longs) -> None:
        """Fill `codes` on the host from an array on the GPU that no kernel changes any more."""
        array[: len(codes)].copy_to_host(codes, stream=self._results)
        self._results.synchronize()

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> Scan:
        from kmatch.engine.cuda.hamming.scan import scan, upload

        self._gpu.use()
        self._note(text)
        text, stream = self._gpu.broad_text(text), self.stream
        queries = self._once("windows", query[:3], (k,), lambda: upload(query, k, stream))
        return Scan(self, capacity, lambda buffer: scan(text, queries, buffer, stream))

    def sites_pay(self, work: SiteWork) -> bool:
        """Never: a GPU compares every window with every query."""
        return False

    def start_edit(
        self, text: Text, query: DifferenceQuery, filtering: bool | None, capacity: int
    ) -> Scan:
        """See `Engine.start_edit`; a GPU always scans."""
        from kmatch.engine.cuda.edit.scan import Searches, scan_edit

        self._gpu.use()
        self._note(text)
        text, stream = self._gpu.broad_text(text), self.stream
        reading, limits, k, halo = query.reading, query.limits, query.k, halo_of(text)
        every = np.arange(len(limits))
        searches = self._once(
            "scan",
            (*reading, limits),
            (halo, k),
            lambda: Searches(halo, reading, limits, every, k, stream),
        )
        return Scan(self, capacity, lambda buffer: scan_edit(text, searches, buffer))

    def start_smallest(
        self, text: Text, reading: ReadingArrays, bounds: Longs
    ) -> Smallest | Done[Longs]:
        from kmatch.engine.cuda.edit.scan import Searches, smallest_edit

        self._gpu.use()
        self._note(text)
        chosen = np.flatnonzero(bounds >= 0)
        if not len(chosen):
            return Done(bounds + 1)
        text = self._gpu.broad_text(text)
        halo, stream = halo_of(text), self.stream
        searches = Searches(halo, reading, bounds, chosen, 0, stream, lowering=True)
        lowest = driver.on_device(bounds + 1, self.stream)
        with self.timing(self.stream):
            smallest_edit(text, searches, HitBuffer(self.new_count(), lowest))
        return Smallest(self, lowest)

    def extend_primers(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object] | None = None,
        sizes: Any = None,
    ) -> WorkDone:
        from kmatch.engine.cuda.primer.extend import SIZES, extend_primers

        self._gpu.use()
        deeper, sizes = self._extend_on_cpu, sizes or SIZES
        with self._timed():
            done = extend_primers(self._gpu, deeper, starts, columns, k, on_progress, sizes)
        return self._noted(done)

    def compile_primers(self, length: int) -> None:
        """See `Engine.compile_primers`: a search among letters that match nothing, which is short.

        Kernels differ by the bits of counters, which follow from the rows taken first.
        """
        from kmatch.engine.cuda.primer.extend import SIZES

        records, limits = np.array([0, length]), np.full(length, length)
        starts = Starts(np.zeros(length, np.uint8), records, limits, np.full(length, 2))
        self.extend_primers(starts, np.zeros(1, np.uint8), 2, sizes=SIZES._replace(more=length))

    def _extend_on_cpu(self, starts: Starts, columns: Bytes, k: int) -> None:
        from kmatch.engine.cpu.primer.extend import extend_primers

        extend_primers(starts, columns, k, threads=self.threads)

    def _note(self, text: Text) -> None:
        if self._watch:
            self._watch.rows = text.rows

    def _once(
        self,
        use: str,
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


class _Stopwatch(Stopwatch):
    """A KernelTime; the time of primers includes the host's part."""

    def __init__(self) -> None:
        self.events = driver.Stopwatch()
        super().__init__()

    @property
    def seconds(self) -> float:
        return self._seconds + self.events.seconds
