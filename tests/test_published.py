"""Published algorithms give the engine's hits, and refuse what they were not made for."""

import subprocess
import sys

import numpy as np
import pytest
from support.commands import fasta, random_letters
from support.mismatches import rows
from support.primers import CASES as PRIMERS
from support.published import (
    CASES,
    HO_TEXT,
    HO_X,
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
from kmatch.published import registry as run
from kmatch.published.cpu import nakano2012
from kmatch.published.cpu.pmasm2017 import look_up_memory
from kmatch.published.cpu.wspasm2017 import find_matches
from kmatch.published.registry import PUBLISHED, Algorithm
from kmatch.sequences.alphabet import encode

ON_CPU = algorithms("cpu")
MISMATCHES = [algorithm for command, algorithm in ON_CPU if command == "multi"]


@pytest.mark.parametrize(("command", "algorithm"), ON_CPU, ids=label)
def test_cases(command, algorithm):
    for name in CASES[command]:
        records, patterns, k, options = case(command, name, algorithm, "cpu")
        if patterns and len(records) < 300:
            check(command, algorithm, records, patterns, k, options, device="cpu")


@pytest.mark.parametrize("example", examples("cpu"), ids=lambda example: example[0])
def test_worked_examples(example):
    check_example("cpu", *example)


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


@pytest.mark.parametrize("algorithm", MISMATCHES, ids=label)
@pytest.mark.parametrize(("length", "count", "k"), [(12, 8, 4), (20, 150, 5), (700, 3, 300)])
def test_counters_of_several_words(algorithm, length, count, k):
    text = random_letters(2_000)
    random = np.random.default_rng(4)
    patterns = [text[at : at + length] for at in random.integers(0, 2_000 - length, count)]
    patterns = [pattern[1:] + "AN"[i % 2] for i, pattern in enumerate(patterns)]
    genome = kmatch.Genome.from_records([("r", text)])
    expected = kmatch.hamming(genome, patterns, k, device="cpu")
    found = kmatch.multi(genome, patterns, k, device="cpu", algorithm=algorithm.name)
    assert rows(found) == rows(expected) and len(found) >= count


def test_what_it_was_not_made_for(monkeypatch):
    """Stand-ins: `short` holds 5 letters, `gpu` runs on CUDA alone."""
    fakes = {
        "short": Algorithm("short", "A et al. 2000", cpu="liu2012.sequential", longest=5),
        "gpu": Algorithm("gpu", "B et al. 2001", cuda="liu2012.thread"),
    }
    monkeypatch.setattr(run, "find", lambda command, name: fakes[name])
    genome = kmatch.Genome.from_records([("r", "ACGTACGT")])
    for patterns, hits in (["ACGTA"], 2), (["ACGT"], 4):
        assert len(kmatch.hamming(genome, patterns, 0, algorithm="short", device="auto")) == hits
    for name, pattern, device, error, words in (
        (
            "short",
            "ACGTAC",
            "cpu",
            "Input",
            "'ACGTAC' has 6 letters, and algorithm 'short' holds 5",
        ),
        ("gpu", "ACGT", "cpu", "Device", r"'gpu' .* runs on cuda, and not on cpu"),
        ("short", "ACGT", "cuda", "Device", "cuda"),
    ):
        with pytest.raises(getattr(kmatch, f"{error}Error"), match=words):
            kmatch.hamming(genome, [pattern], 1, algorithm=name, device=device)


@pytest.mark.parametrize("example", matrices("cpu"), ids=lambda example: example[1])
def test_worked_matrices(example):
    check_matrix("cpu", *example)


def test_matrix_x():
    """Ho et al. 2017b, Fig. 2."""
    x = np.full((4, len(HO_TEXT) + 1), -1, np.int32)
    find_matches(encode(HO_TEXT, "text"), np.array([1, 2, 4, 8], np.uint8), x)
    assert x.tolist() == HO_X


def test_anti_diagonals_in_panels(monkeypatch):
    monkeypatch.setattr(nakano2012, "WIDTH", 5)
    for algorithm in PUBLISHED["best"]:
        for name in ("long and short together", "runs of N", "palindrome", "m = 1"):
            check("best", algorithm, *case("best", name, algorithm, "cpu"), device="cpu")


@pytest.mark.parametrize("algorithm", primer_algorithms("cpu"), ids=label)
def test_primers(algorithm):
    """Among them the example of Feuser and Moreano 2018, "as published", and primers of more rows
    than conventional-fine holds at a time."""
    target, background = random_letters(110, seed=3), random_letters(200, seed=4)
    long = [("t", target)], [("b", background + target[5:80])], 20, {"background_strand": "+"}
    for problem in (*PRIMERS.values(), long):
        check_primers(algorithm, *problem, device="cpu")


FORKED = """
import multiprocessing, sys
import numba
import kmatch

def search(algorithm):
    try:
        return len(kmatch.best("genome.fa", "ACGTTGCA", device="cpu", algorithm=algorithm))
    except kmatch.KmatchError as error:
        return str(error)

if __name__ == "__main__":
    print(search("partition"), numba.threading_layer())
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(*pool.map_async(search, ["bitplane", "partition"]).get(500), sep="\\n")
"""


def test_threads_do_not_outlive_a_fork(tmp_path):
    """GNU OpenMP would end the child, for which a Pool waits for ever."""
    (tmp_path / "genome.fa").write_bytes(fasta([("r", random_letters(500) + "ACGTTGCA")]))
    (tmp_path / "forked.py").write_text(FORKED)
    command = (sys.executable, tmp_path / "forked.py")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=540)
    assert done.returncode == 0, done.stderr
    first, *forked = done.stdout.splitlines()
    hits, layer = first.split()
    assert forked[0] == hits != "0"
    assert ("forked" in forked[1]) if layer == "omp" else forked[1] == hits
