#!/usr/bin/env python
"""Time kmatch against Sassy on random letters and real DNA, both with the text in memory.

    scripts/bench/cpu.py COMMAND [--genome FASTA] [--repeats FILE] [--at-rich FASTA]
        [--at-rich-record NAME] [--length BASES] [--threads N] [--seconds S] [--repeat N]
        [--only WORD] [--json FILE]

COMMAND is `hamming`, `edit` or `multi`. Texts are packed for kmatch and bytes for Sassy
(`pip install sassy-rs`), whose search allows insertions and deletions too: random letters, the
first record of FASTA after its leading N, and a text of four fifths A and T. Panels are cut out of
the text; the panel of --repeats is searched in the genome. Both search both strands, in turn, with
one thread unless --threads says otherwise, Sassy in the mode that is fastest on the beginning of
the text and without a PAM. Seconds are medians of the repeats, the ratio is the median of Sassy's
seconds ÷ kmatch's, turn by turn; Gbp·pattern/s is text length × patterns × 2 strands ÷ time, and m
times that giga cell updates a second, whether or not the cells were computed. Where Sassy would
need more than --seconds, both get a slice of the text. The exit status is 1 where hits differ (see
`harness/sassy.py`).
"""

import sys

from harness.compare import compare_cases, differ
from harness.options import text_parser
from harness.records import write_results

CASES = {  # kind of the panel, patterns, m, k, and a PAM
    "hamming": (
        ("cut", 16, 20, 3),
        ("cut", 16, 23, 4),
        ("cut", 16, 32, 6),
        ("cut", 100, 20, 3),
        ("cut", 2_000, 20, 3),
        ("cut", 20_000, 20, 2),
        ("before NGG", 2_000, 20, 4),
        ("repeats", None, 20, 4),
    ),
    "edit": (
        ("cut", 8, 20, 1),
        ("cut", 8, 20, 3),
        ("cut", 8, 32, 6),
        ("cut", 8, 100, 10),
        ("cut", 100, 20, 3),
        ("cut", 2_000, 20, 2),
        ("cut", 20_000, 20, 1),
        ("before NGG", 100, 20, 4),
        ("repeats", None, 20, 4),
    ),
    "multi": (
        ("cut", 100, 20, 3),
        ("cut", 2_000, 20, 3),
        ("cut", 20_000, 20, 3),
        ("before NGG", 2_000, 20, 4, "NGG"),
        ("before NGG", 20_000, 20, 3, "NGG"),
        ("touching repeats", 1_000, 20, 4),
        ("touching repeats", 1_000, 20, 4, "NGG"),
        ("repeats", None, 20, 4),
        ("repeats", None, 20, 4, "NGG"),
    ),
}


def main():
    parser = text_parser(__doc__, length=1 << 25, seconds=10, repeat=5, threads=1)
    parser.add_argument("command", choices=CASES)
    options = parser.parse_args()
    rows = compare_cases(options.command, CASES[options.command], options)
    write_results(options.json, rows, threads=options.threads)
    sys.exit(differ(rows))


if __name__ == "__main__":
    main()
