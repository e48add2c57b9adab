#!/usr/bin/env python
"""Time kmatch edit and Sassy on reads, from a FASTQ file to a table.

    scripts/bench/reads.py [--reads N] [--length M] [--threads N] [--repeat N] [--json FILE]

N reads of M random letters, in half of which one of the patterns is written with up to three
letters changed; as FASTQ, plain and in gzip; 1 and 96 patterns of 24 letters, k = 3, both strands.
Sassy (package sassy-rs) runs in a script that reads the whole file and hands it many reads at a
time. Seconds and seconds of the CPU are medians of --repeat runs, one tool after the other. Where
Sassy's hits are others, the exit status is 1.
"""

import statistics
import sys
import tempfile
from gzip import GzipFile
from pathlib import Path

import numpy as np
from harness.options import plain_parser
from harness.processes import kmatch_command, python_command, usage, write_panel
from harness.records import Table, write_results

COUNTS, LENGTH, K = (1, 96), 24, 3
READS_AT_A_TIME = 20_000
LETTERS = np.frombuffer(b"ACGT", np.uint8)
COLUMNS = (
    ("file", "file", "<12s"),
    ("patterns", "patterns", ">8,d"),
    ("tool", "tool", "<8s"),
    ("seconds", "seconds", ">9.2f"),
    ("cpu", "CPU s", ">9.2f"),
    ("lines", "lines", ">11,d"),
    ("equal", "hits equal", ">10s"),
)
SASSY = """
import sys
import sassy
from xopen import xopen
reads, panel, k, threads, table, many = sys.argv[1:]
patterns = [line.strip().encode() for line in open(panel)]
alphabet, mode = ("dna", "single") if len(patterns) == 1 else ("iupac", "batch_patterns")
searcher, step = sassy.Searcher(alphabet, rc=True), int(many)
with xopen(reads, "rb", threads=0) as handle:
    lines = handle.read().split(b"\\n")
names = [line[1:].split()[0].decode() for line in lines[:-1:4]]
texts = lines[1::4]
with open(table, "w") as out:
    for first in range(0, len(texts), step):
        part = texts[first : first + step]
        for m in searcher.search_many(patterns, part, int(k), int(threads), mode):
            hit = (m.text_start, m.text_end, m.pattern_idx, m.cost, m.strand)
            print(names[first + m.text_idx], *hit, sep="\\t", file=out)
"""


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("--reads", type=int, default=1_000_000)
    parser.add_argument("--length", type=int, default=150)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    shown = Table(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for count in COUNTS:
            panel = random_panel(count)
            write_panel(folder / "panel.txt", panel)
            plain, packed = folder / "reads.fq", folder / "reads.fq.gz"
            data = fastq(panel, options.reads, options.length)
            plain.write_bytes(data)
            with GzipFile(packed, "wb", compresslevel=1) as handle:
                handle.write(data)
            del data
            for path in (plain, packed):
                for row in rows(path, panel, options):
                    shown.add(row)
    write_results(options.json, shown.rows, threads=options.threads)
    sys.exit(any(row.get("equal") == "NO" for row in shown.rows))


def random_panel(count):
    letters = np.random.default_rng(count).choice(LETTERS, (count, LENGTH))
    return [pattern.tobytes().decode() for pattern in letters]


def fastq(panel, reads, length):
    """Reads of random letters as FASTQ; every other one holds a pattern with some letters changed.

    All names have one length, so that the whole is one array.
    """
    drawn = np.random.default_rng(reads)
    text = drawn.choice(LETTERS, (reads, length))
    patterns = np.array([list(pattern.encode()) for pattern in panel], np.uint8)
    for number in range(0, reads, 2):
        begin = int(drawn.integers(length - LENGTH))
        pattern = patterns[drawn.integers(len(panel))].copy()
        pattern[drawn.integers(LENGTH, size=K)] = drawn.choice(LETTERS, K)
        text[number, begin : begin + LENGTH] = pattern
    names = "".join(f"@read:{number:010d}\n" for number in range(reads)).encode()
    return np.concatenate(
        [
            np.frombuffer(names, np.uint8).reshape(reads, -1),
            text,
            np.tile(np.frombuffer(b"\n+\n", np.uint8), (reads, 1)),
            np.full((reads, length), ord("F"), np.uint8),
            np.full((reads, 1), ord("\n"), np.uint8),
        ],
        axis=1,
    ).tobytes()


def rows(path, panel, options):
    """A row a tool, of its whole processes."""
    tables = {"kmatch": path.with_name("kmatch.bed"), "Sassy": path.with_name("sassy.txt")}
    words = [path, path.with_name("panel.txt")]
    commands = {
        "kmatch": kmatch_command(
            "edit", *words, "-k", K, "-t", options.threads, "-o", tables["kmatch"]
        ),
        "Sassy": python_command(
            SASSY, *words, K, options.threads, tables["Sassy"], READS_AT_A_TIME
        ),
    }
    runs = {tool: [] for tool in commands}
    for _ in range(options.repeat):
        for tool, command in commands.items():
            taken = usage(command)
            runs[tool].append((taken.seconds, taken.cpu))
    ours, theirs = kmatch_hits(tables["kmatch"], panel), sassy_hits(tables["Sassy"])
    for tool, times in runs.items():
        seconds, cpu = (statistics.median(column) for column in zip(*times, strict=True))
        row = {"file": path.name, "patterns": len(panel), "tool": tool, "seconds": seconds}
        row |= {"cpu": cpu, "lines": len(ours if tool == "kmatch" else theirs)}
        if tool == "Sassy":
            row["equal"] = "yes" if ours == theirs else "NO"
        yield row


def kmatch_hits(path, panel):
    """The anchored ends of a BED table: (record, position, pattern, strand, distance)."""
    numbers = {pattern: number for number, pattern in enumerate(panel)}
    found = set()
    for line in path.read_text().splitlines():
        record, start, end, name, _, strand, distance = line.split("\t")
        found.add((record, start if strand == "-" else end, numbers[name], strand, int(distance)))
    return found


def sassy_hits(path):
    found = set()
    for line in path.read_text().splitlines():
        record, start, end, number, cost, strand = line.split("\t")
        found.add((record, start if strand == "-" else end, int(number), strand, int(cost)))
    return found


if __name__ == "__main__":
    main()
