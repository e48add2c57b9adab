"""What a screen shows, as a terminal draws it, in 80 and 200 columns, with and without colour."""

import sys

import pytest
from support.commands import fasta, here, random_letters
from support.package_copy import copy_package
from support.terminals import Terminal, shown

SIZES = pytest.mark.parametrize("columns", [80, 200])
PLAIN = {"NO_COLOR": "1"}
FOLDER = "a folder with a long name/" * 4
NAME = f"genome_{'of_somebody_' * 4}grch38.fa"
TEXT = "GGTACGTTGCAGGTTTTTTCCTGCAATGG"
SEARCH = ("-p", "ACGTACGT", "-k", 0)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / NAME).write_bytes(fasta([("chr1", random_letters(300_000))]))
    (tmp_path / "g.fa").write_bytes(fasta([("one", TEXT)]))
    return tmp_path


def bars(terminal):
    """The lines of the screens that show progress."""
    return [line for frame in terminal.frames for line in frame if "0:00:0" in line]


@pytest.mark.parametrize("columns, colours", [(80, {}), (200, PLAIN)])
def test_progress_and_summary(folder, columns, colours):
    path = f"{FOLDER}{NAME}"
    rows = here("hamming", path, *SEARCH).out.decode().expandtabs().splitlines()
    terminal = shown("hamming", path, *SEARCH, columns=columns, cwd=folder, **colours)
    drawn = bars(terminal)
    assert drawn and all("bytes" in bar or "kB" in bar for bar in drawn)
    for bar in drawn:  # whole, in a line, and by the file's own name
        assert bar.startswith("genome_of_") and "grch38.fa " in bar and " a folder" not in bar
        assert "━" in bar and len(bar) <= columns
    assert rows and terminal.text.splitlines()[: len(rows)] == rows
    (last,) = terminal.text.splitlines()[len(rows) :]
    assert last.startswith(f"kmatch: {len(rows)} hits of 1 pattern; 1 record, 300,000 bp in ")
    assert last.endswith(" s on cpu") and len(last) <= 80 and "━" not in terminal.text
    assert (b"\x1b[3" in terminal.seen) != bool(colours)


FOUND = "1,234,567,890 hits of 100,000 of 100,000 patterns"
SUMMARY = f"""
from types import SimpleNamespace

from kmatch.cli.messages import Conclusion
from kmatch.cli.messages import Messages

conclusion = Conclusion(Messages())
device = "cuda:0,1, 2 NVIDIA H200, and 16 CPU threads (all GPUs)"
conclusion.hear(SimpleNamespace(description=device, expected=None))
conclusion.say("{FOUND}", 194_000, 3_099_750_718, "1,200 genomes, ")
"""


def test_progress_in_a_narrow_terminal(folder):
    for bar in bars(shown("hamming", f"{FOLDER}{NAME}", *SEARCH, columns=40, cwd=folder)):
        assert bar.startswith("geno … ") and len(bar) <= 40


def test_progress_of_standard_output_elsewhere(folder):
    terminal = shown("hamming", "g.fa", *SEARCH, "-o", "hits.bed", cwd=folder)
    assert bars(terminal) and terminal.text.startswith("kmatch: 0 hits of 1 pattern; 1 ")


@SIZES
def test_a_long_summary_is_in_lines_of_its_own(folder, columns):
    with Terminal([sys.executable, "-c", SUMMARY], columns, cwd=folder) as terminal:
        assert terminal.end() == 0
    between = "\nkmatch: " if columns == 80 else "; "
    searched = "1,200 genomes, 194,000 records, 3,099,750,718 bp"
    assert terminal.text.startswith(f"kmatch: {FOUND}{between}{searched} in 0.")
    assert terminal.text.endswith(" s on cuda:0,1")


def test_the_summary_of_products_and_primers(folder):
    pairs = ("-p", "GGTACGTT", "CCATTGCA", "--product", "8-29", "-k", 0, "-o", "products.bed")
    last = shown("pcr", "g.fa", *pairs, cwd=folder).text.splitlines()[-1]
    assert last.startswith("kmatch: 1 product of 1 pair; 1 record, 29 bp in ")
    (folder / "target.fa").write_bytes(fasta([("one", "ACGTTT"), ("two", "G")]))
    words = ("target.fa", "g.fa", "-k", 7, "-o", "primers.bed")
    last = shown("primer", *words, cwd=folder).text.splitlines()[-1]
    assert last.startswith("kmatch: 0 primers; 2 records, 7 bp in ")


@pytest.mark.parametrize("columns, colours", [(80, PLAIN), (200, {})])
def test_view(folder, columns, colours):
    search = ("edit", "g.fa", "-p", "ACTTGCAGR", "-k", 1, "--format", "view", "-q")
    terminal = shown(*search, columns=columns, cwd=folder, **colours)
    assert terminal.text.split("\n") == here(*search).out.decode().rstrip("\n").split("\n")
    assert terminal.colours() == (set() if colours else {("red", True)})


@SIZES
def test_view_of_long_patterns(folder, columns):
    letters = random_letters(300_000)[1_000:1_400]
    search = ("edit", f"{FOLDER}{NAME}", "-p", letters, "-k", 2, "--format", "view", "-q")
    lines = shown(*search, columns=columns, cwd=folder).text.split("\n")
    assert max(map(len, lines[1:])) == columns
    text = "".join(line[8:].strip() for line in lines if line.startswith("text "))
    assert letters in text and text.strip("acgt") == letters


FIRST = """
from kmatch.cli.messages import Messages

messages = Messages()
with messages.announcing_compiling(), messages.progress("a/genome.fa") as advance:
    from kmatch.engine.tiny import work

    advance(30, 100)
    assert work(10) == 21
    advance(100, 100)
    messages.make_way()
    print("chr1\\t0\\t10")
messages.conclude("1 hit")
"""
AHEAD = """
from kmatch.cli.messages import Messages

messages = Messages()
with messages.compiling_progress() as advance:
    for done in range(3):
        advance(10 * done, done, 3)
print("done")
"""


def python(script, columns, site):
    """The Terminal in which a script has run beside a kmatch whose kernels are not compiled."""
    cache = {"NUMBA_CACHE_DIR": str(site / "cache"), "PYTHONPATH": str(site)}
    with Terminal([sys.executable, "-c", script], columns, cwd=site, **cache) as terminal:
        assert terminal.end() == 0, terminal.text
    return terminal


def test_compiling_is_announced_once(tmp_path):
    copy_package(tmp_path)
    notice = "kmatch: compiling kernels, once a machine; this takes up to half a minute"
    for first in (True, False):
        terminal = python(FIRST, 80 if first else 200, tmp_path)
        lines = ["chr1    0       10", "kmatch: 1 hit"]
        assert terminal.text.split("\n") == ([notice, *lines] if first else lines)
        drawn = bars(terminal)
        assert drawn and all(bar.startswith("genome.fa ━") for bar in drawn)


def test_progress_of_compiling_ahead(tmp_path):
    copy_package(tmp_path)
    terminal = python(AHEAD, 80, tmp_path)
    assert terminal.text == "done"
    drawn = bars(terminal)
    assert drawn and all(bar.startswith("compiling: ") and len(bar) <= 80 for bar in drawn)
