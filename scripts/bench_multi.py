#!/usr/bin/env python
"""Time `multi` against Sassy on random letters and real DNA, and whole processes with guides.

    scripts/bench_multi.py [--genome FASTA] [--repeats FILE] [--at-rich FASTA]
        [--at-rich-record NAME] [--length BASES] [--threads N] [--seconds S] [--repeat N]
        [--only WORD] [--guides FILE] [--large] [--kernel-times [DEVICE]] [--json FILE]

In memory: texts, panels, options and figures are those of bench_hamming.py, with panels that stand
before NGG and beside one, and of guides that touch repeats. Sassy searches the same patterns
without a PAM.

Whole processes, with --genome and --guides (alone with --only process): the 20-mers of a file with
k = 4 beside NGG, 10,000 windows cut out of the genome and 10,000 random 20-mers with k = 3 and,
with --large, 200,000 random ones with k = 1 and 2. Seconds are from start to exit, the genome's
reading included, the median of the repeats after one that is not counted (it compiles the kernels
and reads the file into memory).
Gbp·pattern/s is text length × patterns × 2 strands ÷ time, whether or not a PAM or a filter spared
the comparison. With --kernel-times, the time of the kernels on a device, a GPU where none is named,
and where the rest of a process there goes are told too; a GPU's is by CUDA events.
"""

import platform
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks import (
    is_wanted,
    kmatch_command,
    process_seconds,
    take_turns,
    text_parser,
    write_results,
)
from versus import compare_cases, differ
from workloads import cut_panel, file_panel, file_text, random_panel

import kmatch
from kmatch.search.hooked import hooked

CASES = [
    ("cut", 100, 20, 3),
    ("cut", 2_000, 20, 3),
    ("cut", 20_000, 20, 3),
    ("before NGG", 2_000, 20, 4, "NGG"),
    ("before NGG", 20_000, 20, 3, "NGG"),
    ("touching repeats", 1_000, 20, 4),
    ("touching repeats", 1_000, 20, 4, "NGG"),
    ("repeats", None, 20, 4),
    ("repeats", None, 20, 4, "NGG"),
]
PANELS = [(10_000, 3)]
LARGE = [(200_000, 1), (200_000, 2)]
STAGES = """
import sys, time
began = time.perf_counter()

def stage(name):
    global began
    print(f"    {time.perf_counter() - began:.3f} s  {name}", flush=True)
    began = time.perf_counter()

genome, panel, k, pam, device = sys.argv[1:]
import kmatch
from kmatch.engine.devices import choose_engine
from kmatch.search.multi import multi_batches
from kmatch.search.running import by_name
from kmatch.sequences.patterns import load_patterns
stage("import NumPy and what reads and searches")
panel = load_patterns(panel)
stage("read the patterns")
choose_engine(device)
stage("import Numba, load the kernels, open the device")
genome = kmatch.Genome(genome)
genome.records()
stage("read the genome")
options = {"pam": pam or None, "device": device}
search = lambda: [len(x) for x in by_name(multi_batches, genome, panel, int(k), **options)]
search()
stage("the first search: packing, copying, loading kernels")
search()
stage("the same again, with the text on the device")
"""


def main():
    parser = text_parser(__doc__, length=1 << 25, seconds=10, repeat=3, threads=1)
    parser.add_argument("--guides", metavar="FILE")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--kernel-times", nargs="?", const="cuda", metavar="DEVICE")
    options = parser.parse_args()
    rows = compare_cases("multi", CASES, options)
    processes = []
    if options.genome and options.guides and is_wanted(options, "process"):
        with tempfile.TemporaryDirectory() as folder:
            processes = [measure(options, folder, *panel) for panel in panels(options)]
    write_results(options.json, rows, threads=options.threads, processes=processes)
    sys.exit(differ(rows))


def panels(options):
    """Yield (what they are, patterns, k, PAM)."""
    yield "guides", file_panel(options.guides), 4, "NGG"
    for count, k in PANELS:
        yield "cut", cut_panel(file_text(options.genome), count), k, None
    for count, k in PANELS + LARGE * options.large:
        yield "random", random_panel(count), k, None


def measure(options, folder, kind, patterns, k, pam):
    table, panel = Path(folder) / "hits.bed", Path(folder) / "panel.txt"
    panel.write_text("".join(f"{pattern}\n" for pattern in patterns))
    threads = ("-t", options.threads) if options.threads else ()
    beside = ("--pam", pam) if pam else ()
    command = kmatch_command(
        "multi", options.genome, panel, "-k", k, *beside, *threads, "-o", table
    )
    process_seconds(command)
    (seconds,) = take_turns(options.repeat, lambda: process_seconds(command))
    row = {"panel": kind, "patterns": len(patterns), "k": k, "pam": pam or ""}
    row |= {"hits": table.read_bytes().count(b"\n"), "seconds": statistics.median(seconds)}
    row["rate"] = bases(options.genome) * len(patterns) * 2 / row["seconds"] / 1e9
    row["python"] = platform.python_version()
    print(
        f"process, {len(patterns):,} {kind}, k={k} {pam or ''}: {row['seconds']:.2f} s, "
        f"{row['hits']:,} hits, {row['rate']:,.0f} Gbp·pattern/s",
        flush=True,
    )
    if options.kernel_times:
        device = options.kernel_times
        row["kernel_ms"] = kernel_seconds(options.genome, panel, k, pam, device) * 1e3
        print(f"    {row['kernel_ms']:.2f} ms in kernels", flush=True)
        words = (options.genome, str(panel), str(k), pam or "", device)
        subprocess.run([sys.executable, "-c", STAGES, *words], check=True)
    return row


def kernel_seconds(path, panel, k, pam, device):
    """Seconds that a search spends in its kernels, once they are loaded and the text is packed."""
    genome = kmatch.Genome(path)
    search = partial(hooked, "multi", genome, str(panel), k, pam=pam, device=device)
    search()
    watches = []
    search(on_engine=lambda engine: watches.append(engine.time_kernels()))
    return watches[0].seconds


def bases(path):
    return sum(len(record.letters) for record in kmatch.Genome(path, keep=False).records())


if __name__ == "__main__":
    main()
