"""What is said: safe to print, of bearable length, and about what has failed."""

import io
import os
import subprocess
import sys

import pytest
from support.commands import failed, fasta, here, random_letters, shell

from kmatch.cli.messages import MESSAGE, WORD, one_line, shorten
from kmatch.results.output import open_output

EVIL = "p\x1b]0;owned\x07"
LONG = "n" * 1_000_000
SEARCH = ("-p", "ACGTTGC", "-p", "TTGACCA", "-k", 2)


@pytest.fixture
def genome(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "genome.fa").write_bytes(fasta([("chr1", random_letters(20_000))]))
    return "genome.fa"


def test_one_line():
    for text, line in {
        "plain: ACGT, 20 °C, ℓ ≥ K, ü and 日本": "plain: ACGT, 20 °C, ℓ ≥ K, ü and 日本",
        "two\n lines\tand a tab": "two lines and a tab",
        EVIL: r"p\x1b]0;owned\x07",
        "\x9b2J\x7f": r"\x9b2J\x7f",
        "a\u202eb\u200bc": r"a\u202eb\u200bc",
        "a\udcffb": r"a\udcffb",
        "x" * WORD: "x" * WORD,
    }.items():
        assert one_line(text) == line
    assert shorten("abcdefghijklmnop", 9) == "abcd … op"
    line = one_line(f"pattern '{'a' * 500_000}{'b' * 500_000}' is empty; do this")
    assert line.startswith("pattern 'aaaa") and line.endswith("bbbb' is empty; do this")
    assert len(line) < WORD + 40
    assert len(one_line("word " * 10_000)) == MESSAGE >= len(one_line("\x1b" * 10_000))


def printable(result, status):
    said = result.err.decode()
    assert result.status == status and said.endswith("\n") and len(said) < 1_500
    assert said.replace("\n", "").isprintable()
    return said


def test_names_are_safe_to_print(tmp_path, genome):
    panel = tmp_path / "patterns.txt"
    for text in (f"{EVIL}\tACGXT", "ok\tAC\x1bT", EVIL, f"{LONG}\tACGXT", "ACGX" * 250_000):
        panel.write_text(f"{text}\n")
        assert "kmatch: error: " in printable(here("hamming", genome, panel, "-k", 1), 1)
    for name in (EVIL, LONG):
        panel.write_text(f"{name}\tACGTTGC\n{name}\tTTGACCA\n")
        assert "warning: " in printable(here("hamming", genome, panel, "-k", 1, "-v"), 0)
    shown = r"p\x1b]0;owned\x07"
    assert shown in printable(here("pack", genome, "-o", EVIL, "-v"), 0)
    for number, data in enumerate((b"", b">\x1b[2J\nAC\0GT\n", b"x")):
        (tmp_path / f"{EVIL}{number}").write_bytes(data)
        assert shown in printable(here("hamming", f"{EVIL}{number}", *SEARCH), 1)
    assert "kmatch: error: " in printable(here("hamming", f"{LONG}.fa", *SEARCH), 1)
    for words in ((EVIL,), ("hamming", f"--{EVIL}"), ("hamming", "g", "-k", EVIL), (LONG,)):
        assert "Error: " in printable(here(*words), 2)


needs_full = pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="there is no /dev/full here"
)
LOSSES = ("2>&-", pytest.param("2>/dev/full", marks=needs_full))


@pytest.mark.parametrize("loss", LOSSES)
def test_standard_error_never_costs_hits_or_the_status(tmp_path, genome, loss):
    twice, script = ("hamming", genome, *SEARCH, "-p", "TTGACCA"), f'"$@" {loss}'
    expected = here(*twice).out
    for buffered, output in (("", ()), ("1", ("-o", "hits.bed"))):
        environment = os.environ | {"PYTHONUNBUFFERED": buffered}
        result = shell(script, *twice, "-v", *output, env=environment)
        found = (tmp_path / "hits.bed").read_bytes() if output else result.out
        assert result.status == 0 and found == expected and expected
    assert shell(script, "hamming", "missing.fa", *SEARCH).status == 1
    assert shell(script, "hammer") == (2, b"", b"")


def test_a_file_does_not_become_standard_error():
    code = """
import sys
from kmatch.cli.main import forgive_standard_error
forgive_standard_error()
with open(sys.executable) as file:
    print(file.fileno())
"""
    command = ["bash", "-c", '"$@" 2>&-', "bash", sys.executable, "-c", code]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=60)
    assert int(done.stdout) > 2


@pytest.mark.parametrize("output", [(), ("-o", "hits.bed"), ("-o", "hits.bed.gz")])
@pytest.mark.parametrize(
    "place", ["kmatch.search.windows.choose_algorithm", "kmatch.results.lines.fill_lines"]
)
def test_the_machine_is_not_an_input_or_output(tmp_path, genome, monkeypatch, place, output):
    for error, words in {
        OSError(28, "No space left on device"): "No space left on device",
        RuntimeError("can't start new thread"): "can't start new thread",
        ImportError("no libthing.so"): "no libthing.so",
    }.items():

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr(place, fail)
        result = here("hamming", genome, *SEARCH, *output)
        failed(result, f"error: the machine: {words}; --debug shows where\n")
        assert os.listdir(tmp_path) == ["genome.fa"]
        with pytest.raises(type(error)):
            here("hamming", genome, *SEARCH, *output, "--debug")
    monkeypatch.setattr(place, None)
    failed(here("hamming", genome, *SEARCH, *output), "a defect of kmatch: TypeError", "--debug")


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
