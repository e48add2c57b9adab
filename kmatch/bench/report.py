"""The measurements that `kmatch bench` makes, prints, keeps and draws."""

import json
import os
import platform
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table

import kmatch
from kmatch.arrays import Bytes
from kmatch.bench.measure import SEED, Bench, Case, Row, cut_patterns, random_letters, read_letters
from kmatch.bench.papers import PAPERS, Figure, Point, headline
from kmatch.errors import OutputError
from kmatch.pictures import load_figure
from kmatch.published.registry import ENGINE

SIZES = {"cpu": 1 << 23, "cuda": 1 << 27}  # letters of text
PRIMER = (2_000, 20_000, 20)  # letters of target and of background, K
SETTINGS = {"hamming": (20, 1, 3), "multi": (20, 8, 3), "edit": (20, 1, 3), "best": (20, 1, 6)}
BACKGROUND_SEED = 2
UNITS = {
    "throughput": "GB of text a second",
    "seconds": "time of the kernels",
    "speedup": "× the first column",
}
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

Rows = dict[tuple[str, str], Row]  # by (algorithm, device)
Result = tuple[Point, int, Rows]


class Report:
    """Measures with a Bench, prints tables to standard output and keeps the rows.

    genome: a path, or None for random letters; size: letters of text, or None for a size that suits
    the devices; width: of tables that do not go to a terminal; path: of a JSON file for the rows,
    which is written again after every table.
    """

    def __init__(
        self,
        bench: Bench,
        genome: str | None,
        size: int | None,
        width: int,
        path: str | None = None,
    ) -> None:
        self._bench, self._genome, self._size, self._path = bench, genome, size, path
        self._console = Console(width=None if Console().is_terminal else width)
        self._tables: list[list[Row]] = []
        self.equal = True

    def commands(self, commands: Iterable[str]) -> None:
        """Measure commands at the sizes of SETTINGS and print a table of each."""
        letters = self._letters(self._size or max(SIZES[device] for device in self._bench.devices))
        for command in commands:
            if command == "primer":
                target, background, k = PRIMER
                case = _case(command, letters[:target], background, 0, k)
            else:
                case = _case(command, letters, *SETTINGS[command])
            rows = list(self._bench.rows(case))
            self._keep(rows)
            self._show(rows_table(rows))
        self._define()

    def paper(self, name: str) -> None:
        """Measure at the sizes of a paper's tables and figures and print them in their shape."""
        remark, *figures = PAPERS[name]
        longest = max(point.size for figure in figures for point in figure.points)
        letters = self._letters(longest) if self._genome else None
        for figure in figures:
            results = list(figure_rows(figure, self._bench, letters))
            for _, _, rows in results:
                self._keep(list(rows.values()))
            self._show(figure_table(figure, results, self._bench.devices))
        self._console.print(f"In brackets the paper's figures. {remark}")
        self._define()

    def draw(self, path: str) -> None:
        """Draw the rows to a file."""
        draw(self._tables, path)

    def _letters(self, size: int) -> Bytes:
        return read_letters(self._genome, size) if self._genome else random_letters(size)

    def _keep(self, rows: list[Row]) -> None:
        self._tables.append(rows)
        self.equal &= all(row.equal for row in rows)

    def _show(self, table: Table) -> None:
        self._console.print(table)
        if self._path:
            record = {
                "kmatch": kmatch.__version__,
                "machine": f"{platform.platform()}, {os.cpu_count()} cores",
                "devices": self._bench.describe(),
                "text": self._genome or "random letters",
                "definitions": self._definitions(),
                "rows": [row.figures() for rows in self._tables for row in rows],
            }
            try:
                with open(self._path, "w") as handle:
                    json.dump(record, handle, indent=1)
            except OSError as error:
                said = f"{self._path}: cannot be written: {error.strerror}"
                raise OutputError(said) from error

    def _define(self) -> None:
        for line in self._definitions():
            self._console.print(line)

    def _definitions(self) -> list[str]:
        return [line.format(seconds=self._bench.seconds) for line in DEFINITIONS]


def _case(command: str, text: Bytes, m: int, patterns: int, k: int, seed: int = SEED) -> Case:
    """The Case of a command; m: letters of a pattern, or of the background of primers."""
    if command == "primer":
        return Case(command, text, [], k, random_letters(m, BACKGROUND_SEED))
    return Case(command, text, cut_patterns(text, m, patterns, k, seed), k)


def rows_table(rows: Sequence[Row]) -> Table:
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
            shown(row.kernel, "s"),
            shown(row.call, "s"),
            shown(row.rate),
            shown(row.cups) if row.cells else "",
            ratio(row.of_engine),
            ratio(row.of_sequential),
            f"{row.hits:,}",
            "yes" if row.equal else "NO",
            headline(row.paper, row.algorithm, row.device),
        )
    return table


def figure_rows(figure: Figure, bench: Bench, letters: Bytes | None = None) -> Iterator[Result]:
    """Yield (point, number of the set of patterns, Rows) for each point and set of a Figure.

    letters: a text as long as the longest point's, or None for random letters.
    """
    wanted = {(algorithm, device) for _, algorithm, device in figure.columns}
    for point in figure.points:
        text = random_letters(point.size) if letters is None else letters[: point.size]
        for number in range(figure.sets):
            case = _case(figure.command, text, point.m, point.patterns, point.k, SEED + number)
            rows = bench.rows(case, wanted)
            yield point, number, {(row.algorithm, row.device): row for row in rows}


def figure_table(figure: Figure, results: Sequence[Result], devices: Sequence[str]) -> Table:
    """A Figure as a table: a row a point, with the paper's own figures in brackets."""
    table = Table(title=f"{figure.title} ({UNITS[figure.metric]})", title_justify="left")
    columns = [*figure.columns, *((f"{ENGINE}, {device}", ENGINE, device) for device in devices)]
    for heading in (*figure.heads, *(column[0] for column in columns)):
        table.add_column(heading, justify="right")
    by_point: dict[Point, list[Rows]] = {}
    for point, _, rows in results:
        by_point.setdefault(point, []).append(rows)
    printed = [line.split() for line in figure.printed] or [[]] * len(by_point)
    for theirs, (point, sets) in zip(printed, by_point.items(), strict=True):
        cells = [_cell(figure, sets, column[1:]) for column in columns]
        for number, said in enumerate(theirs):
            cells[number] += f" ({said})"
        table.add_row(*point.cells, *cells)
    return table


def _cell(figure: Figure, sets: Sequence[Rows], column: tuple[str, str]) -> str:
    rows = [rows[column] for rows in sets if column in rows]
    if not rows:
        return "–"
    values = [_value(figure, row, others) for row, others in zip(rows, sets, strict=True)]
    if len(values) > 1:
        values = [max(values), min(values), sum(values) / len(values)]
    cell = "/".join(shown(value, "s" if figure.metric == "seconds" else "") for value in values)
    cell += "*" * any(row.size < row.asked for row in rows)
    return cell + " DIFFERENT HITS" * any(not row.equal for row in rows)


def _value(figure: Figure, row: Row, rows: Rows) -> float:
    if figure.metric == "throughput":
        return row.size / row.kernel / 1e9 if row.kernel else 0.0
    if figure.metric == "seconds":
        return row.kernel * row.asked / row.size
    _, algorithm, device = figure.columns[0]
    first = rows[algorithm, device]
    return row.rate / first.rate if first.rate else 0.0


def shown(number: float, unit: str = "") -> str:
    """A number in three digits with a prefix: `12.3 G`, and times from μs to s: `12.3 ms`."""
    prefixes, size = ["", *"kMGTP"], 1.0
    if unit:
        prefixes, size = ["μ", "m", ""], 1e-6
    while abs(number) >= (1000 if unit else 999.5) * size and len(prefixes) > 1:
        del prefixes[0]
        size *= 1000
    return f"{number / size:.3g} {prefixes[0]}{unit}".strip()


def ratio(number: float | None) -> str:
    """A ratio in three digits, empty where there is none."""
    return "" if number is None else f"{number:.3g}"


def draw(tables: Sequence[Sequence[Row]], path: str) -> None:
    """Draw bars of bp·pattern/s, a panel for each list of Rows; the suffix says the file's format.

    Raises OutputError where Matplotlib is missing or the file cannot be written.
    """
    height = sum(len(rows) for rows in tables)
    figure = load_figure("--plot")(figsize=(9, 1 + 0.8 * len(tables) + 0.25 * height))
    panels = figure.subplots(
        len(tables), squeeze=False, height_ratios=[len(rows) + 2 for rows in tables]
    )
    for rows, (panel,) in zip(tables, panels, strict=True):
        names = [f"{row.algorithm}, {row.device}" for row in rows]
        colours = ["tab:green" if not row.paper else "tab:blue" for row in rows]
        panel.barh(range(len(rows)), [row.rate for row in rows], color=colours)
        panel.set_yticks(range(len(rows)), names)
        panel.invert_yaxis()
        panel.set_xscale("log")
        first = rows[0]
        panel.set_title(f"{first.command}: m = {first.m}, k = {first.k}, {first.patterns} patterns")
        panel.set_xlabel("bp·pattern/s: letters of text × patterns ÷ kernel time")
    figure.tight_layout()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise OutputError(f"{path}: cannot be drawn: {error}") from error
