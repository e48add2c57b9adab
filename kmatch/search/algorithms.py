"""The algorithms that a search can run by, and the choice of one.

The engine's own algorithm is always there. Others are registered, which imports none of them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from kmatch.errors import DeviceError, InputError

if TYPE_CHECKING:
    from kmatch.engine.engine import Engine
    from kmatch.search.query import Run
    from kmatch.sequences.patterns import PatternSet

ENGINE = "bitplane"  # the engine's own algorithm


class Algorithm(Protocol):
    """An algorithm that can take the place of the engine's.

    name: for `--algorithm`; paper: as cited; devices: that it runs on, of `cpu` and `cuda`.
    """

    @property
    def name(self) -> str: ...

    @property
    def paper(self) -> str: ...

    @property
    def devices(self) -> tuple[str, ...]: ...

    def limit_below(self, length: int, device: str) -> int:
        """Return the longest pattern of a device, in letters, if `length` exceeds it, else 0."""

    def on(self, engine: "Engine") -> "Engine":
        """Return an Engine that runs the algorithm on the device of another."""


_REGISTERED: dict[str, Sequence[Algorithm]] = {}


def register(command: str, algorithms: Sequence[Algorithm]) -> None:
    """Offer algorithms for a command, in the order in which messages list them."""
    _REGISTERED[command] = algorithms


def names(command: str) -> list[str]:
    """Return the names for the `--algorithm` of a command, the engine's first."""
    return [ENGINE, *(algorithm.name for algorithm in _REGISTERED.get(command, ()))]


def find(command: str, name: str) -> Algorithm | None:
    """Return the Algorithm of a name, None for the engine's.

    Raises InputError for an unknown name.
    """
    for algorithm in _REGISTERED.get(command, ()):
        if algorithm.name == name:
            return algorithm
    if name != ENGINE:
        raise InputError(f"unknown algorithm '{name}'; {command} has {', '.join(names(command))}")
    return None


def choose_algorithm(
    command: str, patterns: "PatternSet", run: "Run", work: int | None = None
) -> "Engine":
    """Return the engine of a search: a device's engine, or an algorithm's there.

    run: how the search runs; `auto` is the CPU for algorithms that only run there.
    work: as for `choose_engine`.

    Raises InputError for an unknown name and for patterns that the algorithm's layout does not
    hold, DeviceError for a device that cannot be used or on which the algorithm does not run.
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

    for number, length in enumerate(patterns.lengths.tolist()):
        if limit := algorithm.limit_below(length, engine.name):
            raise InputError(
                f"{patterns.told(number)}, and algorithm '{name}' holds {limit}; "
                f"use --algorithm {ENGINE}"
            )
    return algorithm.on(engine)
