"""For each position of a target the shortest substring that differs from all of a background."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.types import Starts
from kmatch.errors import BACKGROUND_STRANDS, InputError, check_choice, check_limits, checked_count
from kmatch.genome import Genome
from kmatch.published.run import choose_algorithm
from kmatch.published.search import extend_published
from kmatch.results.batches import PrimerBatch
from kmatch.search.panels.panel import wanted_strands
from kmatch.search.primers.background import Background
from kmatch.search.primers.starts import TargetStarts
from kmatch.search.query import RUN, Run
from kmatch.search.search import Progress
from kmatch.sequences.records import Progress as Hear


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
SIZES: Any = None  # how an engine cuts the work, see its `extend_primers`; tests set it


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
        options: PrimerOptions = OPTIONS,
        run: Run = RUN,
    ) -> None:
        self.starts = PrimerStarts(target, k, options)
        self.progress = Progress()
        self.progress.add(self.starts.spans)
        self.engine, self._published = choose_algorithm("primer", (), run)
        self._background, self._k, self._options = background, k, options

    def __iter__(self) -> Iterator[PrimerBatch]:
        chosen = (self.engine, self._published)
        search = (self._background, self._k, self._options)
        raise_bounds(self.starts.known, *search, chosen, self.progress.hear)
        yield from self.starts.batches()


def raise_bounds(
    starts: Starts,
    background: Genome,
    k: int,
    options: PrimerOptions,
    chosen: tuple[Any, Any],
    hear: Hear | None = None,
) -> Longs:
    """Raise the bounds of Starts, in place, to what a background requires; returns them.

    chosen: as `choose_algorithm` gives it; hear: of the bytes searched.
    """
    engine, published = chosen
    extend: Callable[..., object] = partial(engine.extend_primers, sizes=SIZES)
    if published:
        extend = partial(extend_published, published)
    columns = Background(background, wanted_strands(options.background_strand), hear)
    for part in columns.parts():
        extend(starts, part, k, on_progress=columns.share)
    return starts.bounds


class PrimerStarts:
    """The starts of all records of a target.

    known: the Starts of all of them, whose bounds engines raise; spans: of the records. Raises
    InputError for options that do not fit.
    """

    def __init__(self, target: Genome, k: int, options: PrimerOptions) -> None:
        k, self._options = _checked(k, options)
        lengths = (max(k, self._options.min_length or 0), self._options.max_length)
        self._starts = TargetStarts(target, lengths, options.both_strands)
        self.known = self._starts.known
        self.spans = self._starts.spans

    def batches(self) -> Iterator[PrimerBatch]:
        """Yield a PrimerBatch for each record with primers, of those that the options allow."""
        for batch in self._starts.batches():
            yield _select(batch, self._options.gc, self._options.tm)


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
