"""What a terminal shows, as it draws it: progress, the last line, hits for eyes, completion."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios

import pyte
import pytest
from support.commands import KMATCH, fasta, here, random_letters
from support.package_copy import copy_package

SIZES = pytest.mark.parametrize("columns", [20, 80, 200])
PLAIN = {"NO_COLOR": "1"}
PATH = f"{'a folder with a long name/' * 4}genome_{'of_somebody_' * 4}grch38.fa"
SEARCH = ("-p", "ACGTACGT", "-k", 0)


PATIENCE = 60  # seconds


class Terminal:
    """A command that has run in a pseudo-terminal, all its streams being there.

    status: how it ended; seen: the bytes; lines: what is above the screen and on it, without blanks
    at their ends; frames: the screens, one whenever the cursor was about to leave what it had
    drawn, each a list of lines.
    """

    def __init__(self, command, columns=80, cwd=None, **environment):
        self.screen = screen = pyte.HistoryScreen(columns, 24, history=10_000)
        stream, self.frames = pyte.ByteStream(screen), []
        left = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")
        kept = {name: value for name, value in os.environ.items() if name not in left}
        kept |= {"TERM": "xterm-256color"} | environment
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        command = list(map(str, command))
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        with subprocess.Popen(command, cwd=cwd, env=kept, **streams) as running:
            os.close(theirs)
            self.seen = b"".join(read(ours))
            os.close(ours)
            self.status = running.wait(PATIENCE)
        # A line is erased to be drawn anew: before that a frame is whole.
        for part in self.seen.replace(b"\r\x1b[2K", b"\0\r\x1b[2K").split(b"\0"):
            stream.feed(part)
            self.frames.append([line.rstrip() for line in screen.display])
        above = ["".join(line[i].data for i in range(columns)) for line in screen.history.top]
        self.lines = [line.rstrip() for line in (*above, *screen.display)]
        self.text = "\n".join(self.lines).rstrip("\n")

    def colours(self):
        """The colours and weights of letters on the screen."""
        cells = (cell for row in self.screen.buffer.values() for cell in row.values())
        return {(cell.fg, cell.bold) for cell in cells} - {("default", False)}


def read(terminal):
    """Yield what comes until the other end is closed."""
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            yield os.read(terminal, 1 << 16)
        except OSError:
            return


def shown(*words, status=0, **how):
    """The Terminal in which `kmatch WORDS` has run to its end."""
    terminal = Terminal([*KMATCH, *words], **how)
    assert terminal.status == status, terminal.text
    return terminal


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / PATH).parent.mkdir(parents=True)
    (tmp_path / PATH).write_bytes(fasta([("chr1", random_letters(300_000))]))
    (tmp_path / "g.fa").write_bytes(fasta([("one", "GGTACGTTGCAGGTTTTTTCCTGCAATGG")]))
    return tmp_path


def bars(terminal):
    """The lines of the screens that show progress."""
    return [line for frame in terminal.frames for line in frame if "0:00:0" in line]


@pytest.mark.parametrize("columns, colours", [(40, {}), (80, {}), (200, PLAIN)])
def test_progress_and_summary(folder, columns, colours):
    rows = here("hamming", PATH, *SEARCH).out.decode().expandtabs().splitlines()
    terminal = shown("hamming", PATH, *SEARCH, columns=columns, cwd=folder, **colours)
    drawn = bars(terminal)
    assert drawn and max(map(len, drawn)) <= columns
    for bar in drawn:  # whole, in a line, and by the file's own name
        assert bar.startswith("geno … " if columns == 40 else "genome_of_")
        assert columns == 40 or ("grch38.fa " in bar and "━" in bar)
    seen = terminal.seen.decode()
    assert seen.rindex("0:00:0") < seen.index("chr1\t")  # the bar is gone before the first row
    if columns > 40:
        assert rows and terminal.text.splitlines()[: len(rows)] == rows
        (last,) = terminal.text.splitlines()[len(rows) :]
        assert last.startswith(f"kmatch: {len(rows)} hits of 1 pattern; 1 record, 300,000 bp in ")
        assert last.endswith(" s on cpu") and len(last) <= 80 and "━" not in terminal.text
    assert (b"\x1b[3" in terminal.seen) != bool(colours)


FOUND = ("g.fa", "-p", "ACGTTGCA")
TABLES = {
    "multi": (*FOUND, "-k", 0),
    "edit": (*FOUND, "-k", 0),
    "best": FOUND,
    "pcr": ("g.fa", "-p", "GGTACGTT", "CCATTGCA", "--product", "8-29", "-k", 0),
    "primer": ("g.fa", "other.fa", "-k", 3),
    "guides": ("g.fa", "g.fa", "--length", 8, "-k", 0),
    "assay": ("pairs.tsv", "g.fa", "-k", 0),
    "filter": (*FOUND, "-k", 0),
    "demux": ("g.fa", "pairs.fa", "-k", 0),
}


@pytest.mark.parametrize("command", TABLES)
def test_the_bar_is_gone_before_the_first_row(folder, command):
    """Also before a header, and with the time to go in it."""
    (folder / "other.fa").write_bytes(fasta([("other", "TTTT")]))
    (folder / "pairs.tsv").write_text("a\tGGTACGTT\tCCATTGCA\n")
    (folder / "pairs.fa").write_text(">a\nGGTACGTT\n")
    terminal = shown(command, *TABLES[command], cwd=folder, columns=200)
    whole = here(command, *TABLES[command])
    assert len(whole.out.splitlines()) >= 1
    drawn = bars(terminal)
    assert drawn and all(re.search(r" (-:--|0:00):\S\S$", bar) for bar in drawn)
    lines = [line.expandtabs().rstrip() for line in whole.out.decode().splitlines()]
    assert terminal.lines[: len(lines)] == lines


def test_output_elsewhere(folder):
    (folder / "three.fa").write_bytes(fasta([("a", random_letters(70_000)), ("b", ""), ("c", "A")]))
    words = ("hamming", "three.fa", "-p", "CCAAACG", "-p", "ACGTNNGR", "-p", "A" * 40, "-k", 0)
    terminal = shown(*words, "-o", "hits.bed", cwd=folder)
    hits = len((folder / "hits.bed").read_text().splitlines())
    assert bars(terminal)
    summary = f"kmatch: {hits:,} hits of 2 of 3 patterns; 3 records, 70,001 bp in "
    assert terminal.text.splitlines()[-1].startswith(summary)
    assert shown(*words, "-q", "-o", "hits.bed", cwd=folder).text == ""


def test_the_summary_of_products_and_primers(folder):
    pairs = ("-p", "GGTACGTT", "CCATTGCA", "--product", "8-29", "-k", 0, "-o", "products.bed")
    last = shown("pcr", "g.fa", *pairs, cwd=folder).text.splitlines()[-1]
    assert last.startswith("kmatch: 1 product of 1 pair; 1 record, 29 bp in ")
    (folder / "target.fa").write_bytes(fasta([("one", "ACGTTT"), ("two", "G")]))
    words = ("target.fa", "g.fa", "-k", 7, "-o", "primers.bed")
    last = shown("primer", *words, cwd=folder).text.splitlines()[-1]
    assert last.startswith("kmatch: 0 primers; 2 records, 7 bp in ")


@pytest.mark.parametrize("environment", [{}, PLAIN, {"TERM": "dumb"}])
def test_view(folder, environment):
    search = ("edit", "g.fa", "-p", "ACTTGCAGR", "-k", 1, "--format", "view", "-q")
    terminal = shown(*search, cwd=folder, **environment)
    assert terminal.text.split("\n") == here(*search).out.decode().rstrip("\n").split("\n")
    assert terminal.colours() == (set() if environment else {("red", True)})
    coloured = re.findall(b"\x1b\\[1;31m(.)\x1b\\[0m", terminal.seen)
    assert coloured == ([] if environment else [b"-", b"G", b"C", b"-"])


@SIZES
def test_view_of_long_patterns(folder, columns):
    letters = random_letters(300_000)[1_000:1_400]
    search = ("edit", PATH, "-p", letters, "-k", 2, "--format", "view", "-q")
    lines = shown(*search, columns=columns, cwd=folder).text.split("\n")
    assert max(map(len, lines[1:])) == columns
    text = "".join(line[8:].strip() for line in lines if line.startswith("text "))
    assert letters in text and text.strip("acgt") == letters


FIRST = """
from kmatch.cli.messages import Messages

messages = Messages()
with messages.announcing_compiling(), messages.progress("a/genome.fa") as advance:
    from kmatch.jit.entries import Entry

    advance(30, 100)
    assert Entry("kmatch.engine.tiny", "work")(10) == 21
    advance(100, 100)
    messages.make_way()
    print("chr1\\t0\\t10")
with messages.progress("compiling kernels", in_tasks=True) as advance:
    for done in range(3):
        advance(done, 3)
messages.conclude("1 hit")
"""


def test_compiling_is_announced_once(tmp_path):
    """Beside a kmatch whose kernels are not compiled."""
    copy_package(tmp_path)
    notice = ["kmatch: compiling kernels, once a machine; this takes up to a minute"]
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    for columns, said in ((80, notice), (200, [])):
        terminal = Terminal([sys.executable, "-c", FIRST], columns, cwd=tmp_path, **cache)
        assert terminal.status == 0, terminal.text
        assert terminal.text.split("\n") == [*said, "chr1    0       10", "kmatch: 1 hit"]
        begins = {bar.split()[0] for bar in bars(terminal)}
        assert begins == {"genome.fa", "compiling"}


# What is typed, and what it may be completed to.
TYPED = {
    "hamm": "hamming",
    "edit --max-mis": "--max-mismatches",
    "edit --report lo": "loci",
    "hamming --algorithm opt": "opt-block-thread",
    "hamming --device cp": "cpu",
    "hamming --format ": "bed tsv csv sam gff3 view",
    "completion fi": "fish",
}
FILES = ("hamming hum", "hamming human.fa gui", "edit --regions ex")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes(shell, monkeypatch):
    assert f"_KMATCH_COMPLETE={shell}_complete" in here("completion", shell).out.decode()
    monkeypatch.setenv("_KMATCH_COMPLETE", f"{shell}_complete")
    for typed in (*TYPED, *FILES):
        words = ["kmatch", *typed.split(" ")]
        monkeypatch.setenv("COMP_WORDS", " ".join(words))
        monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words) - 1))
        found = re.split("[,\n\t]", here().out.decode())
        if typed in FILES:  # the shell lists them
            assert "file" in found
        else:
            assert set(TYPED[typed].split()) <= set(found)
