"""The kernels for the CPU as plain Python, on few and tiny cases. Run by scripts/coverage.

NUMBA_DISABLE_JIT=1 python -m pytest tests/plain/cases.py
"""

import io

import naive
import numba
import numpy as np
import pytest
from support.cases import EDIT, HAMMING, LONG, MULTI
from support.commands import fasta, here, random_letters
from support.differences import best, edit
from support.differences import rows as rows_of
from support.mismatches import oracle, rows, search, search_panel
from support.packing import packed
from support.primers import CASES as PRIMERS
from support.primers import primer, records
from support.primers import rows as rows_of_primers
from support.published import (
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
from kmatch.engine.cpu.primer.extend import Sizes
from kmatch.engine.hits import NO_CODE
from kmatch.engine.host.sorting import FEW, sort_codes

# The recurrence adds to carry; what runs over the end of a word concerns nobody.
pytestmark = [
    pytest.mark.skipif(not numba.config.DISABLE_JIT, reason="NUMBA_DISABLE_JIT is not set"),
    pytest.mark.filterwarnings("ignore:.*overflow encountered in scalar"),
]


@pytest.mark.parametrize("k", [0, 1, 3, 7, 11, 20, 33])
def test_counters_of_every_width(k):
    text = random_letters(90) + "N" + LONG
    pattern = text[5:40][:30] + "ACGTT"
    options = {"exact_5p": k % 3, "chunk_length": 60, "words": 1}
    found = rows(search([("r", text)], [pattern], k, **options))
    assert found == naive.hamming([("r", text)], [pattern], k, exact_5p=k % 3)


@pytest.mark.parametrize(
    "name", ["m = 1", "empty records", "IUPAC", "mixed lengths", "lower case and U"]
)
def test_mismatches(name):
    named, patterns, k, options = HAMMING[name]
    assert rows(search(named, patterns, k, **options)) == naive.hamming(
        named, patterns, k, **options
    )


@pytest.mark.parametrize("filtering", [True, False])
@pytest.mark.parametrize(
    "name",
    ["a PAM at the end", "a PAM before", "a palindromic PAM", "N in sites", "all palindromic"],
)
def test_panels(name, filtering):
    named, patterns, k, options = MULTI[name]
    found = rows(search_panel(named, patterns, k, filtering=filtering, **options))
    assert found == oracle(named, patterns, k, **options)


@pytest.mark.parametrize("pam", [None, "NGG"])
def test_panels_that_are_looked_up(pam):
    text = random_letters(300) + "NN" + random_letters(70, 2)
    patterns = [text[i : i + 12] for i in (3, 50, 190, 304)]
    found = rows(
        search_panel([("r", text)], patterns, 2, filtering=True, pam=pam, chunk_length=150)
    )
    assert found == oracle([("r", text)], patterns, 2, pam)


@pytest.mark.parametrize("filtering", [True, False])
@pytest.mark.parametrize("report", ["ends", "minima", "loci"])
def test_differences(report, filtering):
    for name in (
        "at the end",
        "records apart",
        "a tie in a locus",
        "loci in a chain",
        "an N inside",
    ):
        named, patterns, k, options = EDIT[name]
        found = rows_of(edit(named, patterns, k, report=report, filtering=filtering, **options))
        assert found == naive.edit(named, patterns, k, report, **options)


@pytest.mark.parametrize("filtering", [True, False])
def test_patterns_of_several_words(filtering):
    text = random_letters(40) + LONG[:30] + "A" + LONG[31:50] + LONG[52:] + random_letters(60, 3)
    options = {"filtering": filtering, "chunk_length": 90}
    found = rows_of(edit([("r", text)], [LONG, LONG[:9]], 4, **options))
    assert found == naive.edit([("r", text)], [LONG, LONG[:9]], 4)


@pytest.mark.parametrize("name", ["palindrome", "IUPAC"])
def test_the_best(name):
    named, patterns, _, options = EDIT[name]
    assert rows_of(best(named, patterns, **options)) == naive.best(named, patterns, **options)


@pytest.mark.parametrize("name", ["as published", "both strands", "empty records", "max length"])
def test_primers(name):
    target, background, k, options = PRIMERS[name]
    found = rows_of_primers(primer(target, background, k, **options))
    assert found == naive.primers(target, background, k, **options)


def test_primers_of_many_strips():
    text, sizes = random_letters(40), Sizes(height=8, block=16)
    target, background = records(text), records(text[:30] + "C" + text[31:] + random_letters(40, 2))
    for k in (1, 9):
        found = rows_of_primers(primer(target, background, k, sizes=sizes))
        assert found == naive.primers(target, background, k)


def test_tables_and_packed_genomes(tmp_path):
    named = [("one", random_letters(150)), ("two", random_letters(90, 2))]
    (tmp_path / "genome.fa").write_bytes(fasta(named, width=50).replace(b"ACG", b"ac g"))
    (tmp_path / "wide.fa").write_bytes(fasta([("one", random_letters(2_500))], width=2_000))
    genome = packed(named)
    pattern = named[1][1][20:32]
    hits = naive.edit(named, [pattern], 3)
    for name, table in (("bed", naive.edit_bed(named, ["p"], [pattern], hits)),
                        ("tsv", naive.edit_tsv(named, ["p"], hits))):  # fmt: skip
        command = ("edit", tmp_path / "genome.fa", "-p", pattern, "-k", 3, "--format", name)
        assert here(*command).out.decode().replace(pattern, "p") == table.replace(pattern, "p")
    assert rows_of(kmatch.edit(genome, {"p": pattern}, 3)) == hits
    out = io.StringIO()
    kmatch.hamming(genome, {"p": pattern}, 3).to_tsv(out)
    assert out.getvalue() == naive.tsv(named, ["p"], [pattern], naive.hamming(named, [pattern], 3))
    assert [len(record.letters) for record in genome.records()] == [150, 90]
    wide = here("hamming", tmp_path / "wide.fa", "-p", random_letters(2_500)[2_100:2_120], "-k", 0)
    assert wide.out.startswith(b"one\t2100\t2120\t")


@pytest.mark.parametrize("top", [50, 1 << 40])
def test_codes_in_order(top):
    codes = np.random.default_rng(1).integers(0, top, 2 * FEW)
    codes[::5] = NO_CODE
    kept = np.sort(codes[codes != NO_CODE])
    count = sort_codes(codes, np.empty_like(codes))
    assert codes[:count].tolist() == kept.tolist()


@pytest.mark.parametrize(("command", "algorithm"), algorithms("cpu"), ids=label)
def test_published(command, algorithm):
    for name in {"multi": ("a palindromic PAM",)}.get(command, ("m = 1", "mixed lengths")):
        named, patterns, k, options = case(command, name, algorithm, "cpu")
        check(command, algorithm, named, patterns, k, options, device="cpu")


@pytest.mark.parametrize("algorithm", primer_algorithms("cpu"), ids=label)
def test_published_primers(algorithm):
    for name in ("as published", "N in the target", "k = 1"):
        check_primers(algorithm, *PRIMERS[name], device="cpu")


@pytest.mark.parametrize("example", examples("cpu"))
def test_worked_examples(example):
    check_example("cpu", *example)


@pytest.mark.parametrize("example", matrices("cpu"))
def test_worked_matrices(example):
    check_matrix("cpu", *example)


def test_the_memory_machines():
    command = ("model", "-n", 32, "-m", 8, "-w", 4, "-l", 5, "-p", 16)
    rows = here(*command).out.decode().splitlines()[1:]
    assert len(rows) == 12 and {row.split("\t")[-1] for row in rows if "diagonals" in row} != {"."}
