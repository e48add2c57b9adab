"""What is said: safe to print, of bearable length, and about what has failed."""

import gzip
import io
import os
import subprocess
import sys

import pytest
from support.commands import KMATCH, failed, fasta, here, process, random_letters, shell

from kmatch.cli.messages import MESSAGE, WORD, one_line, shorten
from kmatch.results.output import open_output

EVIL = "p\x1b]0;owned\x07"
SEARCH = ("-p", "ACGTTGC", "-p", "TTGACCA", "-k", 2)


@pytest.fixture
def genome(tmp_path):
    path = tmp_path / "genome.fa"
    path.write_bytes(fasta([("chr1", random_letters(20_000))]))
    return path


@pytest.mark.parametrize(
    "text, line",
    [
        ("plain: ACGT, 20 °C, ℓ ≥ K, ü and 日本", "plain: ACGT, 20 °C, ℓ ≥ K, ü and 日本"),
        ("two\n lines\tand a tab", "two lines and a tab"),
        (EVIL, r"p\x1b]0;owned\x07"),
        ("\x9b2J\x7f", r"\x9b2J\x7f"),
        ("a\u202eb\u200bc", r"a\u202eb\u200bc"),
        ("a\udcffb", r"a\udcffb"),
        ("x" * WORD, "x" * WORD),
    ],
)
def test_one_line(text, line):
    assert one_line(text) == line


def test_what_is_too_long_loses_its_middle():
    assert shorten("abcdefghijklmnop", 9) == "abcd … op"
    line = one_line(f"pattern '{'a' * 500_000}{'b' * 500_000}' is empty; do this")
    assert line.startswith("pattern 'aaaa") and line.endswith("bbbb' is empty; do this")
    assert len(line) < WORD + 40
    assert len(one_line("word " * 10_000)) == MESSAGE
    assert len(one_line("\x1b" * 10_000)) <= MESSAGE


def printable(result):
    said = result.err.decode()
    assert said.endswith("\n") and said.replace("\n", "").isprintable()
    assert len(said) < 1_500
    return said


PATTERNS = {
    "a letter": f"{EVIL}\tACGXT\n",
    "the letter": "ok\tAC\x1bT\n",
    "a sequence": f"{EVIL}\n",
    "a long name": f"{'n' * 1_000_000}\tACGXT\n",
    "a long sequence": f"{'ACGX' * 250_000}\n",
}


@pytest.mark.parametrize("kind", PATTERNS)
def test_names_of_patterns(tmp_path, genome, kind):
    (tmp_path / "patterns.txt").write_text(PATTERNS[kind])
    result = here("hamming", genome, tmp_path / "patterns.txt", "-k", 1)
    assert result.status == 1 and "kmatch: error: " in printable(result)


def test_names_in_warnings_and_details(tmp_path, genome):
    for name in (EVIL, "n" * 1_000_000):
        (tmp_path / "patterns.txt").write_text(f"{name}\tACGTTGC\n{name}\tTTGACCA\n")
        result = here("hamming", genome, tmp_path / "patterns.txt", "-k", 1, "-v")
        assert result.status == 0 and "kmatch: warning: " in printable(result)
    result = here("pack", genome, "-o", tmp_path / EVIL, "-v")
    assert result.status == 0 and r"p\x1b]0;owned\x07" in printable(result)


def test_names_of_files_and_records(tmp_path):
    for name, data in ((EVIL, b""), (f"{EVIL}2", b">\x1b[2J\nAC\0GT\n"), (f"{EVIL}3", b"x")):
        (tmp_path / name).write_bytes(data)
        result = here("hamming", tmp_path / name, *SEARCH)
        assert result.status == 1 and r"p\x1b]0;owned\x07" in printable(result)
    assert here("hamming", tmp_path / EVIL / "x", *SEARCH).status == 1
    assert "kmatch: error: " in printable(here("hamming", "x" * 1_000_000, *SEARCH))


def test_names_of_commands_and_options():
    for words in (
        (EVIL,),
        ("hamming", f"--{EVIL}"),
        ("hamming", "g", "-k", EVIL),
        ("x" * 100_000,),
    ):
        result = here(*words)
        assert result.status == 2 and "Error: " in printable(result)


needs_full = pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="there is no /dev/full here"
)
CLOSED, FULL = "2>&-", pytest.param("2>/dev/full", marks=needs_full)
LOSSES = (CLOSED, FULL)
FILE = ("-o", "hits.bed")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(  # every two of the settings together
    "option, output, buffered", [("-v", (), ""), ("-q", FILE, ""), ("-v", FILE, "1")]
)
def test_standard_error_never_costs_hits(tmp_path, genome, loss, option, output, buffered):
    twice = ("hamming", genome, *SEARCH, "-p", "TTGACCA")
    expected = here(*twice).out
    environment = os.environ | {"PYTHONUNBUFFERED": buffered}
    result = shell(f'"$@" {loss}', *twice, option, *output, cwd=tmp_path, env=environment)
    assert result.status == 0
    found = (tmp_path / "hits.bed").read_bytes() if output else result.out
    assert found == expected and expected


@pytest.mark.parametrize("loss", LOSSES)
def test_the_status_is_right_without_standard_error(tmp_path, genome, loss):
    script = f'"$@" {loss}'
    assert shell(script, "hamming", tmp_path / "missing.fa", *SEARCH).status == 1
    assert shell(script, "hamming", genome, "-p", "ACGT").status == 2
    assert shell(script, "hammer") == (2, b"", b"")


def test_a_file_does_not_become_standard_error():
    code = """
import sys
from kmatch.cli.main import standard_streams
with standard_streams(), open(sys.executable) as file:
    print(file.fileno())
"""
    command = ["bash", "-c", '"$@" 2>&-', "bash", sys.executable, "-c", code]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=60)
    assert int(done.stdout) > 2


MACHINE = {
    "full": OSError(28, "No space left on device"),
    "thread": RuntimeError("can't start new thread"),
    "library": ImportError("no libthing.so"),
}


@pytest.mark.parametrize("output", [(), ("-o", "hits.bed"), ("-o", "hits.bed.gz")])
@pytest.mark.parametrize("kind", MACHINE)
@pytest.mark.parametrize(
    "place",
    [
        "kmatch.search.hamming.begin_search",
        "kmatch.results.tables.hits.bed_lines",
    ],
)
def test_the_machine_is_not_an_input_or_output(tmp_path, genome, monkeypatch, place, kind, output):
    def fail(*_):
        raise MACHINE[kind]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(place, fail)
    result = here("hamming", genome, *SEARCH, *output)
    failed(result, "the machine: ", str(MACHINE[kind]).rpartition("] ")[2])
    assert "genome" not in result.err.decode() and "output" not in result.err.decode()
    assert os.listdir(tmp_path) == ["genome.fa"]
    with pytest.raises(type(MACHINE[kind])):
        here("hamming", genome, *SEARCH, *output, "--debug")


def test_a_defect_is_called_one(genome, monkeypatch):
    monkeypatch.setattr("kmatch.search.hamming.begin_search", None)
    failed(here("hamming", genome, *SEARCH), "a defect of kmatch: TypeError", "--debug")


def test_what_numba_cannot_do(genome):
    def search(layer, *words):
        environment = os.environ | {"NUMBA_THREADING_LAYER": layer}
        return process("hamming", genome, *SEARCH, *words, "--device", "cpu", env=environment)

    assert search("nonsense").status == 0  # the engine has threads of its own
    published = ("--algorithm", "pmasm")
    failed(search("nonsense", *published), "the machine", "nonsense")
    tbb = search("tbb", *published)  # which may be installed
    assert tbb.status == 0 or failed(tbb, "the machine", "TBB") is None


def test_a_library_that_cannot_be_loaded(genome):
    code = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "llvmlite.binding":
            raise OSError("libllvmlite.so: failed to map segment")
sys.meta_path.insert(0, Finder())
from kmatch.cli.main import main
main(sys.argv[1:])
"""
    command = [sys.executable, "-c", code, *KMATCH[3:], "hamming", genome, *map(str, SEARCH)]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode == 1 and done.stdout == b""
    said = "kmatch: error: the machine: libllvmlite.so: failed to map segment; --debug shows where"
    assert done.stderr.decode() == said + "\n"


@needs_full
@pytest.mark.parametrize("k", [0, 5])
def test_of_two_full_outputs_the_right_one_is_reported(tmp_path, genome, monkeypatch, k):
    def search(output, summary):
        panel = ("multi", genome, *SEARCH[:-2], "-k", k)
        return here(*panel, "-o", output, "--summary", summary)

    monkeypatch.chdir(tmp_path)
    failed(search("/dev/full", "sums.tsv"), "/dev/full: cannot be written")
    failed(search("hits.bed", "/dev/full"), "/dev/full: cannot be written")
    failed(search("hits.bed", "none/sums.tsv"), "none/sums.tsv", "make the folder none")
    assert os.listdir(tmp_path) == ["genome.fa"]


def test_an_unbuffered_stream_is_written_whole(monkeypatch):
    class Stingy(io.RawIOBase):
        data = b""

        def writable(self):
            return True

        def write(self, data):
            self.data += bytes(data[:7])
            return min(len(data), 7)

    stream = Stingy()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(stream, write_through=True))
    with open_output() as handle:
        handle.write(b"0123456789" * 10)
    assert stream.data == b"0123456789" * 10 and not stream.closed


def test_garbage_behind_a_gzip_member(tmp_path):
    (tmp_path / "genome.fa.gz").write_bytes(gzip.compress(b">r\nACGT\n") + b"garbage" * 9)
    failed(here("hamming", tmp_path / "genome.fa.gz", *SEARCH), "genome.fa.gz", "not gzip")
