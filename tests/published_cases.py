"""What every published algorithm has to give, whatever it runs on: the oracle's hits."""

import naive
import numpy as np
from cases import EDIT, HAMMING, MULTI
from differences import best, edit
from differences import rows as edit_rows
from test_hamming import rows
from test_hamming import search as hamming
from test_multi import EQUAL, oracle
from test_multi import search as multi

from kmatch.engine.devices import choose_engine
from kmatch.published.registry import PUBLISHED, find
from kmatch.published.run import Run
from kmatch.sequences.alphabet import encode

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


# Worked examples: the algorithm, the text, patterns, k, and the result vectors as printed.
LIU_FIG_4 = ("ATCGTTTCAG", ["TTCAG"], 3, [[0, -1, -1, -1, 4]])  # and Fig. 6
LIU_FIG_11 = ("ATCGTTCAGCA", ["TTCA"], 2, [[0, -1, -1, -1, 4, -1, -1, 7]])
# Fig. 3 and 4 print the column of place 0. The text of Fig. 4 says that block 0 has "ACCT", which
# the string does not hold: it is ACTT.
PMASM_FIG_3 = ("ACTTGTAC", ["ACTG", "ATCG", "CACT"], 2, [[0], [-1], [-1]])
EXAMPLES = [
    ("sequential", *LIU_FIG_4),
    ("thread", *LIU_FIG_4),
    ("block-thread", *LIU_FIG_4),
    ("opt-block-thread", *LIU_FIG_11),
    ("naive", *PMASM_FIG_3),
    ("shift-add", *PMASM_FIG_3),
    ("pmasm", *PMASM_FIG_3),
    ("pmasm-thread", *PMASM_FIG_3),
    ("pmasm-block-thread", *PMASM_FIG_3),
    ("pmasm-shared", *PMASM_FIG_3),
]


def examples(device):
    """The worked examples of algorithms that run on a device."""
    return [example for example in EXAMPLES if device in find("multi", example[0]).devices]


def check_example(device, name, text, patterns, k, expected):
    """Hold the places that an algorithm finds against the beginning of a paper's result vectors."""
    run = Run(choose_engine(device), find("multi", name))
    on_device = run.text(encode(text, "text"))
    result = np.full((len(patterns), len(text) - len(patterns[0]) + 1), -1)
    masks = [encode(pattern, "pattern") for pattern in patterns]
    for number, place, distance in run.windows(on_device, masks, k):
        result[number, place] = place
        wrong = [sum(a != b for a, b in zip(text[i:], patterns[number])) for i in place]  # noqa: B905
        assert distance.tolist() == wrong
    assert result[:, : len(expected[0])].tolist() == expected
