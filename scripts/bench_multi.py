#!/usr/bin/env python
"""Time whole `kmatch multi` processes on a genome: guides beside a PAM, and large random panels.

    scripts/bench_multi.py GENOME GUIDES [--repeat N] [--threads N] [--large] [--kernel-times]
        [--json FILE]

GENOME: FASTA, such as human chromosome 20 uncompressed; GUIDES: 20-mers, searched with k = 4 beside
NGG. The panels are random 20-mers on both strands: 10,000 with k = 3 and, with --large, 200,000
with k = 1 and 2. Seconds are from start to exit, the genome's reading included, the median of
the repeats after one that is not counted (it compiles the kernels and reads the file into memory).
Gbp·pattern/s is text length × patterns × 2 strands ÷ time, whether or not a PAM or a filter spared
the comparison. With --kernel-times, on a GPU, the time of the kernels by CUDA events and where the
rest of a process goes are told too.
"""

import argparse
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import timed, write_results

PANELS = [(10_000, 3)]
LARGE = [(200_000, 1), (200_000, 2)]
STAGES = """
import sys, time
began = time.perf_counter()

def stage(name):
    global began
    print(f"    {time.perf_counter() - began:.3f} s  {name}", flush=True)
    began = time.perf_counter()

genome, panel, k, pam = sys.argv[1:]
import kmatch
from kmatch.engine.devices import choose_engine
from kmatch.search.multi import multi_batches
from kmatch.sequences.patterns import load_patterns
stage("import NumPy and what reads and searches")
panel = load_patterns(panel)
stage("read the patterns")
choose_engine("cuda")
stage("import Numba, load the kernels, open the GPU")
genome = kmatch.Genome(genome)
genome.records()
stage("read the genome")
options = {"pam": pam or None, "device": "cuda"}
search = lambda: [len(x) for x in multi_batches(genome, panel, int(k), **options)]
search()
stage("the first search: packing, copying, loading kernels")
search()
stage("the same again, with the text on the GPU")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("genome")
    parser.add_argument("guides")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--kernel-times", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(options, folder, options.guides, 4, "--pam", "NGG")]
        for count, k in PANELS + LARGE * options.large:
            rows.append(measure(options, folder, random_panel(folder, count), k))
    write_results(options.json, rows)


def random_panel(folder, count):
    rng = random.Random(20)
    path = Path(folder) / "panel.txt"
    path.write_text("".join("".join(rng.choices("ACGT", k=20)) + "\n" for _ in range(count)))
    return path


def measure(options, folder, panel, k, *pam):
    table = Path(folder) / "hits.bed"
    threads = ("-t", options.threads) if options.threads else ()
    search = ("multi", options.genome, panel, "-k", k, *pam, *threads, "-o", table)
    command = [sys.executable, "-m", "kmatch", *map(str, search)]
    seconds = [timed(lambda: subprocess.run(command, check=True))[1] for _ in range(options.repeat)]
    if options.repeat > 1:
        del seconds[0]
    patterns = sum(bool(line.strip()) and line[0] not in b"#>" for line in lines(panel))
    row = {"patterns": patterns, "k": k, "pam": "".join(pam[1:]), "hits": len(lines(table))}
    row["seconds"] = statistics.median(seconds)
    row["rate"] = bases(options.genome) * patterns * 2 / row["seconds"] / 1e9
    row["python"] = platform.python_version()
    print(
        f"{patterns:,} patterns, k={k}{''.join(f' {word}' for word in pam)}: "
        f"{row['seconds']:.2f} s whole process, {row['hits']:,} hits, "
        f"{row['rate']:,.0f} Gbp·pattern/s",
        flush=True,
    )
    if options.kernel_times:
        row["kernel_ms"] = kernel_seconds(options.genome, panel, k, *pam[1:]) * 1e3
        print(f"    {row['kernel_ms']:.2f} ms in kernels", flush=True)
        command = [sys.executable, "-c", STAGES, options.genome, str(panel), str(k)]
        subprocess.run([*command, pam[1] if pam else ""], check=True)
    return row


def kernel_seconds(path, panel, k, pam=None):
    """Seconds that a search on a GPU spends in its scans, once the kernels are loaded."""
    import kmatch
    from kmatch.engine.cuda import engine
    from kmatch.engine.cuda.driver import cuda

    events, scan = [], engine.scan

    def marked(*arguments):
        begin, end, stream = cuda.event(), cuda.event(), arguments[-1]
        begin.record(stream)
        scan(*arguments)
        end.record(stream)
        events.append((begin, end))

    genome = kmatch.Genome(path)
    kmatch.multi(genome, str(panel), k, pam=pam, device="cuda")
    engine.scan = marked
    try:
        kmatch.multi(genome, str(panel), k, pam=pam, device="cuda")
    finally:
        engine.scan = scan
    cuda.synchronize()
    return sum(cuda.event_elapsed_time(*pair) for pair in events) / 1000


def lines(path):
    return Path(path).read_bytes().splitlines()


def bases(path):
    return sum(len(line) for line in lines(path) if not line.startswith(b">"))


if __name__ == "__main__":
    main()
