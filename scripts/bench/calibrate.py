#!/usr/bin/env python
"""Measure the constants by which kmatch chooses its way on the CPU, beside those in the code.

    scripts/bench/calibrate.py [--genome FASTA] [--at-rich FASTA] [--at-rich-record NAME]
        [--length BASES] [--repeat N] [--models NAME,…] [--only TEXT] [--json FILE]

Each cost model is linear in its constants. Their factors follow from a search; its time is
measured, on one thread, for several lengths, thresholds and panels cut out of the text, on random
letters, real DNA and a text of four fifths A and T. Least squares of the relative errors give the
constants, none below 0, for each text and for all of them. `error` is the median of |fitted −
measured| ÷ measured in per cent, under `code` that of the constants in the code. Times are those of
the kernels, the least of the repeats; `sites`, which does part of its work outside them, is timed
as a whole, less the time of a text of 1,000 letters.

scan: k mismatches, every pattern compared. seeds: pieces of the patterns looked up. edit: the
recurrence, with DEEPER as in the code and then as it fits best. pieces: k differences, pieces
sought and survivors verified. sites: windows beside a PAM, both found first and all compared.
"""

import time
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import numpy as np
from harness.options import is_wanted, text_parser, texts
from harness.records import Table, write_results
from harness.workloads import LETTERS, TooFew, cut_panel, guide_panel

import kmatch
from kmatch.bench.timing import timed
from kmatch.engine.cpu.edit import filter as edit_filter
from kmatch.engine.cpu.hamming import seeds
from kmatch.engine.host import sites
from kmatch.search.edit import edit_batches
from kmatch.search.hamming import hamming_batches
from kmatch.search.mismatches.seeds import some_codes
from kmatch.search.multi import multi_batches
from kmatch.search.panels.pam import Pam
from kmatch.search.running import by_name
from kmatch.sequences.patterns import load_patterns

STRANDS = 2
CAPACITY = 1 << 22  # hits of a chunk, so that none is scanned twice
LITTLE = 1_000
MISMATCHES = [(12, 1), (12, 3), (20, 1), (20, 3), (20, 5), (32, 2), (32, 4), (32, 6)]
DIFFERENCES = [(12, 1), (20, 1), (20, 2), (20, 3), (32, 2), (32, 4), (64, 4), (100, 4), (100, 8)]
SCANNED, LOOKED_UP, SOUGHT = (100, 300), (300, 1_000, 5_000, 20_000), 8  # patterns
BESIDE, PAM = (10, 100, 300, 1_000), "NGG"  # patterns beside a PAM
DEEPER = range(0, 17, 2)


class Cell(NamedTuple):
    """The factors of a model's constants in a search, and the nanoseconds measured.

    deeper: the factors by value of DEEPER, in a model that depends on it.
    """

    factors: list
    ns: float
    deeper: dict | None = None


class Model(NamedTuple):
    """constants: of a module, with their units; cells: cells(text, options) yields Cells."""

    module: object
    constants: dict
    cells: object


def kernels(batches, text, patterns, k, options, **more):
    """(nanoseconds of the kernels a letter, rows of the last chunk) of a search."""
    genome = kmatch.Genome.from_records([("text", text.letters)])
    panel, least = load_patterns(patterns), float("inf")
    for _ in range(1 + options.repeat):  # the first one compiles and packs
        watches = []
        search = {"device": "cpu", "threads": 1, "capacity": CAPACITY, **more}
        search["on_engine"] = lambda engine, watches=watches: watches.append(engine.time_kernels())
        for _ in by_name(batches, genome, panel, k, **search):
            pass
        least = min(least, watches[0].seconds)
    return least / len(text.letters) * 1e9, watches[0].rows


def panels(cut, text, settings, counts):
    """Yield (patterns, m, k) of every panel that a text has."""
    for length, k in settings:
        for count in counts:
            try:
                yield cut(text, count, length), length, k
            except TooFew as error:
                print(error)


def scan_cells(text, options):
    for patterns, _, k in panels(cut_panel, text, MISMATCHES, SCANNED):
        ns, _ = kernels(hamming_batches, text, patterns, k, options)
        yield Cell([len(patterns) * STRANDS], ns)


def seed_cells(text, options):
    for patterns, _, k in panels(cut_panel, text, MISMATCHES, LOOKED_UP):
        ns, _ = kernels(multi_batches, text, patterns, k, options, filtering=True)
        codes = some_codes(load_patterns(patterns))
        yield Cell(seed_factors(codes, k, len(patterns) * STRANDS), ns)


def seed_factors(codes, k, queries):
    """The factors of POSITION, LOOKUP, ANY and CANDIDATE in `seeds.pays`."""
    first, size = seeds.cut_pieces(codes.shape[1], k, queries)
    pieces = (codes[:, at : at + letters] for at, letters in zip(first, size, strict=True))
    shares = np.array([seeds._share(piece) for piece in pieces])
    found = queries * np.maximum(shares, 0.25**size)
    return [1, k + 1, np.minimum(found, 1).sum(), found.sum()]


def edit_cells(name, text, options):
    """Yield the Cells of a part of `edit_filter.estimate`, which is linear in its constants."""
    shares = np.array([(text.letters == letter).mean() for letter in LETTERS])
    for patterns, _, k in panels(cut_panel, text, DIFFERENCES, (SOUGHT,)):
        filtering = name == "pieces"
        ns, rows = kernels(edit_batches, text, patterns, k, options, filtering=filtering)
        codes = [np.searchsorted(LETTERS, np.frombuffer(p.encode(), np.uint8)) for p in patterns]
        queries = [(code, k, shares, rows) for code in codes]
        deeper = {value: estimated(name, queries, DEEPER=value) for value in DEEPER}
        yield Cell(estimated(name, queries), ns, deeper if name == "edit" else None)


def estimated(name, queries, **others):
    """The factor of each constant: the model with that constant 1 and all others 0."""
    every = [*MODELS["edit"].constants, *MODELS["pieces"].constants]
    factors = []
    for one in MODELS[name].constants:
        values = {constant: float(constant == one) for constant in every} | others
        with constants(edit_filter, values):
            costs = [edit_filter.estimate.py_func(*query) for query in queries]
        factors.append(
            STRANDS * sum(cost[0] if name == "edit" else cost[1] + cost[2] for cost in costs)
        )
    return factors


@contextmanager
def constants(module, values):
    """While the block runs, constants of a module have other values."""
    before = {name: getattr(module, name) for name in values}
    vars(module).update(values)
    try:
        yield
    finally:
        vars(module).update(before)


def site_cells(text, options):
    """Yield the Cells of both ways, so that PAIR is fitted to both."""
    genome, little = (
        kmatch.Genome.from_records([("text", letters)])
        for letters in (text.letters, text.letters[:LITTLE])
    )
    for patterns, _, k in panels(guide_panel, text, [(20, 3)], BESIDE):
        panel, queries = load_patterns(patterns), len(patterns) * STRANDS
        for filtering in (True, False):
            search = {"pam": PAM, "threads": 1, "device": "cpu", "filtering": filtering}

            def run(genome, panel=panel, k=k, search=search):
                return sum(map(len, by_name(multi_batches, genome, panel, k, **search)))

            seconds = least_seconds(run, genome, options) - least_seconds(run, little, options)
            ns = max(seconds, 1e-6) / len(text.letters) * 1e9
            yield Cell(site_factors(queries, filtering), ns)


def least_seconds(run, genome, options):
    """The least seconds of a search's thread, after a run that is not counted."""
    run(genome)
    return min(timed(partial(run, genome), time.process_time)[1] for _ in range(options.repeat))


def site_factors(queries, filtering):
    """The factors of POSITION, SITE and PAIR in one of the two ways of `sites.pays`."""
    share = Pam(PAM, "3p").share
    return [1, STRANDS * share, share * queries] if filtering else [0, 0, queries]


MODELS = {
    "scan": Model(seeds, {"PAIR": "ns a position and query"}, scan_cells),
    "seeds": Model(
        seeds,
        {
            "POSITION": "ns a position",
            "LOOKUP": "ns a piece and position",
            "ANY": "ns a look-up that finds something",
            "CANDIDATE": "ns a candidate",
        },
        seed_cells,
    ),
    "edit": Model(
        edit_filter,
        {"CELL": "ns a cell", "COUNT": "ns a position and query"},
        partial(edit_cells, "edit"),
    ),
    "pieces": Model(
        edit_filter,
        {
            "AND": "ns a letter and position",
            "LOOK": "ns a piece and position",
            "WINDOW": "ns a window",
            "COLUMN": "ns a column",
            "BLOCK": "ns a block of a column",
        },
        partial(edit_cells, "pieces"),
    ),
    "sites": Model(
        sites,
        {
            "POSITION": "ns a position",
            "SITE": "ns a site",
            "PAIR": "ns a window and query",
        },
        site_cells,
    ),
}


def fit(cells):
    """The constants, none below 0, with the least squares of relative errors."""
    factors, ns = np.array([cell.factors for cell in cells], float), np.array([c.ns for c in cells])
    weighted = factors / ns[:, None]
    constants, used = np.zeros(factors.shape[1]), factors.any(0)
    while used.any():
        found = np.linalg.lstsq(weighted[:, used], np.ones(len(ns)), rcond=None)[0]
        if (found >= 0).all():
            constants[used] = found
            break
        used[np.flatnonzero(used)[np.argmin(found)]] = False
    return constants


def error(cells, constants):
    """The median relative error of constants, in per cent."""
    factors, ns = np.array([cell.factors for cell in cells], float), np.array([c.ns for c in cells])
    return float(np.median(np.abs(factors @ constants - ns) / ns) * 100)


def columns(names):
    return (
        *(("model", "model", "<8s"), ("constant", "constant", "<10s"), ("unit", "unit", "<34s")),
        *((name, name, ">10.4g") for name in ("code", *names, "all")),
    )


def show(shown, name, model, measured):
    """Add the rows of a model: its constants, and their error."""
    measured = {text: cells for text, cells in measured.items() if cells}
    every = measured | {"all": [cell for cells in measured.values() for cell in cells]}
    fitted = {text: fit(cells) for text, cells in every.items()}
    code = np.array([getattr(model.module, constant) for constant in model.constants], float)
    for i, (constant, unit) in enumerate(model.constants.items()):
        row = {"model": name, "constant": constant, "unit": unit, "code": code[i]}
        shown.add(row | {text: float(values[i]) for text, values in fitted.items()})
    row = {"model": name, "constant": "error", "unit": "%, median"}
    row["code"] = error(every["all"], code)
    shown.add(row | {text: error(every[text], values) for text, values in fitted.items()})


def with_deeper(measured, value):
    """The Cells of each text with the factors for a value of DEEPER."""
    return {
        text: [cell._replace(factors=cell.deeper[value]) for cell in cells]
        for text, cells in measured.items()
    }


def best_deeper(measured):
    """The value of DEEPER whose constants have the least error over all texts."""

    def wrong(value):
        cells = [cell for cells in with_deeper(measured, value).values() for cell in cells]
        return error(cells, fit(cells))

    return min(DEEPER, key=wrong)


def measure_models(found, options, shown):
    """Measure, fit and show the models of --models; returns their cells by model and text."""
    kept = {}
    for name in (name for name in MODELS if name in options.models):
        model = MODELS[name]
        measured = kept[name] = {text: list(model.cells(*work)) for text, work in found.items()}
        show(shown, name, model, measured)
        if name == "edit":
            best = best_deeper(measured)
            row = {"model": "edit", "constant": "DEEPER", "unit": "rows", "all": float(best)}
            shown.add(row | {"code": float(edit_filter.DEEPER)})
            show(shown, f"edit, {best}", model, with_deeper(measured, best))
    return kept


def main():
    parser = text_parser(__doc__, length=1 << 21, seconds=0, repeat=3)
    parser.add_argument("--models", type=lambda words: words.split(","), default=[*MODELS])
    options = parser.parse_args()
    found = {
        name: (text, options) for name, text in texts(options).items() if is_wanted(options, name)
    }
    shown = Table(columns(found))
    kept = measure_models(found, options, shown)
    write_results(options.json, shown.rows, cells=kept)


if __name__ == "__main__":
    main()
