"""Searching for k mismatches in tests: hits as rows, by functions that take tiny buffers."""

import csv
from functools import partial

import naive

import kmatch
from support.cases import HAMMING
from support.commands import here
from support.hooks import hooked

EQUAL = {name: case for name, case in HAMMING.items() if len(set(map(len, case[1]))) == 1}
KNOWN_HEADER = ("sequence", "start", "end", "guide", "mismatches", "strand", "site")


def rows(hits):
    columns = (hits.record_number, hits.start, hits.end, hits.pattern_number, hits.distance)
    return list(zip(*(column.tolist() for column in columns), hits.strand.tolist(), strict=True))


def search(records, patterns, k, problem="hamming", **options):
    return hooked(problem, kmatch.Genome.from_records(records), patterns, k, **options)


search_panel = partial(search, problem="multi")


def oracle(records, patterns, k, pam=None, pam_side="3p", **options):
    if pam is None:
        return naive.hamming(records, patterns, k, **options)
    return naive.multi(records, patterns, k, pam, pam_side, **options)


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
