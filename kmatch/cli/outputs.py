"""Where results go: to no input, no two of them to the same file, in a known format."""

import os
import stat
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

import click

from kmatch.results.files.output import is_special

TABLES = ("bed", "tsv")
FORMATS = (*TABLES, "sam", "gff3", "view")
_SUFFIXES = {"": None, ".bed": "bed", ".tsv": "tsv", ".txt": None}
_OF_HITS = {".sam": "sam", ".gff3": "gff3", ".gff": "gff3"}


class Table(NamedTuple):
    """Where a table goes, None or `-` for standard output, and its format, None by the suffix.

    Of hits also: the most of a pattern, None for all; summary: where the table of how many there
    are goes; summary_only: whether it is written instead of the hits.
    """

    output: str | None
    form: str | None
    limit: int | None = None
    summary: str | None = None
    summary_only: bool = False

    @property
    def is_standard(self) -> bool:
        """Whether it goes to standard output."""
        return self.output in (None, "-")


def check_table(
    table: Table,
    inputs: Iterable[str | None],
    others: Mapping[str, str | None] | None = None,
    of_hits: bool = False,
) -> Table:
    """The table with its format.

    inputs, others: the paths that the command reads, and its further outputs by option; of_hits:
    whether the formats of hits are known too. Raises UsageError for a suffix that names no format,
    and for outputs as `check_outputs` does.
    """
    checked = table._replace(form=format_of(table, of_hits))
    check_outputs(inputs, {"-o": table.output or "-", **(others or {})})
    return checked


def check_summary(table: Table) -> None:
    """Raise UsageError for options that --summary-only leaves no use."""
    if not table.summary_only:
        return
    others = {"--summary": table.summary, "--format": table.form, "--limit": table.limit}
    for option, value in others.items():
        if value:
            raise click.UsageError(
                f"--summary-only writes one table, to standard output or -o; leave {option} out"
            )


def format_of(table: Table, of_hits: bool = False) -> str:
    """The format of a table: the one asked for, else by the file's suffix, else bed.

    Raises UsageError for a file whose suffix names no format.
    """
    output, form, *_ = table
    if output is None or output == "-" or is_special(output):
        return form or "bed"
    name = os.path.basename(output).lower().removesuffix(".gz")
    suffix = os.path.splitext(name)[1]
    suffixes = _SUFFIXES | (_OF_HITS if of_hits else {})
    if suffix not in suffixes:
        known = " and ".join(", ".join(filter(None, suffixes)).rsplit(", ", 1))
        raise click.UsageError(
            f"-o {output}: '{suffix}' names no format; {known} do, and these with .gz"
        )
    return form or suffixes[suffix] or "bed"


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
            raise click.UsageError(f"{written[file]} and {option} cannot be the same file")
        written[file] = option


def _file(path: str, stream: str) -> object:
    """What identifies a regular file, or one that does not exist yet, by whatever name.

    None for devices and pipes, and for a standard stream that is one.
    """
    with suppress(OSError, ValueError, AttributeError):
        found = os.fstat(getattr(sys, stream).fileno()) if path == "-" else os.stat(path)
        return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
    return None if path == "-" else os.path.realpath(path)
