"""For each position of a target the shortest substring that differs from all of a background.

Primers hold A, C, G and T alone.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.arguments import BACKGROUND_STRANDS, check_choice, check_limits, checked_count
from kmatch.arrays import Bools, Bytes, Floats, Longs, Rows, bounds_of, order_of, run_starts
from kmatch.engine.cpu.seeds import Seeds
from kmatch.engine.engine import Engine
from kmatch.engine.types import FRESH, UNKNOWN, Starts, codes_of
from kmatch.errors import InputError
from kmatch.genome import Genome
from kmatch.results.batches import PrimerBatch
from kmatch.search.algorithms import choose_algorithm
from kmatch.search.panel import wanted_strands
from kmatch.search.query import RUN, Run
from kmatch.search.regions import Regions
from kmatch.search.search import Progress
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.patterns import PatternSet
from kmatch.sequences.records import Progress as Hear
from kmatch.sequences.records import Stretch, whole_stretches

PLUS = 0
MINUS = 1
PART = 1 << 24  # letters that an engine is given at a time, where records are shorter
LETTER_CODES = codes_of(encode_text(np.arange(256, dtype=np.uint8)))  # of ASCII codes
COMPLEMENT = np.array([3, 2, 1, 0, UNKNOWN, FRESH], np.uint8)  # of columns


class BackgroundPart(NamedTuple):
    """Some of a background, as an engine takes it.

    columns: uint8, of several records, or of one strand of a long one; read: the bytes of the
    genome up to their end; size: all of its bytes, None where that is unknown.
    """

    columns: Bytes
    read: int
    size: int | None


def background_parts(genome: Genome, strands: tuple[int, ...]) -> Iterator[BackgroundPart]:
    """Yield the BackgroundParts of a genome, of PART letters or a little more.

    strands: 0 for `+`, 1 for `-`.
    """
    heard = Progress()
    held: list[Bytes] = []
    letter_count = 0
    read = 0
    for columns in _record_columns(genome.parts(heard.hear)):
        for number, minus in enumerate(strands, 1):
            held.append(_reversed(columns) if minus else columns)
            letter_count += len(columns)
            if letter_count >= PART:
                # Of what was read since the last part each strand is a share.
                newly_read = (heard.read or 0) - read
                read += newly_read * number // len(strands)
                yield BackgroundPart(_side_by_side(held), read, heard.size)
                held = []
                letter_count = 0
    if letter_count:
        yield BackgroundPart(_side_by_side(held), heard.read or 0, heard.size)


def _record_columns(stretches: Iterable[Stretch]) -> Iterator[Bytes]:
    """Yield the columns of whole records, of several that have PART letters or a little more."""
    for stretch in whole_stretches(stretches):
        bounds = bounds_of(stretch.lengths)
        record_rows = run_starts(bounds[:-1] // PART)
        record_cuts = [*record_rows.tolist(), len(stretch.lengths)]
        for first, last in pairwise(record_cuts):
            begin = int(bounds[first])
            end = int(bounds[last])
            yield _columns(stretch.letters[begin:end], stretch.lengths[first:last])


def _columns(letters: Bytes, lengths: Longs) -> Bytes:
    """Return the columns of records: the codes of their letters, and FRESH before each record.

        letters   A C G T T A       lengths 4 0 2
        columns   F 0 1 2 3 F 3 0

    Records without letters are left out.
    """
    lengths = lengths[lengths > 0]
    record_starts = bounds_of(lengths)[:-1]
    return np.insert(LETTER_CODES[letters], record_starts, FRESH)


def _reversed(columns: Bytes) -> Bytes:
    """Return the columns of the reverse complements of the same records, the last one first.

        columns         F 0 1 1 F 3 0
        turned round    3 0 F 2 2 3 F
        result          F 3 0 F 2 2 3

    FRESH comes from behind each record to the place before it.
    """
    turned_round = COMPLEMENT[columns[::-1]]
    return np.roll(turned_round, 1)


def _side_by_side(parts: list[Bytes]) -> Bytes:
    """Return columns as one array; a single one as it is."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts)


class PrimerOptions(NamedTuple):
    """Which primers are wanted; None sets no limit.

    min_length, max_length: letters a primer has at least (a shorter one is lengthened) and at most;
    gc: (least, most) share of G and C; tm: (least, most) melting temperature in °C; both_strands:
    also the primers of the target's strand `-`; background_strand: `both` or `+`.
    """

    min_length: int | None = None
    max_length: int | None = None
    gc: tuple[float, float] | None = None
    tm: tuple[float, float] | None = None
    both_strands: bool = False
    background_strand: str = "both"


@dataclass(frozen=True, eq=False, repr=False)
class FoundPrimers(Rows):
    """n primers in a record of the target.

    start, end: int64[n], 0-based and half-open on the record's forward strand; minus: uint8[n], 1
    for the strand `-`.
    """

    start: Longs
    end: Longs
    minus: Bytes

    def turned(self, length: int) -> "FoundPrimers":
        """Return the primers of a record, made of its reverse complement's, the last first.

        of the reverse complement    ---=====>-------
        of the record                -------<=====---
                                     0               length
        """
        start = length - self.end[::-1]
        end = length - self.start[::-1]
        return FoundPrimers(start, end, np.ones(len(start), np.uint8))


class PrimerSearch:
    """The search for primers in a target that differ from all of a background.

    k: at least 1. Iterated, it reads the background, and then yields a PrimerBatch for each target
    record with primers. `progress` tells of the bytes that were searched, and has the records of
    the target.
    Raises InputError and DeviceError as a Search does.
    """

    def __init__(
        self,
        target: Genome,
        background: Genome,
        k: int,
        options: PrimerOptions,
        run: Run = RUN,
        regions: Regions | None = None,
    ) -> None:
        """regions: of the target, inside which primers lie."""
        self._k, self._options = _checked(k, options)
        self._background = background
        self._run = run

        # The records of the target, joined end to end.
        lengths = [np.zeros(0, np.int64)]
        codes = [np.zeros(0, np.uint8)]
        self._names: list[str] = []
        for stretch in whole_stretches(target.parts()):
            self._names += stretch.names
            if regions:
                regions.meet(stretch.names, stretch.lengths)
            lengths.append(stretch.lengths)
            codes.append(LETTER_CODES[stretch.letters])
        record_lengths = np.concatenate(lengths)
        self._bounds = bounds_of(record_lengths)
        self._codes = np.concatenate(codes)
        if regions:
            regions.check(target.label)
        self._starts = self._all_starts(regions)
        self.progress = Progress()
        self.progress.add(record_lengths)
        self.engine = run.cluster or choose_algorithm("primer", PatternSet([], []), run)

    def _all_starts(self, regions: Regions | None) -> Starts:
        """Return the Starts of all records, whose bounds engines raise.

        Behind the n starts of the strand `+` come the starts of the strand `-`, where they are
        asked for, as starts of the reverse complement of the whole:

            0        a      b         n          2n−b     2n−a       2n
            | first  | next | last    | last     | next  | first     |
        """
        codes = self._codes
        record_bounds = self._bounds
        if self._options.both_strands:
            turned_codes = COMPLEMENT[codes[::-1]]
            codes = np.concatenate([codes, turned_codes])
            turned_bounds = len(codes) - record_bounds[::-1]
            record_bounds = np.concatenate([record_bounds, turned_bounds[1:]])

        # A primer ends in its record and in its region, and holds no unknown letter.
        limits = _known_letters(codes, record_bounds)
        if regions:
            limits = np.minimum(limits, self._letters_left(regions))
        if self._options.max_length is not None:
            limits = np.minimum(limits, self._options.max_length)

        # The engine goes on from the bounds known so far; above its limit a start has no primer.
        least = max(self._k, self._options.min_length or 0)
        bounds = np.minimum(least, limits + 1)
        is_base = codes < UNKNOWN
        masks = np.where(is_base, 1 << codes, 0).astype(np.uint8)
        return Starts(masks, record_bounds, limits, bounds)

    def _letters_left(self, regions: Regions) -> Longs:
        """Return how many letters Regions have from each start on, ordered as in `_all_starts`."""
        records = list(zip(self._names, np.diff(self._bounds).tolist(), strict=True))
        parts = [regions.letters_left(name, length, PLUS) for name, length in records]
        if self._options.both_strands:
            for name, length in reversed(records):
                parts.append(regions.letters_left(name, length, MINUS))
        return np.concatenate(parts)

    def __iter__(self) -> Iterator[PrimerBatch]:
        search = (self._starts, self._background, self._k, self._options)
        if self._run.cluster:
            self._run.cluster.raise_bounds(*search, self._run, self.progress)
        else:
            raise_bounds(*search, self.engine, self.progress.hear)
        if self._background.selection:
            self._background.selection.check()
        for number in range(len(self._names)):
            primers = self._primers(number)
            if len(primers.start):
                batch = self._batch(number, primers)
                yield _within_limits(batch, self._options)

    def _primers(self, number: int) -> FoundPrimers:
        """Return the primers of a record, by number, on `+` and then on `-`."""
        begin = int(self._bounds[number])
        end = int(self._bounds[number + 1])
        primers = self._primers_between(begin, end)
        if not self._options.both_strands:
            return primers
        start_count = len(self._starts.bounds)
        turned = self._primers_between(start_count - end, start_count - begin)
        return primers.followed_by(turned.turned(end - begin))

    def _primers_between(self, begin: int, stop: int) -> FoundPrimers:
        """Return the primers of the starts begin … stop−1; start `begin` is position 0."""
        bounds = self._starts.bounds[begin:stop]
        limits = self._starts.limits[begin:stop]
        start = np.flatnonzero(bounds <= limits)
        end = start + bounds[start]
        minus = np.zeros(len(start), np.uint8)
        return FoundPrimers(start, end, minus)

    def _batch(self, number: int, primers: FoundPrimers) -> PrimerBatch:
        """Return the PrimerBatch of a record, by number."""
        begin = self._bounds[number]
        end = self._bounds[number + 1]
        regions = _regions(primers)
        order = order_of(primers.start, primers.end, primers.minus)
        primers = primers.take(order)
        return PrimerBatch(
            record=np.full(len(primers.start), number),
            names={number: self._names[number]},
            start=primers.start,
            end=primers.end,
            minus=primers.minus,
            codes=self._codes[begin:end],
            regions=regions,
        )


def _known_letters(codes: Bytes, record_bounds: Longs) -> Longs:
    """Return how many letters A, C, G and T there are from each letter of records on, int64[n].

    record     A C N G T | A C
    letters    2 1 0 2 1 | 2 1
    """
    # The first place from each letter on where a record ends or a letter is unknown.
    ends = np.repeat(record_bounds[1:], np.diff(record_bounds))
    place = np.arange(len(codes))
    ends[codes >= UNKNOWN] = place[codes >= UNKNOWN]
    first_end = np.minimum.accumulate(ends[::-1])[::-1]
    return first_end - place


def _regions(primers: FoundPrimers) -> Longs:
    """Return the runs of positions in which every one is the first of a primer.

        first positions on +    2 3 4     8 9
        runs                    2 … 5     8 … 10
        first positions on -      3 4 5
        runs                      3 … 6

    It is int64[r, 3], sorted: start, end and strand. On `-` the first letter of a primer is at its
    end. primers: on `+`, then on `-`, by their first positions.
    """
    first = np.where(primers.minus, primers.end - 1, primers.start)
    # In a run positions grow by 1, as rows do.
    rows = np.arange(len(first))
    run_rows = run_starts(first - rows, primers.minus)
    last_rows = np.append(run_rows[1:], len(first)) - 1
    start = first[run_rows]
    end = first[last_rows] + 1
    minus = primers.minus[run_rows].astype(np.int64)
    runs = np.column_stack([start, end, minus])
    return runs[order_of(start, end, minus)]


def raise_bounds(
    starts: Starts,
    background: Genome,
    k: int,
    options: PrimerOptions,
    engine: Engine,
    hear: Hear | None = None,
) -> Longs:
    """Raise the bounds of Starts, in place, as a background requires; returns them.

    hear: of the bytes searched.
    """
    done = 0
    seeds = Seeds(starts) if engine.takes_seeds else None
    strands = wanted_strands(options.background_strand)
    for part in background_parts(background, strands):
        tell = partial(_tell, hear, done, part)
        if seeds:
            seeds.raise_bounds(starts, part.columns, k)
        engine.extend_primers(starts, part.columns, k, on_progress=tell)
        done = part.read
    return starts.bounds


def _tell(hear: Hear | None, done: int, part: BackgroundPart, share: float) -> None:
    """Tell of the bytes read: `done` before a part, and a share of the rest is searched."""
    if hear and part.size:
        searched = done + share * (part.read - done)
        hear(int(searched), part.size)


def _checked(k: int, options: PrimerOptions) -> tuple[int, PrimerOptions]:
    """Return k and the options, whose whole numbers are ints.

    Raises InputError where they do not fit.
    """
    k = checked_count("k", k, 1)
    shortest = options.min_length
    longest = options.max_length
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


def _within_limits(batch: PrimerBatch, options: PrimerOptions) -> PrimerBatch:
    """Return the primers within the limits of GC content and melting temperature."""
    is_wanted = np.ones(len(batch), bool)
    if options.gc is not None:
        is_wanted &= _is_between(batch.gc, options.gc)
    if options.tm is not None:
        is_wanted &= _is_between(batch.tm, options.tm)
    if is_wanted.all():
        return batch
    return batch.picked(np.flatnonzero(is_wanted))


def _is_between(values: Floats, limits: tuple[float, float]) -> Bools:
    """Return which values are in (least, most), bool[n]; NaN is not."""
    least, most = limits
    return (least <= values) & (values <= most)
