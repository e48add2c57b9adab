"""The CPU's cases again on a GPU, and larger texts on which both have to agree byte by byte."""

import io
from itertools import pairwise

import naive
import numpy as np
import pytest
from cases import EDIT, HAMMING, edit_cases, hamming_cases
from differences import best, edit
from differences import rows as rows_of
from hypothesis import given, settings
from published_cases import CASES, algorithms, case, check, check_example, examples, label
from test_hamming import rows, search

import kmatch
from kmatch.engine.cuda.driver import find_devices

FOUND, REASON = find_devices()
pytestmark = pytest.mark.gpu
LENGTH = 5_000_000


@pytest.fixture(scope="module", autouse=True)
def gpu():
    if not FOUND:
        pytest.skip(f"no usable GPU: {REASON}")


@pytest.mark.parametrize("geometry", [{}, {"chunk_length": 64}])
@pytest.mark.parametrize("name", HAMMING)
def test_hamming(name, geometry):
    records, patterns, k, options = HAMMING[name]
    found = rows(search(records, patterns, k, device="cuda", **options, **geometry))
    assert found == naive.hamming(records, patterns, k, **options)


@pytest.mark.parametrize("report", ["minima", "ends", "loci"])
@pytest.mark.parametrize("name", EDIT)
def test_edit(name, report):
    records, patterns, k, options = EDIT[name]
    options = options | {"report": report}
    found = rows_of(edit(records, patterns, k, device="cuda", **options))
    assert found == naive.edit(records, patterns, k, **options)


@pytest.mark.parametrize("name", EDIT)
def test_best(name):
    records, patterns, _, options = EDIT[name]
    found = rows_of(best(records, patterns, device="cuda", **options))
    assert found == naive.best(records, patterns, **options)


@settings(max_examples=100)
@given(hamming_cases())
def test_any_windows(case):
    records, patterns, k, options = case
    found = rows(search(records, patterns, k, device="cuda", chunk_length=100, **options))
    assert found == naive.hamming(records, patterns, k, **options)


@settings(max_examples=100)
@given(edit_cases())
def test_any_differences(case):
    records, patterns, k, options = case
    found = rows_of(edit(records, patterns, k, device="cuda", **options))
    assert found == naive.edit(records, patterns, k, **options)


@settings(max_examples=50)
@given(hamming_cases())
def test_no_hit_is_dropped_when_there_is_room_for_one(case):
    records, patterns, k, options = case
    found = rows(search(records, patterns, k, device="cuda", key_room=(1, 1), **options))
    assert found == naive.hamming(records, patterns, k, **options)


@pytest.mark.parametrize(("command", "algorithm"), algorithms("cuda"), ids=label)
def test_published(command, algorithm):
    for name in CASES[command]:
        records, patterns, k, options = case(command, name, algorithm, "cuda")
        if patterns:
            check(command, algorithm, records, patterns, k, options, device="cuda")


@pytest.mark.parametrize("example", examples("cuda"), ids=lambda example: example[0])
def test_worked_examples(example):
    check_example("cuda", *example)


@pytest.fixture(scope="module")
def records():
    """Several records of random letters, with runs of N, repeats and tiny records between."""
    random = np.random.default_rng(1)
    letters = random.choice(np.frombuffer(b"ACGT", np.uint8), LENGTH)
    letters[1_000_000:1_020_000] = ord("N")
    letters[2_000_000:2_003_000] = np.frombuffer(b"AATGG" * 600, np.uint8)
    cuts = [0, 1_500_000, 1_500_003, 1_500_040, 4_200_000, LENGTH]
    parts = [letters[a:b] for a, b in pairwise(cuts)]
    return [(f"chr{i}", part) for i, part in enumerate(parts)]


@pytest.fixture(scope="module")
def texts(records):
    """A function that cuts patterns of a length out of the records and changes letters."""
    random = np.random.default_rng(2)
    longest = max((letters for _, letters in records), key=len)

    def cut(length, count, changes):
        patterns = []
        for at in random.integers(0, len(longest) - length, count):
            letters = longest[at : at + length].copy()
            letters[random.integers(0, length, changes)] = ord("A")
            patterns.append(letters.tobytes().decode().replace("N", "R"))
        return patterns

    return cut


def _bed(search, records, patterns, *arguments, **options):
    table = io.StringIO()
    search(kmatch.Genome.from_records(records), patterns, *arguments, **options).to_bed(table)
    return table.getvalue()


def _both(search, records, patterns, *arguments, **options):
    cpu = _bed(search, records, patterns, *arguments, device="cpu", **options)
    gpu = _bed(search, records, patterns, *arguments, device="cuda", **options)
    assert gpu == cpu
    return cpu.count("\n")


@pytest.mark.parametrize(
    ("length", "count", "k"), [(20, 64, 3), (23, 5, 7), (12, 3, 5), (100, 8, 20), (1000, 2, 300)]
)
def test_many_windows(records, texts, length, count, k):
    assert _both(kmatch.hamming, records, texts(length, count, min(k, 3)), k)


@pytest.mark.parametrize("options", [{"strand": "+"}, {"strand": "-"}, {"exact_3p": 4}])
def test_windows_with_options(records, texts, options):
    patterns = [*texts(20, 6, 2), "ACGRYTNNACGTTAGCANGG", "AATGGAATGGAATGGAATGG"]
    assert _both(kmatch.hamming, records, patterns, 4, **options)


@pytest.mark.parametrize("options", [{}, {"pam": "NGG"}, {"pam": "TTTV", "pam_side": "5p"}])
def test_a_panel(records, texts, options):
    assert _both(kmatch.multi, records, texts(20, 30, 2), 4, **options)


@pytest.mark.parametrize(
    ("length", "count", "k"),
    [(20, 8, 3), (32, 4, 6), (9, 2, 2), (64, 3, 8), (100, 4, 10), (1000, 2, 100)],
)
@pytest.mark.parametrize("report", ["minima", "ends"])
def test_many_differences(records, texts, length, count, k, report):
    assert _both(kmatch.edit, records, texts(length, count, 2), k, report=report)


def test_dense_differences(records):
    patterns = ["AATGGAATGGAATGG", "ACGTACG"]
    assert _both(kmatch.edit, records, patterns, 3, report="loci") > 100_000


@pytest.mark.parametrize(("length", "changes"), [(20, 8), (64, 10), (200, 60)])
def test_closest(records, texts, length, changes):
    assert _both(kmatch.best, records, texts(length, 5, changes))


def test_a_kept_genome_is_searched_again(records, texts):
    genome = kmatch.Genome.from_records(records)
    patterns = texts(20, 3, 2)
    first = kmatch.hamming(genome, patterns, 3, device="cuda")
    again = kmatch.hamming(genome, patterns, 3, device="cuda")
    cpu = kmatch.hamming(genome, patterns, 3, device="cpu")
    assert rows(first) == rows(again) == rows(cpu)


def test_planes_leave_the_gpu_when_it_is_full(records, texts):
    from kmatch.engine.cuda.device import open_gpu

    genome = kmatch.Genome.from_records(records)
    patterns = texts(20, 3, 2)
    first = kmatch.hamming(genome, patterns, 3, device="cuda")
    gpu = open_gpu(FOUND[0][0])
    while gpu._release():
        pass
    assert rows(kmatch.hamming(genome, patterns, 3, device="cuda")) == rows(first)


def test_out_of_memory_is_an_error():
    from kmatch.engine.cuda.device import open_gpu

    with pytest.raises(kmatch.DeviceError, match="out of memory"):
        open_gpu(FOUND[0][0]).room(1 << 40)


@pytest.mark.parametrize(("command", "algorithm"), algorithms("cuda"), ids=label)
def test_published_on_many_letters(records, texts, command, algorithm):
    patterns = texts(24, 70, 2) if algorithm.panel else texts(24, 4, 2)
    search, k = getattr(kmatch, command), () if command == "best" else (5,)
    expected = _bed(search, records, patterns, *k, device="cpu")
    assert _bed(search, records, patterns, *k, algorithm=algorithm.name, device="cuda") == expected
