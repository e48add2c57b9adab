#!/usr/bin/env python3
"""Run a small search of each kind on a GPU, and compare its hits with the CPU's.

    scripts/bench/gpu_small.py [--device DEVICE] [--only WORD] [--json FILE]

Between them they launch every kernel of the engine, with few hit codes, letters that are not in a
tile, borders of records and runs of N. Exit status 1 where hits differ. `scripts/sanitize_gpu` runs
this under compute-sanitizer.
"""

import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import patch

from harness.options import plain_parser
from harness.records import write_results

import kmatch
from kmatch.engine.cuda import primer as on_gpu
from kmatch.genome import as_genomes
from kmatch.packed.writer import PackedLayout, write_packed
from kmatch.search import primer, scan
from kmatch.search.query import Query, Run
from kmatch.search.search import begin_search
from kmatch.sequences.patterns import load_patterns

LAMBDA = Path(__file__).parents[2] / "examples" / "data" / "lambda_phage.fa.gz"
LETTERS = 4_000  # of lambda that are searched
BACKGROUND = slice(2_800, 3_600)  # of lambda, for primers
TARGET = slice(3_000, 3_200)  # of lambda, read backwards and changed: where primers are sought
REPEAT = ["AATGGAATG"]
IUPAC = ["ACGRYTNNACGTTAGCANGG"]
TINY = {"ROWS": 1, "MORE": 4, "DEEPEST": 64, "MOST": 1}  # rows and columns of units of work
FEW = {"capacity": 50}


class Search(NamedTuple):
    """A search: its problem, its patterns (a name of `panels`, or a list), k or (), and options by
    name; packed: whether the genome is a packed file."""

    name: str
    problem: str
    patterns: str | list[str]
    k: tuple[int, ...]
    options: Mapping[str, Any] = MappingProxyType({})
    packed: bool = False


MISMATCHES, PANEL, DIFFERENCES, CLOSEST = "hamming", "multi", "edit", "best"
SEARCHES = (
    Search("hamming", MISMATCHES, "short", (3,)),
    Search("hamming, many mismatches", MISMATCHES, "short", (7,)),
    Search("hamming, IUPAC letters", MISMATCHES, IUPAC, (4,)),
    Search("hamming, far letters", MISMATCHES, "long", (20,)),
    Search("hamming, exact end", MISMATCHES, "short", (4,), {"exact_3p": 4}),
    Search("hamming, small buffer", MISMATCHES, REPEAT, (3,), FEW),
    Search("hamming, packed genome", MISMATCHES, "short", (3,), packed=True),
    Search("multi, NGG", PANEL, "short", (3,), {"pam": "NGG"}),
    Search("multi, NGG, many mismatches", PANEL, "short", (7,), {"pam": "NGG"}),
    Search("multi, NNGRRT", PANEL, "short", (5,), {"pam": "NNGRRT"}),
    Search("edit", DIFFERENCES, "short", (3,)),
    Search("edit, repeats", DIFFERENCES, REPEAT, (2,)),
    Search("edit, small buffer", DIFFERENCES, REPEAT, (2,), FEW),
    Search("edit, strips", DIFFERENCES, "strips", (6,)),
    Search("edit, long patterns", DIFFERENCES, "long", (4,)),
    Search("edit, NGG", DIFFERENCES, "short", (3,), {"pam": "NGG"}),
    Search("edit, packed genome", DIFFERENCES, "short", (3,), packed=True),
    Search("best", CLOSEST, "short", ()),
    Search("best, strips", CLOSEST, "strips", ()),
    Search("primer", "primer", "target", (12,)),
    Search("primer, one strand", "primer", "target", (12,), {"background_strand": "+"}),
    Search("primer, few columns", "primer", "target", (12,), {"sizes": TINY}),
)


class Data:
    """What is searched, and for what."""

    def __init__(self, folder):
        letters = next(kmatch.Genome(LAMBDA).records()).letters.tobytes().decode().upper()
        repeats = "AATGG" * 100 + "N" * 200 + letters[: LETTERS // 4] + "AC" * 100
        self._records = [("lambda", letters[:LETTERS]), ("tiny", "ACGT"), ("repeats", repeats)]
        self._background = letters[BACKGROUND]
        self._target = letters[TARGET][::-1] + _changed(letters[TARGET])
        self._path = Path(folder) / "genome.kmatch"
        with open(self._path, "wb") as handle:
            write_packed(self.genome().parts(), handle, layout=PackedLayout(halo=192))
        self.panels = {
            "short": [_changed(letters[at : at + 20]) for at in (500, 1_500, 3_600)],
            "long": [_changed(letters[at : at + 150]) for at in (700, 2_500)],
            "strips": [_changed(letters[700:746])],  # two, which racecheck takes long for
        }

    def genome(self, packed=False):
        return kmatch.Genome(self._path) if packed else kmatch.Genome.from_records(self._records)

    def run(self, search, device):
        """The rows of a search."""
        options = dict(search.options)
        how = Run(device)
        scan.CAPACITY = options.pop("capacity", None)
        sizes = options.pop("sizes", {})
        if search.problem == "primer":
            target = kmatch.Genome.from_records([("target", self._target)])
            background = kmatch.Genome.from_records([("background", self._background)])
            options = primer.PrimerOptions(**options)
            found = primer.PrimerSearch(target, background, *search.k, options, how)
            with patch.multiple(on_gpu, **sizes) if sizes else nullcontext():
                return [row for batch in found for row in zip(batch.start, batch.end, strict=True)]
        patterns = load_patterns(self.panels.get(str(search.patterns), search.patterns))
        query = Query(search.problem, patterns, *search.k, **options)
        found = begin_search(query, as_genomes(self.genome(search.packed)), how)
        return [row for batch in found for row in _rows(batch)]


def _changed(letters):
    """Letters with a mismatch and a letter less."""
    return letters[:5] + ("A" if letters[5] != "A" else "C") + letters[6:13] + letters[14:]


def _rows(batch):
    columns = (batch.record, batch.start, batch.end, batch.pattern, batch.distance, batch.minus)
    return zip(*(column.tolist() for column in columns), strict=True)


def main():
    parser = plain_parser(__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", metavar="WORD", help="searches with WORD in their names")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data = Data(folder)
        for search in SEARCHES:
            if options.only and options.only not in search.name:
                continue
            began = time.perf_counter()
            found = data.run(search, options.device)
            seconds = time.perf_counter() - began
            equal = found == data.run(search, "cpu")
            rows.append({"search": search.name, "rows": len(found), "equal": equal, "s": seconds})
            verdict = "" if equal else ", OTHERS THAN THE CPU'S"
            print(f"{search.name}: {len(found)} rows in {seconds:.2f} s{verdict}", flush=True)
    write_results(options.json, rows)
    return not all(row["equal"] for row in rows)


if __name__ == "__main__":
    sys.exit(main())
