"""Rows of figures, printed as a table and kept as JSON."""

import json
import platform
import re
import sys
from pathlib import Path


class Table:
    """Rows printed one by one under a header.

    columns: (key of a row, header, format) each; a column is as wide as its format says.
    """

    def __init__(self, columns):
        self._columns = columns
        self.rows = []

    def add(self, row):
        if not self.rows:
            print(*(_aligned(header, form) for _, header, form in self._columns), sep="  ")
        self.rows.append(row)
        cells = (_cell(row.get(key), form) for key, _, form in self._columns)
        print(*cells, sep="  ", flush=True)


def _aligned(word, form):
    """A word, aligned to the side and the width of a format such as `>9.3f`."""
    return f"{word:{form[0]}{re.match('[0-9]+', form[1:]).group()}}"


def _cell(value, form):
    return _aligned("–", form) if value is None else f"{value:{form}}"


def shown_figure(value):
    """A number in four digits; anything else as it is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write_results(path, rows, **about):
    """Write rows as JSON, a line each, after the machine, the command and what else is said of the
    run."""
    if path:
        about = {"machine": platform.platform(), "command": command_line(), **about}
        head = json.dumps(about, indent=1).removesuffix("\n}")
        lines = ",".join(f"\n  {json.dumps(row)}" for row in rows)
        Path(path).write_text(f'{head},\n "rows": [{lines}\n ]\n}}\n')


def command_line():
    """The command of this process: the script's name and its arguments."""
    return " ".join((Path(sys.argv[0]).name, *sys.argv[1:]))
