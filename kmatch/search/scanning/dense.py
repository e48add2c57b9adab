"""Where hits are many, a thread finds the next ones while the last ones are reported."""

from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeVar

from kmatch.arrays import Longs
from kmatch.results.batches import HitBatch
from kmatch.threads import run_ahead

MANY = 1 << 12  # codes of a chunk, or hits of a batch, that pay for a thread
CODES_AHEAD = 1 << 18  # that may wait
HITS_AHEAD = 1 << 16

Item = TypeVar("Item")
Rows = TypeVar("Rows", bound=tuple[Any, ...])  # rows first


def codes_ahead(found: Generator[tuple[Item, Longs]], threads: int) -> Iterator[tuple[Item, Longs]]:
    """Yield what `Scanner.scan` yields; chunks behind one with many hits are scanned ahead.

    threads: that the search may use; with one nothing is done ahead.
    """
    return _ahead(found, threads, lambda each: len(each[1]), CODES_AHEAD, "kmatch scan")


def rows_ahead(found: Generator[Rows], threads: int, name: str = "kmatch rows") -> Iterator[Rows]:
    """Yield rows of hits with what belongs to them; those behind many are found ahead.

    threads: as above; name: of the thread.
    """
    return _ahead(found, threads, lambda each: len(each[0]), HITS_AHEAD, name)


def hits_ahead(batches: Generator[HitBatch], threads: int) -> Iterator[HitBatch]:
    """Yield HitBatches; those behind one of many hits are made ahead. threads: as above."""
    return _ahead(batches, threads, len, HITS_AHEAD, "kmatch hits")


def _ahead(
    items: Generator[Item],
    threads: int,
    weigh: Callable[[Item], int],
    capacity: int,
    name: str,
) -> Iterator[Item]:
    for item in items:
        weight = weigh(item)
        yield item
        if threads > 1 and weight >= MANY:
            del item
            yield from run_ahead(items, weigh, capacity, name)
            return
