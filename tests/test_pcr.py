"""Products of pairs of primers, held against every two sites of an oracle."""

from unittest import mock

import naive
from support.commands import random_letters
from support.devices import joined
from support.searches import batches, products
from support.searches import product_rows as rows

import kmatch
from kmatch.apps import pcr as joins
from kmatch.sequences.oligos import load_pairs

FORWARD, REVERSE = "ACGTTGCAGT", "GGATTACCAG"
PAIR = {"pair": (FORWARD, REVERSE)}


def amplicon(length, seed=3):
    """A product of PAIR with so many letters."""
    return FORWARD + random_letters(length - 20, seed) + naive.reverse_complement(REVERSE)


def found(*texts, **options):
    records = [(f"r{number}", text) for number, text in enumerate(texts)]
    options = {"k": 0, "device": "cpu"} | options
    return kmatch.pcr(kmatch.Genome.from_records(records), PAIR, **options)


def test_dense_repeats_come_in_parts():
    """Quadratically many products leave in parts, in order."""
    unit = "ACGTAC" + "GTACGT"
    records = [("r", unit * 30)]
    primers = {"a": (["ACGT"], ["GTAC"]), "b": (["TACG"], ["CGTA"])}
    options = {"product": (8, 200), "pairs": "any"}
    with mock.patch.object(joins, "PRODUCTS", 100):
        made = products(records, primers, 0, device="cpu", chunk_length=50, **options)
    assert len(made.batches) > 20
    assert rows(made) == joined(records, primers, 0, **options)


def test_what_waits_is_what_lies_near():
    """Sites leave as soon as no product reaches from them to what is to come."""
    genome = kmatch.Genome.from_records([("r", amplicon(60) * 400)])
    sites = batches("hamming", genome, load_pairs(PAIR).primers, chunk_length=500)
    again = [len(found.hits) - count for found, count in joins.finished_sites(sites, 60)]
    assert len(again) > 30 and max(again) <= 4
