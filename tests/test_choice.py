"""`auto` takes the device that will be done first."""

from operator import ne
from pathlib import Path

import naive
import pytest
from support.commands import random_letters
from support.hooks import pcr_batches

import kmatch
from kmatch.cli import messages
from kmatch.cli.main import run
from kmatch.engine import devices
from kmatch.engine.choice import Work, best_device, cpu_seconds, gpu_seconds
from kmatch.errors import DeviceError
from kmatch.search.hooked import hooked
from kmatch.search.scanning.foresight import DIFFERENCES, MISMATCHES, share_within
from kmatch.sequences.primer_pairs import load_pairs

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
    ("device", "numbers"), [("cpu", []), ("auto", []), ("cuda", ["0"]), ("cuda:2,0", ["2,0"])]
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


PATTERN = ("-p", "ACGTTGCA")
SEARCHES = {
    "hamming": ("hamming", "r.fa", *PATTERN, "-k", "1"),
    "multi": ("multi", "r.fa", *PATTERN, "-k", "1"),
    "a PAM": ("multi", "r.fa", *PATTERN, "-k", "1", "--pam", "NGG"),
    "unequal PAMs": ("multi", "r.fa", *PATTERN, "-k", "1", "--pam", "NGG,TG"),
    "edit": ("edit", "r.fa", *PATTERN, "-k", "1"),
    "bounds": ("edit", "r.fa", *PATTERN, "-k", "2", "--max-mismatches", "1"),
    "best": ("best", "r.fa", *PATTERN),
    "pcr": ("pcr", "r.fa", *PATTERN, "TTGCATT", "-k", "1"),
    "pcr of edit": ("pcr", "r.fa", *PATTERN, "TTGCATT", "-k", "1", "--edit"),
    "primer": ("primer", "r.fa", "r.fa", "-k", "2", "--max-length", "9"),
    "a published algorithm": ("hamming", "r.fa", *PATTERN, "-k", "1", "--algorithm", "shift-add"),
    "circles": ("hamming", "r.fa", *PATTERN, "-k", "1", "--circular"),
    "a list": ("hamming", "@list", *PATTERN, "-k", "1"),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_says_that_it_takes_long(name, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(messages, "HOUR", 1e-9)
    monkeypatch.chdir(tmp_path)
    Path("r.fa").write_text(">r\n" + "ACGT" * 50 + "\n")
    Path("list").write_text("r.fa\nr.fa\n")
    arguments = [*SEARCHES[name], "--device", "cpu"]
    assert run([*arguments, "-v"]) == 0
    assert capsys.readouterr().err.count("this search will take about") >= 1
    assert run(arguments) == 0  # nobody looks on
    assert "will take" not in capsys.readouterr().err


def test_a_short_search_says_nothing_of_its_time(capsys, tmp_path):
    (tmp_path / "r.fa").write_text(">r\nACGT\n")
    assert run(["edit", str(tmp_path / "r.fa"), "-p", "ACGT", "-k", "1", "-v"]) == 0
    assert "will take" not in capsys.readouterr().err


def test_what_rules_and_products_cost_is_foreseen():
    genome = kmatch.Genome.from_records([("r", "ACGT" * 5000)])
    letters = "ACGTTGCAACGTGGATTACA"

    def seconds(command, *given, **options):
        told = []
        options |= {"device": "cpu", "threads": 1, "on_expected": told.append}
        if command == "pcr":
            next(pcr_batches(genome, load_pairs(given[0]), given[1], **options), None)
        else:
            hooked(command, genome, *given, **options)
        return told[-1]

    plain, bounded = ({}, {"max_mismatches": 2})
    free, kept = (seconds("edit", [letters], 8, **options) for options in (plain, bounded))
    assert kept > 20 * free
    pairs = {"p": (letters[:6], letters[-6:])}
    near, far = (seconds("pcr", pairs, 2, product=(12, most)) for most in (13, 60))
    assert far > 5 * near


@pytest.mark.parametrize("m, k", [(6, 1), (8, 3), (10, 5), (12, 12), (5, 0)])
def test_the_share_of_random_windows(m, k):
    text, pattern = random_letters(20_000, 1), random_letters(m, 2)
    starts = range(len(text) - m)
    near = sum(sum(map(ne, pattern, text[at : at + m])) <= k for at in starts)
    assert abs(near / len(starts) - share_within(m, k, MISMATCHES)) < 0.01
    ends = len(
        {hit[2] for hit in naive.edit([("r", text[:3000])], [pattern], k, "ends", strand="+")}
    )
    assert k == m or 0.3 < (ends + 10) / (3000 * share_within(m, k, DIFFERENCES) + 10) < 3
