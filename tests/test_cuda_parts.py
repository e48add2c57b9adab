"""Parts of the engine of GPUs: tiles, strips, memory, several GPUs. In the simulator alone."""

import gc
import threading
import time

import naive
import numpy as np
import pytest
from support.devices import PROBLEMS, check
from support.hooks import hamming_batches
from support.mismatches import rows
from support.packing import packed
from support.shares import PANEL, TEXTS

import kmatch
from kmatch.engine import devices
from kmatch.engine.cuda import device, driver, engine, hamming, recurrence, text, words
from kmatch.engine.cuda import edit as edit_scan
from kmatch.engine.cuda import primer as primers
from kmatch.engine.cuda.driver import cuda
from kmatch.engine.cuda.engine import GpuQueue
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import Done
from kmatch.engine.geometry import SPARE, Geometry, Text
from kmatch.engine.queries import reading_arrays
from kmatch.errors import DeviceError
from kmatch.results.table import Hits
from kmatch.sequences.patterns import load_patterns

if not driver.SIMULATED:
    pytest.skip("test_simulator.py runs this", allow_module_level=True)

AT_0 = PROBLEMS["hamming"].cases["at 0"]
SPREAD = {"NARROW": 1, "THREADS": 8}  # rows of one word, by few threads
TWO = "cuda:0,0"


def patch(monkeypatch, module, **values):
    for name, value in values.items():
        monkeypatch.setattr(module, name, value)


@pytest.mark.parametrize(("fewest", "parts"), [(100, 1), (3, 4)])
def test_blocks_share_the_queries_of_a_short_text(fewest, parts, monkeypatch):
    monkeypatch.setattr(hamming, "FEWEST_QUERIES", fewest)
    assert hamming.query_parts(1, 12) == parts
    assert check("hamming", (TEXTS, [*PANEL, "GATTACA", "RATTACN"], 1, {}), device="cuda")


@pytest.mark.parametrize(("problem", "name"), [("hamming", "at 0"), ("edit", "records apart")])
def test_every_thread_of_a_block_has_lanes_of_a_short_text(problem, name, monkeypatch):
    monkeypatch.setattr(engine, "LAYOUT", LAYOUT)
    check(problem, PROBLEMS[problem].cases[name], device="cuda")


LAYOUT = engine.LAYOUT  # with rows that are not narrow


def test_a_thread_can_reserve_codes_for_all_its_positions():
    """One more, and hits of a GPU would be written over others; the simulator has no such limit."""
    depths = (hamming.BROAD.depth, hamming.DEEP.depth, recurrence.COLUMNS)
    assert 64 * max(depths) < 1 << words.BITS


def test_tiles_come_by_the_copies_of_older_gpus(monkeypatch):
    monkeypatch.setattr(hamming, "copies_in_background", lambda: False)
    check("hamming", AT_0, device="cuda", words=2)


@pytest.mark.parametrize(("pairs", "planes"), [(False, 5), (False, 8), (True, 4), (True, 6)])
def test_a_tile_takes_every_word_of_its_part_once(pairs, planes, monkeypatch):
    """Two copies to one word under way at a time, even of the same value, are a race."""
    written = []
    copy, clear = text._copy, text._clear
    monkeypatch.setattr(text, "_copy", lambda *a: (written.append(int(a[2])), copy(*a)))
    monkeypatch.setattr(text, "_clear", lambda *a: (written.append(int(a[2])), clear(*a)))
    width, plane_rows, height, row, threads = 2, 5, 4, 2, 2

    @cuda.jit
    def kernel(words, tile):
        source = Text(words, width, 3, width * plane_rows)
        part, size = text.Part(row, 0, plane_rows), text.Size(planes, height, width)
        text.copy_tile(pairs, source, part, size, cuda.threadIdx.x, threads, tile, 0)

    source = np.arange(1, planes * plane_rows * width + 1, dtype=np.uint64)
    tile = np.full(planes * height * width, 99, np.uint64)
    kernel[1, threads](source, tile)
    expected = np.zeros((planes, height, width), np.uint64)
    expected[:, : plane_rows - row] = source.reshape(planes, plane_rows, width)[:, row:]
    assert np.array_equal(tile, expected.reshape(-1))
    assert len(written) == len(set(written)) == len(tile) // (2 if pairs else 1)


@pytest.mark.parametrize(
    ("values", "pattern"),
    [
        ({"SPAN": 8}, "ACGTTGCATTAGCCAGTACTGAACCGGTTAAGCT"),  # 34 letters
        ({"memory": lambda: (1, 1)}, "ACGTTGCATTAGCCAGTACTGAACCGGTTAAGC"),
    ],
    ids=["short spans", "little memory"],
)
def test_strips(values, pattern, monkeypatch):
    patch(monkeypatch, edit_scan, **values)
    edit_scan.make_strips.cache_clear()
    records = [("r", "GATT" + pattern[:20] + "C" + pattern[20:] + "TTAC")]
    assert check("edit", (records, [pattern], 1, {"strand": "+"}), device="cuda")
    assert edit_scan.make_strips.cache_info().currsize
    edit_scan.make_strips.cache_clear()


def test_stretches_cover_all_rows():
    geometry = Geometry(1, 37, 24)
    reading = reading_arrays(np.ones(20, np.uint8), np.array([0, 20]), np.zeros(1, np.uint8))
    searches = edit_scan.Searches(24, reading, np.array([3]), np.array([0]), 3, driver.new_stream())
    (plan,) = searches.plans
    stretch, blocks = edit_scan.divide(geometry.text(None), plan)
    assert blocks * stretch >= geometry.rows > (blocks - 1) * stretch and blocks > 1


def test_queries_are_planned_once_for_chunks_of_any_length(monkeypatch):
    planned, layouts = [], set()
    begin, run = edit_scan.Searches.__init__, edit_scan.Searches.run

    def spy_begin(self, *arguments, **options):
        planned.append(self)
        begin(self, *arguments, **options)

    def spy_run(self, chunk, *arguments):
        layouts.add(chunk[1:])
        run(self, chunk, *arguments)

    patch(monkeypatch, edit_scan.Searches, __init__=spy_begin, run=spy_run)
    long = "ACGTTGCATTAGACCAGGATACGTTGCATTAGACCAG"  # goes in strips, whose memory grows
    records = [("long", long * 9), ("longer", "T" + long * 14), ("short", long)]
    case = records, [long, long[:12]], 1, {"strand": "+", "report": "ends"}
    assert check("edit", case, device="cuda", chunk_length=400)
    assert len(planned) == 1 and len(layouts) > 1


def test_planes_not_used_for_longest_make_room(monkeypatch):
    gpu = device.Gpu(0)
    planes = [driver.pinned(3) for _ in range(2)]
    for array in planes:
        array[:] = 7
        gpu.keep(array, pageable=array is planes[1])
        assert gpu.fetch(array).arrived()
    gpu.fetch(planes[0])
    empty, failures = driver.empty, [DeviceError("the GPU is out of memory")]

    def full_at_first(*arguments):
        if failures:
            raise failures.pop()
        return empty(*arguments)

    monkeypatch.setattr(driver, "empty", full_at_first)
    gpu.array(4)
    assert [gpu._kept[id(array)].copy is not None for array in planes] == [True, False]
    again = gpu.fetch(planes[1])
    again.arrived()
    assert again.copy.copy_to_host().tolist() == [7, 7, 7]


def test_planes_end_with_those_of_the_host():
    gpu, planes = device.Gpu(0), driver.pinned(3)
    gpu.keep(planes, pageable=False)
    gpu.fetch(planes)
    del planes
    gc.collect()
    assert not gpu._kept


def test_each_scan_has_a_buffer_of_its_own():
    gpu = device.Gpu(0)
    small, large = gpu.take_buffer(2), gpu.take_buffer(9)
    assert len(large.hits.codes) == 9 and small.hits.codes is not large.hits.codes
    gpu.give_buffer(small)
    gpu.give_buffer(large)
    assert gpu.take_buffer(3) is large and gpu.take_buffer(3) is not small


def test_planes_are_taken_by_other_searches_when_they_are_spread(monkeypatch):
    patch(monkeypatch, text, **SPREAD)
    gpu, taken, geometry = device.Gpu(0), [], Geometry(1, 8, 4)
    planes = driver.pinned(4 * geometry.plane_words + SPARE)
    gpu.keep(planes, pageable=False)
    masks = np.zeros(0, np.uint8)
    other = threading.Thread(target=lambda: taken.append(gpu.text(geometry.text(planes), masks)))

    def spread(*_):
        other.start()
        other.join(0.2)
        assert not taken

    monkeypatch.setattr(device, "spread", spread)
    broad = gpu.text(geometry.text(planes), masks)
    other.join()
    assert taken[0].planes is broad.planes


def test_parts_of_packed_chunks_are_scanned_apart(monkeypatch):
    patch(monkeypatch, text, **SPREAD)
    records, panel = [("r", "ACG" + 200 * "T" + "ACG")], load_patterns(["ACG"])
    genome = packed(records, length=4000, halo=64, words=1)
    options = {"device": "cuda", "strand": "+", "capacity": 1}
    found = Hits(hamming_batches(genome, panel, 0, **options), panel)
    assert rows(found) == naive.hamming(records, ["ACG"], 0, strand="+")


def test_planes_are_spread_over_more_lanes(monkeypatch):
    patch(monkeypatch, text, **SPREAD)
    random, lane_rows, halo = np.random.default_rng(1), 16, 10
    bits = random.integers(0, 2, (4, 128 * lane_rows + halo), dtype=np.uint8)
    narrow, expected = (striped(bits, width, halo) for width in (2, 16))
    stream = driver.new_stream()
    source = Geometry(2, lane_rows, halo).text(driver.on_device(narrow, stream))
    broad = text.spread_text(source, driver.empty(expected.size, np.uint64, stream))
    assert broad == Geometry(16, 2, halo).text(broad.planes)
    text.spread(source, broad, stream)
    assert np.array_equal(broad.planes.copy_to_host(), expected)


def striped(bits, width, halo):
    """Planes, `width` words a row, of bits, uint8[planes, letters], the halo among these."""
    lane_rows = (bits.shape[1] - halo) // (64 * width)
    positions = np.arange(64 * width) * lane_rows + np.arange(lane_rows + halo)[:, None]
    return np.packbits(bits[:, positions], axis=2, bitorder="little").view(np.uint64).reshape(-1)


# Several GPUs


@pytest.fixture
def two(monkeypatch):
    """A device of two engines that share the GPU."""
    monkeypatch.setattr(devices, "REPEATED", True)
    return TWO


def test_both_gpus_search(two, monkeypatch):
    used, here = {}, device.Gpu.text

    def noted(self, *given):
        used[id(self)] = threading.current_thread().name.rpartition("_")[0]
        return here(self, *given)

    monkeypatch.setattr(device.Gpu, "text", noted)
    check("hamming", (TEXTS, PANEL[:1], 1, {}), device=two, chunk_length=20)
    assert list(used.values()) == ["kmatch cuda:0"] * 2


LOST = type("CudaAPIError", (Exception,), {"__module__": "numba.cuda.cudadrv.driver"})


@pytest.mark.parametrize("problem", ["hamming", "edit", "best", "primer"])
@pytest.mark.parametrize(
    ("error", "raised", "message"),
    [
        (LOST("[719] launch failure"), DeviceError, "device cuda:0: .*launch failure"),
        (DeviceError("device cuda:0: full"), DeviceError, "^device cuda:0: full$"),
        (ZeroDivisionError("a defect"), ZeroDivisionError, "^a defect$"),
    ],
    ids=["lost", "memory", "defect"],
)
def test_a_gpu_that_fails_ends_the_search_with_its_name(
    problem, error, raised, message, two, monkeypatch
):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(device.Gpu, "text", fail)
    monkeypatch.setattr(primers, "extend_primers", fail)
    case = next(iter(PROBLEMS[problem].cases.values()))
    with pytest.raises(raised, match=message):
        check(problem, case, device=two)


def test_threads_end_with_the_search(two):
    before = set(threading.enumerate())
    several = choose_engine(two)
    for scan in [several._start(lambda gpu: Done(gpu.number), 1) for _ in range(4)]:
        assert scan.found() == 0
    threads = set(threading.enumerate()) - before
    assert len(threads) >= 2 and several.queues == 2
    assert several.device == TWO and "2 simulator" in several.description
    del several
    gc.collect()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_a_search_that_is_given_up(two):
    genome, panel = kmatch.Genome.from_records(TEXTS), load_patterns(PANEL)
    batches = hamming_batches(genome, panel, 1, device=two, chunk_length=20)
    next(batches)
    batches.close()


def test_gpus_that_cannot_be_had(monkeypatch):
    for named, message in [
        *((f"cuda:{named}", "unknown device") for named in ("", "0,", ",0", "all,0", "0;1")),
        *((f"cuda:{named}", "named twice") for named in ("0,0", "1,2,1")),
        *((f"cuda:{named}", "the GPUs here are cuda:0") for named in ("0,7", "1")),
    ]:
        with pytest.raises(DeviceError, match=message):
            choose_engine(named)
    assert choose_engine("cuda:all").device == "cuda:0"
    monkeypatch.setattr(devices, "REPEATED", True)
    with pytest.raises(DeviceError, match=r"runs on one GPU.*use cuda:N"):
        genome = kmatch.Genome.from_records(TEXTS)
        kmatch.hamming(genome, ["AC"], 0, device=TWO, algorithm="thread")


class Clock:
    """A GPU that takes `seconds` for each scan, one after the other."""

    def __init__(self, seconds):
        self.number, self.seconds, self.free, self.taken = 0, seconds, 0.0, 0

    def use(self):
        pass

    def scan(self, delay):
        time.sleep(delay)  # of the host
        self.taken += 1
        self.free = max(self.free, time.monotonic()) + self.seconds
        return Until(self.free)


class Until:
    def __init__(self, end):
        self.end = end

    def found(self):
        time.sleep(max(self.end - time.monotonic(), 0))


def shares(gpus, many, ahead=5):
    """How many of the scans each GPU takes, of which the host hands out some ahead."""
    queue, under_way = GpuQueue(gpus), []
    for number in range(many):
        # The host takes longer for some than for others.
        delay = 0.004 if number % 3 else 0.0
        under_way.append(queue.hand_out(lambda gpu, delay=delay: gpu.scan(delay), 1))
        if len(under_way) > ahead:
            under_way.pop(0).found()
    for scan in under_way:
        scan.found()
    queue.close()
    return [gpu.taken for gpu in gpus]


def test_gpus_take_work_by_what_they_have_to_do(monkeypatch):
    monkeypatch.setattr(driver, "SIMULATED", False)  # clocks run side by side
    for many in (2, 8, 16):
        assert shares([Clock(0.01), Clock(0.01)], many) == [many // 2] * 2
    fast, slow = shares([Clock(0.005), Clock(0.06)], 30)
    assert fast >= 2 * slow > 0
