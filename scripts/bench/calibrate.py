#!/usr/bin/env python
"""Measure the costs by which kmatch chooses its way on the CPU, beside those in the code.

    scripts/bench/calibrate.py [--genome FASTA] [--at-rich FASTA] [--at-rich-record NAME]
        [--length BASES] [--repeat N] [--models NAME,…] [--only TEXT] [--json FILE] [--write]

Each cost model of kmatch/engine/costs.py is linear in its constants. Their factors follow from a
search; its time is measured, on one thread, for several lengths, thresholds and panels cut out of
the text, on random letters, real DNA and a text of four fifths A and T. Least squares of the
relative errors give the constants, none below 0, for each text and for all of them. `error` is the
median of |fitted − measured| ÷ measured in per cent, under `code` that of the constants in the
code. Times are the least of the repeats: of the kernels where a search does all its work there,
for differences also on short texts, where the beginning of a query counts; otherwise CPU seconds of
the whole, less those of a text of 1,000 letters. --write puts the constants of all texts into
kmatch/engine/costs.py.

scan: k mismatches, every pattern compared. seeds: pieces of the patterns looked up. sites: windows
beside a PAM, found first. recurrence: k differences, also with `deeper` as it fits best. pieces:
pieces sought and survivors verified. anchors: k differences beside a PAM, all patterns compared.
anchor_seeds: pieces looked up there. beside: the ends of a scan that have no PAM there.
"""

import re
from pathlib import Path

import numpy as np
from harness.fitting import error, fit
from harness.models import DEEPER, MODELS
from harness.options import is_wanted, text_parser, texts
from harness.records import Table, write_results

from kmatch.engine import costs
from kmatch.engine.costs import CPU


def columns(names):
    return (
        *(("model", "model", "<14s"), ("constant", "constant", "<10s"), ("unit", "unit", "<34s")),
        *((name, name, ">10.4g") for name in ("code", *names, "all")),
    )


def show(shown, name, model, measured):
    """Add the rows of a model: its constants, and their error."""
    measured = {text: cells for text, cells in measured.items() if cells}
    every = measured | {"all": [cell for cells in measured.values() for cell in cells]}
    fitted = {text: fit(cells) for text, cells in every.items()}
    now = getattr(CPU, name.partition(",")[0])
    code = np.array([getattr(now, constant) for constant in model.units], float)
    for i, (constant, unit) in enumerate(model.units.items()):
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
        if name == "recurrence":
            best = best_deeper(measured)
            row = {"model": name, "constant": "deeper", "unit": "rows", "all": float(best)}
            shown.add(row | {"code": float(CPU.recurrence.deeper)})
            show(shown, f"{name}, {best}", model, with_deeper(measured, best))
    return kept


def rewritten(source, rows):
    """The source of kmatch/engine/costs.py with the constants of rows of all texts."""
    head, cpu, tail = re.split(r"^(CPU = .*?^\))", source, maxsplit=1, flags=re.S | re.M)
    for row in rows:
        if row["model"] in CPU._fields and row["constant"] in MODELS[row["model"]].units:
            found = rf"(\b{row['model']}=\w+\([^)]*?\b{row['constant']}=)[-+\w.]+"
            value = float(f"{row['all']:.3g}")
            cpu = re.sub(found, rf"\g<1>{value}", cpu)
    return head + cpu + tail


def main():
    parser = text_parser(__doc__, length=1 << 21, seconds=0, repeat=3)
    parser.add_argument("--models", type=lambda words: words.split(","), default=[*MODELS])
    parser.add_argument("--write", action="store_true", help="put them into the code")
    options = parser.parse_args()
    found = {
        name: (text, options) for name, text in texts(options).items() if is_wanted(options, name)
    }
    shown = Table(columns(found))
    kept = measure_models(found, options, shown)
    write_results(options.json, shown.rows, cells=kept)
    if options.write:
        path = Path(costs.__file__)
        path.write_text(rewritten(path.read_text(), shown.rows))


if __name__ == "__main__":
    main()
