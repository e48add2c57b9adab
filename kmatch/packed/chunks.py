"""Searching a packed genome where it lies, in the planes of its file."""

from concurrent.futures import ThreadPoolExecutor

from kmatch.engine.geometry import Geometry
from kmatch.sequences.chunks import LetterChunk

AHEAD = 4  # chunks whose checksums are made before their turn, by as many threads
# A search that wants chunks this much smaller has so many queries that to unpack the letters and
# pack them anew takes less time than to compare them.
SMALLER = 16


def serves(file, plan, words):
    """Whether the chunks of a PackedFile can be searched in place of those of a ChunkPlan.

    words: in a row, where the search wants so many; otherwise None.
    """
    return (
        plan.halo <= file.plan.halo
        and plan.gap <= file.plan.gap
        and plan.length * SMALLER >= file.plan.length
        and words in (None, file.words)
    )


def stored_chunks(file, engine, on_progress=None):
    """Yield (LetterChunk without letters, Geometry, planes) of a PackedFile, once checked.

    The next chunk is fetched while one is searched.
    """
    chunks = len(file.lengths)
    pool = ThreadPoolExecutor(AHEAD)
    checks = []
    try:
        for number in range(chunks):
            for soon in range(len(checks), min(number + AHEAD, chunks)):
                checks.append(pool.submit(file.check, soon))
            for soon in range(number, min(number + 2, chunks)):
                checks[soon].result()
                engine.keep(file.planes(soon))
                engine.fetch(file.planes(soon))
            if on_progress:
                on_progress(file.read_until(number), file.size)
            base = number * file.plan.length
            yield (
                LetterChunk(base, None, file.lengths[number], file.spans(number)),
                Geometry(file.words, file.rows[number], file.plan.halo),
                file.planes(number),
            )
    finally:
        pool.shutdown(cancel_futures=True)
