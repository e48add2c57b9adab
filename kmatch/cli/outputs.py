"""Where results go: to no input, no two of them to the same file, in a known format."""

import os
import stat
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

import click

from kmatch.results.files.output import is_special

FORMATS = ("bed", "tsv")
_SUFFIXES = {"": None, ".bed": "bed", ".tsv": "tsv", ".txt": None}


class Table(NamedTuple):
    """Where a table goes, None or `-` for standard output, and its format, None by the suffix."""

    output: str | None
    form: str | None

    @property
    def is_standard(self) -> bool:
        """Whether it goes to standard output."""
        return self.output in (None, "-")


def check_table(
    table: Table, inputs: Iterable[str | None], others: Mapping[str, str | None] | None = None
) -> Table:
    """The table with its format.

    inputs, others: the paths that the command reads, and its further outputs by option. Raises
    UsageError for a suffix that names no format, and for outputs as `check_outputs` does.
    """
    checked = table._replace(form=format_of(table))
    check_outputs(inputs, {"-o": table.output or "-", **(others or {})})
    return checked


def format_of(table: Table) -> str:
    """The format of a table: the one asked for, else by the file's suffix, else bed.

    Raises UsageError for a file whose suffix names no format.
    """
    output, form = table
    if output is None or output == "-" or is_special(output):
        return form or "bed"
    name = os.path.basename(output).lower().removesuffix(".gz")
    suffix = os.path.splitext(name)[1]
    if suffix not in _SUFFIXES:
        known = " and ".join(", ".join(filter(None, _SUFFIXES)).rsplit(", ", 1))
        raise click.UsageError(
            f"-o {output}: '{suffix}' names no format; {known} do, and these with .gz"
        )
    return form or _SUFFIXES[suffix] or "bed"


def check_outputs(inputs: Iterable[str | None], outputs: Mapping[str, str | None]) -> None:
    """Raise UsageError where an output is an input, or two outputs are one file, by any name.

    inputs: paths, `-` for standard input; outputs: paths by option, `-` for standard output; None
    for one that is not given. A device can be named any number of times.
    """
    read = {_file(path, "stdin"): path for path in inputs if path}
    written: dict[object, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        file = _file(path, "stdout")
        if file in read and file is not None:
            raise click.UsageError(
                f"{option} {path} is the same file as {read[file]}, which is read; name another"
            )
        if path == "-" and file is None:
            file = path
        if file in written and file is not None:
            raise click.UsageError(f"{written[file]} and {option} cannot go to the same place")
        written[file] = option


def _file(path: str, stream: str) -> object:
    """What identifies a regular file, or one that does not exist yet, by whatever name.

    None for devices and pipes, and for a standard stream that is one.
    """
    with suppress(OSError, ValueError, AttributeError):
        found = os.fstat(getattr(sys, stream).fileno()) if path == "-" else os.stat(path)
        return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
    return None if path == "-" else os.path.realpath(path)
