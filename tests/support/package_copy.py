"""A copy of kmatch with a kernel small enough to compile at once, as installed elsewhere."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import kmatch

HELPER = """
from kmatch.jit.kernels import inlined

@inlined
def grow(x):
    return FACTOR * x
"""
KERNEL = """
from kmatch.engine.helper import grow
from kmatch.jit.kernels import kernel

@kernel
def work(x):
    return grow(x) + 1
"""
RUN = """
from kmatch.jit import entries, folders

compiled = []
entries.listeners.append(lambda name, reason: compiled.append(name))
print(entries.Entry("kmatch.engine.tiny", "work")(10))
print(compiled)
print(folders.kernel_folders()[0])
"""

# Root writes everywhere by two capabilities, which a process can give up before it runs another.
_UNPRIVILEGED = """
import ctypes, os, sys
for capability in (1, 2):
    ctypes.CDLL(None).prctl(24, capability)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


class Said(NamedTuple):
    """What a run of the small kernel gave: its result, the functions compiled, and where."""

    result: int
    compiled: str
    folder: str
    warnings: str


def copy_package(site, factor=2, version=None):
    """Put kmatch with the small kernel into a folder of packages; replaces its sources only."""
    package = site / "kmatch"
    kept = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(kmatch.__file__).parent, package, ignore=kept, dirs_exist_ok=True)
    (package / "engine" / "helper.py").write_text(HELPER.replace("FACTOR", str(factor)))
    (package / "engine" / "tiny.py").write_text(KERNEL)
    if version:
        start = package / "__init__.py"
        start.write_text(start.read_text().replace(kmatch.__version__, version))
    for path in package.rglob("*.py"):  # as from an archive without times
        os.utime(path, (315532800, 315532800))
    for path in package.rglob("*.pyc"):  # as pip does; Python itself trusts times and sizes
        path.unlink()
    return package


def start(site, before="", unprivileged=False, **environment):
    """Begin a process that runs the small kernel, behind the statements of `before`."""
    known = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    known |= {"XDG_CACHE_HOME": str(site / "caches")} | environment | {"PYTHONPATH": str(site)}
    prefix = ["-c", _UNPRIVILEGED] if unprivileged else []
    command = [sys.executable, *prefix, "-c", before + RUN]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=site, env=known, stdout=pipe, stderr=pipe, text=True)


def end(running):
    """Wait for a process that was started."""
    out, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    result, compiled, folder = out.splitlines()
    return Said(int(result), compiled, folder, err)


def run(site, **options):
    """Run the small kernel in a process."""
    return end(start(site, **options))
