"""Names and lengths of a FASTA file's records from the index that samtools makes, `FILE.fai`."""

import os
from contextlib import suppress

import numpy as np

from kmatch.arrays import Longs


def read_index(path: str | os.PathLike[str]) -> tuple[list[str], Longs] | None:
    """Names and lengths, int64[n], or None: without an index, with one older than the file, and
    with one that cannot be read."""
    index = os.fspath(path) + ".fai"
    with suppress(OSError, ValueError):
        if os.path.getmtime(index) < os.path.getmtime(path):
            return None
        with open(index, encoding="utf-8", errors="surrogateescape") as file:
            rows = [line.split("\t")[:2] for line in file if line.strip()]
        return [name for name, _ in rows], np.array([int(size) for _, size in rows], np.int64)
    return None
