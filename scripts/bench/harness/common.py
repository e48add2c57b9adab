"""What the measurements share: options, processes with their time and memory, and records."""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import kmatch


def plain_parser(doc, repeat=None):
    """A parser with --json, and with --repeat where a default is given; doc: of the script."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    if repeat:
        parser.add_argument("--repeat", type=int, default=repeat, help="runs of each search")
    parser.add_argument("--json", metavar="FILE", help="keep the figures in FILE")
    return parser


def is_wanted(options, *words):
    """Whether --only selects a row of these words."""
    return not options.only or any(options.only in word for word in words)


class Spent(NamedTuple):
    """What a call took: seconds, and seconds of the CPU, of all threads."""

    seconds: float
    cpu: float


def least(call, repeat, patience):
    """The result of a call and the least that it took of so many runs, or of those until one took
    longer than `patience` seconds."""
    runs = []
    for _ in range(repeat):
        result = None  # what the last run found is gone before the next one
        began, before = time.perf_counter(), time.process_time()
        result = call()
        runs.append((time.perf_counter() - began, time.process_time() - before))
        if runs[-1][0] > patience:
            break
    return result, Spent(*map(min, zip(*runs, strict=True)))


def kmatch_command(*arguments):
    """The command line of a kmatch process."""
    return [sys.executable, "-m", "kmatch", *map(str, arguments)]


def python_command(script, *arguments):
    """The command line of a Python process that runs a script given as text."""
    return [sys.executable, "-c", script, *map(str, arguments)]


def write_panel(path, patterns):
    """Write patterns to a text file, one a line."""
    path.write_text("".join(f"{pattern}\n" for pattern in patterns))


def count_lines(path):
    """The lines of a file that need not fit into memory."""
    with open(path, "rb") as handle:
        return sum(part.count(b"\n") for part in iter(lambda: handle.read(1 << 24), b""))


class Usage(NamedTuple):
    """What a process took: seconds from start to exit, seconds of all its threads, and the most
    bytes that it had resident."""

    seconds: float
    cpu: float
    peak: int


# A process counts what its parent had resident as its own, so the parent has to be a small one.
MEASURE = """
import os, resource, subprocess, sys, time
began = time.perf_counter()
status = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = time.perf_counter() - began
figures = seconds, used.ru_utime + used.ru_stime, used.ru_maxrss
os.write(int(sys.argv[1]), " ".join(map(str, figures)).encode())
sys.exit(status)
"""


def usage(command, **options):
    """The Usage of a process; what it writes to standard output is dropped. options: of Popen."""
    reading, writing = os.pipe()
    with open(reading) as figures:
        measuring = python_command(MEASURE, writing, *command)
        status = subprocess.run(measuring, pass_fds=[writing], **options).returncode
        os.close(writing)
        if status:
            sys.exit(f"{' '.join(map(str, command))}: status {status}")
        seconds, cpu, peak = map(float, figures.read().split())
    return Usage(seconds, cpu, int(peak) * (1 if sys.platform == "darwin" else 1024))


class Table:
    """Rows printed one by one under a header.

    columns: (key of a row, header, format) each; a column is as wide as its format says.
    """

    def __init__(self, columns):
        self._columns = columns
        self.rows = []

    def add(self, row):
        if not self.rows:
            print(*(_aligned(header, form) for _, header, form in self._columns), sep="  ")
        self.rows.append(row)
        cells = (_cell(row.get(key), form) for key, _, form in self._columns)
        print(*cells, sep="  ", flush=True)


def _aligned(word, form):
    """A word, aligned to the side and the width of a format such as `>9.3f`."""
    return f"{word:{form[0]}{re.match('[0-9]+', form[1:]).group()}}"


def _cell(value, form):
    return _aligned("–", form) if value is None else f"{value:{form}}"


def shown_figure(value):
    """A number in four digits; anything else as it is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write_results(path, rows, **about):
    """Write rows as JSON, a line each, after the machine, the command and what else is said of the
    run."""
    if path:
        about = {**provenance(), "command": command_line(), **about}
        head = json.dumps(about, indent=1).removesuffix("\n}")
        lines = ",".join(f"\n  {json.dumps(row)}" for row in rows)
        Path(path).write_text(f'{head},\n "rows": [{lines}\n ]\n}}\n')


def provenance():
    """The date, the machine, its processor, and the commit of the scripts."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line for line in lines if line.startswith("model name")), ": unknown")
    git = ("git", "-C", Path(__file__).parent, "describe", "--always", "--dirty")
    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": platform.platform(),
        "cpu": f"{os.cpu_count()} × {model.partition(': ')[2].strip()}",
        "commit": subprocess.run(git, capture_output=True, text=True).stdout.strip(),
        "kmatch": kmatch.__version__,
        "numba": version("numba"),
    }


def command_line():
    """The command of this process: the script's name and its arguments."""
    return " ".join((Path(sys.argv[0]).name, *sys.argv[1:]))
