#!/usr/bin/env python
"""Time whole jobs on a genome as large as a human one, by one or more kmatch commands in turn.

    scripts/bench/jobs.py [--letters N] [--threads N] [--device D] [--repeat N] [--only WORD]
        [--folder DIR] [--json FILE] FASTA KMATCH …

The first record of FASTA is that of the genome, the others are copies of it in which one letter in
a hundred is drawn anew. KMATCH is an installed command. Figures are the least of --repeat runs;
files are in memory when they are read, since one run comes before. DIR holds the genome, as FASTA
and packed, and tables, 8 GB of a human one. The exit status is 1 where tables differ.
"""

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from harness.common import Table, is_wanted, plain_parser, usage, write_panel, write_results
from harness.workloads import LETTERS, Text, cut_panel, file_text, guide_panel, write_text

CHANGED = 100  # letters, of which a copy has one drawn anew
JOBS = {
    "one pattern": ("edit", "genome.fa", "one.txt", "-k", 3),
    "312 guides, multi": ("multi", "genome.fa", "312.txt", "-k", 4, "--pam", "NGG"),
    "312 guides, edit": ("edit", "genome.kmatch", "312.txt", "-k", 4, "--pam", "NGG"),
    "10,000 guides, counts": (
        *("multi", "genome.kmatch", "10000.txt", "-k", 3, "--pam", "NGG", "--summary-only"),
    ),
}
COLUMNS = (
    ("job", "job", "<24s"),
    ("kmatch", "kmatch", "<40s"),
    ("seconds", "s", ">8.2f"),
    ("cpu", "CPU s", ">8.2f"),
    ("mb", "MB", ">7,.0f"),
    ("mb_written", "MB written", ">10,.0f"),
    ("equal", "equal", "<5s"),
)


def write_genome(path, text, letters):
    """Write a Text, and copies of it that differ, until there are so many letters."""
    with path.open("wb") as genome:
        part = path.with_suffix(".part")
        for number in range(-(-letters // len(text.letters))):
            copy = text.letters.copy()
            rng = np.random.default_rng(number)
            if number:
                drawn = rng.integers(0, len(copy), len(copy) // CHANGED)
                copy[drawn] = LETTERS[rng.integers(0, 4, len(drawn))]
            write_text(part, Text(f"copy{number}", copy[: letters - number * len(copy)]))
            genome.write(part.read_bytes())
        part.unlink()


def prepare(folder, options):
    """Write the genome and the panels."""
    text = file_text(options.fasta)
    write_genome(folder / "genome.fa", text, options.letters)
    write_panel(folder / "one.txt", cut_panel(text, 1))
    for count in (312, 10_000):
        write_panel(folder / f"{count}.txt", guide_panel(text, count))
    pack = (options.kmatch[0], "pack", folder / "genome.fa", "-o", folder / "genome.kmatch")
    subprocess.run(pack, check=True)


def measure(folder, name, options):
    """Yield the row of each command; they take turns."""
    command, genome, panel, *words = JOBS[name]
    table = folder / "table.tsv"
    more = (*words, "-t", options.threads, "--device", options.device, "-o", table)
    runs = {kmatch: [] for kmatch in options.kmatch}
    digests = {}
    for turn in range(options.repeat + 1):
        for kmatch in options.kmatch:
            job = (kmatch, command, folder / genome, folder / panel, *map(str, more))
            used = usage(job, stderr=subprocess.DEVNULL)
            if turn:
                runs[kmatch].append(used)
            with table.open("rb") as lines:
                digests[kmatch] = hashlib.file_digest(lines, "md5").hexdigest()
            size = table.stat().st_size
            table.unlink()

    for kmatch, of_command in runs.items():
        yield {
            "job": name,
            "kmatch": kmatch,
            "seconds": min(run.seconds for run in of_command),
            "cpu": min(run.cpu for run in of_command),
            "mb": max(run.peak for run in of_command) / 1e6,
            "mb_written": size / 1e6,
            "equal": "yes" if digests[kmatch] == digests[options.kmatch[0]] else "NO",
        }


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("fasta", metavar="FASTA")
    parser.add_argument("kmatch", metavar="KMATCH", nargs="+")
    parser.add_argument("--letters", type=int, default=3_200_000_000, help="of the genome")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", metavar="WORD", help="jobs with WORD in their names")
    parser.add_argument("--folder", metavar="DIR", help="where files are meanwhile")
    options = parser.parse_args()
    shown = Table(COLUMNS)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        prepare(Path(folder), options)
        for name in JOBS:
            if is_wanted(options, name):
                for row in measure(Path(folder), name, options):
                    shown.add(row)
    write_results(options.json, shown.rows, letters=options.letters, threads=options.threads)
    sys.exit(any(row["equal"] == "NO" for row in shown.rows))


if __name__ == "__main__":
    main()
