"""Whole processes: their seconds and their memory."""

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from harness.timing import timed


def kmatch_command(*arguments):
    """The command line of a kmatch process."""
    return [sys.executable, "-m", "kmatch", *map(str, arguments)]


def python_command(script, *arguments):
    """The command line of a Python process that runs a script given as text."""
    return [sys.executable, "-c", script, *map(str, arguments)]


def run(command, **options):
    """Run a process, which has to succeed, and drop its output."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)


def process_seconds(command, **options):
    """Seconds of a process from start to exit."""
    return timed(lambda: run(command, **options))[1]


def write_panel(path, patterns):
    """Write patterns to a text file, one a line."""
    path.write_text("".join(f"{pattern}\n" for pattern in patterns))


def count_lines(path):
    return Path(path).read_bytes().count(b"\n")


class CpuCounted:
    """A call; `cpu` holds what each took of the CPU, in seconds of all threads.

    who: resource.RUSAGE_SELF for what runs in this process, RUSAGE_CHILDREN for processes.
    """

    def __init__(self, call, who):
        self._call, self._who, self.cpu = call, who, []

    def __call__(self):
        before = self._spent()
        result = self._call()
        self.cpu.append(self._spent() - before)
        return result

    def _spent(self):
        used = resource.getrusage(self._who)
        return used.ru_utime + used.ru_stime


class Usage(NamedTuple):
    """What a process took: seconds from start to exit, seconds of all its threads, those of them in
    user mode, and the most bytes that it had resident."""

    seconds: float
    cpu: float
    user: float
    peak: int


# A process counts what its parent had resident as its own, so the parent has to be a small one.
MEASURE = """
import os, resource, subprocess, sys, time
began = time.perf_counter()
status = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = time.perf_counter() - began
figures = seconds, used.ru_utime + used.ru_stime, used.ru_utime, used.ru_maxrss
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
        seconds, cpu, user, peak = map(float, figures.read().split())
    return Usage(seconds, cpu, user, int(peak) * (1 if sys.platform == "darwin" else 1024))
