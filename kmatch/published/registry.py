"""The published algorithms by command and name; imports none of them."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from kmatch.errors import DeviceError, InputError

if TYPE_CHECKING:
    from kmatch.engine.engine import Engine
    from kmatch.search.query import Run
    from kmatch.sequences.patterns import Pattern

ENGINE = "bitplane"  # kmatch's own algorithm


class Algorithm(NamedTuple):
    """A published algorithm.

    name: for `--algorithm`; paper: as cited; cpu, cuda: `module.function` under
    `kmatch.published.cpu` and `.cuda`, empty without such a form; longest: letters of the longest
    pattern that its layout holds, 0 for any; longest_on_cuda: the same for a limit that a GPU's
    memory sets; panel: whether it searches many patterns of one length at once; threaded: whether
    CPU threads share it.
    """

    name: str
    paper: str
    cpu: str = ""
    cuda: str = ""
    longest: int = 0
    longest_on_cuda: int = 0
    panel: bool = False
    threaded: bool = False

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that it runs on, of `cpu` and `cuda`."""
        return tuple(device for device in ("cpu", "cuda") if getattr(self, device))

    def limit_below(self, length: int, device: str) -> int:
        """The limit on a device that a pattern of this length exceeds, 0 for none."""
        limits = (self.longest, self.longest_on_cuda if device == "cuda" else 0)
        return min((limit for limit in limits if 0 < limit < length), default=0)

    def load(self, device: str) -> Callable[..., Any]:
        """The function for a device, one of `devices` (see `kmatch.published`)."""
        module, function = getattr(self, device).split(".")
        loaded = import_module(f"kmatch.published.{device}.{module}")
        algorithm: Callable[..., Any] = getattr(loaded, function)
        return algorithm


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
    Algorithm("row", _HO_B, cpu="wspasm2017.row", cuda="wspasm2017.row", threaded=True),
    Algorithm("row-shuffle", _HO_B, cuda="wspasm2017.row_shuffle"),
    Algorithm("row-shuffle-shared", _HO_B, cuda="wspasm2017.row_shuffle_shared"),
)

_NAKANO = "Nakano 2012"
_CLOSEST = (
    # 48 KiB of shared memory hold m + 1 rows of d, each of twice the banks at least, or 3m cells.
    Algorithm("diagonal", _NAKANO, "nakano2012.diagonal", "nakano2012.diagonal", 0, 191),
    Algorithm("slid", _NAKANO, "nakano2012.slid", "nakano2012.slid"),
    Algorithm(
        "partition",
        _NAKANO,
        cpu="nakano2012.partition",
        cuda="nakano2012.partition",
        longest_on_cuda=4096,
        threaded=True,
    ),
)

_FEUSER = "Feuser & Moreano 2018"
_PRIMERS = (
    Algorithm("conventional", _FEUSER, cpu="feuser2018.conventional", threaded=True),
    Algorithm("alternative", _FEUSER, cpu="feuser2018.alternative", threaded=True),
    # On a GPU every block has a matrix, so these have the grains of the two above as well.
    Algorithm(
        "conventional-fine", _FEUSER, "feuser2018.conventional_fine", "feuser2018.conventional_fine"
    ),
    Algorithm(
        "alternative-fine",
        _FEUSER,
        cpu="feuser2018.alternative_fine",
        cuda="feuser2018.alternative_fine",
        threaded=True,
    ),
)

PUBLISHED = {
    "hamming": _MISMATCHES,
    "multi": _MISMATCHES,
    "edit": _DIFFERENCES,
    "best": _CLOSEST,
    "primer": _PRIMERS,
}


def names(command: str) -> list[str]:
    """The names for the `--algorithm` of a command, the engine's first."""
    return [ENGINE, *(algorithm.name for algorithm in PUBLISHED[command])]


def find(command: str, name: str) -> Algorithm | None:
    """The Algorithm of a name, None for the engine's. Raises InputError for an unknown one."""
    for algorithm in PUBLISHED[command]:
        if algorithm.name == name:
            return algorithm
    if name != ENGINE:
        raise InputError(f"unknown algorithm '{name}'; {command} has {', '.join(names(command))}")
    return None


def choose_algorithm(
    command: str, patterns: "Sequence[Pattern]", run: "Run", work: int | None = None
) -> "Engine":
    """The engine of a search: that of a device, or of a published algorithm there.

    run: how the search runs; `auto` is the CPU for algorithms that only run there; work: as for
    `choose_engine`. Raises InputError for an unknown name and for patterns that the algorithm's
    layout does not hold, DeviceError for a device that cannot be used or on which the algorithm
    does not run.
    """
    from kmatch.engine.devices import choose_engine

    name, device = run.algorithm, run.device
    algorithm = find(command, name)
    if algorithm is None:
        return choose_engine(device, run.threads, work)
    if device == "auto" and "cuda" not in algorithm.devices:
        device = "cpu"
    engine = choose_engine(device, run.threads)
    if engine.name not in algorithm.devices:
        raise DeviceError(
            f"algorithm '{name}' ({algorithm.paper}) runs on {' or '.join(algorithm.devices)}, "
            f"and not on {engine.device}; use another --device, or --algorithm {ENGINE}"
        )
    if engine.queues > 1:
        raise DeviceError(f"algorithm '{name}' runs on one GPU, not on {engine.device}; use cuda:N")
    for pattern in patterns:
        if limit := algorithm.limit_below(len(pattern), engine.name):
            raise InputError(
                f"pattern '{pattern.name}' has {len(pattern)} letters, and algorithm '{name}' "
                f"holds {limit}; use --algorithm {ENGINE}"
            )
    from kmatch.published.search import Published

    return Published(engine, algorithm)
