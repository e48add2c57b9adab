#!/usr/bin/env python
"""Time kmatch's k-mismatches search against Sassy's edit search on random letters and real DNA.

    scripts/bench_hamming.py [--genome FASTA] [--repeats FILE] [--at-rich FASTA]
        [--at-rich-record NAME] [--length BASES] [--threads N] [--seconds S] [--repeat N]
        [--only WORD] [--json FILE]

Texts are held in memory, packed for kmatch and as bytes for Sassy (`pip install sassy-rs`), whose
search allows insertions and deletions too: random letters, the first record of FASTA behind its
leading N, and one of four fifths A and T. Panels are cut out of the text; --repeats brings one that
is searched in the genome. Both strands, and one thread each unless --threads says otherwise, in
turn. Seconds are medians of the repeats, the ratio is Sassy's seconds ÷ kmatch's, turn by turn;
Gbp·pattern/s is text length × patterns × 2 strands ÷ time. Where Sassy would need more than
--seconds, both get a slice of the text. Exit status 1 where hits differ (see `versus.py`).
"""

import sys

from benchmarks import text_parser
from versus import run_cases

CASES = [
    ("cut", 16, 20, 3),
    ("cut", 16, 23, 4),
    ("cut", 16, 32, 6),
    ("cut", 100, 20, 3),
    ("cut", 2_000, 20, 3),
    ("cut", 20_000, 20, 2),
    ("before NGG", 2_000, 20, 4),
    ("repeats", None, 20, 4),
]


def main():
    options = text_parser(__doc__, length=1 << 25, seconds=10, repeat=5, threads=1).parse_args()
    sys.exit(run_cases("hamming", CASES, options))


if __name__ == "__main__":
    main()
