"""A search by the engine or by a published algorithm: its hits, and its seconds.

`kernel` is the time of the kernels alone, `call` that of the whole call.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import kmatch
from kmatch.arrays import Longs
from kmatch.bench.data import Case
from kmatch.bench.timing import timed
from kmatch.engine.protocol import Engine, KernelTime
from kmatch.published.registry import Algorithm
from kmatch.published.run import Run
from kmatch.search.hooked import hooked, hooked_primer
from kmatch.sequences.alphabet import encode, encode_text

REPEAT = 3
GROWTH = 32  # of a text from one trial to the next, at most
OPTIONS = {"edit": {"report": "ends"}}


class Answer(NamedTuple):
    """Hits as sorted keys, equal for equal hits, and the seconds of a search."""

    keys: Longs
    kernel: float
    call: float


def by_engine(case: Case, device: str, threads: int | None = None) -> Answer:
    """The engine's Answer: `call` packs the text, `kernel` finds it packed."""
    genome = kmatch.Genome.from_records([("text", case.letters)])
    found, call = timed(lambda: _columns(case, _search(case, genome, device, threads)))
    watches: list[KernelTime] = []
    _search(case, genome, device, threads, lambda engine: watches.append(engine.time_kernels()))
    return Answer(_keys(case, found), watches[0].seconds, call)


def _search(
    case: Case,
    genome: kmatch.Genome,
    device: str,
    threads: int | None,
    on_engine: Callable[[Engine], None] | None = None,
) -> Any:
    options = {"device": device, "threads": threads, "on_engine": on_engine}
    if case.background is not None:
        background = kmatch.Genome.from_records([("background", case.background)])
        return hooked_primer(genome, background, case.k, background_strand="+", **options)
    options |= {"strand": "+", **OPTIONS.get(case.command, {})}
    if case.command == "best":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return hooked(case.command, genome, case.patterns, **options)
    return hooked(case.command, genome, case.patterns, case.k, **options)


def _columns(case: Case, hits: Any) -> tuple[Any, ...]:
    """What the published algorithms return, too, as arrays; made when it is first used."""
    if case.background is not None:
        return hits.start, hits.length
    if case.command == "best":
        return hits.pattern_number, hits.distance
    position = hits.end - 1 if case.command == "edit" else hits.start
    return hits.pattern_number, position, hits.distance


def _keys(case: Case, columns: tuple[Any, ...]) -> Longs:
    if case.background is not None:
        return _primer_keys(case, *columns)
    if case.command == "best":
        distances = np.array([len(pattern) for pattern in case.patterns], np.int64)
        np.minimum.at(distances, *columns)
        return distances
    return _hit_keys(case, *columns)


def _primer_keys(case: Case, start: Longs, length: Longs) -> Longs:
    return start * (len(case.letters) + 1) + length


def _hit_keys(case: Case, number: Longs | int, position: Longs, distance: Longs) -> Longs:
    numbered = np.asarray(position, np.int64) * len(case.patterns) + number
    return np.sort(numbered * (case.k + 1) + distance)


def by_published(case: Case, engine: Engine, algorithm: Algorithm) -> Answer:
    """The Answer of a published algorithm: `call` goes from masks to hits, both on the host."""
    run = Run(engine, algorithm)
    masks = encode_text(case.letters)
    patterns = [encode(pattern, pattern) for pattern in case.patterns]
    began = time.perf_counter()
    text = run.text(masks)
    if case.background is not None:
        primers = run.primers(text, run.text(encode_text(case.background)), case.k)
        call = time.perf_counter() - began
        return Answer(_primer_keys(case, *primers), text.seconds, call)
    if case.command == "best":
        distances = np.array([run.smallest(text, pattern) for pattern in patterns], np.int64)
        call = time.perf_counter() - began
        return Answer(distances, text.seconds, call)
    if case.command == "edit":
        hits = [(i, *run.ends(text, pattern, case.k)) for i, pattern in enumerate(patterns)]
    else:
        hits = list(run.windows(text, patterns, case.k))
    call = time.perf_counter() - began
    keys = [_hit_keys(case, *hit) for hit in hits] or [np.zeros(0, np.int64)]
    return Answer(np.sort(np.concatenate(keys)), text.seconds, call)


def measured(
    search: Callable[[Case], Answer], case: Case, seconds: float, smallest: int
) -> tuple[Case, Answer]:
    """Time a search in as much of a text as it does in so many seconds.

    smallest: letters of text that are searched in any case. Returns the Case with the part of its
    text that was searched, and the Answer; times are medians of REPEAT searches where one takes no
    longer than `seconds`.
    """
    search(case.head(max([case.k, *map(len, case.patterns)]) + 1))  # compiles
    whole = len(case.letters)
    size = min(smallest, whole)
    while True:
        part = case.head(size)
        answer = search(part)
        if answer.call > seconds / 2:  # perhaps it compiled what shorter texts do not need
            answer = search(part)
        growth = int(seconds / answer.call)
        if size == whole or growth < 2:
            break
        size = min(whole, size * min(growth, GROWTH))
    answers = [search(part) for _ in range(REPEAT)] if growth else [answer]
    kernel = statistics.median(answer.kernel for answer in answers)
    call = statistics.median(answer.call for answer in answers)
    return part, Answer(answer.keys, kernel, call)
