"""Constants of the searches, made so small that tiny cases meet what only large ones would."""

from unittest import mock

import numpy as np

from kmatch.engine.cpu import engine
from kmatch.engine.cpu.edit import beside
from kmatch.engine.cpu.edit import filter as edit_filter
from kmatch.engine.cpu.edit import scan as edit_scan
from kmatch.engine.geometry import Layout
from kmatch.packed import reader as stored
from kmatch.results import tables
from kmatch.search.differences import anchored, ends, rows
from kmatch.search.mismatches import chosen
from kmatch.search.scanning import codes, dense
from kmatch.search.scanning import scan as chunk_scan
from kmatch.sequences import fasta as fasta_reader

# By a name: where they stand, and what they may be.
CONSTANTS = {
    "batch": (((codes, "BATCH"), (codes, "SHARED")), (1, 2, 3, 10)),
    "dense": (((dense, "MANY"),), (0, 1, 5)),
    "ahead": (((dense, "CODES_AHEAD"), (dense, "HITS_AHEAD")), (0, 10)),
    "unpacked": (((ends, "UNPACKED"),), (0, 1, 1 << 40)),
    "scans": (((chunk_scan, "AHEAD"),), (0, 1, 5)),
    "key bits": (((rows, "KEY_BITS"),), (0, 12)),
    "lines": (((tables, "ROWS"), (tables, "FEW")), (1, 2, 5)),
    "block": (((fasta_reader, "BLOCK"),), (1, 7, 64)),
    "smaller": (((stored, "SMALLER"),), (1, 1 << 40)),
    "capacity": (((engine, "CAPACITY"),), (20, 50, 200)),
    "counted": (((engine, "FEWEST_SAMPLED"),), (0,)),
    "many": (((chosen, "MANY"),), (1e9,)),
    "looked up": (((anchored, "LARGE"), (anchored, "LONG"), (beside, "SURE")), (1e-12,)),
}
LAYOUTS = (
    {"site_letters": 1},
    {"site_letters": 70, "words": 2},
    {"length": 100, "reading_length": 100, "reading_halos": 1},
    {"length": 333, "reading_length": 50, "reading_halos": 0, "words": 1},
)


def draw_patches(random):
    """Some constants by name, and what they become."""
    given = {name: random.choice(values) for name, (_, values) in CONSTANTS.items()}
    given["layout"] = random.choice(LAYOUTS)
    return {name: value for name, value in given.items() if random.random() < 0.25}


def patching(patches):
    """Yield patches of constants; of `parts` of a chunk's rows that are searched apart; and of
    `few` survivors of a filter, after which it gives up."""
    for name, value in patches.items():
        for home, constant in CONSTANTS.get(name, ((), ()))[0]:
            yield mock.patch.object(home, constant, value)
    if layout := patches.get("layout"):
        yield mock.patch.object(engine, "LAYOUT", Layout(**layout))
    if parts := patches.get("parts"):

        def stretches(queries, longest, rows, threads):
            return min(parts, rows)

        yield mock.patch.object(edit_scan, "stretches", stretches)
    if patches.get("few"):

        def choose(text, search, parts, always, costs):
            return np.ones(len(search.limits), np.int64)

        yield mock.patch.object(edit_filter, "choose", choose)
