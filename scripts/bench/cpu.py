#!/usr/bin/env python
"""Time searches on the CPU with the text in memory, those of `edit` beside Sassy.

    scripts/bench/cpu.py [--genome FASTA] [--repeats FILE] [--length BASES] [--threads N …]
        [--sassy PROGRAM] [--patience S] [--repeat N] [--only WORD] [--json FILE]

The text is the letters A, C, G and T of FASTA's first record, or random letters. Panels are cut
out of it; the panel of --repeats is searched too. All search both strands. A figure is the least
of the repeats, or of those until one took longer than --patience: seconds, and seconds of the CPU
of all threads. A Genome packs its text once, in a search before; the reverse text that Sassy wants
is made before, too, where a program can do so. kmatch makes a CIGAR for each hit where it is asked,
and is timed without and with them; Sassy always does. Rates in Gbp·pattern/s are text length ×
patterns × 2 strands ÷ seconds.

Beside `edit` stands the package sassy-rs, where it is installed, and PROGRAM, which links another
build of Sassy (see scripts/results/README.md). The exit status is 1 where hits differ.
"""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from harness import sassy
from harness.common import Table, is_wanted, least, plain_parser, write_panel, write_results
from harness.workloads import (
    TooFew,
    cut_panel,
    file_panel,
    file_text,
    guide_panel,
    random_text,
    repeat_guide_panel,
    write_text,
)

import kmatch

PANELS = {
    "cut": cut_panel,
    "before NGG": guide_panel,
    "touching repeats": repeat_guide_panel,
}
COLUMNS = (
    ("search", "search", "<16s"),
    ("panel", "panel", "<22s"),
    ("threads", "threads", ">7d"),
    ("hits", "hits", ">11,d"),
    ("rate", "Gbp·pattern/s", ">13.2f"),
    *((f"kmatch_{unit}", f"kmatch {unit}", ">10.3f") for unit in ("s", "cpu")),
    *((f"cigars_{unit}", f"CIGARs {unit}", ">10.3f") for unit in ("s", "cpu")),
    *((f"package_{unit}", f"package {unit}", ">11.3f") for unit in ("s", "cpu")),
    *((f"program_{unit}", f"program {unit}", ">11.3f") for unit in ("s", "cpu")),
    ("equal", "hits equal", ">10s"),
)
SIZES = ((20, 1), (20, 3), (32, 6), (100, 10))
CASES = (  # command, kind of the panel, patterns, m, k, and a PAM
    *(("edit", "cut", count, *size) for size in SIZES for count in (1, 16, 100)),
    ("edit", "cut", 2_000, 20, 2),
    ("edit", "repeats", 300, 20, 4),
    ("edit", "before NGG", 1_000, 20, 4, "NGG"),
    *(("hamming", "cut", count, 20, 3) for count in (1, 16, 100)),
    ("multi", "cut", 2_000, 20, 3),
    ("multi", "touching repeats", 1_000, 20, 4),
    ("multi", "before NGG", 20_000, 20, 3, "NGG"),
    ("multi", "repeats", 300, 20, 4, "NGG"),
)


class Search(NamedTuple):
    """A command of kmatch with patterns of one length."""

    command: str
    patterns: list[str]
    k: int
    pam: str | None = None

    def __str__(self):
        words = (self.command, f"{len(self.patterns[0])},{self.k}", self.pam or "")
        return " ".join(words).strip()

    def run(self, genome, threads):
        """The Hits in a Genome."""
        pam = {"pam": self.pam} if self.pam else {}
        options = {"threads": threads, "device": "cpu", **pam}
        return getattr(kmatch, self.command)(genome, self.patterns, self.k, **options)


def measure(text, genome, search, threads, options, fasta):
    """The figures of a Search in a Text, which a Genome and the file `fasta` hold too."""
    run, repeat = (lambda: search.run(genome, threads)), (options.repeat, options.patience)
    hits, spent = least(run, *repeat)
    work = len(text.letters) * len(search.patterns) * 2 / 1e9
    row = {"hits": len(hits), "rate": work / spent.seconds}
    row |= {"kmatch_s": spent.seconds, "kmatch_cpu": spent.cpu}
    if search.command == "edit":
        _, spent = least(lambda: run().cigar, *repeat)
        row |= {"cigars_s": spent.seconds, "cigars_cpu": spent.cpu}
    if search.command == "edit" and not search.pam:
        found = sassy.hits_of(hits)
        panel = fasta.with_name("panel.txt")
        write_panel(panel, search.patterns)
        row |= sassy.package(search, text.letters, threads, options, found)
        row |= sassy.program(search, fasta, panel, threads, options, found)
        equal = {row[key] for key in ("package_equal", "program_equal") if key in row}
        row |= {"equal": "NO" if False in equal else "yes"} if equal else {}
    return row


def panel_of(kind, text, count, length, options):
    """A panel of one of PANELS, or of --repeats; None where there is none."""
    if kind == "repeats":
        return file_panel(options.repeats)[:count] if options.repeats else None
    try:
        return PANELS[kind](text, count, length)
    except TooFew as error:
        print(error, file=sys.stderr)
        return None


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("--genome", metavar="FASTA", help="real DNA: its first record")
    parser.add_argument("--repeats", metavar="FILE", help="guides out of repeats of the genome")
    parser.add_argument("--length", type=int, default=1 << 25, help="letters of the text")
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--sassy", metavar="PROGRAM", help="searches with another build of Sassy")
    parser.add_argument("--patience", type=float, default=10, help="seconds of a last repeat")
    parser.add_argument("--only", metavar="WORD", help="rows with WORD in search or panel")
    options = parser.parse_args()
    if options.genome:
        text = file_text(options.genome, options.length)
    else:
        text = random_text(options.length)
    genome, shown = kmatch.Genome.from_records([("text", text.letters)]), Table(COLUMNS)
    Search("hamming", ["A" * 20], 0).run(genome, None)  # packs the text
    with tempfile.TemporaryDirectory() as folder:
        fasta = Path(folder) / "text.fa"
        write_text(fasta, text)
        for command, kind, count, length, k, *pam in CASES:
            if not is_wanted(options, f"{command} {length},{k}", f"{count:,} {kind}"):
                continue
            if patterns := panel_of(kind, text, count, length, options):
                search = Search(command, patterns, k, *pam)
                for threads in options.threads:
                    about = {"search": str(search), "panel": f"{len(patterns):,} {kind}"}
                    figures = measure(text, genome, search, threads, options, fasta)
                    shown.add(about | {"threads": threads} | figures)
    about = {"text": text.name, "letters": len(text.letters)}
    write_results(options.json, shown.rows, **about)
    sys.exit(any(row.get("equal") == "NO" for row in shown.rows))


if __name__ == "__main__":
    main()
