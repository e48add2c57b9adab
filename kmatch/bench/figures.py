"""Our measurements in the shape of the papers' tables and figures."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from kmatch.arrays import Bytes
from kmatch.bench.data import Case, cut_patterns, random_letters
from kmatch.bench.papers import Figure, Point, Printed
from kmatch.bench.rows import Bench, Row
from kmatch.bench.tables import scaled, seconds
from kmatch.published.registry import ENGINE

Rows = dict[tuple[str, str], Row]  # by (algorithm, device)
Result = tuple[Point, int, Rows]

BACKGROUND_SEED = 2
UNITS = {
    "throughput": "GB of text a second",
    "seconds": "time of the kernels",
    "speedup": "× the first column",
}


def figure_rows(figure: Figure, bench: Bench, letters: Bytes | None = None) -> Iterator[Result]:
    """Yield (point, number of the set of patterns, Rows) for each point and set of a Figure.

    letters: a text as long as the longest point's, or None for random letters.
    """
    wanted = {(algorithm, device) for _, algorithm, device in figure.columns}
    for point in figure.points:
        text = random_letters(point.size) if letters is None else letters[: point.size]
        for number in range(figure.sets):
            rows = bench.rows(_case(figure, point, text, number), wanted)
            yield point, number, {(row.algorithm, row.device): row for row in rows}


def _case(figure: Figure, point: Point, text: Bytes, number: int) -> Case:
    if figure.command == "primer":
        background = random_letters(point.m, BACKGROUND_SEED)
        return Case(figure.command, text, [], point.k, background)
    patterns = cut_patterns(text, point.m, point.patterns, point.k, 1 + number)
    return Case(figure.command, text, patterns, point.k)


def figure_table(figure: Figure, results: Sequence[Result], devices: Sequence[str]) -> Table:
    """A Figure as a table: a row a point, with the paper's own figures in brackets."""
    table = Table(title=f"{figure.title} ({UNITS[figure.metric]})", title_justify="left")
    engines = [(f"{ENGINE}, {device}", ENGINE, device) for device in devices]
    for head in figure.heads:
        table.add_column(head, justify="right")
    for heading, *_ in (*figure.columns, *engines):
        table.add_column(heading, justify="right")
    by_point: dict[Point, list[Rows]] = {}
    for point, _, rows in results:
        by_point.setdefault(point, []).append(rows)
    for number, (point, sets) in enumerate(by_point.items()):
        printed: Sequence[Printed | None] = [None] * len(figure.columns)
        if figure.printed:
            printed = figure.printed[number]
        columns = [*zip(figure.columns, printed, strict=True), *((name, None) for name in engines)]
        cells = [_cell(figure, sets, column[1:], theirs) for column, theirs in columns]
        table.add_row(*point.cells, *cells)
    return table


def _cell(
    figure: Figure, sets: Sequence[Rows], column: tuple[str, str], printed: Printed | None
) -> str:
    rows = [rows[column] for rows in sets if column in rows]
    shown = "–"
    if rows:
        values = [_value(figure, row, others) for row, others in zip(rows, sets, strict=True)]
        if len(values) > 1:
            values = [max(values), min(values), sum(values) / len(values)]
        shown = "/".join(_shown(figure.metric, value) for value in values)
        shown += "*" * any(row.size < row.asked for row in rows)
        shown += " DIFFERENT HITS" * any(not row.equal for row in rows)
    return shown if printed is None else f"{shown} ({printed})"


def _value(figure: Figure, row: Row, rows: Rows) -> float:
    if figure.metric == "throughput":
        return row.size / row.kernel / 1e9 if row.kernel else 0.0
    if figure.metric == "seconds":
        return row.kernel * row.asked / row.size
    _, algorithm, device = figure.columns[0]
    first = rows[algorithm, device]
    return row.rate / first.rate if first.rate else 0.0


def _shown(metric: str, value: float) -> str:
    if metric == "seconds":
        return seconds(value)
    return f"{value:.3g}" if value < 1000 else scaled(value)
