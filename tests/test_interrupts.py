"""Signals at any moment: the agreed status, one line, and no file that is not whole."""

import os
import signal
import subprocess
import sys
import time

import pytest
from support.commands import fasta, random_letters

STATUS = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
BY = {"SIGINT": "", "SIGTERM": " by SIGTERM", "SIGHUP": " by SIGHUP"}
SAID = {name: f"kmatch: error: interrupted{by}\n".encode() for name, by in BY.items()}
SEARCH = ("hamming", "genome.fa", "-p", "ACGTTGC", "-k", "2", "-o", "hits.tsv")
# A command to which a signal comes at a moment of its own choice: when a module is imported, or a
# file is opened or renamed.
MOMENT = """
import os, signal, sys
moment, number = sys.argv[1], signal.Signals[sys.argv[2]]

def strike():
    global moment
    moment = None
    os.kill(os.getpid(), number)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            strike()

def audit(event, arguments):
    if event == moment and arguments and ".partial" in str(arguments[0]):
        strike()

sys.meta_path.insert(0, Finder())
sys.addaudithook(audit)
from kmatch.cli.main import main
main(sys.argv[3:])
"""
# One that is inside C for minutes, where Python calls no handler.
BUSY = """
import hashlib, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "kmatch.results.formats":
            print("busy", file=sys.__stdout__, flush=True)
            hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
sys.meta_path.insert(0, Finder())
from kmatch.cli.main import main
main(sys.argv[1:])
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "genome.fa").write_bytes(fasta([("chr1", random_letters(4_000))]))
    return tmp_path


def struck(folder, moment, name, *prefix):
    command = [*prefix, sys.executable, "-c", MOMENT, moment, name, *SEARCH]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    return done.returncode, done.stderr, sorted(os.listdir(folder))


@pytest.mark.parametrize(
    "moment, name",
    [
        *((name, "SIGTERM") for name in ("kmatch.cli.messages", "click", "numpy")),
        ("llvmlite.binding", "SIGTERM"),
        ("open", "SIGINT"),
        ("os.rename", "SIGHUP"),
    ],
)
def test_while_something_is_imported_or_a_file_begins_or_ends(folder, moment, name):
    status, said, left = struck(folder, moment, name)
    assert (status, said) == (STATUS[name], SAID[name])
    assert left == ["genome.fa"] or (moment == "os.rename" and left == ["genome.fa", "hits.tsv"])


def test_a_signal_that_the_parent_ignores_stays_ignored(folder):
    done = struck(folder, "open", "SIGHUP", "bash", "-c", "trap '' HUP; exec \"$@\"", "bash")
    assert done == (0, b"", ["genome.fa", "hits.tsv"])


@pytest.mark.parametrize("names", [*((name,) for name in STATUS), ("SIGTERM", "SIGHUP")])
def test_a_signal_ends_a_long_kernel(folder, names):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", BUSY, *SEARCH], cwd=folder, **pipes) as running:
        assert running.stdout.readline() == b"busy\n"
        sent = time.monotonic()
        for name in names:
            running.send_signal(getattr(signal, name))
        said, status = running.stderr.read(), running.wait(60)
        assert (status, said) in {(STATUS[name], SAID[name]) for name in names}  # of one alone
        assert time.monotonic() - sent < 5  # on a busy machine, not minutes
    assert os.listdir(folder) == ["genome.fa"]
