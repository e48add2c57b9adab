"""Signals at any moment: the agreed status, no traceback, and no file that is not whole."""

import os
import signal
import subprocess
import sys
import time

import pytest
from support.commands import fasta, random_letters

from kmatch import interrupts

STATUS = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
SEARCH = ("hamming", "genome.fa", "-p", "ACGTTGC", "-k", "2", "-o", "hits.tsv")
# A command in which something happens at a moment of its own choice.
MOMENT = """
import os, signal, sys
moment, number, way = sys.argv[1], signal.Signals[sys.argv[2]], sys.argv[3]

def strike():
    sys.meta_path.remove(finder)
    try:
        os.kill(os.getpid(), number)
        (lambda: None)()
    except KeyboardInterrupt:
        if way != "swallowed":
            raise

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            strike()

if way == "printed":  # as C code does
    import ctypes
    def strike():
        sys.meta_path.remove(finder)
        ctypes.pythonapi.PyRun_SimpleString(b"import os; os.kill(os.getpid(), %d); 1" % number)
elif way == "evaluated":
    def strike():
        sys.meta_path.remove(finder)
        eval("[os.kill(os.getpid(), number), 1]", {"os": os, "number": number})

finder = Finder()
sys.meta_path.insert(0, finder)
seen = []

def audit(event, arguments):
    path = str(arguments[0]) if arguments else ""
    if event == moment and ".partial" in path and not seen:
        seen.append(path)
        strike()

sys.addaudithook(audit)
from kmatch.cli.main import main
main(sys.argv[4:])
"""
BUSY = """
import hashlib, sys
from kmatch import interrupts
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "kmatch.results.tables.hits":
            print("busy", file=sys.__stdout__, flush=True)
            hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # minutes, inside C
sys.meta_path.insert(0, Finder())
from kmatch.cli.main import main
main(sys.argv[1:])
"""


STARTING = """
import os, signal, sys, threading
start = threading.Thread.start

def start_and_strike(self):
    start(self)
    if self.name.startswith("kmatch"):
        threading.Thread.start = start
        os.kill(os.getpid(), signal.SIGTERM)

threading.Thread.start = start_and_strike
from kmatch.cli.main import main
main(sys.argv[1:])
"""


LOADING = """
import os, signal, sys, threading
from numba.core.codegen import CPUCodeLibrary
answer, struck = CPUCodeLibrary._object_getbuffer_hook.__func__, []

def answer_after_signal(cls, library):
    if threading.current_thread() is threading.main_thread() and not struck:
        struck.append(True)
        os.kill(os.getpid(), signal.SIGHUP)
    return answer(cls, library)

CPUCodeLibrary._object_getbuffer_hook = classmethod(answer_after_signal)
from kmatch.cli.main import main
main(sys.argv[1:])
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "genome.fa").write_bytes(fasta([("chr1", random_letters(4_000))]))
    (tmp_path / "moment.py").write_text(MOMENT)
    return tmp_path / "work"


def struck(folder, moment, name, *words, way="raised", prefix=()):
    # As a module: Python ends with other code than that of a string.
    command = [*prefix, sys.executable, "-m", "moment", moment, name, way, *words]
    paths = os.pathsep.join([str(folder.parent), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": paths}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=120)


IMPORTS = (
    "kmatch.cli.messages",
    "click",
    "kmatch.cli.command",
    "numpy",
    "numba",
    "llvmlite.binding",
    "kmatch.search.hamming",
    "xopen",
)


@pytest.mark.parametrize("moment", IMPORTS)
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_while_something_is_imported(folder, moment, name):
    search = (*SEARCH[:-1], "hits.tsv.gz")
    done = struck(folder, moment, name, *search)
    by = "" if name == "SIGINT" else f" by {name}"
    assert done.stderr.decode() == f"kmatch: error: interrupted{by}\n"
    assert done.returncode == STATUS[name]
    assert os.listdir(folder) == ["genome.fa"]


# Before a file is opened, and before it takes its final place.
@pytest.mark.parametrize("moment", ["open", "os.rename"])
@pytest.mark.parametrize("name", STATUS)
def test_while_a_file_begins_or_ends(folder, moment, name):
    done = struck(folder, moment, name, *SEARCH)
    assert done.returncode == STATUS[name]
    assert b"Traceback" not in done.stderr and done.stderr.count(b"\n") == 1
    assert not [path for path in os.listdir(folder) if path.endswith(".partial")]


@pytest.mark.parametrize(
    "moment, words",
    [("kmatch.packed.writer", ("pack", "genome.fa")), ("kmatch.results.tables.hits", SEARCH)],
)
def test_one_that_an_import_swallows_is_not_forgotten(folder, moment, words):
    done = struck(folder, moment, "SIGINT", *words, way="swallowed")
    assert (done.returncode, done.stderr) == (130, b"kmatch: error: interrupted\n")
    assert os.listdir(folder) == ["genome.fa"]


# After an `eval` nothing is imported any more, which would let Python forget.
@pytest.mark.parametrize("way, moment", [("printed", "numba"), ("evaluated", "os.rename")])
def test_one_that_passes_through_c(folder, way, moment):
    done = struck(folder, moment, "SIGTERM", *SEARCH, way=way)
    assert done.stderr == b"kmatch: error: interrupted by SIGTERM\n"
    assert done.returncode == STATUS["SIGTERM"]
    assert os.listdir(folder) == ["genome.fa"]


def test_a_signal_that_the_parent_ignores_stays_ignored(folder):
    ignoring = ("bash", "-c", "trap '' HUP; exec \"$@\"", "bash")
    done = struck(folder, "open", "SIGHUP", *SEARCH, prefix=ignoring)
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(os.listdir(folder)) == ["genome.fa", "hits.tsv"]


@pytest.mark.parametrize("name", STATUS)
def test_a_signal_ends_a_long_kernel(folder, name):
    command = [sys.executable, "-c", BUSY, *SEARCH]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout.readline() == b"busy\n"
        sent = time.monotonic()
        running.send_signal(getattr(signal, name))
        said = running.stderr.read()
        assert running.wait(60) == STATUS[name]
        assert time.monotonic() - sent < 10 * interrupts.GRACE  # on a busy machine, not minutes
    by = "" if name == "SIGINT" else f" by {name}"
    assert said.decode() == f"kmatch: error: interrupted{by}\n"
    assert os.listdir(folder) == ["genome.fa"]


def test_the_second_signal_ends_at_once(folder):
    command = [sys.executable, "-c", BUSY, *SEARCH]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout.readline() == b"busy\n"
        running.send_signal(signal.SIGTERM)
        running.send_signal(signal.SIGHUP)
        said = running.stderr.read()
        status = running.wait(60)
    name = {STATUS["SIGTERM"]: "SIGTERM", STATUS["SIGHUP"]: "SIGHUP"}[status]
    assert said.decode() == f"kmatch: error: interrupted by {name}\n"
    assert os.listdir(folder) == ["genome.fa"]


def test_while_a_thread_is_started(folder):
    """The pool that starts it does not know of it, and nobody tells it to end."""
    command = [sys.executable, "-c", STARTING, *SEARCH, "-t", "2"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (143, b"kmatch: error: interrupted by SIGTERM\n")
    assert os.listdir(folder) == ["genome.fa"]


def test_while_a_kernel_is_loaded(folder):
    """LLVM asks Python for the code; what is raised there is lost, and no code is run."""
    whole = [sys.executable, "-m", "kmatch", *SEARCH, "-t", "1"]
    subprocess.run(whole, cwd=folder, check=True, capture_output=True)  # compiles
    os.unlink(folder / "hits.tsv")
    command = [sys.executable, "-c", LOADING, *SEARCH, "-t", "1"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (129, b"kmatch: error: interrupted by SIGHUP\n")
    assert os.listdir(folder) == ["genome.fa"]


def test_handlers_wait_for_the_end_of_a_block():
    came = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    try:
        with interrupts.held():
            os.kill(os.getpid(), signal.SIGTERM)
            assert came == []
        assert came == [signal.SIGTERM]
        with pytest.raises(KeyboardInterrupt), interrupts.held():
            os.kill(os.getpid(), signal.SIGINT)
            came.append("after")
        assert came[-1] == "after"
    finally:
        signal.signal(signal.SIGTERM, before)
