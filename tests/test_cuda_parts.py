"""Parts of the engine of GPUs: tiles, strips, memory, several GPUs, and how primers are cut into
work. In the simulator alone."""

import gc
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from naive import reverse_complement
from support.cases import PANEL, TEXTS, named
from support.commands import random_letters
from support.devices import PROBLEMS, check
from support.searches import edit

import kmatch
from kmatch.bench import Case, by_engine, by_published
from kmatch.engine import devices
from kmatch.engine.cuda import device, driver, engine, hamming, primer_kernels, text
from kmatch.engine.cuda import edit as edit_scan
from kmatch.engine.cuda import primer as primers
from kmatch.engine.cuda.driver import cuda
from kmatch.engine.cuda.engine import CudaEngine
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import UnderWay
from kmatch.engine.geometry import SPARE, Text, text_of
from kmatch.errors import DeviceError
from kmatch.published.registry import PUBLISHED

if not driver.SIMULATED:
    pytest.skip("test_simulator.py runs this", allow_module_level=True)

AT_0 = PROBLEMS["hamming"].cases["at 0"]
TWO = "cuda:0,0"


def patch(monkeypatch, module, **values):
    for name, value in values.items():
        monkeypatch.setattr(module, name, value)


@pytest.mark.parametrize(("fewest", "parts"), [(100, 1), (3, 4)])
def test_blocks_share_the_queries_of_a_short_text(fewest, parts, monkeypatch):
    monkeypatch.setattr(hamming, "FEWEST_QUERIES", fewest)
    assert hamming.query_parts(1, 12) == parts
    assert check("hamming", (TEXTS, [*PANEL, "GATTACA", "RATTACN"], 1, {}), device="cuda")


def test_tiles_come_by_the_copies_of_older_gpus(monkeypatch):
    monkeypatch.setattr(driver, "copies_in_background", lambda: False)
    check("hamming", AT_0, device="cuda")


@pytest.mark.parametrize(("pairs", "planes"), [(False, 5), (False, 8), (True, 4), (True, 6)])
def test_a_tile_takes_every_word_of_its_part_once(pairs, planes, monkeypatch):
    """Two copies to one word under way at a time, even of the same value, are a race."""
    written = []
    copy = text._copy
    monkeypatch.setattr(text, "_copy", lambda *a: (written.append(int(a[2])), copy(*a)))
    width, plane_rows, height, row, threads = 2, 5, 4, 2, 2

    @cuda.jit
    def kernel(words, tile):
        source = Text(words, width, 3, width * plane_rows)
        size = text.Size(planes, height * width)
        text.copy_tile(pairs, source, row, size, cuda.threadIdx.x, threads, tile, 0)

    source = np.arange(planes * plane_rows * width, dtype=np.uint64)
    tile = np.full(planes * height * width, 99, np.uint64)
    kernel[1, threads](source, tile)
    kept = tile.reshape(planes, height, width)[:, : plane_rows - row]
    assert np.array_equal(kept, source.reshape(planes, plane_rows, width)[:, row:])
    assert len(written) == len(set(written)) == len(tile) // (2 if pairs else 1)


@pytest.mark.parametrize(
    ("values", "pattern"),
    [
        ({"SPAN": 8}, "ACGTTGCATTAGCCAGTACTGAACCGGTTAAGCT"),  # 34 letters
        ({"MEMORY_SHARE": 0.0}, "ACGTTGCATTAGCCAGTACTGAACCGGTTAAGC"),
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


@pytest.mark.parametrize(
    ("length", "pam", "side", "is_plus"),
    [
        # In registers,
        (20, "NGG", "3p", True),
        (20, "TTV", "5p", False),
        # and in strips.
        (34, "NGG", "3p", False),
        (34, "TTV", "5p", True),
    ],
)
def test_ends_without_a_pam_stay_on_the_gpu(length, pam, side, is_plus, monkeypatch):
    """A site beside a PAM leaves the GPU, and the same letters beside other ones do not."""
    strand = "+" if is_plus else "-"
    guide = random_letters(length, 8)
    site = guide + "CGG" if side == "3p" else "TTA" + guide
    letters = random_letters(1_200)  # so that lanes are long: their last rows show no PAM
    records = [("r", letters + site + "CATTCA" + guide + "CATTACA" + letters)]
    if not is_plus:
        records = [("r", reverse_complement(records[0][1]))]
    rules = {"pam": pam, "pam_side": side, "strand": strand, "report": "ends"}
    taken = []
    found = engine.start_scan

    def noted(gpu, capacity, launch):
        scan = found(gpu, capacity, launch)
        return UnderWay(lambda: taken.append(scan.found()) or taken[-1], scan.stop)

    monkeypatch.setattr(engine, "start_scan", noted)
    assert len(edit(records, [guide], 0, device="cuda", **rules)) == 1
    assert len({code for codes, _ in taken for code in codes.tolist()}) == 1


def test_pinned_memory_is_used_again():
    """Planes that live at a time never share it."""
    one_gpu = choose_engine("cuda")
    first, second = one_gpu.planes(8), one_gpu.planes(8)
    addresses = first.ctypes.data, second.ctypes.data
    assert addresses[0] != addresses[1]
    del first
    gc.collect()
    third = one_gpu.planes(7)
    assert len(third) == 7 and third.ctypes.data == addresses[0]
    del third
    gc.collect()
    assert len(one_gpu.planes(9)) == 9 and not one_gpu._spare  # as that was too small


def test_planes_not_used_for_longest_make_room(monkeypatch):
    gpu, none = device.Gpu(0), np.zeros(0, np.uint8)
    planes = [driver.pinned(3) for _ in range(2)]
    texts = [Text(array, 1, 1, 0) for array in planes]
    for each in (*texts, texts[0]):
        each.planes[:] = 7
        gpu.text(each, none)
    array, failures = driver.cuda.device_array, [MemoryError("CUDA_ERROR_OUT_OF_MEMORY")]

    def full_at_first(*arguments, **options):
        if failures:
            raise failures.pop()
        return array(*arguments, **options)

    monkeypatch.setattr(driver.cuda, "device_array", full_at_first)
    gpu.array(4)
    assert list(gpu._kept) == [id(planes[0])]
    assert gpu.text(texts[1], none).planes.copy_to_host().tolist() == [7, 7, 7]
    del planes, texts, each
    gc.collect()
    assert not gpu._kept  # it ends with the planes of the host


def test_planes_are_taken_by_other_searches_when_they_are_united(monkeypatch):
    gpu, taken = device.Gpu(0), []
    text = text_of(driver.pinned(4 * (8 + 4) + SPARE), 1, 8, 4)
    masks = np.array([5], np.uint8)
    other = threading.Thread(target=lambda: taken.append(gpu.text(text, masks)))

    def unite(*_):
        other.start()
        other.join(0.2)
        assert not taken

    monkeypatch.setattr(device, "unite", unite)
    united = gpu.text(text, masks)
    other.join()
    assert taken[0].planes is united.planes


def test_a_gpu_is_no_longer_timed_once_a_figure_is_taken():
    one_gpu, text = choose_engine("cuda"), random_letters(50)
    case = Case("hamming", np.frombuffer(text.encode(), np.uint8), [text[10:15]], 1)
    (published,) = (each for each in PUBLISHED["hamming"] if each.name == "thread")
    for search in (lambda: by_engine(case, "cuda"), lambda: by_published(case, one_gpu, published)):
        assert search().hits.size
        assert one_gpu.gpus[0].watch is None


# Several GPUs


@pytest.fixture
def two(monkeypatch):
    """A device of two engines that share the GPU."""
    monkeypatch.setattr(devices, "REPEATED", True)
    monkeypatch.setattr(engine, "open_gpu", device.Gpu)  # not the same twice
    return TWO


def test_both_gpus_search(two, monkeypatch):
    used, here, both = {}, device.Gpu.text, threading.Event()

    def noted(self, *given):
        used[id(self)] = threading.current_thread().name.rpartition("_")[0]
        if len(used) == 2:
            both.set()
        both.wait(10)  # for the other, or one may be done with everything before
        return here(self, *given)

    monkeypatch.setattr(device.Gpu, "text", noted)
    check("hamming", (TEXTS, PANEL[:1], 1, {}), device=two, chunk_length=20)
    assert list(used.values()) == ["kmatch cuda"] * 2


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
    for scan in [several._start(lambda gpu: UnderWay(lambda: gpu.number)) for _ in range(4)]:
        assert scan.found() == 0
    threads = set(threading.enumerate()) - before
    assert len(threads) >= 2 and several.queues == 2
    assert several.device == TWO and "2 simulator" in several.description
    del several
    gc.collect()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_gpus_that_cannot_be_had(monkeypatch):
    for name, message in [
        *((f"cuda:{each}", "unknown device") for each in ("", "0,", ",0", "all,0", "0;1")),
        *((f"cuda:{each}", "named twice") for each in ("0,0", "1,2,1")),
        *((f"cuda:{each}", "the GPUs here are cuda:0") for each in ("0,7", "1")),
    ]:
        with pytest.raises(DeviceError, match=message):
            choose_engine(name)
    assert choose_engine("cuda:all").device == "cuda:0"
    monkeypatch.setattr(devices, "REPEATED", True)
    with pytest.raises(DeviceError, match=r"runs on one GPU.*use cuda:N"):
        genome = kmatch.Genome.from_records(TEXTS)
        kmatch.hamming(genome, ["AC"], 0, device=TWO, algorithm="thread")


def test_the_gpu_that_is_free_takes_the_next_work(two, monkeypatch):
    monkeypatch.setattr(device.Gpu, "use", lambda gpu: None)
    several, takers, done = choose_engine(two), [], [threading.Event() for _ in range(2)]
    for number, gpu in enumerate(several.gpus):
        gpu.number = number

    def start(gpu):
        takers.append(gpu.number)
        return UnderWay(done[gpu.number].wait)

    under_way = [several._start(start) for _ in range(6)]
    for number, many in ((1, 4), (0, 6)):  # two at a time for each
        while len(takers) < many:
            time.sleep(0.001)
        assert sorted(takers[:4]) == [0, 0, 1, 1] and takers[4:] == [1] * (len(takers) - 4)
        done[number].set()
    assert all(each.found() for each in under_way)


# Primers

TEXT, COPY = "ACGTTGCATTAGCCAGT", random_letters(70)
NEAR = named(TEXT, "ACCGT"), named("GG" + TEXT + "TA"), 2, {"background_strand": "+"}


@pytest.mark.parametrize(
    ("sizes", "case"),
    [
        # What is alive below the rows that are taken first goes on, in the end on the CPU.
        ({"DEEPEST": 8}, NEAR),
        ({"DEEPEST": 32}, NEAR),
        # Alignments go on to the right of what is alive far up beside the same tile.
        ({"DEEPEST": 128}, (named(COPY), named("GAT" + COPY + "TA"), 1, {})),
        (
            {"WIDTH": 2, "HEIGHT": 8, "LAUNCH_CELLS": 1 << 6},
            (NEAR[0], named("GG" + TEXT + "TA", TEXT[5:] + TEXT[:5]), 2, {}),
        ),
    ],
    ids=["on the CPU", "more rows", "a copy longer than a tile", "wider tiles, small pieces"],
)
def test_primers(sizes, case, monkeypatch):
    patch(monkeypatch, primers, **sizes)
    check("primer", case, device="cuda")


def test_units_that_touch_are_merged():
    """Of one tile, with 2 more columns to the right.

    columns     0 1 2 3 4 5 6 7 8 9
    units       ─ ─   ─         ─
    merged      ─ ─ ─ ─ ─ ─     ─ ─
    """
    units = np.array([[7, 8, 9], [7, 3, 4], [7, 0, 2], [8, 0, 1]])
    assert primers.merged(units, 2, 10).tolist() == [[7, 0, 6], [7, 8, 10], [8, 0, 3]]


def test_units_are_cut_in_the_order_of_columns():
    """Into 8 columns at most, of tile 7 from 0 to 20 and of tile 8 from 4 to 12."""
    units = np.array([[7, 0, 20], [8, 4, 12]])
    expected = [[7, 0, 8], [8, 4, 12], [7, 8, 16], [7, 16, 20]]
    assert primers.cut_units(units, 8, 1).tolist() == expected


def test_shares_of_threads(monkeypatch):
    """3 words in a row, stretches of 4 rows in a lane of 8, and 4 threads in a block.

    stretch 0   share 0 1 2      unit 0   shares 0 1 2 3 of search 0
    stretch 1   share 3 4 5      unit 1   shares 4 5 6 7, of which 6 have work
                                 unit 2   shares 0 1 2 3 of search 1
    """
    patch(monkeypatch, edit_scan, THREADS=4)
    shape = edit_scan.EditShape(3, 8, 0, 0, 4, 4, 2, 1)
    units = [[edit_scan._share_of(shape, unit, thread) for thread in range(4)] for unit in range(3)]
    assert [[search for search, _, _ in unit] for unit in units] == [[0] * 4, [0] * 4, [1] * 4]
    assert [share for _, share, _ in units[0] + units[1]] == list(range(8))
    assert units[2][0] == (1, 0, 6)


@pytest.mark.parametrize(
    ("backward", "rows"),
    [(False, [[0, 6], [4, 10], [6, 12]]), (True, [[6, 0], [10, 4], [12, 6]])],
)
def test_rows_that_threads_read(backward, rows, monkeypatch):
    """A lane of 10 rows with a halo of 3, in stretches of 4, with a warm-up of 3.

    rows                   0  1  2  3  4  5  6  7  8  9 │10 11 12
    upwards    stretch 0   w  w  w  ─  ─  ─  ─
               stretch 1               w  w  w  ─  ─  ─  ─
               stretch 2                     w  w  w  ─  ─  ─  ─
    downwards  stretch 0   ─  ─  ─  ─  w  w  w
    """
    shape = edit_scan.EditShape(1, 10, 13, 3, 4, 4, 1, 3)
    searches = np.array([[0, 2, backward, 3, 1]], np.int32)
    tasks = [edit_scan._task(shape, searches, 0, thread) for thread in range(3)]
    assert [[task.at, task.at + task.step * (task.columns - 1)] for task in tasks] == rows
    assert all(task.ends.owned for task in tasks)
    assert not edit_scan._task(shape, searches, 0, 3).ends.owned


def test_rows_at_which_a_lane_is_looked_for():
    """Of a strip of 16 rows, when a lane is alive at the row of its bound.

    trial          0     1     2     3     4
    rows further  last   8     4     2     1
    """
    trials = (16 - 1).bit_length() + 1
    further = [primer_kernels._rows_further(trial, trials) for trial in range(trials)]
    assert further == [0, 8, 4, 2, 1]


def test_borders_change_places_from_strip_to_strip(monkeypatch):
    """Of a thread with two borders of 20 words, at 0 and 20.

    strip    0    1    2
    above    –    0   20      −1: none
    below    0   20    –
    """
    shape = primer_kernels.PrimerShape(1, 8, 2, 1, 3, 0)
    tile = SimpleNamespace(width=1, word=0)
    here = SimpleNamespace(blockIdx=SimpleNamespace(x=0))
    monkeypatch.setattr(primer_kernels, "cuda", here)
    found = [primer_kernels._borders_of.fn(None, shape, 0, tile, strip) for strip in range(3)]
    assert [each[1:] for each in found] == [(-1, 0), (0, 20), (20, -1)]


def test_parts_of_a_target_on_several_gpus(monkeypatch):
    extend, shares = CudaEngine.extend_primers, []

    def extend_and_listen(self, starts, columns, k, on_progress):
        return extend(self, starts, columns, k, shares.append)

    monkeypatch.setattr(CudaEngine, "extend_primers", extend_and_listen)
    monkeypatch.setattr(devices, "REPEATED", True)
    text = random_letters(26, 7)
    background = named(text[14:24] + "GG" + text[5:9])
    case = named(text, text[10:20] + "A", ""), background, 2, {"max_length": 9}
    assert check("primer", case, device="cuda:0,0")
    assert shares == sorted(shares) and shares[0] < 1 == pytest.approx(shares[-1])
