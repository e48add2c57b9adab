"""Cases for the CUDA simulator, which is slow: few and tiny. Run by test_simulator.py."""

from dataclasses import replace
from threading import Thread

import naive
import naive_bounds
import numpy as np
import pytest
from hypothesis import given, settings
from support.cases import EDIT, HAMMING, MULTI, edit_cases, hamming_cases
from support.constraints import CASES as CONSTRAINED
from support.differences import best, edit
from support.differences import rows as rows_of
from support.hooks import hamming_batches
from support.mismatches import rows, search, search_panel
from support.packing import packed
from support.pcr import expected, plain, products
from support.pcr import rows as rows_of_products
from support.shares import PANEL, PROBLEMS, TEXTS, within

import kmatch
from kmatch.engine.cuda import device, driver, engine, recurrence, strips, words
from kmatch.engine.cuda import edit as edit_scan
from kmatch.engine.cuda import hamming as hamming_scan
from kmatch.engine.cuda import text as tiles
from kmatch.engine.cuda.driver import cuda
from kmatch.engine.devices import choose_engine
from kmatch.engine.geometry import SPARE, Geometry, Text
from kmatch.engine.queries import reading_arrays
from kmatch.errors import DeviceError
from kmatch.results.hits import Hits
from kmatch.sequences.patterns import load_patterns

MISMATCHES = (
    *("at 0", "m = 1", "runs of N", "gaps and other letters", "empty records", "mixed lengths"),
    *("exact both, over all letters", "every counter width", "long pattern", "IUPAC"),
)
DIFFERENCES = (
    "at the end",
    "k = m - 1, two letters",
    "runs of N",
    "records apart",
    "IUPAC",
    "equal ends beside one another",
)
pytestmark = [
    # The recurrence adds to carry; what runs over the end of a word concerns nobody.
    pytest.mark.filterwarnings("ignore:.*overflow encountered in scalar add"),
    pytest.mark.usefixtures("cpu_packs"),
]
FEW = settings(max_examples=3, deadline=None)


@pytest.mark.parametrize("name", MISMATCHES)
def test_hamming(name):
    records, patterns, k, options = HAMMING[name]
    found = rows(search(records, patterns, k, device="cuda", **options))
    assert found == naive.hamming(records, patterns, k, **options)


def test_blocks_share_the_queries_of_a_short_text(monkeypatch):
    patterns = [*PANEL, "GATTACA", "RATTACN"]
    for fewest, parts in ((100, 1), (3, 4)):
        monkeypatch.setattr(hamming_scan, "FEWEST_QUERIES", fewest)
        assert hamming_scan.query_parts(1, 12) == parts
        found = rows(search(TEXTS, patterns, 1, device="cuda"))
        assert found == naive.hamming(TEXTS, patterns, 1) != []


@pytest.mark.parametrize("name", DIFFERENCES)
def test_edit(name):
    records, patterns, k, options = EDIT[name]
    found = rows_of(edit(records, patterns, k, device="cuda", **options))
    assert found == naive.edit(records, patterns, k, **options)


def test_every_thread_of_a_block_has_lanes_of_a_short_text(monkeypatch):
    monkeypatch.setattr(engine, "LAYOUT", replace(engine.LAYOUT, least_words=engine.LEAST_WORDS))
    records, patterns, k, options = HAMMING["at 0"]
    found = rows(search(records, patterns, k, device="cuda", **options))
    assert found == naive.hamming(records, patterns, k, **options)
    records, patterns, k, options = EDIT["records apart"]
    found = rows_of(edit(records, patterns, k, device="cuda", **options))
    assert found == naive.edit(records, patterns, k, **options)


@pytest.mark.parametrize("problem", PROBLEMS, ids=["hamming", "edit"])
def test_a_k_for_each_pattern(problem):
    find, oracle = problem
    found = rows(find(TEXTS, PANEL, "20%", device="cuda"))
    assert found == within(oracle, TEXTS, PANEL, 20) != []


@pytest.mark.parametrize("edit", [True, False])
def test_pcr(edit):
    records = [("r", "ACGTTGNNGGATCCACTTACCAACGTAGG"), ("s", "GGTAAGTTTACGTTGCAACGTACT")]
    primers = {"a": (["ACGTTG"], ["GGTAAG"]), "b": (["GGATCC"], ["CCTACG", "AGTACG"])}
    options = {"product": (6, 30), "pairs": "any", "edit": edit}
    found = rows_of_products(products(records, primers, 1, device="cuda", **options))
    assert found == plain(expected(records, primers, 1, **options)) != []


def test_a_thread_can_reserve_codes_for_all_its_positions():
    """One more, and hits of a GPU would be written over others; the simulator has no such limit."""
    rows = (hamming_scan.BROAD.depth, hamming_scan.DEEP.depth, recurrence.COLUMNS)
    assert 64 * max(rows) < 1 << words.BITS


@pytest.mark.parametrize("grain", [0, 1])
def test_tiles_come_by_the_copies_of_older_gpus(grain, monkeypatch):
    monkeypatch.setattr(hamming_scan, "background_grain", lambda words: grain)
    records, patterns, k, options = HAMMING["at 0"]
    found = rows(search(records, patterns, k, device="cuda", words=2, **options))
    assert found == naive.hamming(records, patterns, k, **options)


@pytest.mark.parametrize(("grain", "planes"), [(0, 5), (1, 4), (1, 7), (2, 6)])
def test_a_tile_takes_every_word_of_its_part_once(grain, planes, monkeypatch):
    """Two copies to one word under way at a time, even of the same value, are a race."""
    written = []
    copy, clear = tiles._copy, tiles._clear
    monkeypatch.setattr(tiles, "_copy", lambda *a: (written.append(int(a[2])), copy(*a)))
    monkeypatch.setattr(tiles, "_clear", lambda *a: (written.append(int(a[2])), clear(*a)))
    words, plane_rows, rows, row, threads = 2, 5, 4, 2, 2

    @cuda.jit
    def kernel(text, tile):
        text = Text(text, words, 3, words * plane_rows)
        part, size = tiles.Part(row, 0, plane_rows), tiles.Size(planes, rows, words)
        thread = cuda.threadIdx.x
        tiles.copy_tile(grain, text, part, size, thread, threads, tile, 0)

    text = np.arange(1, planes * plane_rows * words + 1, dtype=np.uint64)
    tile = np.full(planes * rows * words, 99, np.uint64)
    kernel[1, threads](text, tile)
    expected = np.zeros((planes, rows, words), np.uint64)
    expected[:, : plane_rows - row] = text.reshape(planes, plane_rows, words)[:, row:]
    assert np.array_equal(tile, expected.reshape(-1))
    assert len(written) == len(set(written)) == len(tile) // max(grain, 1)


@pytest.mark.parametrize("name", ["a PAM before, minima", "exact both", "bounds and a PAM"])
def test_constraints(name):
    records, patterns, k, options = CONSTRAINED[name]
    found = rows_of(edit(records, patterns, k, device="cuda", **options))
    assert found == naive_bounds.edit(records, patterns, k, **options)


def test_several_pams():
    records, patterns, k, options = MULTI["several PAMs"]
    found = rows(search_panel(records, patterns, k, device="cuda", **options))
    assert found == naive.multi(records, patterns, k, **options)


def test_best_with_exact_ends():
    records, patterns, *_ = CONSTRAINED["exact both"]
    found = rows_of(best(records, patterns, device="cuda", exact_3p=3))
    assert found == naive_bounds.best(records, patterns, exact_3p=3)


def test_counters_hold_all_distances_where_limits_differ():
    records, patterns = [("a", "TTCGGGCC"), ("b", "CAACCGGGGT")], ["TTCGGGCCC", "CAACCGGGGT"]
    found = rows_of(best(records, patterns, device="cuda", chunk_length=13))
    assert found == naive.best(records, patterns)


@pytest.mark.parametrize("name", ["palindrome", "loci that only touch"])
def test_best(name):
    records, patterns, _, options = EDIT[name]
    found = rows_of(best(records, patterns, device="cuda", **options))
    assert found == naive.best(records, patterns, **options)


@FEW
@given(hamming_cases())
def test_any_windows(case):
    records, patterns, k, options = case
    found = rows(search(records, patterns, k, device="cuda", chunk_length=90, words=2, **options))
    assert found == naive.hamming(records, patterns, k, **options)


@FEW
@given(edit_cases(longest=10))
def test_any_differences(case):
    records, patterns, k, options = case
    found = rows_of(edit(records, patterns, k, device="cuda", **options))
    assert found == naive.edit(records, patterns, k, **options)


def test_no_hit_is_dropped_when_there_is_room_for_one():
    records, patterns = [("r", "ACGTACG")], ["ACG", "TAC"]
    found = rows(search(records, patterns, 1, device="cuda", capacity=1, strand="+"))
    assert found == naive.hamming(records, patterns, 1, strand="+")
    found = rows_of(edit(records, ["ACG"], 1, device="cuda", capacity=1, strand="+"))
    assert found == naive.edit(records, ["ACG"], 1, strand="+")


def in_strips(records, pattern, k):
    """The hits on the strand +, which the kernel for strips has found."""
    strips.make_scan.cache_clear()
    found = rows_of(edit(records, [pattern], k, device="cuda", strand="+"))
    assert strips.make_scan.cache_info().currsize
    strips.make_scan.cache_clear()
    return found


def test_strips(monkeypatch):
    monkeypatch.setattr(strips, "SPAN", 8)
    pattern = "ACGTTGCATTAGCCAGTACTGAACCGGTTAAGCT"  # 34 letters
    records = [("r", "GATT" + pattern[:20] + "C" + pattern[20:] + "TTAC")]
    assert in_strips(records, pattern, 1) == naive.edit(records, [pattern], 1, strand="+")


def test_little_device_memory(monkeypatch):
    monkeypatch.setattr(edit_scan, "memory", lambda: (1, 1))
    pattern = "ACGTTGCATTAGCCAGTACTGAACCGGTTAAGC"
    records = [("r", "GATT" + pattern + "TTAC")]
    assert in_strips(records, pattern, 1) == naive.edit(records, [pattern], 1, strand="+")


def test_no_device_memory_is_an_error_that_says_what_to_do(monkeypatch):
    empty = driver.empty

    def full(shape, dtype, stream):
        if shape != 1:
            raise DeviceError("the GPU is out of memory")
        return empty(shape, dtype, stream)

    monkeypatch.setattr(driver, "empty", full)
    with pytest.raises(DeviceError, match=r"cuda:0: out of memory.* bytes free; use cpu"):
        edit([("r", "ACGTACG")], ["ACG"], 1, device="cuda")


def test_planes_not_used_for_longest_make_room(monkeypatch):
    gpu = device.Gpu(0)
    planes = [gpu.planes(3) for _ in range(2)]
    for array in planes:
        array[:] = 7
        gpu._ready(array)
    gpu._ready(planes[0])
    empty, failures = driver.empty, [DeviceError("the GPU is out of memory")]

    def full_at_first(*arguments):
        if failures:
            raise failures.pop()
        return empty(*arguments)

    monkeypatch.setattr(driver, "empty", full_at_first)
    gpu.array(4)
    kept = [gpu._copies[id(array)] is not None for array in planes]
    assert kept == [True, False]
    assert gpu._ready(planes[1]).planes.copy_to_host().tolist() == [7, 7, 7]


def test_each_scan_has_a_buffer_of_its_own():
    gpu = device.Gpu(0)
    small, large = gpu.take_buffer(2), gpu.take_buffer(9)
    assert len(large[0]) == 9 and small[0] is not large[0]
    gpu.give_buffer(large)
    gpu.give_buffer(small)
    assert gpu.take_buffer(1) is small and gpu.take_buffer(1) is large
    assert gpu.take_buffer(1)[0] is not small[0]


def test_planes_are_taken_by_other_searches_when_they_are_spread(few_threads, monkeypatch):
    gpu, taken, geometry = device.Gpu(0), [], Geometry(1, 8, 4)
    text = geometry.text(gpu.planes(4 * geometry.plane_words + SPARE))
    other = Thread(target=lambda: taken.append(gpu.broad_text(text)))

    def spread(*_):
        other.start()
        other.join(0.2)
        assert not taken

    monkeypatch.setattr(device, "spread", spread)
    broad = gpu.broad_text(text)
    other.join()
    assert taken[0].planes is broad.planes


@pytest.mark.parametrize("words", [1, 3])
def test_the_gpu_packs_as_the_cpu_does(words, monkeypatch):
    geometry = Geometry(words, 3, 2)
    letters = np.random.default_rng(words).choice(
        np.frombuffer(b"ACGTUacgtuNRY-", np.uint8), geometry.letters + 64
    )
    gpu, packed = choose_engine("cuda"), []
    for packers in (0, 99):
        monkeypatch.setattr(engine, "PACKERS", packers)
        planes = gpu.planes(4 * geometry.plane_words)
        gpu.pack(letters, geometry.text(planes))
        packed.append(planes.tolist())
        assert gpu._gpus[0]._ready(planes).planes.copy_to_host().tolist() == packed[0]
    assert packed[0] == packed[1]


def test_stretches_cover_all_rows():
    geometry = Geometry(1, 37, 24)
    reading = reading_arrays(np.ones(20, np.uint8), np.array([0, 20]), np.zeros(1, np.uint8))
    limits = np.array([3])
    (plan,) = edit_scan.plan_searches(24, reading, limits, np.array([0]))
    stretch, blocks = edit_scan.divide(geometry.text(None), plan)
    assert blocks * stretch >= geometry.rows > (blocks - 1) * stretch and blocks > 1


PACKED = {"length": 64, "halo": 64, "words": 1}


@pytest.fixture
def few_threads(monkeypatch):
    """Packed genomes with rows of one word, which are spread by few threads."""
    for name, value in (("NARROW", 1), ("SPREAD_BLOCKS", 1), ("THREADS", 8)):
        monkeypatch.setattr(tiles, name, value)


def test_a_packed_genome(few_threads):
    records, patterns, k, options = HAMMING["IUPAC"]
    found = kmatch.hamming(packed(records, **PACKED), patterns, k, device="cuda", **options)
    assert rows(found) == naive.hamming(records, patterns, k, **options)


def test_differences_in_a_packed_genome(few_threads):
    records, patterns, k, options = EDIT["palindrome"]
    found = kmatch.edit(packed(records, **PACKED), patterns, k, device="cuda", **options)
    assert rows_of(found) == naive.edit(records, patterns, k, **options)


def test_parts_of_packed_chunks_are_scanned_apart(few_threads):
    records, panel = [("r", "ACG" + 200 * "T" + "ACG")], load_patterns(["ACG"])
    genome = packed(records, length=4000, halo=64, words=1)
    options = {"device": "cuda", "strand": "+", "capacity": 1}
    found = Hits(hamming_batches(genome, panel, 0, **options), panel)
    assert rows(found) == naive.hamming(records, ["ACG"], 0, strand="+")


def test_planes_are_spread_over_more_lanes(few_threads):
    random = np.random.default_rng(1)
    rows, halo = 16, 10
    bits = random.integers(0, 2, (5, 128 * rows + halo), dtype=np.uint8)
    narrow, expected = (_striped(bits, words, halo) for words in (2, 16))
    stream = driver.new_stream()
    text = Geometry(2, rows, halo).text(driver.on_device(narrow, stream))
    broad = tiles.spread_text(text, driver.empty(expected.size, np.uint64, stream))
    assert broad == Geometry(16, 2, halo).text(broad.planes)
    tiles.spread(text, broad, stream)
    assert np.array_equal(broad.planes.copy_to_host(), expected)


def _striped(bits, words, halo):
    """Planes, `words` words a row, of bits, uint8[planes, letters], the halo among these."""
    rows = (bits.shape[1] - halo) // (64 * words)
    positions = np.arange(64 * words) * rows + np.arange(rows + halo)[:, None]
    return np.packbits(bits[:, positions], axis=2, bitorder="little").view(np.uint64).reshape(-1)


def test_queries_are_planned_once_for_chunks_of_any_length(monkeypatch):
    planned, layouts = [], set()
    begin, run = edit_scan.Searches.__init__, edit_scan.Searches.run

    def spy_begin(self, *arguments, **options):
        planned.append(self)
        begin(self, *arguments, **options)

    def spy_run(self, text, *arguments):
        layouts.add(text[1:])
        run(self, text, *arguments)

    monkeypatch.setattr(edit_scan.Searches, "__init__", spy_begin)
    monkeypatch.setattr(edit_scan.Searches, "run", spy_run)
    long = "ACGTTGCATTAGACCAGGATACGTTGCATTAGACCAG"  # goes in strips, whose memory grows
    records = [("long", long * 9), ("longer", "T" + long * 14), ("short", long)]
    options = {"strand": "+", "report": "ends"}
    found = edit(records, [long, long[:12]], 1, device="cuda", chunk_length=400, **options)
    assert rows_of(found) == naive.edit(records, [long, long[:12]], 1, **options)
    assert len(planned) == 1 and len(layouts) > 1
