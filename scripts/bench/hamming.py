#!/usr/bin/env python
"""Time kmatch's k-mismatches search against Sassy's edit search on random letters and real DNA.

    scripts/bench/hamming.py [--genome FASTA] [--repeats FILE] [--at-rich FASTA]
        [--at-rich-record NAME] [--length BASES] [--threads N] [--seconds S] [--repeat N]
        [--only WORD] [--json FILE]

Texts are in memory, packed for kmatch and as bytes for Sassy (`pip install sassy-rs`), whose search
allows insertions and deletions too: random letters, the first record of FASTA after its leading N,
and a text of four fifths A and T. Panels are cut out of the text; the panel of --repeats is
searched in the genome. Both search both strands, in turn, with one thread unless --threads says
otherwise. Seconds are medians of the repeats, the ratio is the median of Sassy's seconds ÷
kmatch's, turn by turn; Gbp·pattern/s is text length × patterns × 2 strands ÷ time. Where Sassy
would need more than --seconds, both get a slice of the text. The exit status is 1 where hits differ
(see `harness/sassy.py`).
"""

from harness.compare import run_cases

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
    run_cases("hamming", CASES, __doc__, repeat=5)


if __name__ == "__main__":
    main()
