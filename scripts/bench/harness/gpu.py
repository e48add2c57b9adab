"""A text on a GPU, and the time of kernels there by CUDA events."""

import statistics
import time

import numba
import numpy as np

import kmatch
from harness.records import shown_figure
from kmatch.engine.cuda.driver import Stopwatch, empty, on_device
from kmatch.engine.cuda.words import HitBuffer
from kmatch.engine.devices import choose_engine
from kmatch.search.chunks import packed_chunks

LOGIC, BANDWIDTH, COPY = 16.7e12, 4.8e12, 50e9  # of an H200: operations and bytes a second
CAPACITY = 1 << 23  # hits
REPEAT = 7  # of a kernel


@numba.njit(parallel=True)
def random_letters(count, seed):
    """Letters, the same on every machine."""
    letters = np.empty(count, np.uint8)
    for i in numba.prange(count):
        x = np.uint64(i + seed) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        code = (x >> np.uint64(62)) & np.uint64(3)
        letters[i] = 65 + 2 * code if code < 2 else (71 if code == 2 else 84)
    return letters


def random_patterns(length, count):
    letters = random_letters(length * count, 1 << 40).tobytes().decode()
    return [letters[i * length : (i + 1) * length] for i in range(count)]


def event_seconds(launch, stream, prepare):
    """Median seconds of a launch on the GPU, after one to warm up; prepare() precedes each."""
    watches = [Stopwatch() for _ in range(REPEAT + 1)]
    for watch in watches:
        prepare()
        with watch.timing(stream):
            launch()
    watches.pop(0)
    return statistics.median(watch.seconds for watch in watches)


def read_counter(counter, stream):
    """The number in an int64[1] on the GPU, once the stream's work is done."""
    number = counter.copy_to_host(stream=stream)
    stream.synchronize()
    return int(number[0])


def clear(counts, stream):
    counts.copy_to_device(np.zeros(len(counts), np.int64), stream=stream)


class GpuBench:
    """A text in host memory, its chunks on the GPU, and the figures so far."""

    def __init__(self, length):
        self.length = length
        self.rows = []
        self.engine = choose_engine("cuda")
        self.stream = self.engine._gpus[0].stream
        self.letters = random_letters(length, 0)

    def note(self, name, **figures):
        """Keep and print a row."""
        self.rows.append({"name": name, **figures})
        shown = (f"{figure}={shown_figure(value)}" for figure, value in figures.items())
        print(f"{name:<42}", *shown, flush=True)

    def genome(self, length):
        """A Genome of the beginning of the text."""
        return kmatch.Genome.from_records([("r", self.letters[:length])])

    def chunk(self, plan, length):
        """The one chunk of the beginning of the text, in the layout of the engine."""
        words = self.engine.layout.reading_words
        plan = plan._replace(length=length)
        return next(packed_chunks(self.genome(length), plan, self.engine, words))

    def on_gpu(self, chunk, masks):
        """The Text of a chunk on the GPU, as the engine's kernels take it."""
        return self.engine._gpus[0].text(chunk.plain, np.array(masks, np.uint8))

    def kernel(self, start, prepare=None):
        """(seconds, hits) of the kernels that start(HitBuffer) puts into the engine's stream."""
        stream = self.stream
        buffer = HitBuffer(
            empty(CAPACITY, np.int64, stream), on_device(np.zeros(1, np.int64), stream)
        )
        start(buffer)
        hits = read_counter(buffer.count, stream)

        def prepare_all():
            clear(buffer.count, stream)
            if prepare:
                prepare()

        return event_seconds(lambda: start(buffer), stream, prepare_all), hits

    def same(self, search, patterns, k, length, **options):
        """Columns of a row: the hits of whole searches on both devices, and their seconds."""
        results, seconds = {}, {}
        for device in ("cuda", "cpu"):
            genome = self.genome(length)
            began = time.perf_counter()
            results[device] = search(genome, patterns, k, strand="+", device=device, **options)
            seconds[device] = time.perf_counter() - began
        gpu, cpu = results["cuda"], results["cpu"]
        columns = ("start", "end", "pattern_number", "distance")
        equal = all(np.array_equal(getattr(gpu, x), getattr(cpu, x)) for x in columns)
        return {
            "hits": len(gpu),
            "cpu_hits": len(cpu),
            "equal": bool(equal),
            "whole_cuda_s": seconds["cuda"],
            "whole_cpu_s": seconds["cpu"],
        }
