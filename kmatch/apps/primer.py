"""For each position of a target the shortest substring that differs from all of a background."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.arguments import BACKGROUND_STRANDS, check_choice, check_limits, checked_count
from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.engine.cpu.seeds import Seeds, open_starts
from kmatch.engine.engine import Engine
from kmatch.engine.types import FRESH, UNKNOWN, Starts
from kmatch.errors import InputError
from kmatch.genome import Genome
from kmatch.results.batches import PrimerBatch
from kmatch.results.melting import codes_of
from kmatch.search.algorithms import choose_algorithm
from kmatch.search.panel import wanted_strands
from kmatch.search.query import RUN, Run
from kmatch.search.search import Progress
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.patterns import PatternSet
from kmatch.sequences.records import Progress as Hear
from kmatch.sequences.records import whole_stretches

PART = 1 << 24  # letters that an engine is given at a time, where records are shorter
LETTER_CODES = codes_of(encode_text(np.arange(256, dtype=np.uint8)))  # of ASCII codes
COMPLEMENT = np.array([3, 2, 1, 0, UNKNOWN, FRESH], np.uint8)  # of columns


def background_parts(
    genome: Genome, strands: tuple[int, ...]
) -> Iterator[tuple[Bytes, int, int | None]]:
    """Yield (columns, read, size): uint8 columns of several records, or of one strand of a long
    one; the bytes of the genome up to their end, and all of them.

    strands: 0 for `+`, 1 for `-`.
    """
    heard = Progress()
    held: list[Bytes] = []
    letters = done = 0
    for stretch in whole_stretches(genome.parts(heard.hear)):
        bounds = bounds_of(stretch.lengths)
        cuts = np.flatnonzero(np.diff(bounds[:-1] // PART)) + 1
        for first, last in pairwise([0, *cuts.tolist(), len(stretch.lengths)]):
            part = stretch.letters[int(bounds[first]) : int(bounds[last])]
            columns = _columns(part, stretch.lengths[first:last])
            for minus in strands:
                held.append(_reversed(columns) if minus else columns)
                letters += len(columns)
                if letters >= PART:
                    done += ((heard.read or 0) - done) * (minus + 1) // len(strands)
                    yield held[0] if len(held) == 1 else np.concatenate(held), done, heard.size
                    held, letters = [], 0
    if letters:
        yield np.concatenate(held), heard.read or 0, heard.size


def _columns(letters: Bytes, lengths: Longs) -> Bytes:
    """The codes of records, FRESH before each that has letters."""
    full = lengths[lengths > 0]
    return np.insert(LETTER_CODES[letters], np.cumsum(full) - full, FRESH)


def _reversed(columns: Bytes) -> Bytes:
    """The columns of the reverse complements of the same records, the last one first."""
    return np.roll(COMPLEMENT[columns[::-1]], 1)


class PrimerOptions(NamedTuple):
    """min_length, max_length: letters a primer has at least (a shorter one is lengthened) and at
    most; gc: (least, most) share of G and C; tm: (least, most) melting temperature in °C, which a
    primer with an N has not; both_strands: also the primers of the target's strand `-`;
    background_strand: `both` or `+`. None sets no limit."""

    min_length: int | None = None
    max_length: int | None = None
    gc: tuple[float, float] | None = None
    tm: tuple[float, float] | None = None
    both_strands: bool = False
    background_strand: str = "both"


class PrimerSearch:
    """The search for primers in a target that differ from all of a background.

    k: at least 1. Iterated, it yields a PrimerBatch for each target record with primers, once the
    background was read, of whose searched bytes `progress` tells, with the target's records.
    Raises InputError and DeviceError as a Search does.
    """

    def __init__(
        self,
        target: Genome,
        background: Genome,
        k: int,
        options: PrimerOptions,
        run: Run = RUN,
    ) -> None:
        self._k, self._options = _checked(k, options)
        stretches = list(whole_stretches(target.parts()))
        self._names = [name for stretch in stretches for name in stretch.names]
        lengths = np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in stretches)])
        self._bounds = bounds_of(lengths)
        found = [LETTER_CODES[part.letters] for part in stretches]
        self._codes: Bytes = np.concatenate([np.zeros(0, np.uint8), *found])
        self._starts = self._all_starts()
        self.progress = Progress()
        self.progress.add(lengths)
        self._background, self._run = background, run
        self.engine = run.cluster or choose_algorithm("primer", PatternSet([], []), run)

    def _all_starts(self) -> Starts:
        """The Starts of all records, whose bounds engines raise; those of the strand `-` follow, as
        of the reverse complement of the whole."""
        codes, begins = self._codes, self._bounds
        if self._options.both_strands:
            codes = np.concatenate([codes, COMPLEMENT[codes[::-1]]])
            begins = np.concatenate([begins, 2 * begins[-1] - begins[-2::-1]])
        masks = np.where(codes < UNKNOWN, 1 << codes, 0).astype(np.uint8)
        limits = np.repeat(begins[1:], np.diff(begins)) - np.arange(len(codes))
        if self._options.max_length is not None:
            np.minimum(limits, self._options.max_length, out=limits)
        # The engine goes on from the bounds known so far.
        least = max(self._k, self._options.min_length or 0)
        return Starts(masks, begins, limits, np.minimum(least, limits + 1))

    def __iter__(self) -> Iterator[PrimerBatch]:
        search = self._starts, self._background, self._k, self._options
        if self._run.cluster:
            self._run.cluster.raise_bounds(*search, self._run, self.progress)
        else:
            raise_bounds(*search, self.engine, self.progress.hear)
        for number, (begin, stop) in enumerate(pairwise(self._bounds.tolist())):
            start, end = self._found(begin, stop)
            minus = np.zeros(len(start), np.uint8)
            if self._options.both_strands:
                whole, size = len(self._starts.bounds), stop - begin
                low, high = (size - each[::-1] for each in self._found(whole - stop, whole - begin))
                minus = np.append(minus, np.ones(len(low), np.uint8))
                start, end = np.append(start, high), np.append(end, low)
            if not len(start):
                continue
            order = np.lexsort((minus, end, start))
            batch = PrimerBatch(
                record=np.full(len(start), number),
                names={number: self._names[number]},
                start=start[order],
                end=end[order],
                minus=minus[order],
                codes=self._codes[begin:stop],
                regions=_regions(np.where(minus, end - 1, start), minus),
            )
            yield _select(batch, self._options.gc, self._options.tm)

    def _found(self, begin: int, end: int) -> tuple[Longs, Longs]:
        """(start, end) of the primers that start at `begin` … `end` − 1 of all starts, from there
        on."""
        bounds, limits = self._starts.bounds[begin:end], self._starts.limits[begin:end]
        start = np.flatnonzero(bounds <= limits)
        return start, start + bounds[start]


def _regions(first: Longs, minus: Bytes) -> Longs:
    """Runs of positions of a record that are the first of a primer, int64[r, 3], sorted: start, end
    and strand. first: in order on each strand, `+` before `-`."""
    new = (np.diff(first, prepend=-2) != 1) | (np.diff(minus, prepend=0) != 0)
    begins = np.flatnonzero(new)
    ends = np.append(begins, len(first))[1:] - 1
    runs = np.stack([first[begins], first[ends] + 1, minus[begins]], axis=1).astype(np.int64)
    return runs[np.lexsort(runs.T[::-1])]


def raise_bounds(
    starts: Starts,
    background: Genome,
    k: int,
    options: PrimerOptions,
    engine: Engine,
    hear: Hear | None = None,
) -> Longs:
    """Raise the bounds of Starts, in place, to what a background requires; returns them.

    hear: of the bytes searched.
    """
    done = 0
    seeds = Seeds(starts) if engine.takes_seeds else None
    for columns, read, size in background_parts(
        background, wanted_strands(options.background_strand)
    ):
        tell = partial(_tell, hear, done, read, size)
        if seeds is None:
            engine.extend_primers(starts, columns, k, on_progress=tell)
        else:
            seeds.raise_bounds(starts, columns, k)
            _sweep(starts, columns, k, engine, tell)
        done = read
    return starts.bounds


def _sweep(
    starts: Starts, columns: Bytes, k: int, engine: Engine, tell: Callable[[float], object]
) -> None:
    """Raise the bounds of the starts that are open to what columns of a background require."""
    opened = open_starts(starts)
    if opened is None:
        engine.extend_primers(starts, columns, k, on_progress=tell)
        return
    engine.extend_primers(opened.starts, columns, k, on_progress=tell)
    opened.hand_back(starts)


def _tell(hear: Hear | None, done: int, read: int, size: int | None, share: float) -> None:
    if hear and size:
        hear(int(done + share * (read - done)), size)


def _checked(k: int, options: PrimerOptions) -> tuple[int, PrimerOptions]:
    """k and the options, whose whole numbers are ints; InputError where they do not fit."""
    k = checked_count("k", k, 1)
    shortest, longest = options.min_length, options.max_length
    if shortest is not None:
        shortest = checked_count("the minimum length", shortest, 1)
    if longest is not None:
        longest = checked_count("the maximum length", longest, 1)
        if longest < k:
            raise InputError(
                f"the maximum length {longest} is less than k = {k}: "
                "k differences need k letters or more"
            )
    if shortest and longest and shortest > longest:
        raise InputError(f"the minimum length {shortest} is more than the maximum {longest}")
    check_limits("GC content", options.gc)
    check_limits("melting temperature", options.tm)
    for share in options.gc or ():
        if not 0 <= share <= 1:
            raise InputError(f"GC content is a share: give 0 to 1, not {share:g}")
    check_choice("background strand", options.background_strand, BACKGROUND_STRANDS)
    return k, options._replace(min_length=shortest, max_length=longest)


def _select(
    batch: PrimerBatch, gc: tuple[float, float] | None, tm: tuple[float, float] | None
) -> PrimerBatch:
    """The rows of a PrimerBatch within the limits of GC content and melting temperature."""
    wanted = np.ones(len(batch), bool)
    if gc is not None:
        wanted &= (gc[0] <= batch.gc) & (batch.gc <= gc[1])
    if tm is not None:
        wanted &= (tm[0] <= batch.tm) & (batch.tm <= tm[1])
    return batch if wanted.all() else batch.picked(np.flatnonzero(wanted))
