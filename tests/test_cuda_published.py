"""Published algorithms on a GPU; in the simulator on few and tiny cases."""

import io

import numpy as np
import pytest
from support.cases import LONG
from support.commands import random_letters as letters_of
from support.primers import CASES as PRIMERS
from support.primers import primer, rows
from support.published import (
    CASES,
    LIU_FIG_11,
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
from kmatch.bench.measure import Bench, Case, cut_patterns, random_letters
from kmatch.engine.cuda.driver import SIMULATED, cuda, find_devices
from kmatch.engine.devices import choose_engine
from kmatch.errors import InputError
from kmatch.published.cuda import DeviceText, feuser2018, wspasm2017
from kmatch.published.cuda.liu2012 import opt_block_thread
from kmatch.published.registry import find
from kmatch.published.search import Published
from kmatch.sequences.alphabet import encode

FOUND, REASON = find_devices()
FEW = {  # none of many positions: a block for each has its threads
    "hamming": ("at the end", "m = 1"),
    "multi": ("a palindromic PAM",),
    "edit": ("minus only", "satellites"),  # one block, and several
    "best": ("palindrome",),
}
on_a_gpu = pytest.mark.gpu
pytestmark = [] if SIMULATED else pytest.mark.gpu
simulated = pytest.mark.skipif(not SIMULATED, reason="it is for the simulator")


@pytest.fixture(scope="module", autouse=True)
def gpu():
    if not FOUND:
        pytest.skip(f"no usable GPU: {REASON}")


@pytest.fixture(autouse=True)
def warps_of_four(monkeypatch):
    """Small blocks for Ho et al. 2017b, and a stand-in for shuffles, which the simulator lacks."""
    if not SIMULATED:
        return
    values = {}

    @cuda.jit(device=True)
    def of_thread_before(value):
        thread = cuda.threadIdx.x
        values[thread] = value
        cuda.syncthreads()
        before = values[thread - 1] if thread % 4 else value
        cuda.syncthreads()
        return before

    monkeypatch.setattr(wspasm2017, "THREADS", 16)
    monkeypatch.setattr(wspasm2017, "BLOCK", 32)
    monkeypatch.setattr(wspasm2017, "ENTRIES", 34)
    monkeypatch.setattr(wspasm2017, "WARP", 4)
    monkeypatch.setattr(wspasm2017, "_of_thread_before", of_thread_before)


@pytest.mark.parametrize("example", matrices("cuda"), ids=lambda example: example[1])
def test_worked_matrices(example):
    check_matrix("cuda", *example)


@simulated
def test_what_a_block_cannot_hold():
    with pytest.raises(InputError, match=r"20 letters within k = 12 .* use row"):
        wspasm2017.row_shuffle(None, np.ones(20, np.uint8), 12)


@pytest.mark.parametrize(("command", "algorithm"), algorithms("cuda"), ids=label)
def test_published(command, algorithm):
    for name in FEW[command] if SIMULATED else CASES[command]:
        records, patterns, k, options = case(command, name, algorithm, "cuda")
        if patterns:
            check(command, algorithm, records, patterns, k, options, device="cuda")


@pytest.mark.parametrize("algorithm", primer_algorithms("cuda"), ids=label)
def test_primers(algorithm, monkeypatch):
    """In the simulator blocks of four threads, and three starts a launch."""
    names = list(PRIMERS)
    if SIMULATED:
        monkeypatch.setattr(feuser2018, "THREADS", 4)
        monkeypatch.setattr(feuser2018, "BATCH", 3)
        names = ("as published", "k = 1", "N in the target", "no background record")
    for name in names:
        check_primers(algorithm, *PRIMERS[name], device="cuda")


@on_a_gpu
@pytest.mark.parametrize("algorithm", primer_algorithms("cuda"), ids=label)
def test_primers_of_many_letters(algorithm):
    target, background = letters_of(1_500, seed=3), letters_of(20_000, seed=4)
    problem = [("t", target)], [("b", background + target[200:900])], 50
    options = {"background_strand": "+"}
    found = rows(primer(*problem, device="cuda", algorithm=algorithm.name, **options))
    assert found == rows(primer(*problem, **options)) != []


@on_a_gpu
@pytest.mark.parametrize(("command", "algorithm"), algorithms("cuda"), ids=label)
def test_many_letters(command, algorithm):
    text = letters_of(5_000_000, seed=1)
    genome = kmatch.Genome.from_records([("r", text[:2_000_000]), ("s", text[2_000_000:])])
    patterns = [
        text[at : at + 9] + "A" + text[at + 10 : at + 24] for at in range(500, 75_000, 1_050)
    ]
    search, k = getattr(kmatch, command), () if command == "best" else (5,)
    tables = set()
    for how in ({"device": "cpu"}, {"device": "cuda", "algorithm": algorithm.name}):
        table = io.StringIO()
        chosen = patterns if algorithm.panel else patterns[:4]
        search(genome, chosen, *k, **how).to_bed(table)
        tables.add(table.getvalue())
    assert len(tables) == 1


@simulated
def test_letters_that_were_not_fetched(monkeypatch):
    """Optimizations 5 and 6 guess that a difference takes AHEAD letters; here they take more."""
    monkeypatch.setattr(feuser2018, "THREADS", 4)
    monkeypatch.setattr(feuser2018, "AHEAD", 0)
    case = [("t", LONG[:30])], [("b", LONG[3:24])], 2, {"background_strand": "+"}
    check_primers(find("primer", "alternative-fine"), *case, device="cuda")


def test_more_differences_than_shared_memory_holds():
    with pytest.raises(InputError, match=r"k = 3000 .* holds 2878; use conventional-fine"):
        feuser2018.alternative_fine(None, None, 3000)


@pytest.mark.parametrize("example", examples("cuda"), ids=lambda example: example[0])
def test_worked_examples(example):
    check_example("cuda", *example)


@simulated
def test_a_block_of_four_threads():
    """Liu et al. 2012, Fig. 11, with the BlockDim printed there."""
    engine = choose_engine("cuda")
    text = Published(engine, find("hamming", "opt-block-thread")).text(
        encode(LIU_FIG_11[0], "text")
    )
    table = opt_block_thread(text, encode("TTCA", "pattern"), 2, block_dim=4)
    assert np.where(table.copy_to_host() >= 0, range(8), -1).tolist() == LIU_FIG_11[3][0]


@simulated
@pytest.mark.parametrize("name", ["pmasm-thread", "pmasm-block-thread", "pmasm-shared"])
def test_several_words_and_launches(name):
    """Sixty patterns of 25 letters: six counters of five bits a word, and eight words a launch."""
    text = LONG[:27] + "NN" + LONG[3:9]
    patterns = [(LONG[i:] + LONG)[:25] for i in range(60)]
    case = ([("r", text)], patterns, 12, {"strand": "+"})
    check("multi", find("multi", name), *case, device="cuda")


def test_long_states_of_shift_add():
    records, patterns = [("r", LONG * 2)], [LONG[1:] + LONG[:40]]
    check("hamming", find("hamming", "shift-add"), records, patterns, 9, {}, device="cuda")


@simulated
def test_bench_rows():
    letters = random_letters(100)
    case = Case("multi", letters, cut_patterns(letters, 6, 2, 2), 2)
    wanted = {("opt-block-thread", "cuda"), ("pmasm-shared", "cuda"), ("naive", "cpu")}
    rows = list(Bench("cuda", seconds=1e-6, smallest=60).rows(case, wanted))
    assert [(row.algorithm, row.device) for row in rows] == [
        ("bitplane", "cuda"),
        ("opt-block-thread", "cuda"),
        ("naive", "cpu"),  # the sequential one that the paper compares with
        ("pmasm-shared", "cuda"),
    ]
    assert all(row.equal and row.hits and row.size == 60 for row in rows)


def test_hits_of_a_table():
    text = DeviceText(np.zeros(9, np.uint8), "cuda:0")
    table = text.put(np.array([[-1, 3, -1, 0], [5, -1, -1, 2]], np.int32))
    index, distance = text.hits(table)
    assert (index.tolist(), distance.tolist()) == ([1, 3, 4, 7], [3, 0, 5, 2])
    assert text.smallest(table) == -1
