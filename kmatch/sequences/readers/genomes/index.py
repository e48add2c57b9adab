"""Names and lengths of a FASTA file's records from the index that samtools makes, `FILE.fai`."""

import mmap
import os
from contextlib import suppress

import numpy as np

from kmatch.arrays import Longs
from kmatch.sequences.names import first_word


def read_index(path: str | os.PathLike[str]) -> tuple[list[str], Longs] | None:
    """Names and lengths, int64[n], or None: without an index, with one older than the file, with
    one that cannot be read, and where the file's headers are not where it says."""
    index = os.fspath(path) + ".fai"
    with suppress(OSError, ValueError):
        if os.path.getmtime(index) < os.path.getmtime(path):
            return None
        with open(index, encoding="utf-8", errors="surrogateescape") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if line.strip()]
        names = [name for name, *_ in rows]
        numbers = np.array([row[1:5] for row in rows], np.int64).reshape(-1, 4)
        with (
            open(path, "rb") as genome,
            mmap.mmap(genome.fileno(), 0, access=mmap.ACCESS_READ) as letters,
        ):
            if _fits(letters, names, numbers):
                return names, numbers[:, 0]
    return None


def _fits(letters: mmap.mmap, names: list[str], numbers: Longs) -> bool:
    """Whether between the records of an index there is nothing but headers, the last of which is
    that of the next record.

    numbers: int64[n, 4], letters, offset of the first, letters and bytes of a line.
    """
    end = 0
    for name, (length, offset, bases, width) in zip(names, numbers.tolist(), strict=True):
        headers = letters[end:offset].decode("utf-8", "surrogateescape").split("\n")
        headers = [line for line in headers if line.strip()]
        if not _are_headers(headers) or not headers or first_word(headers[-1][1:]) != name:
            return False
        lines, rest = divmod(length, bases) if bases else (0, 0)
        end = offset + lines * width + rest
        if end > len(letters):  # the last line of a file may lack its break
            end -= width - bases
        if end > len(letters) or letters.find(b">", offset, end) >= 0:
            return False
    return _are_headers(letters[end:].decode("utf-8", "surrogateescape").split("\n"))


def _are_headers(lines: list[str]) -> bool:
    return all(line.startswith(">") for line in lines if line.strip())
