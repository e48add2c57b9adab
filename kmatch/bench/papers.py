"""The papers' own figures: of their tables, with the sizes behind them, and of their algorithms."""

from typing import NamedTuple

CPU, CUDA = "cpu", "cuda"


class Point(NamedTuple):
    """A row of a figure. cells: its first cells; size: letters of text; m: letters of a pattern."""

    cells: tuple[str, ...]
    size: int
    m: int
    patterns: int
    k: int


class Figure(NamedTuple):
    """A table or figure of a paper.

    heads: headings of the points' cells; metric: `throughput` (GB of text a second), `seconds` or
    `speedup` (over the first column); columns: (heading, algorithm, device), followed by the
    engine's; printed: the paper's figures in these columns, a line a point; sets: how many sets of
    patterns are drawn, whose largest, smallest and average figures are given.
    """

    title: str
    command: str
    heads: tuple[str, ...]
    metric: str
    points: tuple[Point, ...]
    columns: tuple[tuple[str, str, str], ...]
    printed: tuple[str, ...] = ()
    sets: int = 1


def _megabytes(sizes: tuple[float, ...], m: int, patterns: int, k: int) -> tuple[Point, ...]:
    return tuple(Point((f"{s:.2f} Mb",), int(s * 1e6), m, patterns, k) for s in sizes)


_LIU = (
    ("sequential", "sequential", CPU),
    ("thread", "thread", CUDA),
    ("block-thread", "block-thread", CUDA),
    ("OPT-block-thread", "opt-block-thread", CUDA),
)
_LENGTHS = (32, 64, 128, 256, 512)
_PMASM = (
    ("thread", "pmasm-thread", CUDA),
    ("block-thread", "pmasm-block-thread", CUDA),
    ("shared-mem", "pmasm-shared", CUDA),
)
_PMASM_SIZES = (2.60, 3.02, 5.14, 10.28, 22.97)
_WSPASM = (
    ("ASM_CPU", "sequential", CPU),
    ("PASM_GPU", "row", CUDA),
    ("WsPASM_GPU", "row-shuffle", CUDA),
    ("WsPASM_GPUshared", "row-shuffle-shared", CUDA),
)
_NAKANO = tuple(
    (f"{name}, {device}", name, device)
    for name in ("diagonal", "slid", "partition")
    for device in (CPU, CUDA)
)
_FEUSER = (
    ("conventional", "conventional", CPU),
    ("alternative", "alternative", CPU),
    ("conventional fine", "conventional-fine", CPU),
    ("alternative fine", "alternative-fine", CPU),
    ("conventional CUDA", "conventional-fine", CUDA),
    ("alternative CUDA", "alternative-fine", CUDA),
)
_GENE, _BACKGROUND = 43_606, 241_494

# A remark on the sizes, then the figures.
PAPERS: dict[str, tuple[str, *tuple[Figure, ...]]] = {
    "liu2012": (
        "Liu et al. 2012 give neither the pattern sizes of Fig. 13 and 15 nor k (which changes "
        "nothing); Fig. 12, over the number of threads, has no counterpart: grids cover a text.",
        Figure(
            "Fig. 13: time by pattern size, text as long as B. anthracis", "hamming",
            ("m",), "seconds",
            tuple(Point((str(m),), 5_227_293, m, 1, m // 8) for m in _LENGTHS), _LIU,
        ),
        Figure(
            "Fig. 14: time by text size, m = 256", "hamming", ("text",), "seconds",
            tuple(Point((f"{n} Mb",), n * 1_000_000, 256, 1, 32) for n in range(1, 6)), _LIU,
        ),
        Figure(
            "Fig. 15: speedup by pattern size, text as long as Y. pestis (the paper: 40–80 for "
            "OPT-block-thread, about 10 for the others)", "hamming", ("m",), "speedup",
            tuple(Point((str(m),), 4_504_254, m, 1, m // 8) for m in _LENGTHS), _LIU,
        ),
    ),
    "pmasm2017": (
        "Ho et al. 2017a write Gb/s for bytes of text a second.",
        Figure(
            "Table 1: throughput for ten random sets of patterns, 10.28 Mb, k = 4", "multi",
            ("patterns", "length"), "throughput",
            tuple(
                Point((str(r), str(m)), 10_280_000, m, r, 4) for r, m in ((6, 7), (9, 7), (6, 12))
            ),
            _PMASM,
            (
                "4.86/4.30/4.76 0.24/0.23/0.24 6.17/5.58/6.11",
                "3.69/3.26/3.55 0.22/0.20/0.21 4.59/4.48/4.55",
                "3.41/3.22/3.35 0.21/0.20/0.21 4.05/3.79/3.97",
            ),
            sets=10,
        ),
        Figure(
            "Table 2: throughput by text size, 8 patterns of 9, k = 4", "multi", ("text",),
            "throughput", _megabytes(_PMASM_SIZES, 9, 8, 4), _PMASM,
            (
                "2.9 0.19 3.89", "2.83 0.19 4.29", "3.28 0.21 4.46", "3.35 0.21 4.56",
                "3.43 0.21 4.61",
            ),
        ),
        Figure(
            "Table 3: throughput beside naive and shift-add, 8 patterns of 12, k = 4", "multi",
            ("text",), "throughput", _megabytes(_PMASM_SIZES, 12, 8, 4),
            (
                ("naive CPU", "naive", CPU), ("naive GPU", "naive", CUDA),
                ("shift-add CPU", "shift-add", CPU), ("shift-add GPU", "shift-add", CUDA),
                ("PMASM CPU", "pmasm", CPU), ("shared-mem", "pmasm-shared", CUDA),
            ),
            (
                "0.01 2.31 0.05 3.12 0.06 3.59", "0.01 2.32 0.05 3.09 0.06 3.58",
                "0.01 2.57 0.05 3.08 0.06 3.72", "0.01 2.66 0.05 3.25 0.06 3.8",
                "0.01 2.67 0.05 3.19 0.06 3.85",
            ),
        ),
    ),
    "wspasm2017": (
        "Ho et al. 2017b do not give the pattern lengths of Fig. 6 and 7, nor the text's size.",
        Figure(
            "Table 1: throughput by text size, m = 16, k = 6", "edit", ("text",), "throughput",
            _megabytes((3.14, 4.87, 7.74, 12.88, 17.56, 22.87), 16, 1, 6), _WSPASM,
            (
                "0.025 1.59 1.83 1.94", "0.026 1.58 1.84 1.95", "0.025 1.52 1.87 1.99",
                "0.026 1.61 1.87 1.98", "0.026 1.59 1.84 1.97", "0.026 1.57 1.84 1.99",
            ),
        ),
        Figure(
            "Fig. 6 and 7: time by pattern length, 12.88 Mb, k = 6", "edit", ("m",), "seconds",
            tuple(Point((str(m),), 12_880_000, m, 1, 6) for m in (8, 16, 24, 32, 48, 64)), _WSPASM,
        ),
    ),
    "nakano2012": (
        "Nakano 2012 proves bounds, O(mn/w + ml) time units for `partition`, and measures nothing; "
        "these sizes are ours, and kmatch model counts time units.",
        Figure(
            "Time by the lengths of both strings", "best", ("m", "n"), "seconds",
            tuple(
                Point((str(m), f"{n:,}"), n, m, 1, m // 4)
                for m in (32, 128) for n in (10_000, 100_000, 1_000_000)
            ),
            _NAKANO,
        ),
    ),
    "feuser2018": (
        "Feuser & Moreano 2018, Table 1, one thread: conventional with optimization 1 12216.1 s, "
        "alternative with 2 8230.9 s. Table 2, 8 threads: conventional 2067.2 s, alternative "
        "1481.1 s, fine-grained 1544.1 s. CUDA: up to 72.8 times the sequential one.",
        Figure(
            f"Tables 1 and 2, Fig. 7: time for |α| = {_GENE:,}, |β| = {_BACKGROUND:,}", "primer",
            ("|α|", "|β|", "K"), "seconds",
            (Point((f"{_GENE:,}", f"{_BACKGROUND:,}", "100"), _GENE, _BACKGROUND, 0, 100),),
            _FEUSER,
        ),
    ),
}  # fmt: skip

_MACHINES = {
    ("Ho et al. 2017a", "cpu"): "Xeon E31270",
    ("Ho et al. 2017b", "cpu"): "Xeon E31270",
    ("Feuser & Moreano 2018", "cpu"): "quad-core Xeon",
    ("Liu et al. 2012", "cuda"): "GTX 260",
    ("Ho et al. 2017a", "cuda"): "GTX 660",
    ("Ho et al. 2017b", "cuda"): "GTX 660",
    ("Feuser & Moreano 2018", "cuda"): "Quadro M4000",
}

_HEADLINES = {
    ("Liu et al. 2012", "thread", "cuda"): "about 10 × sequential",
    ("Liu et al. 2012", "block-thread", "cuda"): "about 10 × sequential",
    ("Liu et al. 2012", "opt-block-thread", "cuda"): "40–80 × sequential",
    ("Ho et al. 2017a", "naive", "cpu"): "0.01 GB/s",
    ("Ho et al. 2017a", "naive", "cuda"): "up to 2.67 GB/s",
    ("Ho et al. 2017a", "shift-add", "cpu"): "0.05 GB/s",
    ("Ho et al. 2017a", "shift-add", "cuda"): "up to 3.25 GB/s",
    ("Ho et al. 2017a", "pmasm", "cpu"): "0.06 GB/s",
    ("Ho et al. 2017a", "pmasm-thread", "cuda"): "up to 4.86 GB/s",
    ("Ho et al. 2017a", "pmasm-block-thread", "cuda"): "up to 0.24 GB/s",
    ("Ho et al. 2017a", "pmasm-shared", "cuda"): "up to 6.17 GB/s, 385 × naive CPU",
    ("Ho et al. 2017b", "sequential", "cpu"): "0.026 GB/s",
    ("Ho et al. 2017b", "row", "cuda"): "1.6 GB/s, 60 × sequential",
    ("Ho et al. 2017b", "row-shuffle", "cuda"): "1.8 GB/s, 71 × sequential",
    ("Ho et al. 2017b", "row-shuffle-shared", "cuda"): "2.0 GB/s, 62–123 × sequential",
    ("Feuser & Moreano 2018", "conventional", "cpu"): "4.0 × its sequential form",
    ("Feuser & Moreano 2018", "alternative", "cpu"): "5.6 × its sequential form",
    ("Feuser & Moreano 2018", "alternative-fine", "cuda"): "70–73 × sequential",
}


def headline(paper: str, algorithm: str, device: str) -> str:
    """A paper's figure for an algorithm, GB of text, and its machine; empty where it has none."""
    said = _HEADLINES.get((paper, algorithm, device))
    machine = _MACHINES.get((paper, device))
    return f"{said} ({machine})" if said else ""
