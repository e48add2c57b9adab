"""Searches of every problem on a GPU; in the simulator, which is slow, a few tiny ones of them."""

import io
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from fuzzing import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.cases import LIMITS_DIFFER, PANEL, TEXTS
from support.commands import fasta, here, random_letters
from support.devices import PROBLEMS, check, check_off_targets, on_a_gpu
from support.differences import related
from support.searches import best, edit, packed, primer, primer_rows, rows, search

import kmatch
from kmatch.engine import devices
from kmatch.engine.cuda import driver
from kmatch.engine.cuda import primer as on_gpu
from kmatch.engine.cuda.device import open_gpu
from kmatch.errors import DeviceError
from kmatch.packed.writer import write_packed

LENGTH = 5_000_000
FEW = {  # for the simulator
    "hamming": (
        *("at 0", "m = 1", "runs of N", "other letters", "empty records", "IUPAC"),
        *("mixed lengths", "exact both, over all letters", "every counter width", "long pattern"),
    ),
    "multi": ("several PAMs",),
    "edit": (
        *("at the end", "k = m - 1, two letters", "runs of N", "records apart", "IUPAC"),
        "equal ends beside one another",
    ),
    "best": ("palindrome", "loci that only touch"),
    "constraints": ("a PAM before, minima", "exact both", "bounds and a PAM"),
    "pcr": ("mismatches", "differences"),
    "primer": (
        *("as published", "no background record", "empty records", "only empty records"),
        *("target shorter than k", "N in the target", "N in the background", "max length"),
    ),
}
CASES = [
    (problem, name)
    for problem, each in PROBLEMS.items()
    for name in (FEW[problem] if driver.SIMULATED else each.cases)
]
ON_TWO = ["hamming-IUPAC", "edit-runs of N", "best-palindrome"]
if not driver.SIMULATED:
    ON_TWO += ["multi-several PAMs", "edit-a locus over many chunks", "pcr-differences"]
    ON_TWO += ["primer-as published", "constraints-bounds and a PAM"]
KINDS = strategies.kinds("cuda", damages=False)
pytestmark = [] if driver.SIMULATED else pytest.mark.gpu


@pytest.fixture
def gpu():
    return open_gpu(0)


@pytest.mark.parametrize(("problem", "name"), CASES)
def test_cases(problem, name):
    check(problem, PROBLEMS[problem].cases[name], device="cuda")


@pytest.mark.parametrize("case", ON_TWO)
@pytest.mark.parametrize("device", ["cuda:0,0", "cuda:all"])
def test_several_gpus(case, device, monkeypatch):
    monkeypatch.setattr(devices, "REPEATED", True)  # the first are engines that share a GPU
    problem, name = case.split("-", 1)
    chunks = {} if problem == "primer" else {"chunk_length": 60}
    assert check(problem, PROBLEMS[problem].cases[name], device=device, **chunks)


@on_a_gpu
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, suppress_health_check=[*HealthCheck])
@given(data=st.data())
def test_any(kind, data, tmp_path, monkeypatch):
    """Random searches, and primers with few rows and columns at a time: borders are everywhere."""
    for name, value in {"ROWS": 1, "MORE": 4, "MOST": 1, "DEEPEST": 32}.items():
        monkeypatch.setattr(on_gpu, name, value)
    data.draw(KINDS[kind]).check(tmp_path)


@pytest.mark.parametrize("problem", ["hamming", "edit"])
def test_no_hit_is_dropped_when_there_is_room_for_one(problem):
    case = [("r", "ACGTACG")], ["ACG", "TAC"], 1, {"strand": "+"}
    assert check(problem, case, device="cuda", capacity=1)


def test_counters_hold_all_distances_where_limits_differ():
    records, patterns, _, _ = LIMITS_DIFFER
    check("best", (records[:2], patterns[:2], 0, {}), device="cuda", chunk_length=13)


@pytest.mark.parametrize("find", [search, edit])
def test_a_k_for_each_pattern(find):
    found, expected = (rows(find(TEXTS, PANEL, "20%", device=x)) for x in ("cuda", "cpu"))
    assert found == expected != []


@pytest.mark.parametrize(
    ("problem", "name"),
    [("hamming", "IUPAC"), ("edit", "palindrome")]
    if driver.SIMULATED
    else [case for case in CASES if case[0] in ("hamming", "edit")],
)
def test_a_packed_genome(problem, name):
    geometry = {"length": 100, "halo": 128}
    if driver.SIMULATED:
        geometry["words"] = {"hamming": 2, "edit": 1}[problem]
    records, patterns, k, options = PROBLEMS[problem].cases[name]
    genome, find = packed(records, **geometry), getattr(kmatch, problem)
    found = rows(find(genome, patterns, k, device="cuda", **options))
    expected = PROBLEMS[problem].expect(records, patterns, k, **options)
    assert found == [row[:6] for row in expected]


@pytest.mark.parametrize("problem", ["hamming", "edit"])
def test_unknown_letters(problem):
    """Planes in which they have several bits are packed on the CPU for every device."""
    records = [("a", "TTACGTNGCATTAGNNNNNNNACGRTGCATT"), ("b", "AGACGTTGNNTTAG")]
    for genome in (kmatch.Genome.from_records(records), packed(records, length=64, halo=64)):
        search = partial(getattr(kmatch, problem), genome, ["ACGTTGCATTAG"], 1, max_unknown=2)
        found = rows(search(device="cuda"))
        assert found == rows(search(device="cpu")) and len(found) == 2


def test_no_device_memory_is_an_error_that_says_what_to_do(gpu, monkeypatch):
    message = r"cuda:0: out of memory.* bytes free; use cpu"
    if driver.SIMULATED:
        monkeypatch.setattr(driver.cuda, "device_array", Budget(0).take)
    with pytest.raises(DeviceError, match=message):
        gpu.array(1 << 40)


class Budget:
    """Memory of a GPU for so many arrays; what is asked for beyond is refused."""

    def __init__(self, arrays):
        self.left, self._make = arrays, driver.cuda.device_array

    def take(self, *given, **options):
        if not self.left:
            raise MemoryError("CUDA_ERROR_OUT_OF_MEMORY")
        self.left -= 1
        return self._make(*given, **options)


@on_a_gpu
@pytest.mark.parametrize("command", [("hamming", "-k", 1), ("edit", "-k", 1), ("best",)])
def test_memory_that_runs_out_half_way_leaves_no_file(command, gpu, tmp_path, monkeypatch):
    genome, hits = tmp_path / "r.fa", tmp_path / "hits.bed"
    genome.write_bytes(fasta([("r", random_letters(600, seed=1))]))
    words = (command[0], genome, "-p", PATTERNS[0], *command[1:], "-o", hits, "--device", "cuda")
    assert here(*words).status == 0
    whole = hits.read_bytes()
    for arrays in range(3):
        hits.unlink(missing_ok=True)
        gpu._kept.clear()
        with monkeypatch.context() as patch:
            budget = Budget(arrays)
            patch.setattr(driver.cuda, "device_array", budget.take)
            done = here(*words)
        if budget.left or done.status == 0:  # all the arrays that it takes
            break
        assert b"out of memory" in done.err and done.err.count(b"\n") == 1
        assert [path.name for path in tmp_path.iterdir()] == ["r.fa"]
    assert arrays > 0
    # The next search finds the GPU in order.
    assert here(*words).status == 0 and hits.read_bytes() == whole


# Texts that are too large for the oracle: the CPU has to agree byte by byte.

PATTERNS = ["ACGTTGACCA", "GGATCCATTA", "AATGGAATGG"]
REPEATS = [("r", "AATGG" * 20_000), ("s", PATTERNS[0])]
DESERTS = [("n", 100_000 * "N"), ("r", 9_999 * "N" + PATTERNS[0] + 99_999 * "N"), ("m", "N")]


@pytest.fixture(scope="module")
def records():
    """Several records of random letters, with runs of N, repeats and tiny records between."""
    random = np.random.default_rng(1)
    letters = random.choice(np.frombuffer(b"ACGT", np.uint8), LENGTH)
    letters[1_000_000:1_020_000] = ord("N")
    letters[2_000_000:2_003_000] = np.frombuffer(b"AATGG" * 600, np.uint8)
    cuts = [0, 1_500_000, 1_500_003, 1_500_040, 4_200_000, LENGTH]
    return [(f"chr{i}", letters[a:b]) for i, (a, b) in enumerate(pairwise(cuts))]


def cut(records, length, count, changes):
    """Patterns cut out of the longest record, with some letters changed."""
    random = np.random.default_rng(2)
    longest, patterns = max((letters for _, letters in records), key=len), []
    for at in random.integers(0, len(longest) - length, count):
        letters = longest[at : at + length].copy()
        letters[random.integers(0, length, changes)] = ord("A")
        patterns.append(letters.tobytes().decode().replace("N", "R"))
    return patterns


WINDOWS = [(20, 64, 3), (23, 5, 7), (12, 3, 5), (9, 2, 4), (100, 8, 20), (1000, 2, 300)]
DIFFERENCES = [(20, 8, 3), (32, 4, 6), (9, 2, 2), (64, 3, 8), (100, 4, 10), (1000, 2, 100)]
DIFFERENCES += [(20, 3, 0), (65, 3, 2)]  # few for their length
LARGE = [  # problem, (length, patterns, changes of each) or the patterns, k, options
    *(("hamming", (m, count, min(k, 3)), (k,), {}) for m, count, k in WINDOWS),
    *(
        ("hamming", ["ACGRYTNNACGTTAGCANGG", "AATGGAATGGAATGGAATGG"], (4,), options)
        for options in ({"strand": "+"}, {"strand": "-"}, {"exact_3p": 4})
    ),
    *(
        ("multi", (20, 30, 2), (4,), options)
        for options in ({}, {"pam": "NGG"}, {"pam": "TTTV", "pam_side": "5p"})
    ),
    *(
        ("edit", (m, count, min(k, 2)), (k,), {"report": report})
        for m, count, k in DIFFERENCES
        for report in ("minima", "ends")
    ),
    ("edit", ["AATGGAATGGAATGG", "ACGTACG"], (3,), {"report": "loci"}),  # dense
    *(
        ("edit", (m, count, 2), (3,), options)
        for m, count in [(20, 30), (40, 6)]
        for options in ({"pam": "NGG"}, {"pam": ("TTTV", "TG"), "pam_side": "5p"})
    ),
    *(("best", (m, 5, changes), (), {}) for m, changes in [(20, 8), (64, 10), (200, 60)]),
]


@pytest.fixture(scope="module")
def genomes(records, tmp_path_factory):
    """The records, and the same in a packed file."""
    genome, path = kmatch.Genome.from_records(records), tmp_path_factory.mktemp("packed") / "genome"
    with open(path, "wb") as handle:
        write_packed(genome.parts(), handle, length=1 << 20, halo=2048)
    return genome, kmatch.Genome(path)


@on_a_gpu
@pytest.mark.parametrize(("problem", "patterns", "k", "options"), LARGE)
def test_large_texts(genomes, records, problem, patterns, k, options, gpu):
    """Once the genome is on the GPU, after its planes were dropped there, and packed."""
    if isinstance(patterns, tuple):
        patterns = cut(records, *patterns)
    genome, in_file = genomes
    tables = set()
    for source, device in ((genome, "cpu"), *((x, "cuda") for x in (genome, genome, in_file))):
        table = io.StringIO()
        getattr(kmatch, problem)(source, patterns, *k, device=device, **options).to_bed(table)
        tables.add(table.getvalue())
    gpu._kept.clear()
    assert len(tables) == 1


@on_a_gpu
def test_known_off_targets(real):
    check_off_targets(real, "cuda")


@on_a_gpu
@pytest.mark.parametrize(("find", "k"), [(search, (2,)), (edit, (2,)), (best, ())])
def test_chunks_that_are_unlike_others(find, k):
    """Hits far beyond the buffer, or nothing but N."""
    for records, how in ((REPEATS, {"capacity": 1_024}), (DESERTS, {"chunk_length": 4_096})):
        found = rows(find(records, PATTERNS, *k, device="cuda", **how))
        assert found == rows(find(records, PATTERNS, *k)) != []


@on_a_gpu
@pytest.mark.parametrize(
    ("k", "options", "deepest"),
    [
        (6, {"max_length": 30}, on_gpu.DEEPEST),
        (6, {"both_strands": True}, on_gpu.DEEPEST),
        (40, {}, on_gpu.DEEPEST),
        (40, {}, 300),
        (100, {"background_strand": "+"}, on_gpu.DEEPEST),
        (300, {"background_strand": "+"}, on_gpu.DEEPEST),
    ],
)
def test_many_primers(records, k, options, deepest, monkeypatch):
    """A target of two records, and a background with relatives of parts of it."""
    random, letters = np.random.default_rng(3), records[0][1].tobytes().decode()
    target = letters[:9_000]
    parts = [letters[20_000:150_000], letters[990_000:1_030_000], letters[2_000_000:2_003_000]]
    relatives = [
        related(random, target[begin : begin + length], share)
        for begin, length, share in ((500, 300, 0.1), (2_000, 3_000, 0.2), (5_000, 1_500, 0.04))
    ]
    family = (
        [("one", target), ("two", letters[300_000:303_000])],
        [("a", parts[0] + relatives[0] + parts[1] + relatives[1]), ("b", relatives[2] + parts[2])],
    )
    monkeypatch.setattr(on_gpu, "DEEPEST", deepest)
    found = primer_rows(primer(*family, k, device="cuda", **options))
    assert found == primer_rows(primer(*family, k, **options)) != []


@on_a_gpu
def test_there_are_no_primers_in_a_copy(records):
    copy = [("r", records[0][1][:100_000])]
    assert not primer_rows(primer([("t", records[0][1][:40_000])], copy, 30, device="cuda"))
