#!/usr/bin/env python
"""Time kmatch's k-differences search against Sassy's on random letters and real DNA, in one run.

    scripts/bench_edit.py [--genome FASTA] [--repeats FILE] [--at-rich FASTA]
        [--at-rich-record NAME] [--length BASES] [--threads N] [--seconds S] [--repeat N]
        [--only WORD] [--json FILE]

Texts, panels, options and figures are those of bench_hamming.py. Both report minima, kmatch with
its tracebacks, Sassy (`pip install sassy-rs`) with its own, in that of its modes which is fastest
on the beginning of the text; the two have to find the same. To have the giga cell updates a second,
multiply Gbp·pattern/s by m: the cells of the whole matrices, whether or not they were computed.
"""

import sys

from benchmarks import text_parser
from versus import run_cases

CASES = [
    ("cut", 8, 20, 1),
    ("cut", 8, 20, 3),
    ("cut", 8, 32, 6),
    ("cut", 8, 100, 10),
    ("cut", 100, 20, 3),
    ("cut", 2_000, 20, 2),
    ("cut", 20_000, 20, 1),
    ("before NGG", 100, 20, 4),
    ("repeats", None, 20, 4),
]


def main():
    options = text_parser(__doc__, length=1 << 25, seconds=10, repeat=5, threads=1).parse_args()
    sys.exit(run_cases("edit", CASES, options))


if __name__ == "__main__":
    main()
