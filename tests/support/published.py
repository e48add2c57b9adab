"""What every published algorithm has to give, whatever it runs on: the oracle's hits."""

import naive
import numpy as np

from kmatch.engine.devices import choose_engine
from kmatch.published.registry import PUBLISHED, find
from kmatch.published.search import Published
from kmatch.sequences.alphabet import encode
from support.cases import EDIT, HAMMING, MULTI
from support.differences import best, edit
from support.differences import rows as edit_rows
from support.mismatches import EQUAL, oracle, rows
from support.mismatches import search as hamming
from support.mismatches import search_panel as multi
from support.primers import primer
from support.primers import rows as primer_rows

CASES = {"hamming": HAMMING, "multi": EQUAL | MULTI, "edit": EDIT, "best": EDIT}


def algorithms(device):
    """(command, algorithm) of all published algorithms for patterns that run on a device."""
    return [
        (command, algorithm)
        for command in CASES
        for algorithm in PUBLISHED[command]
        if device in algorithm.devices
    ]


def primer_algorithms(device):
    """All published algorithms for primers that run on a device."""
    return [algorithm for algorithm in PUBLISHED["primer"] if device in algorithm.devices]


def label(value):
    """How a command or an algorithm is named in a test."""
    return value if isinstance(value, str) else getattr(value, "name", None)


def case(command, name, algorithm, device):
    """The case of a name, less the patterns that are too long for an algorithm on a device."""
    records, patterns, k, options = CASES[command][name]
    patterns = [p for p in patterns if not algorithm.limit_below(len(p), device)]
    return records, patterns, k, options


SEARCHES = {  # by command: the search, its rows, and the oracle
    "hamming": (hamming, rows, naive.hamming),
    "multi": (multi, rows, oracle),
    "edit": (edit, edit_rows, naive.edit),
    "best": (best, edit_rows, naive.best),
}


def check(command, algorithm, records, patterns, k, options, **where):
    """Search by an algorithm on a device and hold the hits against the oracle's."""
    search, rows_of, expected = SEARCHES[command]
    given = (records, patterns) if command == "best" else (records, patterns, k)
    found = rows_of(search(*given, algorithm=algorithm.name, **options, **where))
    assert found == expected(*given, **options)


def check_primers(algorithm, target, background, k, options, **where):
    """Look for primers by an algorithm on a device and hold them against the oracle's."""
    found = primer(target, background, k, algorithm=algorithm.name, **options, **where)
    assert primer_rows(found) == naive.primers(target, background, k, **options)


# Worked examples: the algorithm, the text, patterns, k, and the result vectors as printed.
LIU_FIG_4 = ("ATCGTTTCAG", ["TTCAG"], 3, [[0, -1, -1, -1, 4]])  # and Fig. 6
LIU_FIG_11 = ("ATCGTTCAGCA", ["TTCA"], 2, [[0, -1, -1, -1, 4, -1, -1, 7]])
# Fig. 3 and 4 print the column of start 0. The text of Fig. 4 says that block 0 has "ACCT", which
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
    """Compare the positions found with the beginning of a paper's result vectors."""
    run = Published(choose_engine(device), find("multi", name))
    on_device = run.text(encode(text, "text"))
    result = np.full((len(patterns), len(text) - len(patterns[0]) + 1), -1)
    masks = [encode(pattern, "pattern") for pattern in patterns]
    for number, start, distance in run.windows(on_device, masks, k):
        result[number, start] = start
        wrong = [sum(a != b for a, b in zip(text[i:], patterns[number])) for i in start]  # noqa: B905
        assert distance.tolist() == wrong
    assert result[:, : len(expected[0])].tolist() == expected


# Ho et al. 2017b, Fig. 1 to 3: the matrices X, its rows in the order A, C, G, T, and D.
HO_TEXT, HO_PATTERN = "CATGACTG", "TACTG"
HO_X = [
    [0, 0, 2, 2, 2, 5, 5, 5, 5],
    [0, 1, 1, 1, 1, 1, 6, 6, 6],
    [0, 0, 0, 0, 4, 4, 4, 4, 8],
    [0, 0, 0, 3, 3, 3, 3, 7, 7],
]
HO_D = [
    [0, 0, 0, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 0, 1, 1, 1, 0, 1],
    [2, 2, 1, 1, 1, 1, 2, 1, 1],
    [3, 2, 2, 2, 2, 2, 1, 2, 2],
    [4, 3, 3, 2, 3, 3, 2, 1, 2],
    [5, 4, 4, 3, 2, 3, 3, 2, 1],
]
# Nakano 2012, Fig. 3, with A for a and C for b. The matrix is that of Y = aaabbbaa, where ASM is 1,
# and not of the caption's aaabbbbaa, where it is 2. By formulas (3) to (5) d[1][1] is 0 and d[5][6]
# is 2, where the figure has 1 and 3.
NAKANO_TEXT, NAKANO_PATTERN = "AAACCCAA", "ACACA"
NAKANO_D = [
    [0, 0, 0, 0, 0, 0, 0, 0, 0],
    [1, 0, 0, 0, 1, 1, 1, 0, 0],
    [2, 1, 1, 1, 0, 1, 1, 1, 1],
    [3, 2, 1, 1, 1, 1, 2, 1, 1],
    [4, 3, 2, 2, 1, 1, 1, 2, 2],
    [5, 4, 3, 2, 2, 2, 2, 1, 2],
]
MATRICES = [
    *(("edit", algorithm.name, HO_TEXT, HO_PATTERN, HO_D) for algorithm in PUBLISHED["edit"]),
    *(
        ("best", algorithm.name, NAKANO_TEXT, NAKANO_PATTERN, NAKANO_D)
        for algorithm in PUBLISHED["best"]
    ),
]


def matrices(device):
    """The worked examples of matrices, for algorithms that run on a device."""
    return [example for example in MATRICES if device in find(*example[:2]).devices]


def check_matrix(device, command, name, text, pattern, matrix):
    """Compare the rows of D, the last ones of the pattern's beginnings, with a paper's."""
    run = Published(choose_engine(device), find(command, name))
    on_device = run.text(encode(text, "text"))
    for m in range(1, len(pattern) + 1):
        end, distance = run.hits(on_device, encode(pattern[:m], "pattern"), m)
        assert end.tolist() == list(range(len(text)))
        assert distance.tolist() == matrix[m][1:]
    end, _ = run.hits(on_device, encode(pattern, "pattern"), 2)
    assert end.tolist() == [j for j, d in enumerate(matrix[-1][1:]) if d <= 2]
    assert run.smallest(on_device, encode(pattern, "pattern")) == min(matrix[-1])
