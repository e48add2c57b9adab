"""What a terminal shows, as it draws it: progress, the last line, hits for eyes, completion."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import contextmanager

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
    """A command in a pseudo-terminal, all its streams being there.

    seen: the bytes so far; frames: the screens so far, one whenever the cursor was about to leave
    what it had drawn, each a tuple of lines.
    """

    def __init__(self, command, columns, rows=24, cwd=None, **environment):
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000)
        self._stream = pyte.ByteStream(self.screen)
        self.seen, self.frames = b"", []
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        left = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")
        kept = {name: value for name, value in os.environ.items() if name not in left}
        self._running = subprocess.Popen(
            list(map(str, command)),
            cwd=cwd,
            env=kept | {"TERM": "xterm-256color"} | environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._running.poll() is None:
            os.killpg(self._running.pid, signal.SIGKILL)
        self._running.wait()
        os.close(self._ours)

    @property
    def lines(self):
        """The lines above the screen and on it, without blanks at their ends."""
        above = ["".join(line[i].data for i in range(self.screen.columns)) for line in self._above]
        return [line.rstrip() for line in (*above, *self.screen.display)]

    @property
    def text(self):
        return "\n".join(self.lines).rstrip("\n")

    @property
    def _above(self):
        return self.screen.history.top

    def colours(self):
        """The colours and weights of letters on the screen."""
        cells = (cell for row in self.screen.buffer.values() for cell in row.values())
        return {(cell.fg, cell.bold) for cell in cells} - {("default", False)}

    def type(self, text):
        os.write(self._ours, text.encode())

    def read(self, seconds=0.1):
        """Take what is written within some seconds; whether the command is still there."""
        if not select.select([self._ours], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._ours, 1 << 16)
        except OSError:  # the other end is closed
            return False
        self.seen += data
        # A line is erased to be drawn anew: before that a frame is whole.
        for part in data.replace(b"\r\x1b[2K", b"\0\r\x1b[2K").split(b"\0"):
            self._stream.feed(part)
            frame = tuple(line.rstrip() for line in self.screen.display)
            if not self.frames or self.frames[-1] != frame:
                self.frames.append(frame)
        return bool(data)

    def wait_for(self, text, gone=False):
        """Read until the screen shows a text, or, where it is to be gone, no longer does."""
        deadline = time.monotonic() + PATIENCE
        while (text in self.text) == gone:
            there = self.read()
            assert time.monotonic() < deadline and there, f"{text!r}, {gone=}, in:\n{self.text}"

    def end(self):
        """Read to the command's end; returns its status."""
        deadline = time.monotonic() + PATIENCE
        while self.read():
            assert time.monotonic() < deadline, self.text
        return self._running.wait(PATIENCE)


def shown(*words, columns=80, cwd=None, status=0, **environment):
    """The Terminal in which `kmatch WORDS` has run to its end."""
    with Terminal([*KMATCH, *words], columns, cwd=cwd, **environment) as terminal:
        assert terminal.end() == status, terminal.text
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
    from kmatch.jit import entry

    advance(30, 100)
    assert entry("kmatch.engine.tiny", "work")(10) == 21
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
        with Terminal([sys.executable, "-c", FIRST], columns, cwd=tmp_path, **cache) as terminal:
            assert terminal.end() == 0, terminal.text
        assert terminal.text.split("\n") == [*said, "chr1    0       10", "kmatch: 1 hit"]
        begins = {bar.split()[0] for bar in bars(terminal)}
        assert begins == {"genome.fa", "compiling"}


SHELLS = {
    "bash": (
        ("--norc", "--noprofile", "-i"),
        'PS1="> "; eval "$(kmatch completion bash)"',
    ),
    "zsh": (
        ("--no-rcs", "-i"),
        'PS1="> "; autoload -U compinit; compinit -u; eval "$(kmatch completion zsh)"',
    ),
    "fish": (
        ("--no-config", "--private", "-i"),
        'function fish_prompt; echo "> "; end; kmatch completion fish | source',
    ),
}
# What is typed before the tabulator, and what the line is then.
TYPED = {
    "kmatch hamm": "kmatch hamming ",
    "kmatch edit --max-mis": "kmatch edit --max-mismatches ",
    "kmatch edit --report lo": "kmatch edit --report loci ",
    "kmatch hamming --algorithm opt": "kmatch hamming --algorithm opt-block-thread ",
    "kmatch hamming --device cp": "kmatch hamming --device cpu ",
    "kmatch hamming hum": "kmatch hamming human.fa ",
    "kmatch hamming human.fa gui": "kmatch hamming human.fa guides.txt ",
    "kmatch edit --regions ex": "kmatch edit --regions exons.bed ",
    "kmatch completion fi": "kmatch completion fish ",
}


@contextmanager
def ready(shell, folder):
    """Give the Terminal of a shell that has been told how to complete, in a folder with files."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    (folder / "bin").mkdir()
    (folder / "bin" / "kmatch").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kmatch "$@"\n')
    (folder / "bin" / "kmatch").chmod(0o755)
    (folder / "data").mkdir()
    for name in ("human.fa", "guides.txt", "exons.bed"):
        (folder / "data" / name).write_text("")
    environment = {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "share"),
        "TERM": "xterm",
    }
    options, prepare = SHELLS[shell]
    command = [shutil.which(shell), *options]
    with Terminal(command, 120, rows=50, cwd=folder / "data", **environment) as terminal:
        terminal.type(f'{prepare}; echo rea""dy\n')
        terminal.wait_for("\nready\n>")  # and the shell reads what is typed
        yield terminal


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes(shell, folder):
    with ready(shell, folder) as terminal:
        for number, (typed, line) in enumerate(TYPED.items()):
            # Behind the completed line a mark, which shows how it ended.
            terminal.type(f"{typed}\t")
            terminal.wait_for(f"> {line.rstrip()}")
            terminal.type(f"=={number}")
            terminal.wait_for(f"> {line}=={number}")
            terminal.type("\x15")  # which empties the line
            terminal.wait_for(f"=={number}", gone=True)
        if shell == "bash":
            terminal.type("kmatch hamming --format \t\t")
            terminal.wait_for("gff3")
            assert {"bed", "tsv", "sam", "view"} <= set(terminal.text.split())
