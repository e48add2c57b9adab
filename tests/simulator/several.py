"""Two engines that share the simulated GPU: chunks go to the one that is free."""

import gc
import threading

import pytest
from support.commands import random_letters
from support.primers import primer, records
from support.primers import rows as primer_rows
from support.several_gpus import PATTERNS, RECORDS, SEARCHES, two_on_one

import kmatch
from kmatch.engine.cuda import primer as primer_module
from kmatch.engine.cuda.device import Gpu
from kmatch.engine.cuda.engine import CudaEngine
from kmatch.engine.cuda.primer import Sizes
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import Done
from kmatch.errors import DeviceError

# The recurrence adds to carry; what runs over the end of a word concerns nobody.
pytestmark = pytest.mark.filterwarnings("ignore:.*overflow encountered in scalar add")


@pytest.mark.parametrize("name", ["minima", "best"])  # others are slow
def test_what_the_cpu_finds(name):
    with two_on_one() as device:
        found = SEARCHES[name](device)
    assert found == SEARCHES[name]("cpu") != []


def test_primers_in_parts_of_a_target(monkeypatch):
    text = random_letters(26, 7)
    sizes = Sizes(width=1, height=4, rows=1, more=4, deepest=64, stretch=2, columns=8)
    given = records(text, text[10:20] + "A", ""), records(text[14:24] + "GG" + text[5:9]), 2
    extend, shares = CudaEngine.extend_primers, []

    def extend_and_listen(self, starts, columns, k, on_progress):
        return extend(self, starts, columns, k, shares.append)

    monkeypatch.setattr(CudaEngine, "extend_primers", extend_and_listen)
    with two_on_one() as device:
        found = primer(*given, device=device, sizes=sizes, max_length=9)
    assert primer_rows(found) == primer_rows(primer(*given, device="cpu", max_length=9)) != []
    assert shares == sorted(shares) and shares[0] < 1 == pytest.approx(shares[-1])


def test_both_gpus_search(monkeypatch):
    used, broad = {}, Gpu.broad_text

    def noted(self, text):
        used[id(self)] = threading.current_thread().name.rpartition("_")[0]
        return broad(self, text)

    monkeypatch.setattr(Gpu, "broad_text", noted)
    with two_on_one() as device:
        assert SEARCHES["windows"](device)
    assert list(used.values()) == ["kmatch cuda:0"] * 2


@pytest.mark.parametrize("name", ["windows", "minima", "best", "primers"])
@pytest.mark.parametrize("numbers", ["lost", "memory"])
def test_a_gpu_that_fails_ends_the_search_with_its_name(monkeypatch, name, numbers):
    lost = type("CudaAPIError", (Exception,), {"__module__": "numba.cuda.cudadrv.driver"})
    failures = {
        "lost": (lost("[719] unspecified launch failure"), "device cuda:0: .*launch failure"),
        "memory": (DeviceError("device cuda:0: out of memory"), "^device cuda:0: out of memory$"),
    }
    error, message = failures[numbers]

    def fail(*arguments):
        raise error

    monkeypatch.setattr(Gpu, "broad_text", fail)
    monkeypatch.setattr(primer_module, "extend_primers", fail)
    with two_on_one() as device, pytest.raises(DeviceError, match=message):
        SEARCHES[name](device)


def test_a_defect_is_not_blamed_on_a_gpu(monkeypatch):
    def fail(*arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(Gpu, "broad_text", fail)
    with two_on_one() as device, pytest.raises(ZeroDivisionError):
        SEARCHES["windows"](device)


def test_threads_end_with_the_search():
    before = set(threading.enumerate())
    with two_on_one() as device:
        engine = choose_engine(device)
        for scan in [engine._start(lambda gpu: Done(gpu.number), 1) for _ in range(4)]:
            assert scan.found() == 0
        threads = set(threading.enumerate()) - before
        assert len(threads) >= 2 and engine.queues == 2
        assert engine.device == "cuda:0,0" and "2 simulator" in engine.description
        del engine
        gc.collect()
        for thread in threads:
            thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_a_search_that_is_given_up():
    from support.hooks import hamming_batches

    from kmatch.sequences.patterns import load_patterns

    with two_on_one() as device:
        genome = kmatch.Genome.from_records(RECORDS)
        batches = hamming_batches(
            genome, load_patterns(PATTERNS), 3, device=device, chunk_length=50
        )
        next(batches)
        batches.close()


def test_gpus_that_cannot_be_had():
    for device, message in [
        ("cuda:0,0", "named twice"),
        ("cuda:0,7", "the GPUs here are cuda:0"),
        ("cuda:1", "the GPUs here are cuda:0"),
    ]:
        with pytest.raises(DeviceError, match=message):
            choose_engine(device)
    assert choose_engine("cuda:all").device == "cuda:0"
    with two_on_one() as device, pytest.raises(DeviceError, match=r"runs on one GPU.*use cuda:N"):
        kmatch.hamming(
            kmatch.Genome.from_records(RECORDS), ["AC"], 0, device=device, algorithm="thread"
        )
