#!/usr/bin/env python
"""What a search of millions of assemblies takes: a model, its inputs, and a check of it.

    scripts/bench/assemblies.py [--inputs FILE] [--genomes N] [--letters N] [--patterns N]
        [--cores N] [--storage GB]
    scripts/bench/assemblies.py --measure --json FILE [--folder DIR]

The first form prints the table of docs/scale.md from the inputs in FILE, cpu-assemblies.json unless
told otherwise: for each stage of `kmatch edit -k 3` what all genomes take, on CPUs and on nodes of
one H200 and --cores cores, and which stage is the longest there. Genomes are gzipped FASTA of
--letters letters, or packed once. Stages of a node run side by side; --storage is what it reads a
second, in GB of 10^9 bytes. That is an assumption, all else is measured: by --measure, and the rate
of the GPU by scripts/bench/gpu.py.

The second form measures the inputs: seconds of the CPU, of one thread, for each genome and for each
letter, from random genomes of two sizes. It then runs a search of 2,000 genomes of 50,000 letters
as a whole process, and holds its seconds of the CPU against the model; exit status 1 where they
differ by more than 20 %.
"""

import gzip
import json
import resource
import sys
import tempfile
import time
from collections import deque
from functools import partial
from pathlib import Path
from typing import NamedTuple

from harness.options import plain_parser
from harness.processes import CpuCounted, kmatch_command, process_seconds, write_panel
from harness.records import Table, write_results
from harness.workloads import random_panel, write_fasta

import kmatch
from kmatch.genome import Genome, as_genomes
from kmatch.search.edit import edit_batches
from kmatch.search.running import Running
from kmatch.sequences.files import open_source
from kmatch.sequences.patterns import load_patterns

RESULTS = Path(__file__).parents[1] / "results"
INPUTS, GPU = "cpu-assemblies.json", "nvidia-h200-kernels.json"
K, FEW, MANY = 3, 20, 100  # patterns of two runs
SAMPLES = ((60, 50_000, 1), (3, 4_000_000, 100))  # genomes, letters and records of each
CHECKED, CHECKED_LETTERS = 2_000, 50_000
BAR = 0.2  # of the seconds measured
BLOCK = 1 << 20
HIT_LETTERS = 200_000  # of a text with a hit at each of them, both strands
HOUR = 3600
INPUT_COLUMNS = (
    ("stage", "stage", "<22s"),
    ("genome_us", "µs a genome", ">11.1f"),
    ("letter_ns", "ns a letter", ">11.3f"),
)


class Cost(NamedTuple):
    """Seconds of a thread for each genome and for each letter."""

    genome: float
    letter: float

    def of(self, genomes, letters):
        """Seconds for genomes, and for all of their letters."""
        return genomes * self.genome + letters * self.letter


class Inputs(NamedTuple):
    """What was measured. stages: Costs by name; pattern: the Cost of searching one pattern on both
    strands; packed, gzipped: bytes a letter; start: seconds of a process; hit: seconds to write
    one; gpu: bp·pattern/s of an H200."""

    stages: dict
    pattern: Cost
    packed: float
    gzipped: float
    start: float
    hit: float
    gpu: float

    def on_cpu(self, genomes, letters, patterns, packed=False):
        """Seconds by stage, of one thread; letters: of all genomes."""
        names = PACKED_STAGES if packed else STAGES
        found = {name: self.stages[name].of(genomes, letters) for name in names}
        return {**found, SEARCH: self.pattern.of(genomes, letters) * patterns}

    def on_gpu(self, size):
        """Seconds of an H200 at the rate of its kernels in long texts, both strands."""
        return 2 * size.letters * size.patterns / self.gpu


class Size(NamedTuple):
    """What is searched; letters: of all genomes."""

    genomes: int
    letters: int
    patterns: int


class Node(NamedTuple):
    """cores; storage: GB/s that it reads."""

    cores: int = 16
    storage: float = 2.0


ALL_THE_BACTERIA = Size(2_400_000, 2_400_000 * 4_200_000, 100)


STAGES = ("read", "inflate", "parse", "pack and set up")
PACKED_STAGES = ("open packed, set up",)
SEARCH = "search"


def main():
    parser = plain_parser(__doc__)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--folder", help="for the genomes that are measured")
    parser.add_argument("--inputs", type=Path, default=RESULTS / INPUTS)
    parser.add_argument("--genomes", type=int, default=2_400_000)
    parser.add_argument("--letters", type=int, default=4_200_000, help="of a genome")
    parser.add_argument("--patterns", type=int, default=100)
    parser.add_argument("--cores", type=int, default=16, help="of a node")
    parser.add_argument("--storage", type=float, default=2.0, help="GB/s that a node reads")
    options = parser.parse_args()
    if not options.measure:
        size = Size(options.genomes, options.genomes * options.letters, options.patterns)
        node = Node(options.cores, options.storage)
        print(*plan(read_inputs(options.inputs), size, node), sep="\n")
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows, about = measure(Path(folder))
        inputs = inputs_of(rows, about)
        checked = check(inputs, Path(folder))
    write_results(options.json, rows, **about, check=checked)
    sys.exit(abs(checked["model_s"] - checked["measured_s"]) > BAR * checked["measured_s"])


def read_inputs(path):
    record = json.loads(path.read_text())
    return inputs_of(record["rows"], record)


def inputs_of(rows, about):
    costs = {row["stage"]: Cost(row["genome_us"] / 1e6, row["letter_ns"] / 1e9) for row in rows}
    pattern = costs.pop("search, a pattern")
    sizes = (about[name] for name in ("packed_bytes", "gzipped_bytes", "start_s", "hit_s"))
    return Inputs(costs, pattern, *sizes, gpu_rate())


def gpu_rate():
    """bp·pattern/s of `edit` for patterns of 20 with k = 3 on an H200."""
    rows = json.loads((RESULTS / GPU).read_text())["benchmark"]["rows"]
    (row,) = [row for row in rows if row.get("name") == f"edit m=20 k={K} patterns=64"]
    return row["tbp_pattern_s"] * 1e12


def stage_rows(inputs, size):
    """Yield the rows of the table of stages; size: what is searched, a Size."""
    yield ["stage", "gzipped FASTA, core-hours", "packed once, core-hours", "H200-hours"]
    fasta, packed = (inputs.on_cpu(*size, packed=packed) for packed in (False, True))
    for name in dict.fromkeys((*fasta, *packed)):
        cells = [f"{found[name] / HOUR:.1f}" if name in found else "" for found in (fasta, packed)]
        yield [name, *cells, f"{inputs.on_gpu(size) / HOUR:.2f}" if name == SEARCH else ""]
    totals = [f"{sum(found.values()) / HOUR:.1f}" for found in (fasta, packed)]
    yield ["all", *totals, ""]


def node_rows(inputs, size, node):
    """Yield the rows of the table of what a Node takes, and which of its parts is the last."""
    yield ["hours of a node", "gzipped FASTA", "packed once"]
    names = (
        f"storage, {node.storage:g} GB/s",
        f"{node.cores} cores, without the search",
        "one H200",
    )
    takes, alone = [], []
    for packed, stored in ((False, inputs.gzipped), (True, inputs.packed)):
        found = inputs.on_cpu(*size, packed=packed)
        reading, every = stored * size.letters / (node.storage * 1e9), sum(found.values())
        takes.append((reading, (every - found[SEARCH]) / node.cores, inputs.on_gpu(size)))
        alone.append(max(reading, every / node.cores))
    for name, *seconds in zip(names, *takes, strict=True):
        yield [name, *(f"{each / HOUR:.2f}" for each in seconds)]
    last = [f"{max(each) / HOUR:.2f}, by {names[each.index(max(each))]}" for each in takes]
    yield ["**with the H200**", *last]
    yield ["**without it**", *(f"{each / HOUR:.2f}" for each in alone)]


def plan(inputs, size, node):
    """Yield the lines of both tables, in Markdown."""
    for rows in (stage_rows(inputs, size), node_rows(inputs, size, node)):
        for number, row in enumerate(rows):
            yield f"| {' | '.join(row)} |"
            if not number:
                yield "|---" * len(row) + "|"
        yield ""


def measure(folder):
    """(the rows of the inputs, the other inputs)."""
    samples = [make(folder, *sample) for sample in SAMPLES]
    seconds = [stages_of(sample) for sample in samples]
    for name in tuple(seconds[0]):
        print(f"{name}: {', '.join(f'{each[name]:.4f} s' for each in seconds)}")
    sizes = [(len(sample), len(sample) * letters) for sample, (_, letters, _) in
             zip(samples, SAMPLES, strict=True)]  # fmt: skip
    table = Table(INPUT_COLUMNS)
    for name in seconds[0]:
        cost = solved(sizes, [each[name] for each in seconds])
        table.add({"stage": name, "genome_us": cost.genome * 1e6, "letter_ns": cost.letter * 1e9})
    large, (genomes, letters, _) = samples[1], SAMPLES[1]
    about = {
        "gzipped_bytes": sum(path.stat().st_size for path in large) / (genomes * letters),
        "packed_bytes": sum(packed_path(path).stat().st_size for path in large)
        / (genomes * letters),
        "hit_s": hit_seconds(folder),
        "start_s": start_seconds(folder),
    }
    return table.rows, about


def solved(sizes, seconds):
    """The Cost that two samples, (genomes, letters) of each, tell; none is below 0."""
    (few, short), (other, long) = sizes
    found = few * long - other * short
    genome = (seconds[0] * long - seconds[1] * short) / found
    letter = (few * seconds[1] - other * seconds[0]) / found
    if genome < 0:
        return Cost(0.0, max(seconds[1] / long, 0.0))
    return Cost(genome, letter) if letter >= 0 else Cost(max(seconds[0] / few, 0.0), 0.0)


def make(folder, genomes, letters, records):
    """Gzipped FASTA files of random letters, and beside each the packed genome."""
    paths = []
    for number in range(genomes):
        plain = folder / f"{letters}-{number}.fa"
        write_fasta(plain, letters, records, seed=number)
        path = plain.with_suffix(".fa.gz")
        path.write_bytes(gzip.compress(plain.read_bytes(), 6))
        plain.unlink()
        kmatch.pack(path, packed_path(path))
        paths.append(path)
    return paths


def packed_path(path):
    return path.with_suffix(".kmatch")


def stages_of(paths):
    """Seconds of the CPU by stage, each without the one before it."""
    packed = [packed_path(path) for path in paths]
    reading = cpu_seconds(lambda: [path.read_bytes() for path in paths])
    inflating = cpu_seconds(lambda: [inflate(path) for path in paths])
    parsing = cpu_seconds(lambda: [parse(path) for path in paths])
    few, many = (cpu_seconds(partial(search, paths, count)) for count in (FEW, MANY))
    mapped = cpu_seconds(partial(search, packed, FEW)), cpu_seconds(partial(search, packed, MANY))
    pattern = (many - few) / (MANY - FEW)
    return {
        "read": reading,
        "inflate": inflating - reading,
        "parse": parsing - inflating,
        "pack and set up": few - FEW * pattern - parsing,
        "open packed, set up": mapped[0] - FEW * (mapped[1] - mapped[0]) / (MANY - FEW),
        "search, a pattern": pattern,
    }


def cpu_seconds(call, times=3):
    """The least seconds of all threads of this process; the first call is not counted."""
    found = []
    for _ in range(times + 1):
        before = time.process_time()
        call()
        found.append(time.process_time() - before)
    return min(found[1:])


def inflate(path):
    with open_source(path) as source:
        while source.handle.read(BLOCK):
            pass


def parse(path):
    deque(Genome(path, keep=False).parts(), 0)


def search(paths, patterns):
    genomes = as_genomes(paths)
    genomes._keep = lambda path: False  # as the command does
    panel, running = load_patterns(random_panel(patterns)), Running("cpu", 1)
    deque(edit_batches(genomes, panel, K, running=running), 0)


def hit_seconds(folder):
    """Seconds of the CPU to write a hit as BED."""
    path = folder / "hits.fa"
    write_fasta(path, HIT_LETTERS)
    hits = kmatch.hamming(path, ["NNNN"], k=0, device="cpu", threads=1)
    with open(folder / "hits.bed", "w") as handle:
        return cpu_seconds(lambda: hits.to_bed(handle)) / len(hits)


def start_seconds(folder):
    """Seconds of the CPU of a process that has little to do."""
    path = folder / "little.fa"
    write_fasta(path, 1000)
    return min(process_cpu(folder, path) for _ in range(3))


def process_cpu(folder, genome):
    """Seconds of the CPU of a process that searches a genome, or a list."""
    write_panel(folder / "panel.txt", random_panel(MANY))
    words = (
        "edit",
        genome,
        folder / "panel.txt",
        "-k",
        K,
        "--threads",
        1,
        "-q",
        "-o",
        folder / "hits.bed",
    )
    counted = CpuCounted(partial(process_seconds, kmatch_command(*words)), resource.RUSAGE_CHILDREN)
    counted()
    return counted.cpu[0]


def check(inputs, folder):
    """The row that holds the model against a run."""
    paths = []
    for number in range(CHECKED):
        path = folder / f"checked-{number}.fa"
        write_fasta(path, CHECKED_LETTERS, seed=1_000_000 + number)
        zipped = path.with_suffix(".fa.gz")
        zipped.write_bytes(gzip.compress(path.read_bytes(), 6))
        path.unlink()
        paths.append(zipped)
    listed = folder / "list.txt"
    listed.write_text("".join(f"{path}\n" for path in paths))
    measured = process_cpu(folder, f"@{listed}")
    found = inputs.on_cpu(CHECKED, CHECKED * CHECKED_LETTERS, MANY)
    model = sum(found.values()) + inputs.start
    print(f"{CHECKED:,} genomes: {measured:.2f} s of the CPU, and {model:.2f} by the model")
    return {"genomes": CHECKED, "letters": CHECKED_LETTERS, "patterns": MANY,
            "measured_s": measured, "model_s": model}  # fmt: skip


if __name__ == "__main__":
    main()
