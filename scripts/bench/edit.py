#!/usr/bin/env python
"""Time kmatch's k-differences search against Sassy's on random letters and real DNA, in one run.

    scripts/bench/edit.py [--genome FASTA] [--repeats FILE] [--at-rich FASTA]
        [--at-rich-record NAME] [--length BASES] [--threads N] [--seconds S] [--repeat N]
        [--only WORD] [--json FILE]

Texts, panels, options and figures are those of hamming.py. kmatch and Sassy (`pip install
sassy-rs`) both report minima with their tracebacks, Sassy in the mode that is fastest on the
beginning of the text; both have to find the same. Gbp·pattern/s × m is giga cell updates a second,
with the cells of the whole matrices, whether or not they were computed.
"""

from harness.compare import run_cases

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
    run_cases("edit", CASES, __doc__, repeat=5)


if __name__ == "__main__":
    main()
