"""`kmatch primer` as a user runs it."""

import gzip
import os
import signal
import subprocess

import naive
import pytest
from support.commands import (
    HEAVY,
    KMATCH,
    compressed,
    failed,
    fasta,
    here,
    loaded,
    misused,
    process,
    random_letters,
)

import kmatch

TARGET = [("t1", random_letters(150, 1)), ("t2", "GGNACC" + "AATGG" * 6), ("empty", "")]
BACKGROUND = [("b1", TARGET[0][1][40:60] + random_letters(200, 2)), ("b2", ""), ("b3", "AATGG" * 9)]
K = 4


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "target.fa", tmp_path / "background.fa.gz"
    paths[0].write_bytes(fasta([(f"{name} a title", text) for name, text in TARGET]))
    paths[1].write_bytes(compressed("gz", fasta(BACKGROUND)))
    return paths


@pytest.fixture(scope="module")
def bed():
    """The BED of a plain search and of both strands, from the oracle."""
    tables = {}
    for both in (False, True):
        found = naive.primers(TARGET, BACKGROUND, K, both_strands=both)
        assert len(found) > 100
        tables[both] = naive.primers_bed(TARGET, K, found).encode()
    return tables


def test_bed_by_default(files, bed):
    assert process("primer", *files, "-k", K) == (0, bed[False], b"")
    assert here("primer", *files, "-k", K, "-t", 1, "--device", "cpu") == (0, bed[False], b"")
    assert here("primer", *files, "-k", K, "--both-strands") == (0, bed[True], b"")


def test_the_published_example(tmp_path):
    (tmp_path / "t.fa").write_bytes(fasta([("t", "ACTG")]))
    (tmp_path / "b.fa").write_bytes(fasta([("b", "AGCAAG")]))
    search = ("primer", tmp_path / "t.fa", tmp_path / "b.fa", "-k", 2, "--background-strand", "+")
    assert here(*search).out == b"t\t0\t3\tprimer_0\t667\t+\nt\t1\t4\tprimer_1\t667\t+\n"


@pytest.mark.parametrize("both", [False, True])
def test_tsv(files, bed, both):
    options = ["--both-strands"] if both else []
    result = here("primer", *files, "-k", K, "--format", "tsv", *options)
    header, *lines = result.out.decode().splitlines()
    assert header == "sequence\tstart\tend\tlength\tgc\ttm" + both * "\tstrand"
    places = [line.split("\t") for line in bed[both].decode().splitlines()]
    assert [line.split("\t")[:3] for line in lines] == [row[:3] for row in places]
    assert [line.split("\t")[6:] for line in lines] == [row[5:] if both else [] for row in places]
    assert {line.split("\t")[5] == "NA" for line in lines} == {True, False}


def test_limits(files, bed):
    rows = [line.split(b"\t") for line in bed[False].splitlines(keepends=True)]
    short = b"".join(b"\t".join(row) for row in rows if int(row[2]) - int(row[1]) <= 12)
    assert here("primer", *files, "-k", K, "--max-length", 12) == (0, short, b"")
    assert 0 < len(short) < len(bed[False])
    whole = here("primer", *files, "-k", K, "--format", "tsv").out.splitlines(keepends=True)
    limits = ("--gc", 0.4, 0.6, "--tm", 20.05, 40.05)
    kept = [row for row in whole[1:] if fits(row)]
    result = here("primer", *files, "-k", K, "--format", "tsv", *limits)
    assert result.out == b"".join(whole[:1] + kept) and kept


def fits(row):
    gc, tm = row.split(b"\t")[4:6]
    return 0.4 <= float(gc) <= 0.6 and tm.strip() != b"NA" and 20.05 <= float(tm) <= 40.05


def test_regions(tmp_path, files, bed):
    search = ("primer", *files, "-k", K, "--max-length", 12, "--regions", tmp_path / "regions.bed")
    result = here(*search)
    starts = {tuple(row.split(b"\t")[:2]) for row in result.out.splitlines()}
    covered = []
    for line in (tmp_path / "regions.bed").read_bytes().splitlines():
        name, start, end = line.split(b"\t")
        assert {(name, b"%d" % at) for at in (int(start) - 1, int(end))}.isdisjoint(starts)
        covered += [(name, b"%d" % at) for at in range(int(start), int(end))]
    assert set(covered) == starts and len(covered) == len(starts)
    # They do not depend on what becomes of the primers.
    plain = (tmp_path / "regions.bed").read_bytes()
    assert here(*search, "--gc", 1, 1, "-o", os.devnull).status == 0
    assert (tmp_path / "regions.bed").read_bytes() == plain


def test_standard_input(files, bed):
    target, background = files
    result = here("primer", "-", background, "-k", K, stdin=target.read_bytes())
    assert result == (0, bed[False], b"")
    result = here("primer", target, "-", "-k", K, stdin=background.read_bytes())
    assert result == (0, bed[False], b"")


@pytest.mark.parametrize("name", ["p.bed", "p.bed.gz", "p"])
def test_files_are_whole(tmp_path, files, bed, name):
    assert here("primer", *files, "-k", K, "-o", tmp_path / name) == (0, b"", b"")
    data = (tmp_path / name).read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data) == bed[False]


def test_bad_files_leave_none(tmp_path, files):
    target, background = files
    (tmp_path / "cut.fa.gz").write_bytes(background.read_bytes()[:60])
    (tmp_path / "empty.fa").write_bytes(b"")
    before = set(os.listdir(tmp_path))
    outputs = ("-o", tmp_path / "p.bed", "--regions", tmp_path / "r.bed")
    for pair, name in (
        ((target, tmp_path / "cut.fa.gz"), "cut.fa.gz"),
        ((tmp_path / "cut.fa.gz", target), "cut.fa.gz"),
        ((target, tmp_path / "empty.fa"), "empty.fa"),
        ((tmp_path / "none.fa", target), "none.fa"),
    ):
        failed(here("primer", *pair, "-k", K, *outputs), name)
        assert set(os.listdir(tmp_path)) == before


def test_nothing_found(tmp_path, files):
    assert here("primer", files[0], files[0], "-k", K) == (0, b"", b"")
    result = here("primer", files[0], files[0], "-k", 999, "--format", "tsv")
    assert result == (0, b"sequence\tstart\tend\tlength\tgc\ttm\n", b"")


def test_numbers_that_do_not_fit(files):
    failed(here("primer", *files, "-k", 9, "--max-length", 8), "8", "k = 9")
    failed(here("primer", *files, "-k", 2, "--min-length", 9, "--max-length", 8), "9", "8")
    failed(here("primer", *files, "-k", 2, "--gc", 0.6, 0.4), "GC")
    failed(here("primer", *files, "-k", 2, "--tm", 60, 50), "melting")


def test_verbose(files, bed):
    result = here("primer", *files, "-k", K, "-v", "--device", "cpu")
    said = result.err.decode()
    assert result.out == bed[False] and "cpu" in said
    assert f"{len(bed[False].splitlines()):,} primers" in said
    assert here("primer", *files, "-k", K, "-q") == (0, bed[False], b"")


USAGE = {
    "k = 0": ("TARGET", "TARGET", "-k", "0"),
    "no k": ("TARGET", "TARGET"),
    "one file": ("TARGET", "-k", "3"),
    "standard input twice": ("-", "-", "-k", "3"),
    "one place for both": ("TARGET", "TARGET", "-k", "3", "--regions", "-"),
    "one file for both": ("TARGET", "TARGET", "-k", "3", "-o", "x.bed", "--regions", "x.bed"),
    "gc in percent": ("TARGET", "TARGET", "-k", "3", "--gc", "40", "60"),
    "one limit": ("TARGET", "TARGET", "-k", "3", "--tm", "40", "-q"),
    "strand of the target": ("TARGET", "TARGET", "-k", "3", "--strand", "+"),
    "strand of the background": ("TARGET", "TARGET", "-k", "3", "--background-strand", "-"),
    "max length of 0": ("TARGET", "TARGET", "-k", "3", "--max-length", "0"),
}


@pytest.mark.parametrize("name", USAGE)
def test_usage(files, name):
    words = [str(files[0]) if word == "TARGET" else word for word in USAGE[name]]
    misused(here("primer", *words), "Usage: kmatch primer")


@pytest.mark.parametrize("words", [("--help",), ("t.fa",), ("-", "-", "-k", "2")])
def test_help_and_usage_errors_wait_for_nothing(words):
    status, modules = loaded("from kmatch.cli.main import run; run(sys.argv[1:])", "primer", *words)
    assert status == 0 and modules & HEAVY == set()


def test_the_command_is_listed():
    assert "  primer " in here("--help").out.decode()
    assert {"primer", "Primers"} <= set(kmatch.__all__)


def test_interrupted(tmp_path):
    for name, length in (("t.fa", 20_000), ("b.fa", 5_000_000)):
        (tmp_path / name).write_bytes(fasta([("r", random_letters(length, length))], 10_000))
    search = ("primer", tmp_path / "t.fa", tmp_path / "b.fa", "-k", 90, "-o", tmp_path / "p.bed")
    command = [*KMATCH, *map(str, search), "-v", "--device", "cpu"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as running:
        assert running.stderr.readline().startswith(b"kmatch: device")
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(3)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=20)
    assert (running.returncode, said) == (130, b"kmatch: error: interrupted\n")
    assert sorted(os.listdir(tmp_path)) == ["b.fa", "t.fa"]
