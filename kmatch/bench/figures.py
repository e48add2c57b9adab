"""Papers' tables and figures, with our figures in their shape."""

from rich.table import Table

from kmatch.bench.data import Case, cut_patterns, random_letters
from kmatch.bench.tables import scaled, seconds
from kmatch.published.registry import ENGINE

BACKGROUND_SEED = 2
UNITS = {
    "throughput": "GB of text a second",
    "seconds": "time of the kernels",
    "speedup": "× the first column",
}


def figure_rows(figure, bench, letters=None):
    """Yield (point, set number, rows by (algorithm, device)) for each point of a Figure.

    letters: the text, uint8, as long as the longest point, or None for random letters.
    """
    wanted = {column[1:] for column in figure.columns}
    for point in figure.points:
        text = random_letters(point.size) if letters is None else letters[: point.size]
        for number in range(figure.sets):
            rows = bench.rows(_case(figure, point, text, number), wanted)
            yield point, number, {(row.algorithm, row.device): row for row in rows}


def _case(figure, point, text, number):
    if figure.command == "primer":
        background = random_letters(point.m, BACKGROUND_SEED)
        return Case(figure.command, text, [], point.k, background)
    patterns = cut_patterns(text, point.m, point.patterns, point.k, 1 + number)
    return Case(figure.command, text, patterns, point.k)


def figure_table(figure, results, devices):
    """The Table of a Figure: a row a point, ours, and in brackets what the paper printed."""
    table = Table(title=f"{figure.title} ({UNITS[figure.metric]})", title_justify="left")
    engines = [(f"{ENGINE}, {device}", ENGINE, device) for device in devices]
    for head in figure.heads:
        table.add_column(head, justify="right")
    for heading, *_ in (*figure.columns, *engines):
        table.add_column(heading, justify="right")
    by_point = {}
    for point, _, rows in results:
        by_point.setdefault(point, []).append(rows)
    for number, (point, sets) in enumerate(by_point.items()):
        printed = figure.printed[number] if figure.printed else [None] * len(figure.columns)
        cells = [
            _cell(figure, sets, column[1:], said)
            for column, said in zip(figure.columns, printed, strict=True)
        ]
        cells += [_cell(figure, sets, engine[1:], None) for engine in engines]
        table.add_row(*point.cells, *cells)
    return table


def _cell(figure, sets, column, said):
    rows = [rows[column] for rows in sets if column in rows]
    shown = "–"
    if rows:
        values = [_value(figure, row, rows_of) for row, rows_of in zip(rows, sets, strict=True)]
        if len(values) > 1:
            values = [max(values), min(values), sum(values) / len(values)]
        shown = "/".join(_shown(figure.metric, value) for value in values)
        shown += "*" * any(row.size < row.asked for row in rows)
        shown += " DIFFERENT HITS" * any(not row.equal for row in rows)
    return shown if said is None else f"{shown} ({said})"


def _value(figure, row, rows):
    if figure.metric == "throughput":
        return row.size / row.kernel / 1e9 if row.kernel else 0.0
    if figure.metric == "seconds":
        return row.kernel * row.asked / row.size
    first = rows[figure.columns[0][1:]]
    return row.rate / first.rate if first.rate else 0.0


def _shown(metric, value):
    if metric == "seconds":
        return seconds(value)
    return f"{value:.3g}" if value < 1000 else scaled(value)
