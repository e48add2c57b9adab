"""Exhaustive approximate search of DNA patterns in genomes."""

from importlib import import_module

__version__ = "0.1.0"

# Loaded on first use: `kmatch --help` must not wait for NumPy and Numba.
_HOMES = {
    "Genome": "kmatch.genome",
    "Hits": "kmatch.results.hits",
    "hamming": "kmatch.search.hamming",
    "multi": "kmatch.search.multi",
    "edit": "kmatch.search.edit",
    "best": "kmatch.search.best",
    "Primers": "kmatch.results.primers",
    "primer": "kmatch.search.primer",
    "pack": "kmatch.packed.packing",
    "KmatchError": "kmatch.errors",
    "InputError": "kmatch.errors",
    "DeviceError": "kmatch.errors",
    "OutputError": "kmatch.errors",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'kmatch' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__():
    return sorted(__all__)
