#!/usr/bin/env python
"""Time whole processes of `multi`, from FASTA to BED, with panels of guides.

    scripts/bench/guides.py --genome FASTA --guides FILE [--large] [--kernel-times [DEVICE]]
        [--threads N] [--repeat N] [--json FILE]

Panels are the 20-mers of FILE with k = 4 beside NGG, 10,000 windows cut out of the genome and
10,000 random 20-mers with k = 3 and, with --large, 200,000 random ones with k = 1 and 2. Seconds
run from start to exit, with the reading of the genome, and are medians of the repeats after one
that is not counted (it compiles the kernels and brings the file into memory). Gbp·pattern/s is text
length × patterns × 2 strands ÷ time, whether or not a PAM or a filter spared comparisons.
--kernel-times also shows the time of the kernels on a device, a GPU by default, and the stages of a
process there; a GPU's kernels are timed by CUDA events.
"""

import platform
import statistics
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from harness.options import plain_parser
from harness.processes import (
    count_lines,
    kmatch_command,
    process_seconds,
    python_command,
    write_panel,
)
from harness.records import write_results
from harness.timing import take_turns
from harness.workloads import cut_panel, file_panel, file_text, random_panel

import kmatch
from kmatch.search.hooked import hooked

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
stage("import NumPy, the readers and the searches")
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
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("--genome", metavar="FASTA", required=True)
    parser.add_argument("--guides", metavar="FILE", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--large", action="store_true", help="200,000 random patterns too")
    parser.add_argument("--kernel-times", nargs="?", const="cuda", metavar="DEVICE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(options, Path(folder), *panel) for panel in panels(options)]
    write_results(options.json, rows, threads=options.threads)


def panels(options):
    """Yield (kind, patterns, k, PAM) of each panel."""
    yield "guides", file_panel(options.guides), 4, "NGG"
    for count, k in PANELS:
        yield "cut", cut_panel(file_text(options.genome), count), k, None
    for count, k in PANELS + LARGE * options.large:
        yield "random", random_panel(count), k, None


def measure(options, folder, kind, patterns, k, pam):
    table, panel = folder / "hits.bed", folder / "panel.txt"
    write_panel(panel, patterns)
    words = ("-k", k, "-t", options.threads, "-o", table, *(("--pam", pam) if pam else ()))
    command = kmatch_command("multi", options.genome, panel, *words)
    process_seconds(command)
    (seconds,) = take_turns(options.repeat, lambda: process_seconds(command))
    row = {"panel": kind, "patterns": len(patterns), "k": k, "pam": pam or ""}
    row |= {"hits": count_lines(table), "seconds": statistics.median(seconds)}
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
        words = (options.genome, panel, k, pam or "", device)
        subprocess.run(python_command(STAGES, *words), check=True)
    return row


def kernel_seconds(path, panel, k, pam, device):
    """Seconds of a search's kernels, once they are loaded and the text is packed."""
    genome = kmatch.Genome(path)
    search = partial(hooked, "multi", genome, str(panel), k, pam=pam, device=device)
    search()
    watches = []
    search(on_engine=lambda engine: watches.append(engine.time_kernels()))
    return watches[0].seconds


def bases(path):
    """Letters of all records of a file."""
    return sum(len(record.letters) for record in kmatch.Genome(path, keep=False).records())


if __name__ == "__main__":
    main()
