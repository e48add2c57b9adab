"""The GPU's kernels as searches call them.

Scans run on the GPU. Letters become planes on the CPU: its cores pack several billion letters a
second each, as fast as a GPU could be sent them, and planes take half the bytes. They lie in pinned
memory, from where the GPU copies them at full speed and keeps them, and where the CPU's kernels
read the few hits back for alignments and tracebacks.
"""

import operator
from contextlib import nullcontext

import numpy as np

from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.device import open_gpu
from kmatch.engine.cuda.edit import Searches, scan_edit, smallest_edit
from kmatch.engine.cuda.hamming import scan, upload
from kmatch.engine.geometry import Layout

WORDS = 1016  # of a row: eight times an odd number, as packing stores a column at a time
LAYOUT = Layout(
    length=1 << 27,
    reading_length=1 << 28,
    reading_halos=1 << 20,
    most=1 << 30,
    query_positions=1 << 62,
    words=WORDS,
    reading_words=None,
)
MEMORY_SHARE = 8  # two chunks and their IUPAC planes, of 2 bytes a position each, leave room


class CudaEngine:
    """Kernels of the GPU with a number, and of `threads` CPU threads, None for all cores.

    Raises DeviceError where the GPU cannot be used.
    """

    name = "cuda"
    tasks = 1
    key_room = (1 << 16, 1 << 19)

    def __init__(self, number, name, threads=None, reason=""):
        self._cpu = CpuEngine(threads)
        self._gpu = open_gpu(number)
        self.place = f"cuda:{number}"
        self.description = f"{self.place}, {name}, and {self._cpu.threads} CPU threads ({reason})"
        self.layout = LAYOUT.within(driver.memory()[1] // MEMORY_SHARE)
        self._made = (), (), None
        self._keys = None
        self._counter = driver.empty(1, np.int64, self._gpu.stream)
        self._found = np.zeros(1, np.int64)
        self.timing = nullcontext  # kernels run in timing(stream), which a benchmark sets

    def planes(self, size):
        """uint64[size], uninitialised, in pinned memory, for planes that do not change once they
        were scanned: the GPU keeps its copy."""
        self._gpu.use()
        return self._gpu.planes(size)

    def fetch(self, planes):
        """Begin to copy planes that will be scanned soon to the GPU."""
        self._gpu.use()
        self._gpu.fetch(planes)

    def pack(self, *arguments):
        """See `kmatch.engine.cpu.pack.pack`."""
        self._cpu.pack(*arguments)

    def unite(self, *arguments):
        """See `kmatch.engine.cpu.pack.unite`."""
        self._cpu.unite(*arguments)

    def scan(
        self, planes, words, rows, plane_words, letters, shifts, bounds, k, lanes, keys, found
    ):
        """See `kmatch.engine.cpu.hamming.scan`; keys: int64[1, c], found: int64[1]."""
        self._gpu.use()
        text = self._gpu.text(planes)
        stream = self._gpu.stream
        queries = self._once(
            (letters, shifts, bounds), (k,), lambda: upload(letters, shifts, bounds, k, stream)
        )

        def start(lanes, keys, found):
            scan(text, words, rows, plane_words, queries, lanes, keys, found, stream)

        self._collect(start, lanes, keys, found)

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
        text = self._gpu.text(planes)
        shape, reading = (words, rows, plane_words), (letters, begins, backward)
        searches = self._once(
            (*reading, limits),
            (shape, chosen.tobytes(), k),
            lambda: Searches(shape, reading, limits, chosen, k, self._gpu.stream),
        )

        def start(lanes, keys, found):
            scan_edit(text, searches, lanes, keys, found)

        self._collect(start, lanes, keys, found)

    def filter_edit(self, *arguments):
        """Leave all queries to the scan, which is as fast; see the CPU's `filter_edit`."""
        limits = arguments[8]
        return np.zeros(0, np.int64), np.arange(len(limits))

    def smallest_edit(self, planes, words, rows, plane_words, letters, begins, backward, bounds):
        """See `kmatch.engine.cpu.edit.smallest_edit`; returns int64[Q], over the whole chunk."""
        self._gpu.use()
        chosen = np.flatnonzero(bounds >= 0)
        if not len(chosen):
            return bounds + 1
        stream = self._gpu.stream
        text = self._gpu.text(planes)
        shape, reading = (words, rows, plane_words), (letters, begins, backward)
        searches = Searches(shape, reading, bounds, chosen, 0, stream, smallest=True)
        lanes = driver.on_device(np.full(words, ~np.uint64(0)), stream)
        lowest = driver.on_device(bounds + 1, stream)
        counter = driver.on_device(np.zeros(1, np.int64), stream)
        with self.timing(stream):
            smallest_edit(text, searches, lanes, counter, lowest)
        found = lowest.copy_to_host(stream=stream)
        stream.synchronize()
        return found

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

    def read_sites(self, *arguments):
        """See `kmatch.engine.cpu.sites.read_sites`."""
        self._cpu.read_sites(*arguments)

    def read_text(self, *arguments):
        """See `kmatch.engine.cpu.letters.read_text`."""
        self._cpu.read_text(*arguments)

    def _once(self, arrays, values, make):
        """make(), or what it gave last time if these arrays and values were the same."""
        before, values_before, made = self._made
        same = len(before) == len(arrays) and all(map(operator.is_, before, arrays))
        if not same or values != values_before:
            made = make()
            self._made = arrays, values, made
        return made

    def _collect(self, start, lanes, keys, found):
        """Run a scan on the GPU and copy the keys that it found room for to keys[0]."""
        stream = self._gpu.stream
        if self._keys is None or len(self._keys) < keys.shape[1]:
            self._keys = self._gpu.room(keys.shape[1], np.int64)
        self._counter.copy_to_device(np.zeros(1, np.int64), stream=stream)
        room = self._keys[: keys.shape[1]]
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
