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
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.device import open_gpu
from kmatch.engine.cuda.edit import Searches, scan_edit, smallest_edit
from kmatch.engine.cuda.edit_filter import Filter
from kmatch.engine.cuda.hamming import scan, upload
from kmatch.engine.cuda.primer import extend_primers
from kmatch.engine.cuda.scans import FilteredScan, Rooms, Scan
from kmatch.engine.geometry import Layout
from kmatch.engine.host.engine import HostEngine
from kmatch.engine.host.stopwatch import Stopwatch
from kmatch.engine.primers import Starts

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
        self.rooms = Rooms(self._gpu)
        self._told = []  # int64[1] each, in pinned memory
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
            planes, words, rows, plane_words = text
            self._gpu.pack(letters, words, rows, plane_words // words, planes)

    def unite(self, text, masks):
        """Only on the GPU are the planes of IUPAC letters behind the others."""
        if not len(masks):
            return text
        return text._replace(planes=self._gpu.unite(text.planes, text.plane_words, masks))

    @property
    def stream(self):
        """The queue of kernels."""
        return self._gpu.stream

    def counter(self):
        """int64[1] on the GPU, 0 by the time that what is put into the stream now runs."""
        return driver.on_device(np.zeros(1, np.int64), self.stream)

    def told(self):
        """int64[1] on the host, to which the GPU writes while the host goes on, until `untold`."""
        return self._told.pop() if self._told else driver.pinned_counter()

    def untold(self, told):
        """Take such an array back."""
        self._told.append(told)

    def copy_back(self, room, codes):
        """Fill `codes` on the host from an array on the GPU that no kernel changes any more."""
        room[: len(codes)].copy_to_host(codes, stream=self._results)
        self._results.synchronize()

    def start_scan(self, text, query, k, capacity):
        self._gpu.use()
        self._note(text)
        planes, *shape = text
        stream = self.stream
        text, shape = self._gpu.broad_text(planes, tuple(shape))
        letters = query[:3]
        uploaded = self._once("windows", letters, (k,), lambda: upload(*letters, k, stream))

        def launch(codes, found):
            scan(text, *shape, uploaded, codes, found, stream)

        return Scan(self, capacity, launch)

    def start_edit(self, text, query, filtering, capacity):
        self._gpu.use()
        self._note(text)
        planes, *shape = text
        text, shape = self._gpu.broad_text(planes, tuple(shape))
        bases, limits, k = query.reading.bases, query.limits, query.k
        reading = query.reading[:3]

        def start(chosen, codes, found):
            searches = self._once(
                "scan",
                (*reading, limits),
                (shape, chosen.tobytes(), k),
                lambda: Searches(shape, reading, limits, chosen, k, self.stream),
            )
            scan_edit(text, searches, codes, found)

        if filtering is not False:
            queries = self._once(
                "filter",
                (*reading, bases, limits),
                (shape, k, bool(filtering)),
                lambda: Filter(shape, reading, bases, limits, k, bool(filtering), self.stream),
            )
            if queries.budgets.any():
                return FilteredScan(self, capacity, text, queries, start)
        every = np.arange(len(limits))
        return Scan(self, capacity, lambda codes, found: start(every, codes, found))

    def smallest_edit(self, text, reading, bounds):
        self._gpu.use()
        self._note(text)
        chosen = np.flatnonzero(bounds >= 0)
        if not len(chosen):
            return bounds + 1
        planes, *shape = text
        text, shape = self._gpu.broad_text(planes, tuple(shape))
        searches = Searches(shape, reading[:3], bounds, chosen, 0, self.stream, smallest=True)
        lowest = driver.on_device(bounds + 1, self.stream)
        with self.timing(self.stream):
            smallest_edit(text, searches, self.counter(), lowest)
        found = lowest.copy_to_host(stream=self.stream)
        self.stream.synchronize()
        return found

    def extend_primers(self, starts, columns, k, on_progress=None, sizes=None):
        self._gpu.use()
        options = {"sizes": sizes} if sizes else {}
        with self._timed():
            done = extend_primers(
                self._gpu, self._extend_on_cpu, *starts, columns, k, on_progress, **options
            )
        return self._noted(done)

    def _extend_on_cpu(self, target, begins, limits, bounds, columns, k):
        starts = Starts(target, begins, limits, bounds)
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
