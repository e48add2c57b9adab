"""The constant rules by which a way and a device are chosen, and where they are overridden."""

import numpy as np
import pytest
from support.commands import random_letters
from support.mismatches import rows, search_panel

import kmatch
from kmatch.engine import devices, ways
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.engine.cuda.engine import LAYOUT
from kmatch.engine.geometry import CACHE_LINE, geometry_for
from kmatch.errors import DeviceError
from kmatch.genome import as_genomes
from kmatch.search.query import Query
from kmatch.search.search import begin_search
from kmatch.sequences.patterns import load_patterns

HUMAN, COLI = 3_100_000_000, 4_600_000


@pytest.mark.parametrize(
    ("letters", "patterns", "device"),
    [(COLI, 1, "cpu"), (COLI, 10_000, "cuda"), (HUMAN, 1, "cpu"), (HUMAN, 64, "cuda")],
)
def test_small_searches_leave_the_gpu_alone(letters, patterns, device):
    work = ways.work_of(letters, np.full(patterns, 20), "both")
    assert work == 40 * letters * patterns == 2 * ways.work_of(letters, np.full(patterns, 20), "-")
    assert ways.device_for(work)[0] == device
    assert ways.work_of(None, np.full(patterns, 20), "both") is None
    assert ways.device_for(None)[0] == "cuda"


@pytest.mark.parametrize(
    ("arguments", "way"),
    [
        (("cpu", 10_000, 24, 3, 0), "lookup"),
        (("cpu", 9_999, 24, 3, 0), "scan"),
        (("cpu", 10_000, 23, 3, 0), "scan"),
        (("cpu", 10_000, 65, 3, 0), "scan"),
        (("cuda", 10_000, 24, 3, 0), "scan"),
        (("cpu", 1_000, 20, 3, 1), "sites"),
        (("cpu", 999, 20, 3, 1), "scan"),
        (("cuda", 1_000, 20, 3, 1), "scan"),
        (("cuda", 1, 20, 3, 2), "sites"),
    ],
)
def test_the_way_of_windows(arguments, way):
    assert ways.window_way(*arguments) == way


def test_a_filter_pays_where_pieces_are_rare():
    lengths, limits = np.array([20, 20, 100, 100]), np.array([1, 2, 5, 10])
    assert ways.filter_pays(lengths, limits, 0.25).tolist() == [True, False, True, False]
    assert ways.filter_pays(lengths, limits, 0.4).tolist() == [False, False, True, False]


def test_look_ups_are_tried_for_large_panels_and_beside_pams():
    assert ways.try_lookup("cpu", 50, 4, 1) and not ways.try_lookup("cpu", 49, 4, 1)
    assert ways.try_lookup("cpu", 1_000, 2, 0) and not ways.try_lookup("cpu", 1_000, 3, 0)
    assert not ways.try_lookup("cuda", 1_000, 2, 1)


@pytest.fixture
def with_gpu(monkeypatch):
    """A driver that is there; who asks for a GPU is told that it was."""

    def cuda(number, threads, reason):
        raise DeviceError(f"asked for: {reason}")

    monkeypatch.setattr(devices, "_no_driver", lambda: False)
    monkeypatch.setattr(devices, "_cuda_engine", cuda)


@pytest.mark.usefixtures("with_gpu")
@pytest.mark.parametrize("command", ["hamming", "multi", "edit", "best"])
def test_searches_say_how_much_they_have_to_do(command, tmp_path, monkeypatch):
    path = tmp_path / "r.fa"
    path.write_text(">r\n" + "ACGT" * 5000 + "\n")
    for least, said in ((1 << 60, "too few"), (0, "asked for")):
        monkeypatch.setattr(ways, "GPU_PAYS", least)
        for genome in (kmatch.Genome(path), kmatch.Genome.from_records([("r", "ACGT" * 5000)])):
            k = 0 if command == "best" else 1
            query = Query(command, load_patterns(["ACGTT"]), k)
            search = begin_search(query, as_genomes(genome))
            assert list(search) and said in search.engine.description


@pytest.mark.parametrize(
    ("device", "numbers"), [("cpu", []), ("auto", []), ("cuda", ["0"]), ("cuda:2,0", ["2,0"])]
)
def test_gpus_that_are_named_are_opened_at_once(device, numbers, monkeypatch):
    opened = []
    monkeypatch.setattr(devices, "_elsewhere", lambda: False)
    monkeypatch.setattr(devices, "_wake", opened.append)
    devices.wake(device)
    assert opened == numbers


def test_letters_are_expected_by_the_file(tmp_path):
    plain, packed = tmp_path / "r.fa", tmp_path / "r.fa.gz"
    plain.write_text(">r\n" + "ACGT" * 500 + "\n")
    packed.write_bytes(b"\x1f\x8b" + bytes(98))
    assert kmatch.Genome(plain).expected_letters == 2004
    assert kmatch.Genome(packed).expected_letters == 400
    assert kmatch.Genome("-").expected_letters is None
    assert kmatch.Genome.from_records([("r", "ACGT")]).expected_letters == 4


@pytest.mark.parametrize("others", [[], ["ACGTNRACGTACGTACGTAC"]])
def test_a_scan_takes_over_where_repeats_have_too_many_candidates(others, monkeypatch):
    """All patterns begin as the repeat does; other chunks are looked up."""
    started, start = [], CpuEngine.start_scan

    def spy(self, text, query, *arguments):
        started.append(len(query.bounds))
        return start(self, text, query, *arguments)

    core = random_letters(10, seed=1)
    panel = [core + random_letters(10, seed=number) for number in range(2, 300)] + others
    plain = random_letters(20_000, seed=1)
    records = [("one", plain + panel[0] + plain[:3_960] + (core + "AAATGG") * 500)]
    expected = rows(search_panel(records, panel, 2, way="scan"))
    monkeypatch.setattr(CpuEngine, "start_scan", spy)
    found = rows(search_panel(records, panel, 2, way="lookup", chunk_length=8_000))
    assert found == expected != []
    assert started.count(2 * 298) == 1 and len(started) == 1 + 4 * len(others)


@pytest.mark.parametrize("words", [1, 3, 999, 100_000])
def test_planes_begin_on_a_cache_line(words):
    planes = CpuEngine(1).planes(words)
    assert len(planes) == words and planes.ctypes.data % (8 * CACHE_LINE) == 0


@pytest.mark.parametrize(
    ("length", "halo", "words"),
    [(50, 128, 1), (1_000, 128, 15), (60_000, 128, 64), (1 << 24, 128, 512), (60_000, 10_048, 6)],
)
def test_a_gpu_has_broad_rows_in_short_texts_too(length, halo, words):
    geometry = geometry_for(length, halo, LAYOUT)
    assert geometry.words == words and geometry.positions >= length
    assert geometry_for(length, halo, LAYOUT, 8).words == 8
