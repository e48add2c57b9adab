"""Problems by name, searched on whichever device is asked for and held against the oracle."""

import csv
from typing import NamedTuple

import naive
import naive_bounds
import pytest

from kmatch.engine.cuda.driver import SIMULATED
from support import searches
from support.cases import CONSTRAINED, EDIT, HAMMING, LIMITS_DIFFER, MULTI, PRIMERS, PRODUCTS
from support.commands import here
from support.searches import aligned, rows

on_a_gpu = pytest.mark.gpu
simulated = pytest.mark.skipif(not SIMULATED, reason="it is for the simulator")
on_the_cpu = pytest.mark.skipif(SIMULATED, reason="it is not for the simulator")
# With the marks of their tests.
DEVICES = [("cuda", ())] if SIMULATED else [("cpu", ()), ("cuda", on_a_gpu)]
KNOWN_HEADER = ("sequence", "start", "end", "guide", "mismatches", "strand", "site")


class Problem(NamedTuple):
    """cases: by name; find(records, patterns, k, **options): the rows of kmatch; expect(…): the
    oracle's."""

    cases: dict
    find: object
    expect: object


def _without_k(find):
    return lambda records, patterns, k, **options: find(records, patterns, **options)


def _shown(rows_of, find):
    """Rows of what a search finds."""
    return lambda *given, **options: rows_of(find(*given, **options))


def _windows(records, patterns, k, pam=None, pam_side="3p", **options):
    if pam is None:
        return naive.hamming(records, patterns, k, **options)
    return naive.multi(records, patterns, k, pam, pam_side, **options)


def joined(records, given, k, product=(50, 5000), pairs="own", edit=False, exact_3p=0):
    """The rows of products that the oracle makes of a call of kmatch.pcr."""
    sequences, primers = [], []
    for pair, sides in enumerate(given.values()):
        for role, side in zip("FR", sides, strict=True):
            sequences += side
            primers += [(pair, role)] * len(side)
    if edit:
        hits = naive_bounds.edit(records, sequences, k, "loci", exact_3p=exact_3p)
    else:
        hits = naive.hamming(records, sequences, k, exact_3p=exact_3p)
    made = naive.pcr(hits, primers, product, pairs)
    return [(*row[:4], *((hit[3], hit[1], hit[2], hit[4]) for hit in row[4:])) for row in made]


EQUAL = {name: case for name, case in HAMMING.items() if len(set(map(len, case[1]))) == 1}
FOR_BEST = EDIT | {"counters hold all distances where limits differ": LIMITS_DIFFER}
PROBLEMS = {
    "hamming": Problem(HAMMING, _shown(rows, searches.search), naive.hamming),
    "multi": Problem(MULTI | EQUAL, _shown(rows, searches.search_panel), _windows),
    "edit": Problem(EDIT, _shown(aligned, searches.edit), naive.edit),
    "best": Problem(FOR_BEST, _without_k(_shown(aligned, searches.best)), _without_k(naive.best)),
    "constraints": Problem(CONSTRAINED, _shown(aligned, searches.edit), naive_bounds.edit),
    "pcr": Problem(PRODUCTS, _shown(searches.product_rows, searches.products), joined),
    "primer": Problem(PRIMERS, _shown(searches.primer_rows, searches.primer), naive.primers),
}


def check(problem, case, **how):
    """Search as a case says, on a device and with settings, and expect what the oracle finds."""
    _, find, expect = PROBLEMS[problem]
    records, patterns, k, options = case
    expected = expect(records, patterns, k, **options)
    assert find(records, patterns, k, **options, **how) == expected
    return expected


def check_off_targets(real, device):
    """All sites of 99 guides on chromosome 20, as other programs list them."""
    with open(real("tables/chr20_guides_off_targets.tsv")) as handle:
        known = {tuple(row) for row in csv.reader(handle, delimiter="\t")} - {KNOWN_HEADER}
    genome = real("human_grch37_chr20.fa.gz")
    table = here(
        *("multi", genome, real("tables/chr20_guides.txt"), "-k", 4, "--pam", "NGG"),
        *("--format", "tsv", "--device", device),
    )
    assert (table.status, table.err) == (0, b"")
    lines = [line.split("\t") for line in table.out.decode().splitlines()[1:]]
    assert len(lines) == len(known) == 302
    assert {(*line[:6], line[7]) for line in lines} == known
