"""Files that another machine may see too: the same path, size and time, and checksum if packed."""

import os
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from kmatch.genome import COMPRESSION, Genome
from kmatch.packed.writer import MAGIC, TAIL

COMPRESSED = (".gz", ".bgz", ".bz2", ".xz", ".zst")
OPEN = 8  # packed genomes that a worker keeps mapped


class SharedFile(NamedTuple):
    """What identifies a file: its absolute path, bytes, time of change in nanoseconds, and the
    checksum of a packed genome's index, else None."""

    path: str
    size: int
    changed: int
    checksum: int | None

    def is_here(self) -> bool:
        """Whether this machine has the same file; one that is not packed is not opened for that."""
        if self.is_packed:
            return shared_file(self.path) == self
        with suppress(OSError):
            found = os.stat(self.path)
            same = (found.st_size, found.st_mtime_ns) == (self.size, self.changed)
            return same and os.access(self.path, os.R_OK)
        return False

    @property
    def is_packed(self) -> bool:
        """Whether it is a packed genome."""
        return self.checksum is not None


def shared_file(path: str | os.PathLike[str]) -> SharedFile | None:
    """The SharedFile of a path; None for what is no regular file that can be read."""
    with suppress(OSError, ValueError):
        path = os.path.abspath(os.fspath(path))
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as handle:
            found = os.fstat(handle.fileno())
            checksum = None
            if handle.read(len(MAGIC)) == MAGIC and found.st_size > TAIL.size:
                handle.seek(-TAIL.size, os.SEEK_END)
                checksum = TAIL.unpack(handle.read(TAIL.size))[1]
        return SharedFile(path, found.st_size, found.st_mtime_ns, checksum)
    return None


def estimated_letters(file: SharedFile) -> int:
    """About how many letters a file has, by its size and its name."""
    return file.size * (COMPRESSION if file.path.endswith(COMPRESSED) else 1)


@lru_cache(OPEN)
def open_shared(file: SharedFile) -> Genome:
    """The Genome of a packed file, which stays mapped."""
    return Genome(file.path, keep=False)
