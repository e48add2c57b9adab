"""`auto` takes the device that will be done first."""

import pytest

import kmatch
from kmatch.cli.main import run
from kmatch.engine import choice, devices
from kmatch.engine.choice import Work, best_device, cpu_seconds, gpu_seconds
from kmatch.errors import DeviceError
from kmatch.search.hooked import hooked

HUMAN, COLI = 3_100_000_000, 4_600_000


@pytest.mark.parametrize(
    ("work", "threads", "kind"),
    [
        (Work(COLI, 2, 20, 3, False), 16, "cpu"),
        (Work(COLI, 2, 20, 3, True), 2, "cpu"),
        (Work(COLI, 20_000, 20, 3, True), 2, "cuda"),
        (Work(COLI, 20_000, 20, 3, False), 16, "cpu"),
        (Work(COLI, 200_000, 20, 3, False), 16, "cpu"),
        (Work(COLI, 200_000, 20, 3, True), 16, "cuda"),
        (Work(HUMAN, 1280, 20, 3, False), 16, "cuda"),
        (Work(HUMAN, 128, 20, 3, True), 16, "cuda"),
        (Work(None, 2, 20, 3, False), 16, "cuda"),
        (None, 16, "cuda"),
    ],
)
def test_small_texts_are_searched_on_the_cpu(work, threads, kind):
    chosen, reason = best_device(work, threads)
    assert chosen == kind and reason


@pytest.mark.parametrize("differences", [False, True])
def test_more_work_takes_longer_and_more_threads_less(differences):
    few, many = (Work(COLI, queries, 20, 3, differences) for queries in (2, 2000))
    assert cpu_seconds(few, 2) < cpu_seconds(many, 2)
    assert gpu_seconds(few, 2) < gpu_seconds(many, 2)
    assert cpu_seconds(many, 16) < cpu_seconds(many, 2)


@pytest.fixture
def with_gpu(monkeypatch):
    """A driver that is there; who asks for a GPU is told that it was."""

    def cuda(number, threads, reason, work):
        raise DeviceError(f"asked for: {reason}")

    monkeypatch.setattr(devices, "_no_driver", lambda: False)
    monkeypatch.setattr(devices, "_cuda_engine", cuda)


def test_a_small_search_leaves_the_gpu_alone(with_gpu):
    engine = devices.choose_engine("auto", 2, Work(COLI, 2, 20, 3, False))
    assert engine.name == "cpu" and "expected to take" in engine.description
    engine = devices.choose_engine("auto", 2, Work(HUMAN, 2000, 20, 3, False))
    assert engine.name == "cpu" and "asked for: expected" in engine.description


@pytest.mark.parametrize(
    ("device", "numbers"), [("cpu", []), ("auto", []), ("cuda", [0]), ("cuda:2,0", [2, 0])]
)
def test_gpus_that_are_named_are_opened_at_once(device, numbers, monkeypatch):
    opened = []
    monkeypatch.setattr(devices, "_elsewhere", lambda: False)
    monkeypatch.setattr(devices, "_wake", opened.append)
    devices.wake(device)
    assert opened == numbers


def test_searches_say_how_much_they_have_to_do(with_gpu, tmp_path):
    path = tmp_path / "r.fa"
    path.write_text(">r\n" + "ACGT" * 5000 + "\n")
    for genome in (kmatch.Genome(path), kmatch.Genome.from_records([("r", "ACGT" * 5000)])):
        for command in ("hamming", "multi", "edit"):
            told = []
            hooked(command, genome, ["ACGTT"], 1, on_engine=told.append)
            assert "expected to take" in told[0].description


def test_letters_are_expected_by_the_file(tmp_path):
    plain, packed = tmp_path / "r.fa", tmp_path / "r.fa.gz"
    plain.write_text(">r\n" + "ACGT" * 500 + "\n")
    packed.write_bytes(b"\x1f\x8b" + bytes(98))
    assert kmatch.Genome(plain).expected_letters == 2004
    assert kmatch.Genome(packed).expected_letters == 400
    assert kmatch.Genome("-").expected_letters is None
    assert kmatch.Genome.from_records([("r", "ACGT")]).expected_letters == 4


def test_a_search_of_hours_is_foreseen(capsys, tmp_path, monkeypatch):
    slow = choice.CPU.recurrence._replace(column=1e9)
    monkeypatch.setattr(choice, "CPU", choice.CPU._replace(recurrence=slow))
    path = tmp_path / "r.fa"
    path.write_text(">r\n" + "ACGT" * 5000 + "\n")
    arguments = ["edit", str(path), "-p", "ACGTTGCA", "-k", "1", "--device", "cpu"]
    assert run([*arguments, "-v"]) == 0
    assert "will take about" in capsys.readouterr().err
    assert run(arguments) == 0  # nobody looks on
    assert "will take" not in capsys.readouterr().err
