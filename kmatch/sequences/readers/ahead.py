"""Reading ahead: a thread reads while what it has read is searched."""

from collections.abc import Generator, Iterator
from contextlib import closing

from kmatch.sequences.records import Part
from kmatch.threads import run_ahead

Batch = list[Part]
BATCH = 1 << 20  # letters handed over at a time
CAPACITY = 1 << 23  # letters read ahead, at most


def read_ahead(parts: Generator[Part]) -> Iterator[Part]:
    """Yield what `parts` of `read_parts` yields, while a thread reads on (see `run_ahead`)."""
    for batch in run_ahead(_batches(parts), _letters, CAPACITY, "kmatch reader"):
        yield from batch


def _batches(parts: Generator[Part]) -> Generator[Batch]:
    """Yield the parts of BATCH letters together, and those that came before an error."""
    batch: Batch = []
    letters = 0
    with closing(parts):
        try:
            for part in parts:
                batch.append(part)
                letters += len(part[0].letters)
                if letters >= BATCH:
                    yield batch
                    batch, letters = [], 0
        except Exception:
            yield batch
            raise
        yield batch


def _letters(batch: Batch) -> int:
    return sum(len(part[0].letters) for part in batch)
