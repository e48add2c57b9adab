"""The source files that kernels are made of, and their digest."""

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

# Folders and files above the engine: a file there counts only if it contains one of MAKERS, which
# make kernels. All other files count. Tests check that no kernel and nothing that kernels import is
# left out.
HOST = {"bench", "packed", "rehearsal", "results", "search", "sequences"}
HOST |= {"__main__.py", "api.py", "cluster.py", "genome.py", "genomes.py", "published/search.py"}
KERNEL_FREE = {"cli", "pictures"}
MAKERS = (b"@kernel", b"@parallel_kernel", b"@inlined", b"numba")


def kernel_sources(package: Path = PACKAGE) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of all files that a kernel's code can come from, in any order.

    The path is relative to the package, with `/` between its parts.
    """
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(os.path.join(package, folder)) as entries:
            for entry in entries:
                path = folder + entry.name
                host = not HOST.isdisjoint((path, path.partition("/")[0]))
                if entry.name.endswith(".py"):
                    with open(entry.path, "rb", buffering=0) as handle:
                        content = handle.read()
                    if not host or any(maker in content for maker in MAKERS):
                        yield path, content
                elif path not in KERNEL_FREE and entry.name != "__pycache__" and entry.is_dir():
                    folders.append(path + "/")


def digest(*versions: str, package: Path = PACKAGE) -> str:
    """24 hexadecimal digits that change with any kernel source and any version.

    The sources are those at the first call. Every process reads them all, which takes 2 ms: times
    and sizes do not suffice, since an installer may set the times, and sizes may stay the same.
    """
    summary = _sources(package).copy()
    summary.update("\0".join(versions).encode())
    return summary.hexdigest()


def unchanged(package: Path = PACKAGE) -> bool:
    """Whether the sources are still those at the first call of `digest`."""
    return _sources(package).digest() == _read(package).digest()


@cache
def _sources(package: Path) -> "hashlib.blake2b":
    return _read(package)


def _read(package: Path) -> "hashlib.blake2b":
    summary = hashlib.blake2b(digest_size=12)
    for path, content in sorted(kernel_sources(package)):
        summary.update(b"%b\0%d\0" % (path.encode(), len(content)))
        summary.update(content)
    return summary
