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
from kmatch.engine.cuda.edit_filter import Filter, filter_edit
from kmatch.engine.cuda.hamming import scan, upload
from kmatch.engine.cuda.lanes import spread_mask
from kmatch.engine.cuda.primer import extend_primers
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
PACKERS = 4  # CPU threads that pack faster than the GPU is sent letters
MEMORY_SHARE = 8  # two chunks and their IUPAC planes, of 2 bytes a position each, leave room


class CudaEngine:
    """Kernels of the GPU with a number, and of `threads` CPU threads, None for all cores.

    Raises DeviceError where the GPU cannot be used.
    """

    name = "cuda"
    tasks = 1
    key_room = (1 << 22, 1 << 22)

    def __init__(self, number, name, threads=None, reason=""):
        self._cpu = CpuEngine(threads)
        self._gpu = open_gpu(number)
        self.place = f"cuda:{number}"
        self.description = f"{self.place}, {name}, and {self._cpu.threads} CPU threads ({reason})"
        self.layout = LAYOUT.within(driver.memory()[1] // MEMORY_SHARE)
        self._made = {}  # what searches planned last, by what it is
        self._rooms = {}  # arrays on the GPU for results, by their use
        self._counter = driver.empty(1, np.int64, self._gpu.stream)
        self._found = np.zeros(1, np.int64)
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

    def scan(
        self, planes, words, rows, plane_words, letters, shifts, bounds, k, lanes, keys, found
    ):
        """See `kmatch.engine.cpu.hamming.scan`; keys: int64[1, c], found: int64[1]."""
        self._gpu.use()
        text, shape = self._gpu.broad_text(planes, (words, rows, plane_words))
        stream = self._gpu.stream
        queries = self._once(
            "windows",
            (letters, shifts, bounds),
            (k,),
            lambda: upload(letters, shifts, bounds, k, stream),
        )

        def start(lanes, keys, found):
            scan(text, *shape, queries, lanes, keys, found, stream)

        self._collect(start, shape[0], lanes, keys, found)

    def scan_edit(
        self,
        planes,
        words,
        rows,
        plane_words,
        letters,
        begins,
        backward,
        limits,
        chosen,
        k,
        lanes,
        keys,
        found,
    ):
        """See `kmatch.engine.cpu.edit.scan_edit`; keys: int64[1, c], found: int64[1]."""
        self._gpu.use()
        text, shape = self._gpu.broad_text(planes, (words, rows, plane_words))
        reading = (letters, begins, backward)
        searches = self._once(
            "scan",
            (*reading, limits),
            (shape, chosen.tobytes(), k),
            lambda: Searches(shape, reading, limits, chosen, k, self._gpu.stream),
        )

        def start(lanes, keys, found):
            scan_edit(text, searches, lanes, keys, found)

        self._collect(start, shape[0], lanes, keys, found)

    def filter_edit(
        self,
        planes,
        words,
        rows,
        plane_words,
        letters,
        begins,
        backward,
        bases,
        limits,
        k,
        always,
    ):
        """See `kmatch.engine.cpu.edit_filter.filter_edit`."""
        self._gpu.use()
        text, shape = self._gpu.broad_text(planes, (words, rows, plane_words))
        reading = (letters, begins, backward)
        queries = self._once(
            "filter",
            (*reading, bases, limits),
            (shape, k, always),
            lambda: Filter(shape, reading, bases, limits, k, always, self._gpu.stream),
        )
        return filter_edit(text, queries, self._room, self.timing)

    def smallest_edit(self, planes, words, rows, plane_words, letters, begins, backward, bounds):
        """See `kmatch.engine.cpu.edit.smallest_edit`; returns int64[Q], over the whole chunk."""
        self._gpu.use()
        chosen = np.flatnonzero(bounds >= 0)
        if not len(chosen):
            return bounds + 1
        stream = self._gpu.stream
        text, shape = self._gpu.broad_text(planes, (words, rows, plane_words))
        reading = (letters, begins, backward)
        searches = Searches(shape, reading, bounds, chosen, 0, stream, smallest=True)
        lanes = driver.on_device(np.full(shape[0], ~np.uint64(0)), stream)
        lowest = driver.on_device(bounds + 1, stream)
        counter = driver.on_device(np.zeros(1, np.int64), stream)
        with self.timing(stream):
            smallest_edit(text, searches, lanes, counter, lowest)
        found = lowest.copy_to_host(stream=stream)
        stream.synchronize()
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

    def scan_seeds(self, *arguments):
        """See `kmatch.engine.cpu.seeds.scan_seeds`."""
        self._cpu.scan_seeds(*arguments)

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

    def _room(self, use, size):
        """int64[size] on the GPU, which is kept for the next of this use."""
        if use not in self._rooms or len(self._rooms[use]) < size:
            self._rooms.pop(use, None)
            self._rooms[use] = self._gpu.room(size, np.int64)
        return self._rooms[use][:size]

    def _collect(self, start, words, lanes, keys, found):
        """Run a scan on the GPU and copy the keys that it found room for to keys[0].

        words: in a row there, where lanes may have been spread.
        """
        stream = self._gpu.stream
        lanes = lanes if len(lanes) == words else spread_mask(lanes)
        self._counter.copy_to_device(np.zeros(1, np.int64), stream=stream)
        room = self._room("keys", keys.shape[1])
        wanted = driver.on_device(lanes, stream)
        with self.timing(stream):
            start(wanted, room, self._counter)
        self._counter.copy_to_host(self._found, stream=stream)
        stream.synchronize()
        found[0] = self._found[0]
        many = min(int(found[0]), keys.shape[1])
        if many:
            room[:many].copy_to_host(keys[0, :many], stream=stream)
            stream.synchronize()
