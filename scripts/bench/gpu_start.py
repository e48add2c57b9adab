#!/usr/bin/env python3
"""Take the first second of a search on a GPU apart.

    scripts/bench/gpu_start.py [--genome FASTA] [--search WORDS] … [--repeat N] [--json FILE]

Whole processes of each search on the GPU and on the CPU take turns, kernels compiled before;
`beyond_cpu_s` is the median of the differences. Then one process of each tells its stages (see
harness/stages.py), and the driver's own are timed alone, one after the other, in a process that
does nothing else. Without a genome there are random letters, as many as E. coli has. In WORDS,
GENOME stands for it and PANEL:N for a file of N windows of 20 cut out of it.
"""

import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.options import plain_parser
from harness.processes import kmatch_command, process_seconds, python_command, write_panel
from harness.records import write_results
from harness.timing import take_turns
from harness.workloads import cut_panel, file_text, write_fasta

STAGES = Path(__file__).parent / "harness" / "stages.py"
LENGTH = 4_641_652
PATTERN = "GTTGATATTGCTCAGGATCT"
SEARCHES = (
    f"hamming GENOME -p {PATTERN} -k 3",
    f"edit GENOME -p {PATTERN} -k 3",
    f"edit GENOME -p {PATTERN} -k 1",
)
SHOWN = 0.004  # seconds of a stage that is printed
# Sizes that a search of E. coli pins and allocates: planes, and hit codes.
DRIVER = """
import ctypes, json, time
cuda = ctypes.CDLL("libcuda.so.1")
rows = []
def stage(name, call):
    began = time.perf_counter()
    status = call()
    rows.append({"stage": name, "s": time.perf_counter() - began, "status": status})
def number(kind=ctypes.c_void_p): return ctypes.byref(kind())
context, device = ctypes.c_void_p(), ctypes.c_int()
stage("cuInit", lambda: cuda.cuInit(0))
cuda.cuDeviceGet(ctypes.byref(device), 0)
stage("primary context", lambda: cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
cuda.cuCtxPushCurrent_v2(context)
stage("first stream", lambda: cuda.cuStreamCreate(number(), 0))
for size in (1 << 12, 1 << 25, 1 << 25, 1 << 28):
    taken = ctypes.c_void_p()
    take = lambda: cuda.cuMemAlloc_v2(ctypes.byref(taken), ctypes.c_size_t(size))
    stage(f"{size:,} bytes on the device", take)
for size in (8, 3 << 20, 3 << 20, 1 << 26):
    pin = lambda: cuda.cuMemHostAlloc(number(), ctypes.c_size_t(size), 0)
    stage(f"{size:,} bytes pinned", pin)
print(json.dumps(rows))
"""


def main():
    parser = plain_parser(__doc__, repeat=5)
    parser.add_argument("--genome", metavar="FASTA")
    parser.add_argument("--search", action="append", metavar="WORDS", help="with GENOME in it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        genome = options.genome or Path(folder) / "genome.fa"
        if not options.genome:
            write_fasta(genome, LENGTH)
        rows = [measure(Path(folder), genome, search, options) for search in wanted(options)]
    rows.append({"search": "the driver alone", "stages": driver_stages()})
    show(rows[-1]["stages"])
    write_results(options.json, rows)


def wanted(options):
    return options.search or SEARCHES


def measure(folder, genome, search, options):
    """Print and return the row of a search."""
    words = [_file(folder, genome, word) for word in shlex.split(search)]
    words += ["-q", "-o", str(folder / "hits.bed")]
    calls = [
        lambda device=device: process_seconds(kmatch_command(*words, "--device", device))
        for device in ("cuda", "cpu")
    ]
    for call in calls:  # compiles
        call()
    gpu, cpu = take_turns(options.repeat, *calls)
    beyond = statistics.median(a - b for a, b in zip(gpu, cpu, strict=True))
    row = {
        "search": search,
        "gpu_s": statistics.median(gpu),
        "cpu_s": statistics.median(cpu),
        "beyond_cpu_s": beyond,
    }
    print(f"{search}: GPU {row['gpu_s']:.3f} s, CPU {row['cpu_s']:.3f} s, +{beyond:.3f} s")
    row["stages"] = {device: stages(folder, [*words, "--device", device]) for device in DEVICES}
    show(row["stages"]["cuda"]["rows"])
    return row


DEVICES = ("cuda", "cpu")


def _file(folder, genome, word):
    """The file that a word stands for, or the word."""
    if word == "GENOME":
        return str(genome)
    if not word.startswith("PANEL:"):
        return word
    path = folder / f"{word[6:]}.txt"
    write_panel(path, cut_panel(file_text(genome), int(word[6:])))
    return str(path)


def stages(folder, words):
    """What harness/stages.py writes of a command."""
    path = folder / "stages.json"
    began = repr(time.time())
    subprocess.run((sys.executable, str(STAGES), str(path), began, *words), check=True)
    return json.loads(path.read_text())


def driver_stages():
    """Seconds of the driver's own stages; none where there is no driver."""
    told = subprocess.run(python_command(DRIVER), capture_output=True, text=True, check=False)
    return json.loads(told.stdout) if told.returncode == 0 else []


def show(rows):
    for row in rows:
        if row["s"] >= SHOWN:
            own = f"{row['own']:8.3f}" if "own" in row else " " * 8
            print(f"  {row.get('at', 0):8.3f} {row['s']:8.3f} {own}  {row['stage']}", flush=True)


if __name__ == "__main__":
    main()
