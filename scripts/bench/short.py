#!/usr/bin/env python
"""Time every search on a million short records beside Biopython's parser.

    scripts/bench/short.py [--records N] [--only WORD] [--repeat N] [--json FILE]

Whole processes with one thread, from FASTA to a table, on N records of 100 random letters; seconds
of the CPU, those of the same search in a single record of 100 letters (its start) taken off. Beside
them the loop over Biopython's SimpleFastaParser on the same file; both sides take turns. `us` is
what kmatch takes beyond the parser, microseconds a record: 3 at most, or the exit status is 1.
"""

LETTERS, MOST = 100, 3.0
PATTERN = "GTTCATGATACAGATTCTCT"
PAIR = ("GTTCATGATACAGATTCTCT", "ACGGTCCATTACGGATTGCA")
COLUMNS = (
    ("case", "case", "<34s"),
    ("seconds", "CPU s", ">8.2f"),
    ("parser", "parser", ">8.2f"),
    ("us", "us", ">6.2f"),
    ("rows", "rows", ">9,d"),
)
PARSER = """
import sys, time
from Bio.SeqIO.FastaIO import SimpleFastaParser
began = time.process_time()
with open(sys.argv[1]) as handle:
    for title, sequence in SimpleFastaParser(handle):
        pass
print(time.process_time() - began)
"""
CASES = {
    "hamming": ("hamming", "{}", "-p", PATTERN, "-k", 2),
    "multi": ("multi", "{}", "-p", PATTERN, "-k", 2),
    "multi --pam": ("multi", "{}", "-p", PATTERN, "-k", 2, "--pam", "NGG"),
    "edit": ("edit", "{}", "-p", PATTERN, "-k", 2),
    "best": ("best", "{}", "-p", PATTERN),
    "pcr": ("pcr", "{}", "-p", *PAIR, "-k", 2),
    "primer, background": ("primer", "one", "{}", "-k", 3),
    "primer, target": ("primer", "{}", "one", "-k", 12, "--max-length", 12),
}
