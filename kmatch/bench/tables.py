"""Rows of figures as tables on a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from kmatch.bench.headlines import headline

if TYPE_CHECKING:
    from kmatch.bench.rows import Row

DEFINITIONS = (
    "kernel: median time of the kernels alone, the text on the device. call: from the text in "
    "host memory to the hits there, with copies and packing.",
    "bp·pattern/s: letters of text × patterns ÷ kernel time. CUPS: letters of text × letters of "
    "all patterns (the cells of the whole matrix) ÷ kernel time. For primers the letters of the "
    "background take the place of patterns.",
    "× engine: bp·pattern/s over that of bitplane on the same device. × sequential: over that of "
    "the paper's first algorithm here, on one CPU thread.",
    "Forward strand. * An algorithm gets no more of the text than it searches in {seconds:g} s.",
)
COLUMNS = (
    "algorithm", "device", "text", "kernel", "call", "bp·pattern/s", "CUPS", "× engine",
    "× sequential", "hits", "same hits", "the paper says",
)  # fmt: skip
PREFIXES = ("", "k", "M", "G", "T", "P")


def scaled(number: float) -> str:
    """A number in three digits with a prefix: 12.3 G."""
    step = 0
    while abs(number) >= 999.5 and step < len(PREFIXES) - 1:
        number, step = number / 1000, step + 1
    return f"{number:.3g} {PREFIXES[step]}".strip()


def seconds(number: float) -> str:
    """A time in three digits: 12.3 ms."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number / 1e-6:.3g} μs"


def ratio(number: float | None) -> str:
    """A ratio in three digits, empty where there is none."""
    return "" if number is None else f"{number:.3g}"


def rows_table(rows: Sequence["Row"]) -> Table:
    """The Rows of one Case as a table."""
    one = rows[0]
    what = f"m = {one.m}, " if one.m else ""
    count = f"{one.patterns} pattern{'s' * (one.patterns != 1)}, " if one.patterns else ""
    table = Table(title=f"kmatch {one.command}: {count}{what}k = {one.k}", title_justify="left")
    for number, name in enumerate(COLUMNS):
        table.add_column(name, justify="left" if number in (0, 1, 10, 11) else "right")
    for row in rows:
        table.add_row(
            row.algorithm,
            row.device if row.threads != 1 else "cpu, 1 thread",
            f"{row.size:,}{'*' * (row.size < row.asked)}",
            seconds(row.kernel),
            seconds(row.call),
            scaled(row.rate),
            scaled(row.cups) if row.cells else "",
            ratio(row.of_engine),
            ratio(row.of_sequential),
            f"{row.hits:,}",
            "yes" if row.equal else "NO",
            headline(row.paper, row.algorithm, row.device),
        )
    return table
