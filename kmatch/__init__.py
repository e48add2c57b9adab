"""Exhaustive approximate search of DNA patterns in genomes; `kmatch.api` says what there is."""

from importlib import import_module

__version__ = "1.1.0"

# Loaded on first use: `kmatch --help` must not wait for NumPy and Numba.
_HOMES = {
    "Assays": "kmatch.results.assays",
    "Genome": "kmatch.genome",
    "Variants": "kmatch.sequences.variants",
    **dict.fromkeys(
        ("hamming", "multi", "edit", "best", "pcr", "primer", "guides", "assay", "pack"),
        "kmatch.api",
    ),
    **dict.fromkeys(
        ("Hit", "Hits", "Primer", "Primers", "Product", "Products", "Guides"),
        "kmatch.results.table",
    ),
    **dict.fromkeys(
        ("ClusterError", "KmatchError", "InputError", "DeviceError", "OutputError"), "kmatch.errors"
    ),
}

__all__ = ["__version__", *_HOMES]

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
    if name not in _HOMES:
        raise AttributeError(f"module 'kmatch' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
