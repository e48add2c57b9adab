"""The GPU's kernels as searches call them.

Scans run on the GPU. Letters become planes on the CPU where it has the cores: each packs several
billion letters a second, planes take half the bytes, and letters in ordinary memory reach the GPU
at ten billion a second; with few cores the GPU packs. Planes lie in pinned memory too, from where
the GPU copies them at full speed and keeps them, and where the CPU's kernels read the few hits back
for alignments and tracebacks.
"""

import operator
from contextlib import nullcontext

import numpy as np

from kmatch.engine.cpu.primer.extend import extend_primers as extend_primers_on_cpu
from kmatch.engine.cpu.text.pack import pack_by
from kmatch.engine.cuda.bits.buffer import HitBuffer
from kmatch.engine.cuda.edit.filter import Filter
from kmatch.engine.cuda.edit.scan import Searches, scan_edit, smallest_edit
from kmatch.engine.cuda.gpu import driver
from kmatch.engine.cuda.gpu.device import open_gpu
from kmatch.engine.cuda.gpu.scans import Arrays, FilteredScan, Scan
from kmatch.engine.cuda.hamming.scan import scan, upload
from kmatch.engine.cuda.primer.extend import extend_primers
from kmatch.engine.geometry import Layout
from kmatch.engine.host.engine import HostEngine
from kmatch.engine.host.stopwatch import Stopwatch

WORDS = 1016  # of a row: eight times an odd number, as packing stores a column at a time
LAYOUT = Layout(
    length=1 << 27,
    reading_length=1 << 28,
    reading_halos=1 << 20,
    most=1 << 30,
    query_positions=1 << 62,
    words=WORDS,
    site_letters=1 << 24,
    reading_words=None,
)
CAPACITY = 1 << 22  # hit codes of a chunk
PACKERS = 4  # CPU threads that pack faster than the GPU is sent letters
MEMORY_SHARE = 8  # two chunks and their IUPAC planes, of 2 bytes a position each, leave room


class CudaEngine(HostEngine):
    """An Engine (see `kmatch.engine.protocol`): kernels of the GPU with a number.

    name: of the GPU; threads: of the CPU, None for all cores; reason: why the GPU was chosen; work:
    see HostEngine. Raises DeviceError where the GPU cannot be used.
    """

    name = "cuda"

    def __init__(self, number, name, threads=None, reason="", work=None):
        super().__init__(threads, work)
        self._gpu = open_gpu(number)
        self.place = f"cuda:{number}"
        self.description = f"{self.place}, {name}, and {self.threads} CPU threads ({reason})"
        self.capacity = CAPACITY
        self.layout = LAYOUT.within(driver.memory()[1] // MEMORY_SHARE)
        self._made = {}  # what searches planned last, by what it is
        self.arrays = Arrays(self._gpu)
        self._host_counts = []  # int64[1] each, in pinned memory
        self._results = driver.new_stream()  # copies results while the next scan is under way
        self.timing = nullcontext  # kernels run in timing(stream)

    def time_kernels(self):
        self._gpu.use()
        self._watch = _Stopwatch()
        self.timing = self._watch.events.timing
        return self._watch

    def planes(self, size):
        """In pinned memory; the GPU keeps its copy."""
        self._gpu.use()
        return self._gpu.planes(size)

    def keep(self, planes):
        self._gpu.keep(planes)

    def fetch(self, planes):
        self._gpu.use()
        self._gpu.fetch(planes)

    def pack(self, letters, text):
        if self.threads >= PACKERS:
            pack_by(self._workers, letters, text)
        else:
            self._gpu.use()
            self._gpu.pack(letters, text)

    def unite(self, text, masks):
        """Only on the GPU are the planes of IUPAC letters behind the others."""
        return self._gpu.unite(text, masks) if len(masks) else text

    @property
    def stream(self):
        """The queue of kernels."""
        return self._gpu.stream

    def new_count(self):
        """int64[1] on the GPU, 0 by the time that what is put into the stream now runs."""
        return driver.on_device(np.zeros(1, np.int64), self.stream)

    def take_host_count(self):
        """int64[1] on the host, to which the GPU writes meanwhile; to be given back."""
        return self._host_counts.pop() if self._host_counts else driver.pinned_counter()

    def give_host_count(self, count):
        """Take such an array back."""
        self._host_counts.append(count)

    def copy_back(self, array, codes):
        """Fill `codes` on the host from an array on the GPU that no kernel changes any more."""
        array[: len(codes)].copy_to_host(codes, stream=self._results)
        self._results.synchronize()

    def start_scan(self, text, query, k, capacity):
        self._gpu.use()
        self._note(text)
        text, stream = self._gpu.broad_text(text), self.stream
        queries = self._once("windows", query[:3], (k,), lambda: upload(query, k, stream))
        return Scan(self, capacity, lambda buffer: scan(text, queries, buffer, stream))

    def start_edit(self, text, query, filtering, capacity):
        self._gpu.use()
        self._note(text)
        text = self._gpu.broad_text(text)
        reading, limits, k = query.reading, query.limits, query.k
        arrays, layout = (*reading, limits), text[1:]

        def start(chosen, buffer):
            searches = self._once(
                "scan",
                arrays,
                (layout, chosen.tobytes(), k),
                lambda: Searches(text, reading, limits, chosen, k, self.stream),
            )
            scan_edit(text, searches, buffer)

        if filtering is not False:
            always = bool(filtering)
            queries = self._once(
                "filter",
                arrays,
                (layout, k, always),
                lambda: Filter(text, query, always, self.stream),
            )
            if queries.budgets.any():
                return FilteredScan(self, capacity, text, queries, start)
        every = np.arange(len(limits))
        return Scan(self, capacity, lambda buffer: start(every, buffer))

    def smallest_edit(self, text, reading, bounds):
        self._gpu.use()
        self._note(text)
        chosen = np.flatnonzero(bounds >= 0)
        if not len(chosen):
            return bounds + 1
        text = self._gpu.broad_text(text)
        searches = Searches(text, reading, bounds, chosen, 0, self.stream, smallest=True)
        lowest = driver.on_device(bounds + 1, self.stream)
        with self.timing(self.stream):
            smallest_edit(text, searches, HitBuffer(self.new_count(), lowest))
        found = lowest.copy_to_host(stream=self.stream)
        self.stream.synchronize()
        return found

    def extend_primers(self, starts, columns, k, on_progress=None, sizes=None):
        self._gpu.use()
        options = {"sizes": sizes} if sizes else {}
        with self._timed():
            done = extend_primers(
                self._gpu, self._extend_on_cpu, starts, columns, k, on_progress, **options
            )
        return self._noted(done)

    def _extend_on_cpu(self, starts, columns, k):
        extend_primers_on_cpu(starts, columns, k, threads=self.threads)

    def _note(self, text):
        if self._watch:
            self._watch.rows = text.rows

    def _once(self, use, arrays, values, make):
        """make(), or what it gave this use last if these arrays and values were the same."""
        before, values_before, made = self._made.get(use, ((), (), None))
        same = len(before) == len(arrays) and all(map(operator.is_, before, arrays))
        if not same or values != values_before:
            made = make()
            self._made[use] = arrays, values, made
        return made


class _Stopwatch(Stopwatch):
    """A KernelTime; primers are timed with the host's part in them."""

    def __init__(self):
        self.events = driver.Stopwatch()
        super().__init__()

    @property
    def seconds(self):
        return self._seconds + self.events.seconds
