"""What every published algorithm has to give, whatever it runs on: the oracle's hits."""

import naive
from cases import EDIT, HAMMING, MULTI
from differences import best, edit
from differences import rows as edit_rows
from test_hamming import rows
from test_hamming import search as hamming
from test_multi import EQUAL, oracle
from test_multi import search as multi

from kmatch.published.registry import PUBLISHED

CASES = {"hamming": HAMMING, "multi": EQUAL | MULTI, "edit": EDIT, "best": EDIT}


def algorithms(device):
    """(command, algorithm) of all published algorithms that run on a device."""
    return [
        (command, algorithm)
        for command, published in PUBLISHED.items()
        for algorithm in published
        if device in algorithm.devices
    ]


def label(value):
    """How a command or an algorithm is named in a test."""
    return value if isinstance(value, str) else getattr(value, "name", None)


def case(command, name, algorithm, device):
    """The case of a name, less the patterns that are too long for an algorithm on a device."""
    records, patterns, k, options = CASES[command][name]
    patterns = [p for p in patterns if not algorithm.limit_below(len(p), device)]
    return records, patterns, k, options


def check(command, algorithm, records, patterns, k, options, **where):
    """Search by an algorithm on a device and hold the hits against the oracle's."""
    where = where | {"algorithm": algorithm.name}
    if command == "hamming":
        found = rows(hamming(records, patterns, k, **options, **where))
        expected = naive.hamming(records, patterns, k, **options)
    elif command == "multi":
        found = rows(multi(records, patterns, k, **options, **where))
        expected = oracle(records, patterns, k, **options)
    elif command == "edit":
        found = edit_rows(edit(records, patterns, k, **options, **where))
        expected = naive.edit(records, patterns, k, **options)
    else:
        found = edit_rows(best(records, patterns, **options, **where))
        expected = naive.best(records, patterns, **options)
    assert found == expected
