"""Compiling: every kernel is made by one of these, cached on disk, and runs without the GIL."""

import os
import sys
import tempfile
from pathlib import Path

import numba


def _find_cache_folder():
    """A folder for compiled kernels where Numba would find none.

    Numba keeps them beside the source or else in the user's cache folder, and fails where neither
    can be written: in a read-only installation without a home.
    """
    if numba.config.CACHE_DIR or _writable(Path(__file__).parent):
        return ""
    if sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    elif os.name == "nt":
        home = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    if _writable(home):
        return ""
    return str(
        Path(tempfile.gettempdir()) / f"kmatch-{os.getuid() if hasattr(os, 'getuid') else 0}"
    )


def _writable(folder):
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


# GNU OpenMP's threads wait by spinning, which takes milliseconds a kernel where other programs
# want the cores; passive ones take microseconds always.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

if folder := _find_cache_folder():
    numba.config.CACHE_DIR = folder

kernel = numba.njit(cache=True, nogil=True)
parallel_kernel = numba.njit(cache=True, nogil=True, parallel=True)
inlined = numba.njit(inline="always")
