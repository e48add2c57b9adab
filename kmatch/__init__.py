"""Exhaustive approximate search of DNA patterns in genomes; `kmatch.api` says what there is."""

from importlib import import_module

__version__ = "1.1.0"

# Loaded on first use: `kmatch --help` must not wait for NumPy and Numba.
_HOMES = {
    "kmatch.api": "hamming multi edit best pcr primer guides assay pack",
    "kmatch.errors": "ClusterError KmatchError InputError DeviceError OutputError",
    "kmatch.genome": "Genome",
    "kmatch.results.assays": "Assays",
    "kmatch.results.table": "Hit Hits Primer Primers Product Products Guides",
    "kmatch.sequences.variants": "Variants",
}

__all__ = ["__version__", *" ".join(_HOMES.values()).split()]

TYPE_CHECKING = False  # what type checkers take to be true
if TYPE_CHECKING:
    from kmatch.api import assay as assay
    from kmatch.api import best as best
    from kmatch.api import edit as edit
    from kmatch.api import guides as guides
    from kmatch.api import hamming as hamming
    from kmatch.api import multi as multi
    from kmatch.api import pack as pack
    from kmatch.api import pcr as pcr
    from kmatch.api import primer as primer
    from kmatch.errors import ClusterError as ClusterError
    from kmatch.errors import DeviceError as DeviceError
    from kmatch.errors import InputError as InputError
    from kmatch.errors import KmatchError as KmatchError
    from kmatch.errors import OutputError as OutputError
    from kmatch.genome import Genome as Genome
    from kmatch.results.assays import Assays as Assays
    from kmatch.results.table import Guides as Guides
    from kmatch.results.table import Hit as Hit
    from kmatch.results.table import Hits as Hits
    from kmatch.results.table import Primer as Primer
    from kmatch.results.table import Primers as Primers
    from kmatch.results.table import Product as Product
    from kmatch.results.table import Products as Products
    from kmatch.sequences.variants import Variants as Variants


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'kmatch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
