"""Which algorithms there are, for the command line and for benchmarks; imports none of them."""

from importlib import import_module
from typing import NamedTuple

from kmatch.errors import InputError

ENGINE = "bitplane"  # the one that is no paper's


class Algorithm(NamedTuple):
    """A published algorithm.

    name: of `--algorithm`; paper: as it is cited; cpu, cuda: `module.function` under
    `kmatch.published.cpu` and `.cuda`, empty where the algorithm has no such form; longest: letters
    of the longest pattern that its layout holds, 0 for any; longest_on_cuda: the same where it is
    the GPU's memory that sets a limit; panel: whether it searches many patterns of one length at
    once.
    """

    name: str
    paper: str
    cpu: str = ""
    cuda: str = ""
    longest: int = 0
    longest_on_cuda: int = 0
    panel: bool = False

    @property
    def devices(self):
        """The devices it was made for, of `cpu` and `cuda`."""
        return tuple(device for device in ("cpu", "cuda") if getattr(self, device))

    def limit_below(self, length, device):
        """The limit that a pattern of so many letters is beyond on a device, 0 for none."""
        limits = (self.longest, self.longest_on_cuda if device == "cuda" else 0)
        return min((limit for limit in limits if 0 < limit < length), default=0)

    def load(self, device):
        """The function for a device, one of `devices` (see `kmatch.published`)."""
        module, function = getattr(self, device).split(".")
        return getattr(import_module(f"kmatch.published.{device}.{module}"), function)


_LIU = "Liu et al. 2012"
_PMASM = "Ho et al. 2017a"

_MISMATCHES = (
    Algorithm("sequential", _LIU, cpu="liu2012.sequential"),
    Algorithm("thread", _LIU, cuda="liu2012.thread"),
    # As many threads as a block can have.
    Algorithm("block-thread", _LIU, cuda="liu2012.block_thread", longest=1024),
    # Twice m and 255 bytes of the 48 KiB that every block can have.
    Algorithm("opt-block-thread", _LIU, cuda="liu2012.opt_block_thread", longest=24_448),
    Algorithm("naive", _PMASM, cpu="pmasm2017.naive", cuda="pmasm2017.naive", panel=True),
    Algorithm("shift-add", _PMASM, cpu="pmasm2017.shift_add", cuda="pmasm2017.shift_add"),
    Algorithm("pmasm", _PMASM, cpu="pmasm2017.pmasm", panel=True),
    Algorithm("pmasm-thread", _PMASM, cuda="pmasm2017.pmasm_thread", panel=True),
    Algorithm(
        "pmasm-block-thread", _PMASM, cuda="pmasm2017.pmasm_block_thread", longest=1024, panel=True
    ),
    # m and 255 bytes of shared memory.
    Algorithm("pmasm-shared", _PMASM, cuda="pmasm2017.pmasm_shared", longest=48_897, panel=True),
)

_HO_B = "Ho et al. 2017b"
_DIFFERENCES = (
    Algorithm("sequential", _HO_B, cpu="wspasm2017.sequential"),
    Algorithm("row", _HO_B, cpu="wspasm2017.row", cuda="wspasm2017.row"),
    Algorithm("row-shuffle", _HO_B, cuda="wspasm2017.row_shuffle"),
    Algorithm("row-shuffle-shared", _HO_B, cuda="wspasm2017.row_shuffle_shared"),
)

_NAKANO = "Nakano 2012"
_CLOSEST = (
    # 48 KiB of shared memory hold m + 1 rows of d, each of twice the banks at least, or 3m cells.
    Algorithm("diagonal", _NAKANO, "nakano2012.diagonal", "nakano2012.diagonal", 0, 191),
    Algorithm("slid", _NAKANO, "nakano2012.slid", "nakano2012.slid"),
    Algorithm("partition", _NAKANO, "nakano2012.partition", "nakano2012.partition", 0, 4096),
)

_FEUSER = "Feuser & Moreano 2018"
_PRIMERS = (
    Algorithm("conventional", _FEUSER, cpu="feuser2018.conventional"),
    Algorithm("alternative", _FEUSER, cpu="feuser2018.alternative"),
    # On a GPU every block has a matrix: the grains of the two above and of these together.
    Algorithm(
        "conventional-fine", _FEUSER, "feuser2018.conventional_fine", "feuser2018.conventional_fine"
    ),
    Algorithm(
        "alternative-fine", _FEUSER, "feuser2018.alternative_fine", "feuser2018.alternative_fine"
    ),
)

PUBLISHED = {
    "hamming": _MISMATCHES,
    "multi": _MISMATCHES,
    "edit": _DIFFERENCES,
    "best": _CLOSEST,
    "primer": _PRIMERS,
}


def names(command):
    """Names for the `--algorithm` of a command, the engine's first."""
    return [ENGINE, *(algorithm.name for algorithm in PUBLISHED[command])]


def find(command, name):
    """The published Algorithm of a command, None for the engine. Raises InputError for others."""
    for algorithm in PUBLISHED[command]:
        if algorithm.name == name:
            return algorithm
    if name != ENGINE:
        raise InputError(f"unknown algorithm '{name}'; {command} has {', '.join(names(command))}")
    return None
