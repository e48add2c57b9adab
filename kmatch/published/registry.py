"""The published algorithms by command and name, offered to searches; imports none of them."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from kmatch.search.algorithms import register

if TYPE_CHECKING:
    from kmatch.engine.engine import Engine

CITED = {  # by the name of their modules
    "liu2012": "Liu et al. 2012",
    "pmasm2017": "Ho et al. 2017a",
    "wspasm2017": "Ho et al. 2017b",
    "nakano2012": "Nakano 2012",
    "feuser2018": "Feuser & Moreano 2018",
}
CPU, CUDA, BOTH = ("cpu",), ("cuda",), ("cpu", "cuda")


class Algorithm(NamedTuple):
    """A published algorithm.

    name: for `--algorithm`, and with `_` for `-` of its function; module: of that function, under
    `kmatch.published.cpu` and `.cuda`; devices: that it runs on; longest: letters of the longest
    pattern that its layout holds, by device, where that is bounded; panel: whether it searches many
    patterns of one length at once; threaded: whether CPU threads share it.
    """

    name: str
    module: str
    devices: tuple[str, ...]
    longest: Mapping[str, int] = {}
    panel: bool = False
    threaded: bool = False

    @property
    def paper(self) -> str:
        """As cited."""
        return CITED[self.module]

    def limit_below(self, length: int, device: str) -> int:
        """Return the limit on a device that a pattern of this length exceeds, 0 for none."""
        limit = self.longest.get(device, length)
        return limit if limit < length else 0

    @property
    def counts_mismatches(self) -> bool:
        """Whether it finds windows and counts their mismatches."""
        return self in _MISMATCHES

    def on(self, engine: "Engine") -> "Engine":
        """Return the Engine that runs it on the device of another."""
        from kmatch.published.search import Published

        return Published(engine, self)

    def load(self, device: str) -> Callable[..., Any]:
        """Return the function for a device, one of `devices` (see `kmatch.published`)."""
        module = import_module(f"kmatch.published.{device}.{self.module}")
        algorithm: Callable[..., Any] = getattr(module, self.name.replace("-", "_"))
        return algorithm


_MISMATCHES = (
    Algorithm("sequential", "liu2012", CPU),
    Algorithm("thread", "liu2012", CUDA),
    # As many threads as a block can have.
    Algorithm("block-thread", "liu2012", CUDA, {"cuda": 1024}),
    # Twice m and 255 bytes of the 48 KiB that every block can have.
    Algorithm("opt-block-thread", "liu2012", CUDA, {"cuda": 24_448}),
    Algorithm("naive", "pmasm2017", BOTH, panel=True),
    Algorithm("shift-add", "pmasm2017", BOTH),
    Algorithm("pmasm", "pmasm2017", CPU, panel=True),
    Algorithm("pmasm-thread", "pmasm2017", CUDA, panel=True),
    Algorithm("pmasm-block-thread", "pmasm2017", CUDA, {"cuda": 1024}, panel=True),
    # m and 255 bytes of shared memory.
    Algorithm("pmasm-shared", "pmasm2017", CUDA, {"cuda": 48_897}, panel=True),
)
_DIFFERENCES = (
    Algorithm("sequential", "wspasm2017", CPU),
    Algorithm("row", "wspasm2017", BOTH, threaded=True),
    Algorithm("row-shuffle", "wspasm2017", CUDA),
    Algorithm("row-shuffle-shared", "wspasm2017", CUDA),
)
_CLOSEST = (
    # 48 KiB of shared memory hold m + 1 rows of d, each of twice the banks at least, or 3m cells.
    Algorithm("diagonal", "nakano2012", BOTH, {"cuda": 191}),
    Algorithm("slid", "nakano2012", BOTH),
    Algorithm("partition", "nakano2012", BOTH, {"cuda": 4096}, threaded=True),
)
_PRIMERS = (
    Algorithm("conventional", "feuser2018", CPU, threaded=True),
    Algorithm("alternative", "feuser2018", CPU, threaded=True),
    # On a GPU every block has a matrix, so these have the grains of the two above as well.
    Algorithm("conventional-fine", "feuser2018", BOTH),
    Algorithm("alternative-fine", "feuser2018", BOTH, threaded=True),
)

PUBLISHED = {
    "hamming": _MISMATCHES,
    "multi": _MISMATCHES,
    "edit": _DIFFERENCES,
    "best": _CLOSEST,
    "primer": _PRIMERS,
}


for _command, _algorithms in PUBLISHED.items():
    register(_command, _algorithms)
