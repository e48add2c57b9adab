"""What kmatch runs on."""

import os
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from kmatch import __version__

PACKAGES = ("numba", "llvmlite", "numpy", "biopython", "click", "rich", "xopen")
VECTOR_FEATURES = ("avx512f", "avx512vl", "avx2", "avx", "sse4.2", "neon", "sve")


def describe_versions() -> Iterator[tuple[str, str]]:
    """Yield (name, value) pairs: the versions of packages, without loading these."""
    yield "kmatch", __version__
    yield "python", f"{platform.python_version()} ({platform.platform()})"
    yield "packages", ", ".join(f"{name} {version(name)}" for name in PACKAGES)


def describe_machine() -> Iterator[tuple[str, str]]:
    """Yield (name, value) pairs: CPU, CUDA devices, folders of compiled kernels."""
    import llvmlite.binding as llvm
    import numba

    from kmatch.engine.cuda.driver import find_devices, target
    from kmatch.jit.folders import kernel_folders, measure

    features = llvm.get_host_cpu_features()
    vectors = [name for name in VECTOR_FEATURES if features.get(name)]
    yield "cpu", f"{llvm.get_host_cpu_name()}: {', '.join(vectors) or 'no vector features'}"
    yield "threads", f"{numba.config.NUMBA_NUM_THREADS} of {os.cpu_count()} cores"
    found, reason = find_devices()
    yield "cuda", "; ".join(_gpu(*gpu) for gpu in found) or f"none: {reason}"
    yield "target", f"{target()}, for kernels on a GPU"
    yield "cache", "; ".join(_kernels(folder, *measure(folder)) for folder in kernel_folders())


def _kernels(folder: Path, kernels: int, size: int) -> str:
    return f"{folder} ({kernels} kernels, {size / 1e6:.1f} MB)"


def _gpu(number: int, name: str, capability: tuple[int, int]) -> str:
    return f"cuda:{number} {name} (compute capability {'.'.join(map(str, capability))})"
