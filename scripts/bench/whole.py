#!/usr/bin/env python
"""Time whole kmatch processes, from FASTA to BED, against Sassy's search alone in memory.

    scripts/bench/whole.py --genome FASTA --repeats FILE [--at-rich FASTA] [--at-rich-record NAME]
        [--length BASES] [--threads N] [--seconds S] [--repeat N] [--only WORD] [--json FILE]

The text is the first record of FASTA after its leading N, 34 Mbp of it unless --length says
otherwise, or as long a text of four fifths A and T; the panels are those of real work: guides out
of repeats, windows and guides cut out of the text. A process reads the text from a FASTA file in
memory and writes its table to a file; its seconds include the start of Python and Numba and the
loading of compiled kernels. Sassy's (`pip install sassy-rs`) are those of one call with text and
patterns in memory, in its fastest mode and on as many threads, two unless --threads says otherwise.
Where Sassy would need more than --seconds, both get a slice of the text, and a second row gives
kmatch's time for the whole. Gbp·pattern/s counts both strands; other columns are those of
hamming.py. `kmatch_cpu_s` and `sassy_cpu_s` are seconds of all threads, `cpu_ratio` the latter ÷
the former: on a machine that does other work too, where threads wait for each other and for cores,
it says more than the seconds do. The exit status is 1 where hits differ (see `harness/sassy.py`).
"""

import resource
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

from harness.anchors import Anchors, read_bed
from harness.compare import COLUMNS, Search, described, differ, figures, panel_of
from harness.options import is_wanted, text_parser, texts
from harness.processes import (
    CpuCounted,
    count_lines,
    kmatch_command,
    process_seconds,
    write_panel,
)
from harness.records import Table, write_results
from harness.sassy import Sassy
from harness.timing import median_ratio, take_turns
from harness.workloads import fasta_lines

LENGTH = 20
CASES = [
    ("real", "edit", "repeats", 300, 4),
    ("real", "edit", "cut", 100, 3),
    ("real", "edit", "cut", 2_000, 2),
    ("real", "multi", "before NGG", 20_000, 3, "NGG"),
    ("real", "multi", "touching repeats", 1_000, 4),
    ("real", "hamming", "touching repeats", 1_000, 4),
    ("real", "multi", "touching repeats", 1_000, 4, "NGG"),
    ("at-rich", "edit", "cut", 100, 3),
]


def main():
    options = text_parser(__doc__, length=34_000_000, seconds=60, repeat=3, threads=2).parse_args()
    if not options.genome or not options.repeats:
        sys.exit("give --genome and --repeats")
    found, shown = texts(options), Table(COLUMNS)
    for name, command, kind, count, k, *pam in CASES:
        text = found[name]
        if is_wanted(options, name, text.name, kind, f"{command} {LENGTH},{k}"):
            patterns = panel_of(kind, text, count, LENGTH, options)
            for row in measure(text, kind, Search(command, patterns, k, *pam), options):
                shown.add(row)
    write_results(options.json, shown.rows, threads=options.threads)
    sys.exit(differ(shown.rows))


def measure(text, panel, search, options):
    """Yield the row of a Search, and another of the whole text where Sassy got a slice of it."""
    peer = Sassy.load(search, options.threads)
    lengths = [len(text.letters)]
    if peer:
        lengths.insert(0, peer.choose(text.letters, options.seconds))
    for length in dict.fromkeys(lengths):
        letters = text.letters[:length]
        with tempfile.TemporaryDirectory() as folder:
            process = Process(Path(folder), letters, search, options.threads)
            first = process.seconds()
            calls = [CpuCounted(process.seconds, resource.RUSAGE_CHILDREN)]
            if peer:
                search_of_peer = partial(peer.seconds, letters)
                calls.append(CpuCounted(search_of_peer, resource.RUSAGE_SELF))
            repeat = options.repeat if first < options.seconds / options.repeat else 1
            row = described(text, panel, search)
            row |= figures(search, length, *take_turns(repeat, *calls))
            row |= cpu_figures(*(call.cpu for call in calls))
            row["hits"] = process.hits()
            if peer:
                row |= peer.check(letters, process.anchors())
        yield row
        peer = None


def cpu_figures(ours, theirs=None):
    """The columns of a row with medians of seconds of the CPU."""
    row = {"kmatch_cpu_s": statistics.median(ours)}
    if theirs and any(ours):
        row |= {"sassy_cpu_s": statistics.median(theirs), "cpu_ratio": median_ratio(ours, theirs)}
    return row


class Process:
    """A kmatch process, with its files in a folder."""

    def __init__(self, folder, letters, search, threads):
        genome, panel = folder / "genome.fa", folder / "panel.txt"
        genome.write_bytes(b">text\n" + fasta_lines(letters))
        write_panel(panel, search.patterns)
        self._search, self._table = search, folder / "hits.bed"
        words = (search.command, genome, panel, "-k", search.k, "-t", threads, "--device", "cpu")
        pam = ("--pam", search.pam) if search.pam else ()
        self._command = kmatch_command(*words, *pam, "-q", "-o", self._table)

    def seconds(self):
        return process_seconds(self._command)

    def hits(self):
        return count_lines(self._table)

    def anchors(self):
        """The Anchors of the hits in the table."""
        rows = list(read_bed(self._table, self._search.patterns))
        return Anchors.of_bed(rows, beyond=len(self._search.pam or ""))


if __name__ == "__main__":
    main()
