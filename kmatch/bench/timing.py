"""One search, timed: by the engine or by a published algorithm, kernels apart from the call."""

import statistics
import time
import warnings
from typing import NamedTuple

import numpy as np

import kmatch
from kmatch.published.run import Run
from kmatch.search.hooked import hooked, hooked_primer
from kmatch.sequences.alphabet import encode, encode_text

REPEAT = 3
GROWTH = 32  # of a text from one trial to the next
ENDS = {"edit": {"report": "ends"}}


class Answer(NamedTuple):
    """What a search found, as sorted int64 keys that are equal for equal hits, and its seconds."""

    keys: np.ndarray
    kernel: float
    call: float


def by_engine(case, device, threads=None):
    """The Answer of the engine: call, from letters to hits; kernel, in a text packed before."""
    genome = _genome(case)
    began = time.perf_counter()
    hits = _search(case, genome, device, threads)
    call = time.perf_counter() - began
    watches = []  # the genome is packed now, and on the device
    _search(case, genome, device, threads, lambda engine: watches.append(engine.time_kernels()))
    return Answer(_keys(case, hits), watches[0].seconds, call)


def _genome(case):
    return kmatch.Genome.from_records([("text", case.letters)])


def _search(case, genome, device, threads, on_engine=None):
    options = {"device": device, "threads": threads, "on_engine": on_engine}
    if case.background is not None:
        background = kmatch.Genome.from_records([("background", case.background)])
        return hooked_primer(genome, background, case.k, background_strand="+", **options)
    options |= {"strand": "+", **ENDS.get(case.command, {})}
    if case.command == "best":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return hooked(case.command, genome, case.patterns, **options)
    return hooked(case.command, genome, case.patterns, case.k, **options)


def _keys(case, hits):
    if case.background is not None:
        return _primer_keys(case, hits.start, hits.length)
    if case.command == "best":
        distances = np.array([len(pattern) for pattern in case.patterns], np.int64)
        np.minimum.at(distances, hits.pattern_number, hits.distance)
        return distances
    place = hits.end - 1 if case.command == "edit" else hits.start
    return _joined(case, hits.pattern_number, place, hits.distance)


def _primer_keys(case, start, length):
    return start * (len(case.letters) + 1) + length


def _joined(case, number, place, distance):
    return np.sort((np.int64(place) * len(case.patterns) + number) * (case.k + 1) + distance)


def by_published(case, engine, algorithm):
    """The Answer of a published algorithm: call, from masks on the host to hits on the host."""
    run = Run(engine, algorithm)
    masks = encode_text(case.letters)
    patterns = [encode(pattern, pattern) for pattern in case.patterns]
    began = time.perf_counter()
    text = run.text(masks)
    if case.background is not None:
        found = run.primers(text, run.text(encode_text(case.background)), case.k)
        call = time.perf_counter() - began
        return Answer(_primer_keys(case, *found), text.seconds, call)
    if case.command == "best":
        found = np.array([run.smallest(text, pattern) for pattern in patterns], np.int64)
        call = time.perf_counter() - began
        return Answer(found, text.seconds, call)
    if case.command == "edit":
        hits = [(i, *run.ends(text, pattern, case.k)) for i, pattern in enumerate(patterns)]
    else:
        hits = list(run.windows(text, patterns, case.k))
    call = time.perf_counter() - began
    parts = [_joined(case, *hit) for hit in hits] or [np.zeros(0, np.int64)]
    return Answer(np.sort(np.concatenate(parts)), text.seconds, call)


def measured(search, case, seconds, smallest):
    """(part, Answer): the beginning of a text that a search does in so many seconds, and its times.

    part: the Case with so much of its text, at least `smallest` letters; the times are medians of
    REPEAT searches, where one takes no longer than `seconds`.
    """
    search(case.head(max([case.k, *map(len, case.patterns)]) + 1))  # compiles
    whole = len(case.letters)
    size = min(smallest, whole)
    while True:
        part = case.head(size)
        answer = search(part)
        if answer.call > seconds / 2:  # it may have compiled what shorter texts do not need
            answer = search(part)
        more = int(seconds / answer.call)
        if size == whole or more < 2:
            break
        size = min(whole, size * min(more, GROWTH))
    answers = [search(part) for _ in range(REPEAT)] if more else [answer]
    middle = statistics.median
    times = (middle(a.kernel for a in answers), middle(a.call for a in answers))
    return part, Answer(answer.keys, *times)
