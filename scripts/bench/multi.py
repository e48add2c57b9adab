#!/usr/bin/env python
"""Time kmatch's search for panels against Sassy's edit search on random letters and real DNA.

    scripts/bench/multi.py [--genome FASTA] [--repeats FILE] [--at-rich FASTA]
        [--at-rich-record NAME] [--length BASES] [--threads N] [--seconds S] [--repeat N]
        [--only WORD] [--json FILE]

Texts, options and figures are those of hamming.py, with panels beside a PAM and guides that touch
repeats too. Sassy searches the same patterns without a PAM. guides.py times whole processes.
"""

from harness.compare import run_cases

CASES = [
    ("cut", 100, 20, 3),
    ("cut", 2_000, 20, 3),
    ("cut", 20_000, 20, 3),
    ("before NGG", 2_000, 20, 4, "NGG"),
    ("before NGG", 20_000, 20, 3, "NGG"),
    ("touching repeats", 1_000, 20, 4),
    ("touching repeats", 1_000, 20, 4, "NGG"),
    ("repeats", None, 20, 4),
    ("repeats", None, 20, 4, "NGG"),
]


def main():
    run_cases("multi", CASES, __doc__, repeat=3)


if __name__ == "__main__":
    main()
