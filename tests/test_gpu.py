"""The CPU's cases again on a GPU, and larger texts on which both have to agree byte by byte."""

import io
from itertools import pairwise

import naive
import naive_bounds
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cases import EDIT, HAMMING, edit_cases, hamming_cases
from support.commands import random_letters
from support.constraints import CASES as CONSTRAINED
from support.constraints import constrained_cases
from support.differences import best, edit
from support.differences import rows as rows_of
from support.mismatches import check_off_targets, rows, search
from support.packing import packed
from support.pcr import cases as pcr_cases
from support.pcr import expected, plain, products
from support.pcr import rows as rows_of_products
from support.primers import CASES as PRIMERS
from support.primers import primer, primer_cases, related
from support.primers import rows as rows_of_primers
from support.published import (
    CASES,
    algorithms,
    case,
    check,
    check_example,
    check_matrix,
    check_primers,
    examples,
    label,
    matrices,
    primer_algorithms,
)

import kmatch
from kmatch.engine.cuda.driver import find_devices
from kmatch.engine.cuda.primer import Sizes
from kmatch.packed.writer import PackedLayout, write_packed

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


@settings(max_examples=60)
@given(pcr_cases())
def test_any_products(case):
    records, primers, k, options = case
    found = rows_of_products(products(records, primers, k, device="cuda", **options))
    assert found == plain(expected(records, primers, k, **options))


@pytest.mark.parametrize("name", CONSTRAINED)
def test_constraints(name):
    records, patterns, k, options = CONSTRAINED[name]
    found = rows_of(edit(records, patterns, k, device="cuda", **options))
    assert found == naive_bounds.edit(records, patterns, k, **options)


@settings(max_examples=50)
@given(constrained_cases())
def test_any_constraints(case):
    records, patterns, k, options = case
    found = rows_of(edit(records, patterns, k, device="cuda", **options))
    assert found == naive_bounds.edit(records, patterns, k, **options)


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
    found = rows(search(records, patterns, k, device="cuda", capacity=1, **options))
    assert found == naive.hamming(records, patterns, k, **options)


@pytest.mark.parametrize(("command", "algorithm"), algorithms("cuda"), ids=label)
def test_published(command, algorithm):
    for name in CASES[command]:
        records, patterns, k, options = case(command, name, algorithm, "cuda")
        if patterns:
            check(command, algorithm, records, patterns, k, options, device="cuda")


@pytest.mark.parametrize("example", matrices("cuda"), ids=lambda example: example[1])
def test_worked_matrices(example):
    check_matrix("cuda", *example)


@pytest.mark.parametrize("algorithm", primer_algorithms("cuda"), ids=label)
def test_published_primers(algorithm):
    for problem in PRIMERS.values():
        check_primers(algorithm, *problem, device="cuda")
    target, background = random_letters(1_500, seed=3), random_letters(20_000, seed=4)
    background += target[200:900]
    problem = [("t", target)], [("b", background)], 50, {"background_strand": "+"}
    expected = rows_of_primers(primer(*problem[:3], **problem[3]))
    found = rows_of_primers(
        primer(*problem[:3], device="cuda", algorithm=algorithm.name, **problem[3])
    )
    assert found == expected and found


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
    ("length", "count", "k"),
    [(20, 64, 3), (23, 5, 7), (12, 3, 5), (9, 2, 4), (100, 8, 20), (1000, 2, 300)],
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
    [
        *((20, 8, 3), (32, 4, 6), (9, 2, 2), (64, 3, 8), (100, 4, 10), (1000, 2, 100)),
        *((20, 8, 1), (20, 3, 0), (65, 3, 2), (200, 2, 9)),  # few differences for their length
    ],
)
@pytest.mark.parametrize("report", ["minima", "ends"])
def test_many_differences(records, texts, length, count, k, report):
    assert _both(kmatch.edit, records, texts(length, count, min(k, 2)), k, report=report)


def test_the_gpu_packs_where_the_cpu_has_few_threads(records, texts):
    patterns = texts(20, 4, 2)
    one = _bed(kmatch.hamming, records, patterns, 3, device="cuda", threads=1)
    assert one == _bed(kmatch.hamming, records, patterns, 3, device="cpu")


def test_known_off_targets(real):
    check_off_targets(real, "cuda")


def test_dense_differences(records):
    patterns = ["AATGGAATGGAATGG", "ACGTACG"]
    assert _both(kmatch.edit, records, patterns, 3, report="loci") > 100_000


@pytest.mark.parametrize(("length", "changes"), [(20, 8), (64, 10), (200, 60)])
def test_closest(records, texts, length, changes):
    assert _both(kmatch.best, records, texts(length, 5, changes))


@pytest.mark.parametrize("name", PRIMERS)
def test_primers(name):
    target, background, k, options = PRIMERS[name]
    found = rows_of_primers(primer(target, background, k, device="cuda", **options))
    assert found == naive.primers(target, background, k, **options)


@settings(max_examples=100)
@given(primer_cases(), st.sampled_from([16, 32, 1 << 13]), st.sampled_from([1, 1 << 38]))
def test_any_primers(case, deepest, cells):
    """Few rows and columns at a time, so that borders are everywhere."""
    target, background, k, options = case
    sizes = Sizes(rows=1, more=4, deepest=deepest, stretch=1, columns=4, cells=cells)
    found = primer(target, background, k, device="cuda", sizes=sizes, **options)
    assert rows_of_primers(found) == naive.primers(target, background, k, **options)


@pytest.fixture(scope="module")
def family(records):
    """A target of two records, and a background with relatives of parts of it."""
    random = np.random.default_rng(3)
    letters = records[0][1].tobytes().decode()
    target = letters[:9_000]
    parts = [letters[20_000:150_000], letters[990_000:1_030_000], letters[2_000_000:2_003_000]]
    relatives = [
        related(random, target[begin : begin + length], share)
        for begin, length, share in ((500, 300, 0.1), (2_000, 3_000, 0.2), (5_000, 1_500, 0.04))
    ]
    background = [parts[0] + relatives[0] + parts[1] + relatives[1], relatives[2] + parts[2]]
    return (
        [("one", target), ("two", letters[300_000:303_000])],
        [("a", background[0]), ("b", background[1])],
    )


@pytest.mark.parametrize(
    ("k", "options"),
    [
        (6, {"max_length": 30}),
        (6, {"both_strands": True}),
        (40, {}),
        (40, {"sizes": Sizes(deepest=300)}),
        (100, {"background_strand": "+"}),
        (300, {"background_strand": "+"}),
    ],
)
def test_many_primers(family, k, options):
    found = rows_of_primers(primer(*family, k, device="cuda", **options))
    options = {name: option for name, option in options.items() if name != "sizes"}
    assert found == rows_of_primers(primer(*family, k, **options))
    assert found


def test_no_primers_in_what_is_in_the_background(records):
    text = records[0][1][:40_000]
    background = [("r", records[0][1][:100_000])]
    assert not rows_of_primers(primer([("t", text)], background, 30, device="cuda"))


def test_a_kept_genome_is_searched_again(records, texts):
    genome = kmatch.Genome.from_records(records)
    patterns = texts(20, 3, 2)
    first = kmatch.hamming(genome, patterns, 3, device="cuda")
    again = kmatch.hamming(genome, patterns, 3, device="cuda")
    cpu = kmatch.hamming(genome, patterns, 3, device="cpu")
    assert rows(first) == rows(again) == rows(cpu)


@pytest.fixture(scope="module")
def file(records, tmp_path_factory):
    """The records packed, in several chunks."""
    path = tmp_path_factory.mktemp("packed") / "genome"
    with open(path, "wb") as handle:
        genome = kmatch.Genome.from_records(records)
        write_packed(genome.parts(), handle, layout=PackedLayout(length=1 << 20, halo=256))
    return path


@pytest.mark.parametrize("name", HAMMING)
def test_mismatches_in_a_packed_genome(name):
    records, patterns, k, options = HAMMING[name]
    genome = packed(records, length=100, halo=128)
    found = rows(kmatch.hamming(genome, patterns, k, device="cuda", **options))
    assert found == naive.hamming(records, patterns, k, **options)


@pytest.mark.parametrize("name", EDIT)
def test_differences_in_a_packed_genome(name):
    records, patterns, k, options = EDIT[name]
    genome = packed(records, length=100, halo=128)
    found = rows_of(kmatch.edit(genome, patterns, k, device="cuda", **options))
    assert found == naive.edit(records, patterns, k, **options)


def test_a_packed_file(records, texts, file):
    genome, letters = kmatch.Genome(file), kmatch.Genome.from_records(records)
    patterns = [*texts(20, 20, 2), "ACGRYTNNACGTTAGCANGG"]
    searches = (
        (kmatch.hamming, (4,), {}),
        (kmatch.multi, (4,), {"pam": "NGG"}),
        (kmatch.edit, (3,), {}),
        (kmatch.edit, (1,), {"report": "loci"}),
        (kmatch.best, (), {}),
    )
    for call, arguments, options in searches:
        tables = []
        for text, device in ((letters, "cpu"), (genome, "cuda"), (genome, "cpu"), (genome, "cuda")):
            tables.append(io.BytesIO())
            call(text, patterns, *arguments, device=device, **options).to_tsv(tables[-1])
        assert len({table.getvalue() for table in tables}) == 1


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
        open_gpu(FOUND[0][0]).array(1 << 40)


@pytest.mark.parametrize(("command", "algorithm"), algorithms("cuda"), ids=label)
def test_published_on_many_letters(records, texts, command, algorithm):
    patterns = texts(24, 70, 2) if algorithm.panel else texts(24, 4, 2)
    search, k = getattr(kmatch, command), () if command == "best" else (5,)
    expected = _bed(search, records, patterns, *k, device="cpu")
    assert _bed(search, records, patterns, *k, algorithm=algorithm.name, device="cuda") == expected
