"""For each position of a target the shortest substring that differs from all of a background."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from kmatch.arguments import BACKGROUND_STRANDS, check_choice, check_limits, checked_count
from kmatch.arrays import Bytes, Longs
from kmatch.engine.columns import FRESH, UNKNOWN
from kmatch.engine.primers import Starts
from kmatch.errors import InputError
from kmatch.genome import Genome
from kmatch.published.run import choose_algorithm
from kmatch.results.batches import PrimerBatch
from kmatch.search.panels.panel import wanted_strands
from kmatch.search.published import extend_published
from kmatch.search.running import HOOKS, RUNNING, Hooks, Running
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.records import Progress, Record

PART = 1 << 24  # background letters that an engine is given at a time, where records are shorter
CODES = np.array([4, 0, 1, 4, 2, 4, 4, 4, 3], np.uint8)  # UNKNOWN but for masks of one base
LETTER_CODES = CODES[encode_text(np.arange(256, dtype=np.uint8))]  # of ASCII codes
COMPLEMENT = np.array([3, 2, 1, 0, 4], np.uint8)  # of codes


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


OPTIONS = PrimerOptions()


def primer_batches(
    target: Genome,
    background: Genome,
    k: int,
    options: PrimerOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Iterator[PrimerBatch]:
    """Yield a PrimerBatch for each target record, once the background was read.

    k: at least 1. running.on_progress hears of the bytes of the background that have been searched.
    Raises InputError and DeviceError as `kmatch.primer` does, at the first batch.
    """
    starts = PrimerStarts(target, k, options)
    raise_bounds(starts.known, background, k, options, running, hooks)
    yield from starts.batches()


def raise_bounds(
    starts: Starts,
    background: Genome,
    k: int,
    options: PrimerOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Longs:
    """Raise the bounds of Starts, in place, to what a background requires; returns them."""
    engine, run = choose_algorithm("primer", (), running)
    extend: Callable[..., object] = partial(engine.extend_primers, sizes=hooks.sizes)
    if run:
        extend = partial(extend_published, run)
    progress = _Progress(running.on_progress)
    strands = wanted_strands(options.background_strand)
    records = background.records(progress.read)
    for columns in _parts(records, strands, hooks.part or PART, progress):
        extend(starts, columns, k, on_progress=progress.share)
    return starts.bounds


def part_of(starts: Starts, begin: int, end: int) -> Starts:
    """The Starts from `begin` to `end`, and behind them the letters that their primers may take."""
    masks, begins, limits, bounds = starts
    stop = int((np.arange(begin, end) + limits[begin:end]).max(initial=end))
    inside = begins[(begins > begin) & (begins < stop)]
    limits = np.minimum(limits[begin:stop], stop - np.arange(begin, stop))
    bounds = bounds[begin:stop].copy()
    bounds[end - begin :] = limits[end - begin :] + 1  # nothing is looked for there
    cuts = np.concatenate([[begin], inside, [stop]]).astype(np.int64) - begin
    return Starts(masks[begin:stop].copy(), cuts, limits, bounds)


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


class PrimerStarts:
    """The starts of all records of a target, those of the strand `-` after those of `+`.

    known: the Starts of all of them, whose bounds engines raise. Raises InputError for options that
    do not fit.
    """

    def __init__(self, target: Genome, k: int, options: PrimerOptions) -> None:
        k, options = _checked(k, options)
        records = list(target.records())
        self._options = options
        self._names = [record.name for record in records]
        self._codes = [LETTER_CODES[record.letters] for record in records]
        self._strands = (0, 1) if options.both_strands else (0,)
        letters = [_strand(codes, minus) for minus in self._strands for codes in self._codes]
        sizes = np.array([len(codes) for codes in letters], np.int64)
        begins = np.cumsum([0, *sizes], dtype=np.int64)
        codes = np.concatenate([*letters, np.zeros(0, np.uint8)])
        masks = np.where(codes < UNKNOWN, 1 << codes, 0).astype(np.uint8)
        limits = np.repeat(begins[1:], sizes) - np.arange(len(codes))
        if options.max_length is not None:
            np.minimum(limits, options.max_length, out=limits)
        # The engine goes on from the bounds known so far.
        bounds = np.minimum(max(k, options.min_length or 0), limits + 1)
        self.known = Starts(masks, begins, limits, bounds)

    def batches(self) -> Iterator[PrimerBatch]:
        """Yield the PrimerBatch of each record, of the primers that the options allow."""
        for number, (name, codes) in enumerate(zip(self._names, self._codes, strict=True)):
            found = [self._found(number, minus) for minus in self._strands]
            start, end, minus = (np.concatenate(column) for column in zip(*found, strict=True))
            order = np.lexsort((minus, end, start))
            regions = np.concatenate([_regions(*rows) for rows in found])
            batch = PrimerBatch(
                record=number,
                name=name,
                start=start[order],
                end=end[order],
                minus=minus[order],
                codes=codes,
                regions=regions[np.lexsort((regions[:, 2], regions[:, 1], regions[:, 0]))],
            )
            yield _select(batch, self._options.gc, self._options.tm)

    def _found(self, number: int, minus: int) -> tuple[Longs, Longs, Bytes]:
        """(start, end, minus) of a record's primers on one strand, on forward coordinates."""
        index = number + minus * len(self._names)
        _, begins, limits, bounds = self.known
        rows = slice(begins[index], begins[index + 1])
        bounds, limits = bounds[rows], limits[rows]
        start = np.flatnonzero(bounds <= limits)
        end = start + bounds[start]
        if minus:
            start, end = (len(bounds) - end)[::-1], (len(bounds) - start)[::-1]
        return start, end, np.full(len(start), minus, np.uint8)


def _strand(codes: Bytes, minus: int) -> Bytes:
    return COMPLEMENT[codes[::-1]] if minus else codes


def _regions(start: Longs, end: Longs, minus: Bytes) -> Longs:
    """Runs of positions that are the first of a primer, int64[r, 3]: start, end and strand."""
    first = np.where(minus, end - 1, start)
    breaks = np.flatnonzero(np.diff(first, prepend=-2, append=-2) != 1)
    begin, last = first[breaks[:-1]], first[breaks[1:] - 1]
    return np.stack([begin, last + 1, minus[breaks[:-1]]], axis=1).astype(np.int64)


def _parts(
    records: Iterable[Record], strands: tuple[int, ...], part: int, progress: "_Progress"
) -> Iterator[Bytes]:
    """Yield the background as columns, uint8: several records, or one strand of a long one.

    records: an iterable of Record; progress: hears where a part begins and ends.
    """
    held: list[Bytes] = []
    size = 0
    for record in records:
        letters = record.letters
        for minus in strands if len(letters) else ():
            columns = np.empty(1 + len(letters), np.uint8)
            columns[0] = FRESH
            columns[1:] = _strand(LETTER_CODES[letters], minus)
            held.append(columns)
            size += len(columns)
            if size >= part:
                progress.begin((minus + 1) / len(strands))
                yield _joined(held)
                held, size = [], 0
    if held:
        progress.begin(1)
        yield _joined(held)


def _joined(parts: list[Bytes]) -> Bytes:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class _Progress:
    """Reports the background's bytes as they have been searched, not as they are read."""

    def __init__(self, report: Progress | None) -> None:
        self._report = report
        # The bytes before the record read last and before the part at work, and up to their ends.
        self._record = (0, 0)
        self._span: tuple[float, float] = (0, 0)
        self._size: int | None = None

    def read(self, consumed: int | None, size: int | None) -> None:
        self._size = size
        self._record = (self._record[1], consumed or 0)

    def begin(self, share: float) -> None:
        """A part begins that goes up to a share of the record read last."""
        before, after = self._record
        done = self._span[1]  # of short records, which are read together, up to the last one's end
        self._span = (done, max(done, before + share * (after - before)))

    def share(self, share: float) -> None:
        if self._report and self._size:
            before, after = self._span
            self._report(int(before + share * (after - before)), self._size)


def _select(
    batch: PrimerBatch, gc: tuple[float, float] | None, tm: tuple[float, float] | None
) -> PrimerBatch:
    """The rows of a PrimerBatch within the limits of GC content and melting temperature."""
    wanted = np.ones(len(batch), bool)
    if gc is not None:
        wanted &= (gc[0] <= batch.gc) & (batch.gc <= gc[1])
    if tm is not None:
        wanted &= (tm[0] <= batch.tm) & (batch.tm <= tm[1])
    if wanted.all():
        return batch
    return replace(
        batch, start=batch.start[wanted], end=batch.end[wanted], minus=batch.minus[wanted]
    )
