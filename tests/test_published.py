"""Published algorithms give the oracle's hits: on the CPU, in the simulator, where cases are few
and tiny, and on a GPU; and they refuse what they were not made for."""

import io
import subprocess
import sys

import naive
import numpy as np
import pytest
from support.cases import LONG
from support.commands import fasta, random_letters
from support.devices import DEVICES, PROBLEMS, SIMULATED, check, on_a_gpu, on_the_cpu, simulated

import kmatch
from kmatch.engine.cuda.driver import cuda
from kmatch.engine.devices import choose_engine
from kmatch.engine.workers import Workers
from kmatch.errors import InputError
from kmatch.published.cpu import nakano2012
from kmatch.published.cpu.pmasm2017 import look_up_memory
from kmatch.published.cpu.wspasm2017 import find_matches
from kmatch.published.cuda import feuser2018, wspasm2017
from kmatch.published.cuda.liu2012 import opt_block_thread
from kmatch.published.registry import PUBLISHED, Algorithm
from kmatch.published.search import Published
from kmatch.search import algorithms as choice
from kmatch.search.algorithms import find
from kmatch.sequences.alphabet import encode, encode_text

CASES = {name: PROBLEMS[name].cases for name in PROBLEMS}
BACKGROUND, TARGET = random_letters(200, seed=4), random_letters(110, seed=3)
LONG_PRIMERS = (  # of more rows than conventional-fine holds at a time
    *([("t", TARGET)], [("b", BACKGROUND + TARGET[5:80])]),
    *(20, {"background_strand": "+"}),
)
CASES["primer"] = CASES["primer"] | {"long": LONG_PRIMERS}
FEW = {  # none of many positions: a block for each has its threads
    "hamming": ("at the end", "m = 1"),
    "multi": ("a palindromic PAM",),
    "edit": ("minus only",),
    "best": ("m = 1",),
    "primer": ("as published", "k = 1", "N in the target", "no background record"),
}

# Worked examples: algorithms, the text, patterns, k, and the result vectors as printed.
LIU_FIG_4 = ("ATCGTTTCAG", ["TTCAG"], 3, [[0, -1, -1, -1, 4]])  # and Fig. 6
LIU_FIG_11 = ("ATCGTTCAGCA", ["TTCA"], 2, [[0, -1, -1, -1, 4, -1, -1, 7]])
# Fig. 3 and 4 print the column of start 0. The text of Fig. 4 says that block 0 has "ACCT", which
# the string does not hold: it is ACTT.
PMASM_FIG_3 = ("ACTTGTAC", ["ACTG", "ATCG", "CACT"], 2, [[0], [-1], [-1]])
EXAMPLES = {
    **dict.fromkeys(("sequential", "thread", "block-thread"), LIU_FIG_4),
    "opt-block-thread": LIU_FIG_11,
    **dict.fromkeys(("naive", "shift-add", "pmasm", "pmasm-thread"), PMASM_FIG_3),
    **dict.fromkeys(("pmasm-block-thread", "pmasm-shared"), PMASM_FIG_3),
}
# Ho et al. 2017b, Fig. 1 to 3: the matrices X, its rows in the order A, C, G, T, and D.
HO_TEXT, HO_PATTERN = "CATGACTG", "TACTG"
HO_X = [
    [0, 0, 2, 2, 2, 5, 5, 5, 5],
    [0, 1, 1, 1, 1, 1, 6, 6, 6],
    [0, 0, 0, 0, 4, 4, 4, 4, 8],
    [0, 0, 0, 3, 3, 3, 3, 7, 7],
]
HO_D = [
    [0, 0, 0, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 0, 1, 1, 1, 0, 1],
    [2, 2, 1, 1, 1, 1, 2, 1, 1],
    [3, 2, 2, 2, 2, 2, 1, 2, 2],
    [4, 3, 3, 2, 3, 3, 2, 1, 2],
    [5, 4, 4, 3, 2, 3, 3, 2, 1],
]
# Nakano 2012, Fig. 3, with A for a and C for b. The matrix is that of Y = aaabbbaa, where ASM is 1,
# and not of the caption's aaabbbbaa, where it is 2. By formulas (3) to (5) d[1][1] is 0 and d[5][6]
# is 2, where the figure has 1 and 3.
NAKANO_TEXT, NAKANO_PATTERN = "AAACCCAA", "ACACA"
NAKANO_D = [
    [0, 0, 0, 0, 0, 0, 0, 0, 0],
    [1, 0, 0, 0, 1, 1, 1, 0, 0],
    [2, 1, 1, 1, 0, 1, 1, 1, 1],
    [3, 2, 1, 1, 1, 1, 2, 1, 1],
    [4, 3, 2, 2, 1, 1, 1, 2, 2],
    [5, 4, 3, 2, 2, 2, 2, 1, 2],
]
MATRICES = {"edit": (HO_TEXT, HO_PATTERN, HO_D), "best": (NAKANO_TEXT, NAKANO_PATTERN, NAKANO_D)}


def algorithms(*commands, where=lambda algorithm: True, devices=DEVICES):
    """A decorator: with (command, algorithm, device) for those of commands that fit."""
    given = [
        pytest.param(
            command, algorithm, device, marks=marks, id=f"{command}-{algorithm.name}-{device}"
        )
        for device, marks in devices
        for command in commands
        for algorithm in PUBLISHED[command]
        if device in algorithm.devices and where(algorithm)
    ]
    return pytest.mark.parametrize(("command", "algorithm", "device"), given)


@pytest.fixture(autouse=True)
def blocks_of_four(monkeypatch):
    """Small blocks in the simulator, and a stand-in for shuffles, which it lacks."""
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

    sizes = {"THREADS": 16, "BLOCK": 32, "ENTRIES": 34, "WARP": 4}
    for name, value in (sizes | {"_of_thread_before": of_thread_before}).items():
        monkeypatch.setattr(wspasm2017, name, value)
    for name, value in (("THREADS", 4), ("BATCH", 3)):
        monkeypatch.setattr(feuser2018, name, value)


@algorithms("hamming", "multi", "edit", "best", "primer")
def test_cases(command, algorithm, device):
    """Among primers is the example of Feuser and Moreano 2018, "as published"."""
    for name in FEW[command] if SIMULATED else CASES[command]:
        records, patterns, k, options = CASES[command][name]
        if command != "primer":
            patterns = [p for p in patterns if not algorithm.limit_below(len(p), device)]
        if (patterns or command == "primer") and (len(records) < 300 or device == "cuda"):
            case = records, patterns, k, options
            check(command, case, device=device, algorithm=algorithm.name)


@algorithms("multi")
def test_worked_examples(command, algorithm, device):
    """The positions found are the beginning of a paper's result vectors."""
    text, patterns, k, expected = EXAMPLES[algorithm.name]
    run = Published(choose_engine(device), algorithm)
    result = np.full((len(patterns), len(text) - len(patterns[0]) + 1), -1)
    masks = [encode(pattern, "pattern") for pattern in patterns]
    for number, start, distance in run.windows(run.text(encode(text, "text")), masks, k):
        result[number, start] = start
        wrong = [sum(a != b for a, b in zip(text[i:], patterns[number])) for i in start]  # noqa: B905
        assert distance.tolist() == wrong
    assert result[:, : len(expected[0])].tolist() == expected


@algorithms("edit", "best")
def test_worked_matrices(command, algorithm, device):
    """Rows of D are the last ones of the pattern's beginnings."""
    text, pattern, matrix = MATRICES[command]
    run = Published(choose_engine(device), algorithm)
    on_device = run.text(encode(text, "text"))
    for m in range(1, len(pattern) + 1):
        end, distance = run.hits(on_device, encode(pattern[:m], "pattern"), m)
        assert end.tolist() == list(range(len(text)))
        assert distance.tolist() == matrix[m][1:]
    end, _ = run.hits(on_device, encode(pattern, "pattern"), 2)
    assert end.tolist() == [j for j, d in enumerate(matrix[-1][1:]) if d <= 2]
    assert run.table(on_device, encode(pattern, "pattern"), m).min() == min(matrix[-1])


@algorithms("multi")
def test_several_words_and_launches(command, algorithm, device):
    """Sixty patterns of 25 letters: six counters of five bits a word, and eight words a launch."""
    text = LONG[:27] + "NN" + LONG[3:9]
    patterns = [(LONG[i:] + LONG)[:25] for i in range(60)]
    run = Published(choose_engine(device), algorithm)
    masks = [encode(pattern, pattern) for pattern in patterns]
    letters = encode_text(np.frombuffer(text.encode(), np.uint8))
    found = [
        (start, number, distance)
        for number, starts, distances in run.windows(run.text(letters), masks, 12)
        for start, distance in zip(starts.tolist(), distances.tolist(), strict=True)
    ]
    expected = naive.hamming([("r", text)], patterns, 12, strand="+")
    assert sorted(found) == [(start, *rest[1:3]) for _, start, *rest in expected] != []


@algorithms("hamming", where=lambda algorithm: algorithm.name == "shift-add")
def test_long_states_of_shift_add(command, algorithm, device):
    case = [("r", LONG * 2)], [LONG[1:] + LONG[:40]], 9, {}
    check("hamming", case, device=device, algorithm="shift-add")


@on_the_cpu
def test_the_look_up_memory_of_pmasm():
    """Fig. 2 and, added up, the bit_vectors of Fig. 1 and 3: a digit a pattern."""
    masks = np.stack([encode(pattern, "p") for pattern in ("ACTG", "ATCG", "CACT")])
    memory = look_up_memory(masks, np.uint32)
    assert (memory.words, memory.size) == (1, 3)  # b = ⌈log2(4 + 1)⌉
    table = memory.table.reshape(4, -1)

    def digits(vector):
        shifts = [memory.size * (memory.counters - 1 - pattern) for pattern in range(3)]
        return "".join(str(int(vector) >> shift & 7) for shift in shifts)

    level_0 = [digits(table[0, mask]) for mask in (1, 2, 4, 8)]
    assert level_0 == ["001", "110", "111", "111"]  # the paper's second fb_lvl0_A is that of T
    steps = np.cumsum([table[j, mask] for j, mask in enumerate(encode("ACTT", "text"))])
    assert [digits(vector) for vector in steps] == ["001", "012", "023", "133"]
    assert (table[:, 0] == table[0, 4]).all()  # a letter that matches nothing differs from all


@on_the_cpu
def test_matrix_x():
    """Ho et al. 2017b, Fig. 2."""
    x = np.full((4, len(HO_TEXT) + 1), -1, np.int32)
    alphabet = np.array([1, 2, 4, 8], np.uint8)
    Workers(1).run(find_matches, 4, encode(HO_TEXT, "text"), alphabet, x)
    assert x.tolist() == HO_X


@on_the_cpu
def test_anti_diagonals_in_panels(monkeypatch):
    monkeypatch.setattr(nakano2012, "WIDTH", 5)
    for name in ("long and short together", "runs of N", "palindrome", "m = 1"):
        check("best", CASES["best"][name], device="cpu", algorithm="diagonal")


@on_the_cpu
def test_what_it_was_not_made_for(monkeypatch):
    """Stand-ins: `short` holds 5 letters, `gpu` runs on CUDA alone."""
    fakes = {
        "short": Algorithm("sequential", "liu2012", ("cpu",), {"cpu": 5}),
        "gpu": Algorithm("thread", "liu2012", ("cuda",)),
    }
    monkeypatch.setattr(choice, "find", lambda command, name: fakes[name])
    genome = kmatch.Genome.from_records([("r", "ACGTACGT")])
    for patterns, hits in (["ACGTA"], 2), (["ACGT"], 4):
        assert len(kmatch.hamming(genome, patterns, 0, algorithm="short", device="auto")) == hits
    too_long = "'ACGTAC' has 6 letters, and algorithm 'short' holds 5"
    for name, pattern, device, error, words in (
        ("short", "ACGTAC", "cpu", "Input", too_long),
        ("gpu", "ACGT", "cpu", "Device", r"'gpu' .* runs on cuda, and not on cpu"),
        ("short", "ACGT", "cuda", "Device", "cuda"),
    ):
        with pytest.raises(getattr(kmatch, f"{error}Error"), match=words):
            kmatch.hamming(genome, [pattern], 1, algorithm=name, device=device)


@simulated
def test_what_a_block_cannot_hold(monkeypatch):
    with pytest.raises(InputError, match=r"20 letters within k = 12 .* use row"):
        wspasm2017.row_shuffle(None, np.ones(20, np.uint8), 12, None)
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"k = 3000 .* holds 2878; use conventional-fine"):
        feuser2018.alternative_fine(None, None, 3000, None)


@simulated
def test_letters_that_were_not_fetched(monkeypatch):
    """Optimizations 5 and 6 guess that a difference takes AHEAD letters; here they take more."""
    monkeypatch.setattr(feuser2018, "AHEAD", 0)
    case = [("t", LONG[:30])], [("b", LONG[3:24])], 2, {"background_strand": "+"}
    check("primer", case, device="cuda", algorithm="alternative-fine")


@simulated
def test_a_block_of_four_threads():
    """Liu et al. 2012, Fig. 11, with the BlockDim printed there."""
    text, (pattern,), k, expected = LIU_FIG_11
    on_gpu = Published(choose_engine("cuda"), find("hamming", "opt-block-thread")).text(
        encode(text, "text")
    )
    table = on_gpu.empty(8, np.int32)
    opt_block_thread(on_gpu, encode(pattern, "pattern"), k, table, block_dim=4)
    assert np.where(on_gpu.fetch(table) >= 0, range(8), -1).tolist() == expected[0]


@algorithms("hamming", "multi", "edit", "best", devices=[("cuda", on_a_gpu)])
def test_many_letters(command, algorithm, device):
    text = random_letters(5_000_000, seed=1)
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


FORKED = """
import multiprocessing
import kmatch

def search(algorithm):
    return len(kmatch.best("genome.fa", "ACGTTGCA", device="cpu", algorithm=algorithm))

if __name__ == "__main__":
    print(search("partition"))
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(*pool.map_async(search, ["bitplane", "partition"]).get(500), sep="\\n")
"""


@on_the_cpu
def test_threads_do_not_outlive_a_fork(tmp_path):
    """A forked child, for which a Pool waits for ever, has none of its parent's threads."""
    (tmp_path / "genome.fa").write_bytes(fasta([("r", random_letters(500) + "ACGTTGCA")]))
    (tmp_path / "forked.py").write_text(FORKED)
    command = (sys.executable, tmp_path / "forked.py")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=540)
    assert done.returncode == 0, done.stderr
    hits, *forked = done.stdout.splitlines()
    assert forked == [hits, hits] and hits != "0"
