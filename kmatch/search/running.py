"""How a search runs: its device, its callbacks, and settings for tests."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kmatch.errors import warn
from kmatch.published.registry import ENGINE

if TYPE_CHECKING:
    from kmatch.sequences.chunks import Spans
    from kmatch.sequences.records import Progress


class Running(NamedTuple):
    """Where a search runs, and its callbacks.

    device: `auto`, `cpu`, `cuda` or `cuda:N`; threads: of the CPU, None for one a core; algorithm:
    `bitplane`, or the name of a published one (see `kmatch.published.registry`).
    on_progress(consumed, size) hears of bytes read, on_engine(engine) of the engine that was
    chosen, on_spans(spans) of records in each chunk, on_warning(message) of likely mistakes; by
    default that is a UserWarning. scheduler: of a Dask cluster that searches in place of this
    machine; aligned: whether hits come with their alignments.
    """

    device: str = "auto"
    threads: int | None = None
    algorithm: str = ENGINE
    on_progress: "Progress | None" = None
    on_engine: Callable[[Any], None] | None = None
    on_spans: "Callable[[Spans], None] | None" = None
    on_warning: Callable[[str], None] = warn
    scheduler: Any = None
    aligned: bool = True


class Hooks(NamedTuple):
    """Settings for tests and benchmarks; None leaves the choice to the search.

    chunk_length, words: positions of a chunk, and words of a row of its planes; capacity: hit codes
    of a scan (see Scanner); way: of `kmatch.engine.ways`, where it serves; part: letters of the
    background that an engine extends primers along at a time; sizes: how the engine then cuts the
    work (see its `extend_primers`).
    """

    chunk_length: int | None = None
    words: int | None = None
    capacity: int | None = None
    way: str | None = None
    part: int | None = None
    sizes: Any = None


RUNNING = Running()
HOOKS = Hooks()


def by_name(batches: Callable[..., Any], *arguments: Any, **given: Any) -> Any:
    """What batches(*arguments, options, Running, Hooks) gives, their fields given by name.

    batches: one of the functions `*_batches`. Raises TypeError for a name that none of them has.
    """
    bundles = []
    for default in getattr(batches, "__defaults__", ()):
        names = given.keys() & set(default._fields)
        bundles.append(default._replace(**{name: given.pop(name) for name in names}))
    if given:
        raise TypeError(f"{batches.__name__} has no option {', '.join(given)}")
    return batches(*arguments, *bundles)
