"""Regions of records, read from BED."""

from collections.abc import Iterator
from typing import NamedTuple

from kmatch.arguments import MOST
from kmatch.errors import InputError
from kmatch.sequences.names import shown
from kmatch.sequences.readers.files import Source, StrPath, open_source, reading

_HEADERS = (b"track", b"browser")  # the first word of lines that are no regions
_SHOWN = 60  # characters of a wrong cell
COMMENT = "#"


class Region(NamedTuple):
    """A part of a record, 0-based and half-open; where: its line, with which messages begin."""

    record: str
    start: int
    end: int
    where: str


def read_regions(path: StrPath) -> list[Region]:
    """The Regions of a BED file, or of standard input (`-`), of which three columns are read.

    A line that begins with `#` and has two positions behind its first tab is one too: a genome may
    have a record of that name. Where it has none, the line is a comment (see `Regions`).

    Raises InputError for a file without regions, and for lines that are no BED.
    """
    with open_source(path) as source, reading(source.label):
        regions = list(_regions(source))
    if not regions:
        raise InputError(
            f"{source.label}: no regions; write BED: a record's name, a tab, start, a tab and end"
        )
    return regions


def _regions(source: Source) -> Iterator[Region]:
    for number, line in enumerate(source.handle, 1):
        line = line.strip(b"\r\n")
        # A record may be called so too: a tab follows its name.
        if not line.strip() or line.split(b" ")[0] in _HEADERS:
            continue
        where = f"{source.label}: line {number}: "
        cells = line.split(b"\t") if b"\t" in line else line.split()
        if line.startswith(COMMENT.encode()) and not (b"\t" in line and _is_region(cells)):
            continue
        if len(cells) < 3:
            raise InputError(
                f"{where}{len(cells)} column{'s' if len(cells) > 1 else ''} of the 3 that BED has "
                "at least; write a record's name, a tab, start, a tab and end"
            )
        name = cells[0].decode("utf-8", "surrogateescape")
        start, end = (_position(cell, where) for cell in cells[1:3])
        if start > end:
            raise InputError(f"{where}the region begins at {start} and ends before, at {end}")
        yield Region(name, start, end, where)


def _is_region(cells: list[bytes]) -> bool:
    return len(cells) > 2 and cells[1].isdigit() and cells[2].isdigit()


def _position(cell: bytes, where: str) -> int:
    if not cell.strip().isdigit() or int(cell) > MOST:
        text = shown(cell.decode("utf-8", "replace"), _SHOWN)
        raise InputError(
            f"{where}'{text}' is no position; BED counts from 0, start and end are the second "
            "and the third column, and a line that is no region starts with '#'"
        )
    return int(cell)
