"""Exhaustive approximate search of DNA patterns in genomes, by `api`, `primers` and `reads`."""

from importlib import import_module

__version__ = "2.0.0"

__all__ = ["__version__"]
__all__ += ["assay", "best", "edit", "guides", "hamming", "multi", "pack", "pcr", "primer"]
__all__ += ["ClusterError", "DeviceError", "InputError", "KmatchError", "KmatchWarning"]
__all__ += ["OutputError"]
__all__ += ["Guides", "Hit", "Hits", "Primer", "Primers", "Product", "Products"]
__all__ += ["Assays", "Genome", "Reads", "Variants", "demux", "filter_reads"]

TYPE_CHECKING = False  # what type checkers take to be true
if TYPE_CHECKING:
    from kmatch.api import best, edit, hamming, multi, pack
    from kmatch.errors import (
        ClusterError,
        DeviceError,
        InputError,
        KmatchError,
        KmatchWarning,
        OutputError,
    )
    from kmatch.genome import Genome
    from kmatch.primers import assay, guides, pcr, primer
    from kmatch.reads import demux, filter_reads
    from kmatch.results.assays import Assays
    from kmatch.results.demux import Reads
    from kmatch.results.guides import Guides
    from kmatch.results.table import Hit, Hits, Primer, Primers, Product, Products
    from kmatch.variants.vcf import Variants

# Loaded on first use: `kmatch --help` must not wait for NumPy and Numba.
_HOMES = (
    "errors",
    "genome",
    "variants.vcf",
    "results.table",
    "results.guides",
    "results.assays",
    "results.demux",
    "api",
    "primers",
    "reads",
)


def __getattr__(name: str) -> object:
    for home in _HOMES if name in __all__ else ():
        module = import_module(f"kmatch.{home}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module 'kmatch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
