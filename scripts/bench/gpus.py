#!/usr/bin/env python3
"""Compare searches on one GPU with the same searches on several.

    scripts/bench/gpus.py [--devices cuda:0,cuda:all] [--length BASES] [--packed FILE]
        [--patterns N] [--primers TARGET,BACKGROUND,K] [--json FILE]

Kernels: searches of a text in memory, planes of which stay on the GPUs; a rate is text length ×
patterns ÷ the kernels' time on the GPU that took longest. Whole calls of the same searches, and
primers, are timed as calls. Whole processes search a packed genome, `--packed`, for random patterns
with `edit -k 3 --summary-only`, kernels compiled before. The devices take turns; figures are
medians, `times` is the first device's seconds ÷ each one's, hits and tables are compared.
"""

import statistics
import tempfile
from pathlib import Path

import numpy as np
from harness.options import plain_parser
from harness.processes import kmatch_command, process_seconds, write_panel
from harness.records import shown_figure, write_results
from harness.timing import timed

import kmatch
from kmatch.search.hooked import hooked, hooked_primer

LETTERS = np.frombuffer(b"ACGT", np.uint8)
KERNELS = (("hamming", 20, 3, 64), ("edit", 20, 3, 1), ("edit", 20, 3, 64))


class Bench:
    """Rows of figures; devices: what is compared, the first one with the others."""

    def __init__(self, devices, repeat):
        self.devices, self._repeat = devices, repeat
        self.rows, self._random = [], np.random.default_rng(1)

    def text(self, length):
        return LETTERS[self._random.integers(0, 4, length, dtype=np.uint8)].tobytes().decode()

    def compare(self, name, measure, **about):
        """Take turns: measure(device) returns ({figure: seconds}, what was found)."""
        seconds = {device: {} for device in self.devices}
        found, equal = None, True
        for turn in range(self._repeat + 1):
            for device in self.devices:
                figures, result = measure(device)
                found = result if found is None else found
                equal &= result == found
                for figure, value in figures.items() if turn else ():  # the first turn compiles
                    seconds[device].setdefault(figure, []).append(value)
        first = None
        for device in self.devices:
            medians = {name: statistics.median(values) for name, values in seconds[device].items()}
            first = first or medians
            times = {f"{figure}_times": first[figure] / medians[figure] for figure in medians}
            self.note(name, device=device, equal=equal, **medians, **times, **about)

    def note(self, name, **figures):
        self.rows.append({"name": name, **figures})
        shown = ", ".join(f"{key} {shown_figure(value)}" for key, value in figures.items())
        print(f"{name}: {shown}", flush=True)

    def kernels(self, command, m, k, count, text):
        """Kernels and calls of a search on the strand + of a genome that stays packed."""
        patterns = [self.text(m) for _ in range(count)]
        genomes = {device: kmatch.Genome.from_records([("r", text)]) for device in self.devices}
        options = {"strand": "+"} | ({"report": "ends"} if command == "edit" else {})

        def measure(device):
            watches = []
            hits, call = timed(
                lambda: hooked(command, genomes[device], patterns, k, device=device, **options)
            )
            hooked(
                command,
                genomes[device],
                patterns,
                k,
                device=device,
                on_engine=lambda engine: watches.append(engine.time_kernels()),
                **options,
            )
            figures = {"kernel_s": watches[0].seconds or 1e-9, "call_s": call}
            return figures, (len(hits), int(hits.start.sum()))

        work = {"text": len(text), "patterns": count}
        self.compare(f"{command} {m},{k}", measure, **work)
        for row in self.rows[-len(self.devices) :]:
            row["tbp_pattern_s"] = len(text) * count / row["kernel_s"] / 1e12

    def primers(self, target, background, k):
        texts = [[("r", self.text(length))] for length in (target, background)]

        def measure(device):
            genomes = map(kmatch.Genome.from_records, texts)
            options = {"background_strand": "+", "device": device}
            found, call = timed(lambda: hooked_primer(*genomes, k, **options))
            return {"call_s": call}, (len(found), int(found.end.sum()))

        self.compare("primer", measure, target=target, background=background, k=k)

    def processes(self, packed, count, folder):
        """Whole processes on a packed genome."""
        panel, table = folder / "panel.txt", folder / "table.tsv"
        write_panel(panel, [self.text(20) for _ in range(count)])

        def measure(device):
            words = ("edit", packed, panel, "-k", 3, "--summary-only", "-o", table)
            seconds = process_seconds(kmatch_command(*words, "--device", device, "-q"))
            return {"process_s": seconds}, table.read_bytes()

        self.compare("edit 20,3, process", measure, patterns=count)


def main():
    parser = plain_parser(__doc__, repeat=3)
    parser.add_argument("--devices", nargs="+", default=["cuda:0", "cuda:all"])
    parser.add_argument("--length", type=int, default=1 << 31, help="letters of the text")
    parser.add_argument("--packed", metavar="FILE", help="a packed genome, for whole processes")
    parser.add_argument("--patterns", type=int, default=5000, help="of whole processes")
    parser.add_argument("--primers", default="1000000,4000000,100", metavar="TARGET,BACKGROUND,K")
    options = parser.parse_args()
    bench = Bench(options.devices, options.repeat)
    text = bench.text(options.length)
    for search in KERNELS:
        bench.kernels(*search, text)
    del text
    bench.primers(*map(int, options.primers.split(",")))
    if options.packed:
        with tempfile.TemporaryDirectory() as folder:
            bench.processes(options.packed, options.patterns, Path(folder))
    write_results(options.json, bench.rows)
    return 0 if all(row["equal"] for row in bench.rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
