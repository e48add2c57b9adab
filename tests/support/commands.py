"""kmatch as a user runs it: in a process of its own, or faster in this one."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
from typing import NamedTuple
from unittest import mock

import numpy as np
from Bio import SeqIO
from Bio.bgzf import BgzfWriter
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord
from xopen import xopen

from kmatch.cli.main import run
from kmatch.results.bgzf import block_of

KMATCH = (sys.executable, "-m", "kmatch")

# Root reads every file by two capabilities, which a process can give up before it becomes another.
_WITHOUT_PRIVILEGES = """
import ctypes, os, sys
for capability in (1, 2):
    ctypes.CDLL(None).prctl(24, capability)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Result(NamedTuple):
    """How a command ended: its status, and what it wrote, as bytes."""

    status: int
    out: bytes
    err: bytes


# What a first search says, which tests do not depend on.
COMPILING = b"kmatch: compiling kernels, once a machine; this takes up to a minute\n"


def process(*arguments, stdin=b"", prefix=(), **options):
    """Run `kmatch ARGUMENTS` in a process of its own, behind the words of `prefix`."""
    command = [*prefix, *KMATCH, *map(str, arguments)]
    options = {"input": stdin, "capture_output": True, "timeout": 60} | options
    done = subprocess.run(command, **options)
    return Result(done.returncode, done.stdout, done.stderr.replace(COMPILING, b""))


def shell(script, *arguments, **options):
    """Run `kmatch ARGUMENTS` in a process of its own, as "$@" of a bash script."""
    return process(*arguments, prefix=("bash", "-c", script, "bash"), **options)


def unprivileged(*arguments, **options):
    """Run `kmatch ARGUMENTS` in a process that cannot read what its mode bits forbid."""
    prefix = (sys.executable, "-c", _WITHOUT_PRIVILEGES) if os.geteuid() == 0 else ()
    return process(*arguments, prefix=prefix, **options)


def here(*arguments, stdin=b""):
    """Run `kmatch ARGUMENTS` in this process; stdin may be bytes or a binary handle."""
    handle = io.BytesIO(stdin) if isinstance(stdin, bytes) else stdin
    streams = {
        "stdin": io.TextIOWrapper(io.BufferedReader(handle)),
        "stdout": io.TextIOWrapper(io.BytesIO(), "utf-8"),
        "stderr": io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace"),  # as Python's
    }
    with mock.patch.multiple(sys, **streams):
        status = run([str(argument) for argument in arguments])
    written = []
    for stream in (streams["stdout"], streams["stderr"]):
        stream.flush()
        written.append(stream.buffer.getvalue())
    return Result(status, written[0], written[1].replace(COMPILING, b""))


def random_letters(length, seed=1):
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), length))


def fasta(records, width=60, newline="\n"):
    """FASTA of (title, sequence) pairs, as bytes."""
    lines = []
    for title, sequence in records:
        lines.append(f">{title}")
        lines += [sequence[i : i + width] for i in range(0, len(sequence), width)]
    return "".join(line + newline for line in lines).encode()


def fastq(reads, newline="\n", quality="I"):
    """FASTQ of (title, sequence) pairs, as bytes."""
    lines = [f"@{name}\n{letters}\n+\n{quality * len(letters)}\n" for name, letters in reads]
    return "".join(lines).replace("\n", newline).encode()


def compressed(kind, data):
    """Bytes as gz, bgzf, bz2, xz or zst."""
    if kind in ("bgzf", "zst"):
        out = io.BytesIO()
        with mock.patch.object(out, "close"):  # both writers close what they write to
            writer = (
                BgzfWriter(fileobj=out)
                if kind == "bgzf"
                else xopen(out, "wb", threads=0, format="zst")
            )
            with writer:
                writer.write(data)
        return out.getvalue()
    return {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[kind](data)


def blocked(data, size):
    """Bytes as BGZF, so many to a block."""
    starts = range(0, len(data) + size, size)  # of which the last begins the empty block
    return b"".join(block_of(data[start : start + size]) for start in starts)


def twobit(records):
    """The .2bit file of (name, sequence) pairs; lower case becomes mask blocks, other letters N."""
    offset = 16 + sum(5 + len(name) for name, _ in records)
    index, bodies = b"", b""
    for name, sequence in records:
        index += bytes([len(name)]) + name.encode() + _words(offset + len(bodies))
        unknown = _blocks([letter not in "ACGTacgt" for letter in sequence])
        masked = _blocks([letter.islower() for letter in sequence])
        codes = ["TCAG".find(letter) % 4 for letter in sequence.upper()]
        codes += [0] * (-len(codes) % 4)
        packed = bytes(
            a << 6 | b << 4 | c << 2 | d
            for a, b, c, d in zip(*(codes[i::4] for i in range(4)), strict=True)
        )
        bodies += _words(len(sequence), *unknown, *masked, 0) + packed
    return _words(0x1A412743, 0, len(records), 0) + index + bodies


def genbank(records):
    """The GenBank file of (name, sequence) pairs."""
    entries = [
        SeqRecord(Seq(sequence), id=name, annotations={"molecule_type": "DNA"})
        for name, sequence in records
    ]
    out = io.StringIO()
    SeqIO.write(entries, out, "genbank")
    return out.getvalue().encode()


def _words(*numbers):
    return b"".join(number.to_bytes(4, "little") for number in numbers)


def _blocks(flags):
    """The number, starts and sizes of the runs of true flags."""
    edges = np.flatnonzero(np.diff([False, *flags, False]))
    starts, ends = edges[::2], edges[1::2]
    return [len(starts), *starts.tolist(), *(ends - starts).tolist()]


def failed(result, *words):
    """Check the one line of status 1 and that it holds `words`."""
    message = result.err.decode()
    assert result.status == 1, message
    assert message.startswith("kmatch: error: ") and message.endswith("\n")
    assert message.count("\n") == 1 and "Traceback" not in message
    for word in words:
        assert str(word) in message
    rows = [line for line in result.out.splitlines() if not line.startswith(b"sequence\t")]
    assert rows == []


HEAVY = {"numpy", "numba", "llvmlite", "Bio", "rich", "xopen"}
LOADED = """
import sys
{body}
print(*sorted({{name.split(".")[0] for name in sys.modules}}), file=sys.stderr)
"""


def loaded(body, *arguments):
    """The status of a script and the top-level modules that are loaded at its end."""
    command = [sys.executable, "-c", LOADED.format(body=body), *arguments]
    done = subprocess.run(command, capture_output=True, timeout=60)
    return done.returncode, set(done.stderr.decode().splitlines()[-1].split())
