#!/usr/bin/env python
"""Time a paper's algorithms beside kmatch's own, at the sizes of the paper's tables and figures.

    scripts/bench/papers.py PAPER [--device D] [--seconds S] [--genome FILE] [--json FILE]

PAPER is liu2012, pmasm2017, wspasm2017, nakano2012 or feuser2018. Times and rates are as `kmatch
bench` has them, and slow algorithms get no more of the text than they search in S seconds. The exit
status is 1 where hits are not the engine's.
"""

import sys

from harness.common import Table, plain_parser, write_results

from kmatch.bench import Bench, make_case, read_letters

_MEGABYTES = (2.6, 3.02, 5.14, 10.28, 22.97)
# By paper the command and, of each search, letters of text, letters of a pattern, patterns, and k;
# of primers letters of background, 0, and K. Of the papers' tables and figures, but those that Liu
# et al. and Ho et al. 2017b leave out, and those of Nakano, who measures nothing.
PAPERS = {
    "liu2012": (
        "hamming",
        [(5_227_293, m, 1, m // 8) for m in (32, 64, 128, 256, 512)]
        + [(n * 1_000_000, 256, 1, 32) for n in range(1, 6)],
    ),
    "pmasm2017": (
        "multi",
        [(10_280_000, m, count, 4) for count, m in ((6, 7), (9, 7), (6, 12))]
        + [(round(size * 1e6), m, 8, 4) for m in (9, 12) for size in _MEGABYTES],
    ),
    "wspasm2017": (
        "edit",
        [(round(size * 1e6), 16, 1, 6) for size in (3.14, 4.87, 7.74, 12.88, 17.56, 22.87)]
        + [(12_880_000, m, 1, 6) for m in (8, 16, 24, 32, 48, 64)],
    ),
    "nakano2012": (
        "best",
        [(n, m, 1, m // 4) for m in (32, 128) for n in (10_000, 100_000, 1_000_000)],
    ),
    "feuser2018": ("primer", [(43_606, 241_494, 0, 100)]),
}
COLUMNS = (
    ("algorithm", "algorithm", "<18s"),
    ("device", "device", "<6s"),
    ("asked", "text", ">11,d"),
    ("size", "searched", ">11,d"),
    ("m", "m", ">6d"),
    ("patterns", "patterns", ">8d"),
    ("k", "k", ">4d"),
    ("kernel", "kernel s", ">9.3g"),
    ("call", "call s", ">9.3g"),
    ("bp_pattern_s", "bp·pattern/s", ">12.3g"),
    ("of_engine", "× engine", ">8.3g"),
    ("hits", "hits", ">11,d"),
    ("equal", "same hits", ">9d"),
)


def main():
    parser = plain_parser(__doc__)
    parser.add_argument("paper", choices=PAPERS)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a search at most")
    parser.add_argument("--genome", metavar="FILE", help="in place of random letters")
    options = parser.parse_args()
    bench, shown = Bench(options.device, None, options.seconds), Table(COLUMNS)
    command, points = PAPERS[options.paper]
    text = read_letters(options.genome, max(size for size, *_ in points))
    for size, *sizes in points:
        for row in bench.rows(make_case(command, text[:size], *sizes), options.paper):
            shown.add(row)
    write_results(options.json, shown.rows, devices=bench.devices)
    sys.exit(not all(row["equal"] for row in shown.rows))


if __name__ == "__main__":
    main()
