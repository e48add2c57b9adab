#!/usr/bin/env python
"""Time every search on a million short records beside Biopython's parser.

    scripts/bench/short.py [--records N] [--only WORD] [--repeat N] [--json FILE]

Whole processes with one thread, from FASTA to a table, on N records of 100 random letters; the loop
over Biopython's SimpleFastaParser on the same file takes turns with them. Seconds are those of the
CPU in user mode, medians of the repeats. `us`: what a record costs beyond the parser, in
microseconds, without what the same search takes in one record of 100 letters; for the target of
primers, whose letters are work, in one record with all letters. Where `us` is above 3, the exit
status is 1.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.options import is_wanted, plain_parser
from harness.processes import kmatch_command, python_command, usage
from harness.records import Table, write_results
from harness.timing import take_turns
from harness.workloads import write_fasta

LETTERS, MOST = 100, 3.0
PATTERN, OTHER = "GTTCATGATACAGATTCTCT", "ACGGTCCATTACGGATTGCA"
MANY, ONE, JOINED = "many.fa", "one.fa", "joined.fa"
CASES = {
    "hamming": (("hamming", MANY, "-p", PATTERN, "-k", 2), ONE),
    "multi": (("multi", MANY, "-p", PATTERN, "-k", 2), ONE),
    "multi beside a PAM": (("multi", MANY, "-p", PATTERN, "-k", 2, "--pam", "NGG"), ONE),
    "edit": (("edit", MANY, "-p", PATTERN, "-k", 2), ONE),
    "best": (("best", MANY, "-p", PATTERN), ONE),
    "pcr": (("pcr", MANY, "-p", PATTERN, OTHER, "-k", 2), ONE),
    "primer, background": (("primer", ONE, MANY, "-k", 3), ONE),
    "primer, target": (("primer", MANY, ONE, "-k", 3, "--max-length", 3), JOINED),
}
PARSER = """
import sys
from Bio.SeqIO.FastaIO import SimpleFastaParser
with open(sys.argv[1]) as handle:
    for title, sequence in SimpleFastaParser(handle):
        pass
"""
COLUMNS = (
    ("case", "case", "<20s"),
    ("seconds", "s", ">8.2f"),
    ("without", "without", ">8.2f"),
    ("parser", "parser", ">8.2f"),
    ("us", "us", ">6.2f"),
)


def user_seconds(command, folder):
    """Seconds of the CPU in user mode that a process takes."""
    return usage(command, cwd=folder, stderr=subprocess.DEVNULL).user


def measure(name, folder, options):
    """The row of a case."""
    words, other = CASES[name]
    run = ("-t", 1, "--device", "cpu", "-o", "table.bed")
    commands = [
        kmatch_command(*words, *run),
        kmatch_command(*(other if word == MANY else word for word in words), *run),
        python_command(PARSER, MANY),
        python_command(PARSER, ONE),
    ]
    calls = [lambda command=command: user_seconds(command, folder) for command in commands]
    calls[1]()  # compiles
    whole, without, parser, imports = map(statistics.median, take_turns(options.repeat, *calls))
    beyond = whole - without - (parser - imports)
    row = {"case": name, "seconds": whole, "without": without, "parser": parser - imports}
    return row | {"us": 1e6 * beyond / options.records}


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--only", metavar="WORD", help="cases with WORD in their names")
    options = parser.parse_args()
    shown = Table(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        letters = LETTERS * options.records
        write_fasta(Path(folder) / MANY, letters, options.records)
        write_fasta(Path(folder) / JOINED, letters)
        write_fasta(Path(folder) / ONE, LETTERS)
        for name in CASES:
            if is_wanted(options, name):
                shown.add(measure(name, folder, options))
    write_results(options.json, shown.rows)
    sys.exit(any(row["us"] > MOST for row in shown.rows))


if __name__ == "__main__":
    main()
