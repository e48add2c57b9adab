#!/usr/bin/env python
"""Time and peak memory of searches of unusual size.

    scripts/bench/scale.py [--share S] [--only WORD] [--folder DIR] [--json FILE]

Whole processes on random letters, from file to table, two threads: ten million records; a record of
5 Gbp through a pipe, in which a pattern stands beyond positions 2^31 and 2^32; 200,000 patterns; a
hundred million hits to a file; a pattern of 10,000 letters. --share makes all sizes that much
smaller. DIR holds the files meanwhile, some 5 GB. The exit status is 1 where hits are not those
expected.
"""

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from harness.common import (
    Table,
    count_lines,
    is_wanted,
    kmatch_command,
    plain_parser,
    python_command,
    usage,
    write_panel,
    write_results,
)
from harness.workloads import cut_panel, random_text, write_fasta

RECORDS, RECORD = 10_000_000, 100  # number, letters
LONG, PLANTED = 5_000_000_000, "GTTCATGATACAGATTCTCTAACGGTCCATTACGGA"
PATTERNS, GENOME = 200_000, 4_600_000
HITS = 100_000_000
PATTERN, DIFFERENCES, TEXT = 10_000, 500, 4_000_000
COLUMNS = (
    ("case", "case", "<46s"),
    ("seconds", "s", ">8.1f"),
    ("cpu", "CPU s", ">8.1f"),
    ("mb", "MB", ">7,.0f"),
    ("hits", "hits", ">13,d"),
    ("equal", "as expected", "<11s"),
)
# Writes a record of so many letters, the same million again and again, patterns among them.
STREAM = """
import sys
import numpy as np
length, pattern, at = int(sys.argv[1]), sys.argv[2].encode(), [int(x) for x in sys.argv[3:]]
block = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(1).integers(0, 4, 10**6)]
out = sys.stdout.buffer
out.write(b">long\\n")
for first in range(0, length, len(block)):
    here = [x - first for x in at if first <= x < first + len(block)]
    part = block.copy() if here else block
    for x in here:
        part[x : x + len(pattern)] = np.frombuffer(pattern, np.uint8)
    out.write(part[: length - first].tobytes())
    out.write(b"\\n")
"""


def records(folder, share):
    path, count = folder / "records.fa", int(RECORDS * share)
    write_fasta(path, count * RECORD, count)
    with path.open() as file:
        next(file)
        pattern = next(file)[:25]
    yield f"hamming, {count:,} records of {RECORD}", (path, "-p", pattern, "-k", 3), 1, None


def long_record(folder, share):
    length = int(LONG * share)
    at = [int(x * share) // 1000 * 1000 for x in (5_000, 2**31 + 5_000, 2**32 + 5_000)]
    expected = [f"long\t{x}\t{x + len(PLANTED)}" for x in at]
    stream = python_command(STREAM, length, PLANTED, *at)
    for command in ("hamming", "edit"):
        name = f"{command}, a record of {length:,} bp, piped"
        yield name, ("-", "-p", PLANTED, "-k", 2, "--strand", "+"), expected, stream


def patterns(folder, share):
    genome, panel = folder / "genome.fa", folder / "panel.txt"
    write_fasta(genome, GENOME)
    count = int(PATTERNS * share)
    text = random_text(GENOME, seed=1)
    write_panel(panel, cut_panel(text, count))
    yield f"multi, {count:,} patterns of 20, k = 2", (genome, panel, "-k", 2), count, None


def hits(folder, share):
    path, letters = folder / "hits.fa", int(HITS * share / 0.875)  # AC with k = 1, both strands
    write_fasta(path, letters)
    number = sum(pairs_of(path))
    yield f"hamming, {number:,} hits", (path, "-p", "AC", "-k", 1), number, None


def pairs_of(path):
    """Yield, part by part, the windows that match AC, and those that match GT, within a mismatch.

    A little at a time: a process that is started counts the memory of the one that starts it.
    """
    before = b""
    with path.open("rb") as file:
        next(file)
        for part in iter(partial(file.read, 1 << 20), b""):
            letters = before + part.replace(b"\n", b"")
            text, before = np.frombuffer(letters, np.uint8), letters[-1:]
            first, second = text[:-1], text[1:]
            yield int(((first == ord("A")) | (second == ord("C"))).sum())
            yield int(((first == ord("G")) | (second == ord("T"))).sum())


def long_pattern(folder, share):
    path, panel = folder / "text.fa", folder / "pattern.txt"
    length, size = int(TEXT * share), int(PATTERN * share)
    write_fasta(path, length)
    text = random_text(length, seed=1)
    write_panel(panel, cut_panel(text, 1, size))
    k = int(DIFFERENCES * share)
    yield f"edit, m = {size:,}, k = {k} on {length:,} bp", (path, panel, "-k", k), 1, None
    yield f"best, m = {size:,} on {length:,} bp", (path, panel), 1, None


CASES = (records, long_record, patterns, hits, long_pattern)


def measure(folder, name, words, expected, stream):
    """The row of a search: its figures, and whether its hits are as many or as those expected."""
    output = folder / "hits.bed"
    command = kmatch_command(name.split(",")[0], *words, "-t", 2, "-o", output)
    if stream:
        with subprocess.Popen(stream, stdout=subprocess.PIPE) as source:
            used = usage(command, stdin=source.stdout)
    else:
        used = usage(command)
    found = count_lines(output)
    if isinstance(expected, int):
        equal = found == expected if "hits" in name else found >= expected
    else:
        lines = {"\t".join(line.split("\t")[:3]) for line in output.read_text().splitlines()}
        equal = lines.issuperset(expected)
    output.unlink()
    figures = {"seconds": used.seconds, "cpu": used.cpu, "mb": used.peak / 1e6}
    return {"case": name, **figures, "hits": found, "equal": "yes" if equal else "NO"}


def main():
    parser = plain_parser(__doc__)
    parser.add_argument("--share", type=float, default=1)
    parser.add_argument("--only", metavar="WORD", help="cases with WORD in their names")
    parser.add_argument("--folder", metavar="DIR")
    options = parser.parse_args()
    shown = Table(COLUMNS)
    for cases in CASES:
        if not is_wanted(options, cases.__name__):
            continue
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            for case in cases(Path(folder), options.share):
                shown.add(measure(Path(folder), *case))
    write_results(options.json, shown.rows)
    sys.exit(any(row["equal"] != "yes" for row in shown.rows))


if __name__ == "__main__":
    main()
