"""A second look at genomes that have no product: would one be there if unknown letters, or letters
behind the end of a record, were what the oligos ask for?

    |========>----NNNNNNNN(==NN=)NNN----<==        the end of the record hides half of a primer
     known        unknown

The letters around the gaps of records, stretches of unknown letters and what lies behind their
ends, are searched anew (`pieces_around`), with unknown letters that match what they may stand for.
Sites that are found there and hold such a letter are masked. Sites side by side come as one
SiteRun, as a gap has a site of every oligo at each of its letters. Then it is asked which runs,
masked ones and those of known sites, have room for a product (`masked_products`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.apps.joins import MINUS, NO_PAIR, PLUS, Joins, Ranges
from kmatch.arrays import (
    Bools,
    Bytes,
    Longs,
    Rows,
    bounds_of,
    offsets_in_rows,
    order_of,
    ranked,
    run_starts,
)
from kmatch.engine.types import LETTERS
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import ENDLESS, HitBatch, joined, no_hits, sizes_of
from kmatch.search.begin import begin_here
from kmatch.search.panel import pattern_distances
from kmatch.search.query import Query, Run
from kmatch.sequences.alphabet import encode_text, may_be
from kmatch.sequences.circles import Circular
from kmatch.sequences.records import RecordNames, Stretch, whole_stretches

TOGETHER = 1 << 22  # letters of records whose gaps are looked for together, or of a longer one
BLOCK = 1 << 18  # letters that are looked at together
JOINED = 1 << 20  # pairs of runs that are looked at together, and any others of the last one
ANY = np.uint8(ord("N"))
KNOWN = b"ACGTUacgtu"


@dataclass(frozen=True)
class Records(Rows):
    """n records of genomes whose letters lie side by side.

    number: int64[n], as hits have it; begin: int64[n], where its letters begin; size: int64[n], how
    many there are; circle_size: int64[n], the same of a circular record, ENDLESS of a linear one.
    """

    number: Longs
    begin: Longs
    size: Longs
    circle_size: Longs

    @property
    def is_circular(self) -> Bools:
        """Whether each record is circular, bool[n]."""
        return self.circle_size < ENDLESS


@dataclass(frozen=True)
class Gaps(Rows):
    """n stretches without a known letter.

    record: int64[n], the row of its record in Records; start, end: int64[n], 0-based and half-open;
    at an end of a linear record it goes on behind the end.
    """

    record: Longs
    start: Longs
    end: Longs


def gaps_in(letters: Bytes, records: Records, overhang: int) -> Gaps:
    """Return the Gaps of records, sorted.

    letters: uint8, ASCII; overhang: letters that an oligo has behind an end at the most.

        record          N N A C G N N T
        gaps        ├───────┤   ├───┤ ├───┤       −2 … 2, 5 … 7, 8 … 10, with an overhang of 2
    """
    unknown = unknown_letters(letters)
    ends = records.begin + records.size
    of_letter = np.searchsorted(ends, unknown, side="right")
    position = unknown - records.begin[of_letter]

    # The runs of unknown letters, and what is behind the ends of linear records.
    run_rows = run_starts(of_letter, position - np.arange(len(position)))
    run_counts = np.diff(run_rows, append=len(position))
    linear = np.flatnonzero(~records.is_circular)
    size = records.size[linear]
    record = np.concatenate([of_letter[run_rows], linear, linear])
    start = np.concatenate([position[run_rows], np.full(len(linear), -overhang), size])
    end = np.concatenate([position[run_rows] + run_counts, np.zeros_like(size), size + overhang])
    return united(Gaps(record, start, end))


def unknown_letters(letters: Bytes) -> Longs:
    """Return the positions of letters that are no A, C, G or T, int64[n], fast where all are."""
    found = [np.zeros(0, np.int64)]
    for begin in range(0, len(letters), BLOCK):
        block = letters[begin : begin + BLOCK]
        if block.tobytes().translate(None, delete=KNOWN):
            found.append(begin + np.flatnonzero(encode_text(block) == 0))
    return np.concatenate(found)


def united(gaps: Gaps) -> Gaps:
    """Return intervals as Gaps that neither overlap nor touch, sorted."""
    gaps = gaps.take(order_of(gaps.record, gaps.start))
    first_rows, end = unions(gaps.record, gaps.start, gaps.end)
    return Gaps(gaps.record[first_rows], gaps.start[first_rows], end)


def unions(group: Longs, start: Longs, end: Longs) -> tuple[Longs, Longs]:
    """Return of the unions of intervals that overlap or touch the first rows, and the ends.

    group, start, end: int64[n], sorted by group, then by start; those of two groups stay apart.

        intervals    ├──┤  ├────┤    ├─┤          1 … 4, 7 … 12, 12 … 14, 17 … 19
                                ├─┤
        unions       ├──┤  ├──────┤  ├─┤          rows 0, 1 and 3; ends 4, 14 and 19
    """
    # On one line, on which intervals of two groups do not touch.
    low = int(start.min(initial=0))
    spacing = int(end.max(initial=0)) - low + 2
    line_start = group * spacing + start - low
    line_end = np.maximum.accumulate(group * spacing + end - low)
    begins = np.ones(len(start), np.bool_)
    begins[1:] = line_start[1:] > line_end[:-1]
    first_rows = np.flatnonzero(begins)
    last_rows = np.append(first_rows[1:], len(start)) - 1
    last_rows = last_rows[: len(first_rows)]
    return first_rows, line_end[last_rows] - group[first_rows] * spacing + low


def pieces_around(gaps: Gaps, records: Records, reach: int, overhang: int) -> Gaps:
    """Return the pieces of records in which lies every site that holds a letter of a gap, and one
    that is in no gap.

        gap               ├───────────────────┤
        pieces       ├─────────┤         ├─────────┤       of `reach` letters on either side

    reach: letters of the longest site; overhang: as `gaps_in` takes it. Those of a circle may begin
    before 0 or end behind its letters.
    """
    centre = np.concatenate([gaps.start, gaps.end])
    record = np.concatenate([gaps.record, gaps.record])
    start = centre - reach
    end = centre + reach
    is_linear = ~records.is_circular[record]
    start = np.where(is_linear, np.maximum(start, -overhang), start)
    end = np.where(is_linear, np.minimum(end, records.size[record] + overhang), end)
    return united(Gaps(record, start, end))


class Pieces(NamedTuple):
    """Pieces of records, n of them side by side, which show every masked site that is in no gap.

    letters: uint8, ASCII, N where a piece goes on behind a record; bounds: int64[n+1], where each
    piece begins among them; start: int64[n], where it begins in its record; records: Records, of
    each piece.
    """

    letters: Bytes
    bounds: Longs
    start: Longs
    records: Records


def cut_out(letters: Bytes, records: Records, around: Gaps) -> Pieces:
    """Return the Pieces of Records at some intervals."""
    bounds = bounds_of(around.end - around.start)
    of_piece = records.take(around.record)

    # Where each letter is in its record, on a circle in its first turn.
    piece = np.repeat(np.arange(len(around)), np.diff(bounds))
    position = around.start[piece] + offsets_in_rows(bounds)
    position %= of_piece.circle_size[piece]
    is_inside = position < of_piece.size[piece]
    place = of_piece.begin[piece] + position
    shown = np.full(len(place), ANY)
    shown[is_inside] = letters[place[is_inside]]
    return Pieces(shown, bounds, around.start, of_piece)


@dataclass(frozen=True)
class SiteRuns(Rows):
    """n runs of sites of an oligo that begin at each of some positions side by side.

        record      A C N N N N N N N N C G
        sites           [-----)                 of an oligo of 3 letters, first 2
                          [-----)
                                  [-----)       and last 7

    record, oligo: int64[n]; minus: uint8[n]; first, last: int64[n], where they begin; size:
    int64[n], letters of each site; circle_size: int64[n], as Records have it; is_masked: bool[n].
    """

    record: Longs
    oligo: Longs
    minus: Bytes
    first: Longs
    last: Longs
    size: Longs
    circle_size: Longs
    is_masked: Bools


def united_runs(runs: SiteRuns) -> SiteRuns:
    """Return the same sites in as few runs."""
    kinds = (runs.record, runs.oligo, runs.minus, runs.size, runs.is_masked)
    runs = runs.take(order_of(*kinds, runs.first))
    kind_rows = run_starts(runs.record, runs.oligo, runs.minus, runs.size, runs.is_masked)
    begins_kind = np.zeros(len(runs), np.int64)
    begins_kind[kind_rows] = 1
    first_rows, end = unions(np.cumsum(begins_kind), runs.first, runs.last + 1)
    return replace(runs.take(first_rows), last=end - 1)


def known_runs(sites: HitBatch) -> SiteRuns:
    """Return the sites that are there whatever unknown letters are, as runs."""
    circle_size = sizes_of(sites.record, sites.origin.circles or {})
    is_masked = np.zeros(len(sites), np.bool_)
    return SiteRuns(
        sites.record,
        sites.pattern.astype(np.int64),
        sites.minus,
        sites.start,
        sites.start,
        sites.end - sites.start,
        circle_size,
        is_masked,
    )


class MaskedSites:
    """Finds the masked sites of a Query for the sites of primers and probes."""

    def __init__(self, query: Query, run: Run) -> None:
        self._query = query
        # The letters are few.
        self._run = run._replace(cluster=None, device="cpu", aligned=False)
        self._lengths = query.patterns.lengths
        longest = int(self._lengths.max())
        self._overhang = longest // 2
        self._reach = longest
        if query.problem == "edit":
            self._reach += int(pattern_distances(query.patterns, query.k).max())

    def runs(
        self, stretches: Iterable[Stretch], circular: Circular | None, oligos: Longs
    ) -> tuple[SiteRuns, Longs]:
        """Return the masked SiteRuns of some oligos in a genome, and the letters of its records.

        stretches: with all records, which are numbered from 0; oligos: int64[P], their numbers.
        """
        sizes = [np.zeros(0, np.int64)]
        found = [no_runs()]
        for letters, records in _records(stretches, circular):
            sizes.append(records.size)
            gaps = gaps_in(letters, records, self._overhang)
            around = pieces_around(gaps, records, self._reach, self._overhang)
            inside = self._inside(gaps, records, oligos)
            beside = self._in_pieces(cut_out(letters, records, around), oligos)
            found.append(united_runs(inside.followed_by(beside)))
        return all_of(found), np.concatenate(sizes)

    def _inside(self, gaps: Gaps, records: Records, oligos: Longs) -> SiteRuns:
        """Return the runs of all sites inside gaps, where nothing is known."""
        gap_size = gaps.end - gaps.start
        gaps = gaps.take(gap_size >= self._lengths[oligos].min())
        gap = np.repeat(np.arange(len(gaps)), 2 * len(oligos))
        oligo = np.tile(np.repeat(oligos, 2), len(gaps))
        minus = np.tile(np.array([PLUS, MINUS], np.uint8), len(gaps) * len(oligos))
        record = records.take(gaps.record[gap])
        size = self._lengths[oligo]

        # At most half of an oligo lies behind the end of a record.
        first = np.maximum(gaps.start[gap], -(size // 2))
        end = np.minimum(gaps.end[gap], record.size + size // 2)
        is_masked = np.ones(len(gap), np.bool_)
        runs = SiteRuns(
            record.number, oligo, minus, first, end - size, size, record.circle_size, is_masked
        )
        is_within = record.size >= size - size // 2
        return runs.take(np.flatnonzero(is_within & (runs.first <= runs.last)))

    def _in_pieces(self, pieces: Pieces, oligos: Longs) -> SiteRuns:
        """Return the runs of sites in pieces that hold an unknown letter."""
        if not len(pieces.start):
            return no_runs()
        hits = self._hits(pieces, oligos)
        oligo = oligos[hits.pattern]
        record = pieces.records.take(hits.record)
        start = pieces.start[hits.record] + hits.start
        size = hits.end - hits.start

        # How many letters of each site are unknown, and how many lie behind an end.
        unknown_before = bounds_of(encode_text(pieces.letters) == 0)
        piece_begin = pieces.bounds[hits.record]
        unknown = unknown_before[piece_begin + hits.end] - unknown_before[piece_begin + hits.start]
        behind = np.maximum(-start, 0) + np.maximum(start + size - record.size, 0)

        # On a circle no site lies behind an end, and none is longer than the circle.
        is_circular = record.is_circular
        is_inside = np.where(is_circular, size <= record.size, behind <= self._lengths[oligo] // 2)
        start = np.where(is_circular, start % record.circle_size, start)
        is_masked = unknown > 0
        sites = SiteRuns(
            record.number, oligo, hits.minus, start, start, size, record.circle_size, is_masked
        )
        return sites.take(np.flatnonzero(is_masked & is_inside))

    def _hits(self, pieces: Pieces, oligos: Longs) -> HitBatch:
        """Return the sites of oligos in pieces, whose unknown letters match what they may be."""
        names = RecordNames.of([""] * len(pieces.start))
        letters = LETTERS[may_be(pieces.letters)]
        stretch = Stretch(names, np.diff(pieces.bounds), letters)
        genome = Genome.of_stretches("what is around unknown letters", [stretch])
        query = self._query.take(oligos, self._query.k)
        search = begin_here(query, Genomes(genome), self._run)
        return joined([no_hits(), *search.hits_in(genome, "ends", False, united=True)])


def _records(
    stretches: Iterable[Stretch], circular: Circular | None
) -> Iterator[tuple[Bytes, Records]]:
    """Yield the letters of Stretches, many together, and their Records, numbered from 0."""
    first = 0
    waiting: list[Stretch] = []
    letter_count = 0
    for stretch in whole_stretches(stretches):
        waiting.append(stretch)
        letter_count += len(stretch.letters)
        if letter_count >= TOGETHER:
            letters, records = _records_of(waiting, circular, first)
            yield letters, records
            first += len(records)
            waiting = []
            letter_count = 0
    if waiting:
        yield _records_of(waiting, circular, first)


def _records_of(
    stretches: list[Stretch], circular: Circular | None, first: int
) -> tuple[Bytes, Records]:
    """Return the letters of Stretches, and their Records, numbered from the first one on."""
    parts = [np.asarray(stretch.letters) for stretch in stretches]
    letters = parts[0] if len(parts) == 1 else np.concatenate(parts)
    size = np.concatenate([stretch.lengths for stretch in stretches])
    is_circular = np.zeros(len(size), np.bool_)
    if circular is not None:
        flags = [circular.has(name) for stretch in stretches for name in stretch.names]
        is_circular = np.array(flags, np.bool_)
    number = first + np.arange(len(size))
    circle_size = np.where(is_circular, size, ENDLESS)
    return letters, Records(number, bounds_of(size)[:-1], size, circle_size)


def no_runs() -> SiteRuns:
    """Return SiteRuns without rows."""
    return known_runs(no_hits())


def all_of(parts: list[SiteRuns]) -> SiteRuns:
    """Return all SiteRuns, one behind the other."""
    found = no_runs()
    for part in parts:
        found = found.followed_by(part)
    return found


@dataclass(frozen=True)
class MaskedProducts(Rows):
    """n products that there may be: record: int64[n]; oligo: int64[n], the primer on `+`; masked:
    int64[n], the bits of the oligos whose sites are masked."""

    record: Longs
    oligo: Longs
    masked: Longs


class RunLine:
    """SiteRuns by record and group, each with a stretch of one line to itself, as GroupedSites."""

    def __init__(self, runs: SiteRuns, groups: Longs) -> None:
        """groups: int64[P], of oligos."""
        group = groups[runs.oligo]
        self._group_count = int(groups.max()) + 1
        self._low = int(runs.first.min(initial=0))
        self._high = int(runs.first.max(initial=0)) + 1
        self._longest = int((runs.last - runs.first).max(initial=0))
        line = self._line(runs.record, group, runs.first)
        order = order_of(line)
        self._positions = line[order]
        self.runs = runs.take(order)

    def reaching(self, record: Longs, group: Longs, low: Longs, high: Longs) -> Ranges:
        """Return the Ranges of the runs of a group that have a site that begins at low … high.

        Some of them may end before. record, group, low, high: int64[n].
        """
        first = np.searchsorted(self._positions, self._line(record, group, low - self._longest))
        last = np.searchsorted(self._positions, self._line(record, group, high + 1))
        return Ranges(first, last)

    def _line(self, record: Longs, group: Longs, position: Longs) -> Longs:
        """Return where positions are on the line, int64[n]."""
        spacing = self._high - self._low + 1
        key = record * self._group_count + group
        return key * spacing + np.clip(position, self._low, self._high) - self._low


def masked_products(
    runs: SiteRuns, joins: Joins, bits: Longs, product: tuple[int, int]
) -> Iterator[MaskedProducts]:
    """Yield what products SiteRuns have room for, in parts.

    bits: int64[P], of the role of each oligo; product: letters of a product at least and at most.
    """
    numbers, record = ranked(runs.record)
    runs = shortened(replace(runs, record=record), product[1])
    is_primer = ~joins.is_probe[runs.oligo]
    plus = runs.take(is_primer & (runs.minus == PLUS))
    minus = with_second_turn(runs.take(is_primer & (runs.minus == MINUS)))
    probes = with_second_turn(runs.take(~is_primer))
    minus_line = RunLine(minus, joins.group)
    probe_line = RunLine(probes, np.maximum(joins.probe_pair, 0))

    partner = joins.partner[plus.oligo]
    ranges = minus_line.reaching(plus.record, partner, plus.first, plus.last + product[1])
    for part in parts_of(ranges.counts):
        number, place = ranges.take(part).pairs()
        plus_part = plus.take(part).take(number)
        minus_part = minus_line.runs.take(place)
        rows = np.flatnonzero(have_room(plus_part, minus_part, product))
        plus_part = plus_part.take(rows)
        minus_part = minus_part.take(rows)
        masked = bits[plus_part.oligo] * plus_part.is_masked
        masked += bits[minus_part.oligo] * minus_part.is_masked

        # Those that need no probe, and those that have room for one.
        needs_probe = joins.probe_pair[plus_part.oligo] != NO_PAIR
        row, probe = held_probes(plus_part, minus_part, probe_line, joins, product)
        masked_probe = bits[probe.oligo] * probe.is_masked
        whole = np.flatnonzero(~needs_probe)
        rows = np.concatenate([whole, row])
        masked = np.concatenate([masked[whole], masked[row] + masked_probe])
        yield MaskedProducts(numbers[plus_part.record[rows]], plus_part.oligo[rows], masked)


def shortened(runs: SiteRuns, most: int) -> SiteRuns:
    """Return runs in which products reach out of those that are long at either end.

        a run        first ├──────────────────────────────┤ last
        shortened          ├── most ──┤        ├── most ──┤

    most: letters of a product at the most.
    """
    is_long = runs.last - runs.first > 2 * most
    ends = runs.take(is_long)
    begins = replace(ends, last=ends.first + most)
    ends = replace(ends, first=ends.last - most)
    return all_of([runs.take(~is_long), begins, ends])


def with_second_turn(runs: SiteRuns) -> SiteRuns:
    """Return runs, those of circular records again a turn later."""
    later = runs.take(runs.circle_size < ENDLESS)
    turned = replace(
        later, first=later.first + later.circle_size, last=later.last + later.circle_size
    )
    return runs.followed_by(turned)


def parts_of(counts: Longs) -> Iterator[slice]:
    """Yield slices of rows that have about JOINED in all; counts: int64[n], how many each has."""
    cuts = run_starts(bounds_of(counts)[:-1] // JOINED)
    for first, last in pairwise([*cuts.tolist(), len(counts)]):
        yield slice(first, last)


def have_room(plus: SiteRuns, minus: SiteRuns, product: tuple[int, int]) -> Bools:
    """Return which pairs of runs have two sites that face each other at a length that is wanted.

        plus, first to last     [===)          [===)
        minus                           (===]          (===]
        product, shortest                      |-------|
        longest                 |--------------------------|

    Every length between these is there too.
    """
    minus_end = minus.first + minus.size
    last_end = minus.last + minus.size
    least, most = lengths_between(plus, minus, product)
    is_long_enough = last_end - plus.first >= least
    is_short_enough = minus_end - plus.last <= most
    return is_long_enough & is_short_enough & (least <= most)


def lengths_between(
    plus: SiteRuns, minus: SiteRuns, product: tuple[int, int]
) -> tuple[Longs, Longs]:
    """Return the letters of products at least, as they hold both sites, and at most, int64[n]
    each; none goes round a circle more than once."""
    least = np.maximum(np.maximum(plus.size, minus.size), product[0])
    most = np.minimum(plus.circle_size, product[1])
    return least, most


def held_probes(
    plus: SiteRuns, minus: SiteRuns, line: RunLine, joins: Joins, product: tuple[int, int]
) -> tuple[Longs, SiteRuns]:
    """Return the pairs of runs that have room for a probe, by row, and the runs of these probes.

    A pair comes once for each run. line: of all probes. The shortest product that holds a site of
    the probe has that site as far to the right as the first primer can be:

        plus, last      [===)
        probe           [=====)
        minus             (===]
    """
    pair = joins.probe_pair[plus.oligo]
    needed = np.flatnonzero(pair != NO_PAIR)
    last_end = minus.last + minus.size
    ranges = line.reaching(plus.record[needed], pair[needed], plus.first[needed], last_end[needed])
    number, place = ranges.pairs()
    row = needed[number]
    probe = line.runs.take(place)

    # Where the probe may begin, and the shortest product with it there.
    low = np.maximum(probe.first, plus.first[row])
    high = np.minimum(probe.last, last_end[row] - probe.size)
    start = np.clip(plus.last[row], low, np.maximum(low, high))
    first_end = (minus.first + minus.size)[row]
    shortest = np.maximum(first_end, start + probe.size) - np.minimum(plus.last[row], start)
    _, most = lengths_between(plus.take(row), minus.take(row), product)
    rows = np.flatnonzero((low <= high) & (shortest <= most))
    return row[rows], probe.take(rows)
