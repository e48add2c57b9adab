"""Which source files kernels are made of, and their digest."""

import hashlib
import os
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

# Folders above the engine: a file of theirs counts where one of MAKERS says that it makes kernels.
# Every other file counts. Tests hold that no kernel lies elsewhere, nor what kernels import.
HOST = {"bench", "distributed", "packed", "rehearsal", "results", "search", "sequences"}
KERNEL_FREE = {"cli"}
MAKERS = (b"@kernel", b"@parallel_kernel", b"@inlined", b"numba")


def kernel_sources(package=PACKAGE):
    """Yield (path, content) of all files that a kernel's code can come from, in no fixed order.

    The path is a string relative to the package, with `/` between its parts.
    """
    folders = [""]
    while folders:
        folder = folders.pop()
        host = folder.partition("/")[0] in HOST
        with os.scandir(os.path.join(package, folder)) as entries:
            for entry in entries:
                path = folder + entry.name
                if entry.name.endswith(".py"):
                    with open(entry.path, "rb", buffering=0) as handle:
                        content = handle.read()
                    if not host or any(maker in content for maker in MAKERS):
                        yield path, content
                elif path not in KERNEL_FREE and entry.name != "__pycache__" and entry.is_dir():
                    folders.append(path + "/")


def digest(*versions, package=PACKAGE):
    """24 hexadecimal digits that change with any kernel source and any version.

    The sources are those at the first call. All are read, in every process, which takes 2 ms: times
    and sizes of files say too little, since installers may set the one and keep the other.
    """
    summary = _sources(package).copy()
    summary.update("\0".join(versions).encode())
    return summary.hexdigest()


def unchanged(package=PACKAGE):
    """Whether the sources are still those at the first call of `digest`."""
    return _sources(package).digest() == _sources.__wrapped__(package).digest()


@cache
def _sources(package):
    summary = hashlib.blake2b(digest_size=12)
    for path, content in sorted(kernel_sources(package)):
        summary.update(b"%b\0%d\0" % (path.encode(), len(content)))
        summary.update(content)
    return summary
