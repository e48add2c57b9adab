"""The chunks of a packed genome, searched in the planes of its file."""

from collections.abc import Callable, Container, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from kmatch.arrays import Words
from kmatch.engine.geometry import Geometry
from kmatch.engine.protocol import Engine
from kmatch.packed.records import PackedRecords
from kmatch.sequences.chunks import ChunkPlan, LetterChunk
from kmatch.sequences.records import Progress

AHEAD = 4  # chunks whose checksums are computed before their turn, by as many threads
# A search that wants chunks this much smaller has so many queries that comparing them takes longer
# than unpacking the letters and packing them again.
SMALLER = 16
_NO_LETTERS = np.zeros(0, np.uint8)


def serves(file: PackedRecords, plan: ChunkPlan, words: int | None) -> bool:
    """Whether the chunks of a PackedRecords can be searched instead of those of a ChunkPlan.

    words: in a row, None if the search takes any number.
    """
    return (
        plan.halo <= file.plan.halo
        and plan.gap <= file.plan.gap
        and plan.length * SMALLER >= file.plan.length
        and words in (None, file.words)
    )


def stored_chunks(
    file: PackedRecords,
    engine: Engine,
    on_progress: Progress | None = None,
    named: Container[str] | None = None,
) -> Iterator[tuple[LetterChunk, Geometry, Words]]:
    """Yield (LetterChunk without letters, Geometry, planes) for each chunk of a PackedRecords.

    named: names of records; chunks that show none of these are left out. Checksums have been
    compared by then. The next chunk is fetched while one is searched.
    """
    numbers = [n for n in range(len(file.lengths)) if named is None or _shows(file, n, named)]
    pool = ThreadPoolExecutor(AHEAD)
    submit = pool.submit if len(numbers) > 1 else _at_once  # a thread takes a while to start
    checks: list[Future[None]] = []
    try:
        for turn, number in enumerate(numbers):
            for soon in numbers[len(checks) : turn + AHEAD]:
                checks.append(submit(file.check, soon))
            for check, soon in zip(checks[turn:], numbers[turn : turn + 2], strict=False):
                check.result()
                engine.keep(file.planes(soon))
                engine.fetch(file.planes(soon))
            if on_progress:
                on_progress(file.read_until(number), file.size)
            base = number * file.plan.length
            yield (
                LetterChunk(base, _NO_LETTERS, file.lengths[number], file.spans(number)),
                Geometry(file.words, file.rows[number], file.plan.halo),
                file.planes(number),
            )
    finally:
        pool.shutdown(cancel_futures=True)


def _at_once(check: Callable[[int], None], number: int) -> Future[None]:
    check(number)
    done: Future[None] = Future()
    done.set_result(None)
    return done


def _shows(file: PackedRecords, number: int, named: Container[str]) -> bool:
    return any(name in named for name in file.spans(number).names)
