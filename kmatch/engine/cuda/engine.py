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

from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.device import open_gpu
from kmatch.engine.cuda.edit import Searches, scan_edit, smallest_edit
from kmatch.engine.cuda.edit_filter import Filter
from kmatch.engine.cuda.hamming import scan, upload
from kmatch.engine.cuda.primer import extend_primers
from kmatch.engine.cuda.scans import FilteredScan, Rooms, Scan
from kmatch.engine.geometry import Layout

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


class CudaEngine:
    """Kernels of the GPU with a number, and of `threads` CPU threads, None for all cores.

    Raises DeviceError where the GPU cannot be used.
    """

    name = "cuda"
    capacity = CAPACITY

    def __init__(self, number, name, threads=None, reason=""):
        self._cpu = CpuEngine(threads)
        self.threads, self.expected = self._cpu.threads, None
        self._gpu = open_gpu(number)
        self.place = f"cuda:{number}"
        self.description = f"{self.place}, {name}, and {self._cpu.threads} CPU threads ({reason})"
        self.layout = LAYOUT.within(driver.memory()[1] // MEMORY_SHARE)
        self._made = {}  # what searches planned last, by what it is
        self.rooms = Rooms(self._gpu)
        self._told = []  # int64[1] each, in pinned memory
        self._results = driver.new_stream()  # copies results while the next scan is under way
        self.timing = nullcontext  # kernels run in timing(stream), which a benchmark sets

    def planes(self, size):
        """uint64[size], uninitialised, in pinned memory, for planes that do not change once they
        were scanned: the GPU keeps its copy."""
        self._gpu.use()
        return self._gpu.planes(size)

    def keep(self, planes):
        """Remember of planes that they do not change: the GPU then keeps its copy."""
        self._gpu.keep(planes)

    def fetch(self, planes):
        """Begin to copy planes that will be scanned soon to the GPU."""
        self._gpu.use()
        self._gpu.fetch(planes)

    def pack(self, *arguments):
        """See `kmatch.engine.cpu.pack.pack`."""
        if self._cpu.threads >= PACKERS:
            self._cpu.pack(*arguments)
        else:
            self._gpu.use()
            self._gpu.pack(*arguments)

    def unite(self, planes, plane_words, masks):
        """Planes that have those of IUPAC letters behind them once they are on the GPU."""
        return self._gpu.unite(planes, plane_words, masks) if len(masks) else planes

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

    def start_scan(self, text, queries, k, capacity):
        """A Scan for windows within k mismatches; see `kmatch.engine.cuda.hamming.scan`."""
        self._gpu.use()
        planes, *shape = text
        stream = self.stream
        text, shape = self._gpu.broad_text(planes, tuple(shape))
        uploaded = self._once("windows", queries, (k,), lambda: upload(*queries, k, stream))

        def launch(codes, found):
            scan(text, *shape, uploaded, codes, found, stream)

        return Scan(self, capacity, launch)

    def start_edit(self, text, query, filtering, capacity):
        """A Scan for ends within k differences; see `kmatch.engine.cuda.edit.scan_edit`.

        query: DifferenceQuery; filtering: True or False where the engine is not to choose.
        """
        self._gpu.use()
        planes, *shape = text
        text, shape = self._gpu.broad_text(planes, tuple(shape))
        letters, limits, k = query.letters, query.limits, query.k

        def start(chosen, codes, found):
            searches = self._once(
                "scan",
                (*query.reading, limits),
                (shape, chosen.tobytes(), k),
                lambda: Searches(shape, query.reading, limits, chosen, k, self.stream),
            )
            scan_edit(text, searches, codes, found)

        if filtering is not False:
            queries = self._once(
                "filter",
                (*query.reading, letters.bases, limits),
                (shape, k, bool(filtering)),
                lambda: Filter(
                    shape, query.reading, letters.bases, limits, k, bool(filtering), self.stream
                ),
            )
            if queries.budgets.any():
                return FilteredScan(self, capacity, text, queries, start)
        every = np.arange(len(limits))
        return Scan(self, capacity, lambda codes, found: start(every, codes, found))

    def smallest_edit(self, text, reading, bounds):
        """See `kmatch.engine.cpu.edit.smallest_edit`; returns int64[Q], over the whole chunk."""
        self._gpu.use()
        chosen = np.flatnonzero(bounds >= 0)
        if not len(chosen):
            return bounds + 1
        planes, *shape = text
        text, shape = self._gpu.broad_text(planes, tuple(shape))
        searches = Searches(shape, reading, bounds, chosen, 0, self.stream, smallest=True)
        lowest = driver.on_device(bounds + 1, self.stream)
        with self.timing(self.stream):
            smallest_edit(text, searches, self.counter(), lowest)
        found = lowest.copy_to_host(stream=self.stream)
        self.stream.synchronize()
        return found

    def extend_primers(self, *arguments, **options):
        """See `kmatch.engine.cpu.primer.extend_primers`; options: on_progress, sizes."""
        self._gpu.use()
        return extend_primers(self._gpu, self._cpu.extend_primers, *arguments, **options)

    def align_gapless(self, *arguments):
        """See `kmatch.engine.cpu.alignments.align_gapless`."""
        self._cpu.align_gapless(*arguments)

    def trace(self, *arguments):
        """See `kmatch.engine.cpu.trace.trace`."""
        self._cpu.trace(*arguments)

    def profiles(self, *arguments):
        """See `kmatch.engine.cpu.blocks.profiles`."""
        return self._cpu.profiles(*arguments)

    def seeds_pay(self, *arguments):
        """Never: a GPU compares all windows faster than a CPU looks seeds up."""
        return False

    def seed_tables(self, *arguments):
        """See `kmatch.engine.cpu.seeds.seed_tables`."""
        return self._cpu.seed_tables(*arguments)

    def start_seeds(self, *arguments):
        """See `kmatch.engine.cpu.seeds.scan_seeds`."""
        return self._cpu.start_seeds(*arguments)

    def sites_pay(self, *arguments):
        """Never: a GPU compares all windows faster than a CPU reads those beside a PAM."""
        return False

    def read_sites(self, *arguments):
        """See `kmatch.engine.cpu.sites.read_sites`."""
        self._cpu.read_sites(*arguments)

    def read_text(self, *arguments):
        """See `kmatch.engine.cpu.letters.read_text`."""
        self._cpu.read_text(*arguments)

    def _once(self, use, arrays, values, make):
        """make(), or what it gave this use last if these arrays and values were the same."""
        before, values_before, made = self._made.get(use, ((), (), None))
        same = len(before) == len(arrays) and all(map(operator.is_, before, arrays))
        if not same or values != values_before:
            made = make()
            self._made[use] = arrays, values, made
        return made
