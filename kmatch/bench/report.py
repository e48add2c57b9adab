"""The measurements that `kmatch bench` makes, prints and keeps."""

import json
import os
import platform
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

import kmatch
from kmatch.arrays import Bytes
from kmatch.bench.data import Case, make_case, random_letters, read_letters
from kmatch.bench.figures import BACKGROUND_SEED, figure_rows, figure_table
from kmatch.bench.papers import PAPERS
from kmatch.bench.plot import draw
from kmatch.bench.rows import Bench, Row
from kmatch.bench.tables import DEFINITIONS, rows_table
from kmatch.errors import OutputError

SIZES = {"cpu": 1 << 23, "cuda": 1 << 27}  # letters of text
PRIMER = (2_000, 20_000, 20)  # letters of target and of background, K
SETTINGS = {"hamming": (20, 1, 3), "multi": (20, 8, 3), "edit": (20, 1, 3), "best": (20, 1, 6)}


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
        size = self._size or max(SIZES[device] for device in self._bench.devices)
        letters = self._letters(size)
        for command in commands:
            if command == "primer":
                target, background, k = PRIMER
                case = Case(
                    command, letters[:target], [], k, random_letters(background, BACKGROUND_SEED)
                )
            else:
                case = make_case(command, letters, *SETTINGS[command])
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

    def _show(self, table: Table) -> None:
        self._console.print(table)
        if self._path:
            try:
                with open(self._path, "w") as handle:
                    json.dump(self._record(), handle, indent=1)
            except OSError as error:
                said = f"{self._path}: cannot be written: {error.strerror}"
                raise OutputError(said) from error

    def _record(self) -> dict[str, Any]:
        return {
            "kmatch": kmatch.__version__,
            "machine": f"{platform.platform()}, {os.cpu_count()} cores",
            "devices": self._bench.describe(),
            "text": self._genome or "random letters",
            "definitions": self._definitions(),
            "rows": [row.figures() for rows in self._tables for row in rows],
        }

    def _letters(self, size: int) -> Bytes:
        return read_letters(self._genome, size) if self._genome else random_letters(size)

    def _keep(self, rows: list[Row]) -> None:
        self._tables.append(rows)
        self.equal &= all(row.equal for row in rows)

    def _define(self) -> None:
        for line in self._definitions():
            self._console.print(line)

    def _definitions(self) -> list[str]:
        return [line.format(seconds=self._bench.seconds) for line in DEFINITIONS]
