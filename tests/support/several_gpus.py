"""Searches on several GPUs at once, held against the CPU's; on machines with one it is two."""

from contextlib import contextmanager
from unittest import mock

from naive import reverse_complement

from kmatch.engine import devices
from support.commands import random_letters
from support.differences import best, edit
from support.differences import rows as traced
from support.mismatches import rows, search, search_panel
from support.pcr import products
from support.pcr import rows as product_rows
from support.primers import primer
from support.primers import rows as primer_rows

TEXT = random_letters(110, 5)
RECORDS = [("a", TEXT[:60]), ("b", ""), ("c", TEXT[60:] + TEXT[40:60])]
PATTERNS = [TEXT[20:27], "ACGTRYN"]
PAIRS = {
    name: ([TEXT[forward : forward + 6]], [reverse_complement(TEXT[reverse : reverse + 6])])
    for name, forward, reverse in (("p", 70, 100), ("q", 64, 40))
}
CHUNK = 60  # letters


@contextmanager
def two_on_one():
    """A context in which `cuda:0,0` means two engines that share a GPU."""
    with mock.patch.object(devices, "REPEATED", True):
        yield "cuda:0,0"


def _windows(device, **given):
    return rows(search(RECORDS, PATTERNS, 2, device=device, chunk_length=CHUNK, **given))


def _panel(device):
    options = {"device": device, "chunk_length": CHUNK, "pam": ["NGG", "NA"]}
    return rows(search_panel(RECORDS, PATTERNS, 3, **options))


def _edit(device, report="minima", **given):
    options = {"device": device, "chunk_length": CHUNK, "report": report}
    return traced(edit(RECORDS, PATTERNS, 1, **options, **given))


def _best(device):
    return traced(best(RECORDS, PATTERNS, device=device, chunk_length=CHUNK))


def _primers(device):
    target, background = [("t", TEXT[:50]), ("u", TEXT[80:100])], [("b", TEXT[30:80])]
    return primer_rows(primer(target, background, 2, device=device))


def _products(device):
    wanted = {"product": (20, 200), "pairs": "any"}
    return product_rows(products(RECORDS, PAIRS, 1, device=device, **wanted))


SEARCHES = {
    "windows": _windows,
    "few hit codes": lambda device: _windows(device, capacity=11),
    "PAMs": _panel,
    "minima": _edit,
    "loci": lambda device: _edit(device, "loci"),
    "filter": lambda device: _edit(device, "ends", way="filter"),
    "best": _best,
    "primers": _primers,
    "products": _products,
}
