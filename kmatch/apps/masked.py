"""Products that unknown letters, or the end of a record, may hide: a second look at genomes that
have none.

    |========>----NNNNNNNN(==NN=)NNN----<==        the end of the record hides half of a primer
     known        masked                masked

The letters around gaps (`kmatch.apps.gaps`) are searched anew, with unknown letters that match the
bases that they may stand for. A site there that holds such a letter is masked. Sites side by side
come as one SiteRun, as a gap has a site of every oligo at each of its letters. `masked_products`
then finds the runs of masked and of known sites that have room for a product.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.apps.apart import queries_apart
from kmatch.apps.gaps import (
    Gaps,
    Gathered,
    Pieces,
    Records,
    codes_in,
    cut_out,
    gaps_in,
    pieces_around,
    records_together,
)
from kmatch.apps.joins import MINUS, NO_PAIR, PLUS, Joins, Ranges
from kmatch.arrays import (
    Bools,
    Bytes,
    Longs,
    Rows,
    bounds_of,
    distinct,
    order_of,
    ranked,
    run_starts,
    unions,
)
from kmatch.engine.types import LETTERS
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import ENDLESS, HitBatch, joined, no_hits, sizes_of
from kmatch.search.begin import begin_here
from kmatch.search.panel import pattern_distances
from kmatch.search.query import Query, Run
from kmatch.sequences.alphabet import IUPAC, encode_sets, encode_text
from kmatch.sequences.circles import Circular
from kmatch.sequences.records import RecordNames, Stretch
from kmatch.sequences.unknown import unknown_letters

PIECES = 1 << 22  # letters around gaps that are searched together
JOINED = 1 << 20  # pairs of runs that are looked at together, and any others of the last one


@dataclass(frozen=True, eq=False, repr=False)
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


def hold_unknown(pieces: Pieces, hits: HitBatch) -> Bools:
    """Return which hits in pieces hold an unknown letter, bool[n]."""
    unknown_before = bounds_of(encode_text(pieces.letters) == 0)
    piece_begin = pieces.bounds[hits.record]
    at_start = unknown_before[piece_begin + hits.start]
    at_end = unknown_before[piece_begin + hits.end]
    return at_end > at_start


def no_runs() -> SiteRuns:
    """Return SiteRuns without rows."""
    return known_runs(no_hits())


def all_of(parts: list[SiteRuns]) -> SiteRuns:
    """Return all SiteRuns, one behind the other."""
    found = no_runs()
    for part in parts:
        found = found.followed_by(part)
    return found


class MaskedSites:
    """Finds the masked sites of a Query for the sites of primers and probes."""

    def __init__(self, query: Query, is_probe: Bools, run: Run) -> None:
        """is_probe: bool[P], of the query's oligos."""
        self._query = query
        self._is_probe = is_probe
        # The letters are few.
        self._run = run._replace(cluster=None, device="cpu", aligned=False)
        self._lengths = query.patterns.lengths
        self._reach = int(self._lengths.max())
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
        kinds = [(overhang, some, Gathered()) for overhang, some in self._by_overhang(oligos)]
        for letters, records in records_together(stretches, circular):
            sizes.append(records.size)
            unknown = unknown_letters(letters)
            is_any = encode_sets(unknown.letter) == IUPAC["N"]
            any_runs = unknown.take(np.flatnonzero(is_any)).runs()
            codes = codes_in(unknown.take(np.flatnonzero(~is_any)), records)
            for overhang, some_oligos, gathered in kinds:
                gaps = gaps_in(any_runs, records, overhang)
                around = pieces_around(gaps.followed_by(codes), records, self._reach, overhang)
                found.append(self._inside(gaps, records, some_oligos))
                gathered.add(cut_out(letters, records, around))
                if gathered.letters >= PIECES:
                    found.append(self._in_pieces(gathered.taken(), some_oligos))

        # What is around few unknown letters, or ends of records alone, is searched once.
        for _, some_oligos, gathered in kinds:
            found.append(self._in_pieces(gathered.taken(), some_oligos))
        return united_runs(all_of(found)), np.concatenate(sizes)

    def _by_overhang(self, oligos: Longs) -> Iterator[tuple[int, Longs]]:
        """Yield how many letters oligos may have behind the end of a record, and such oligos.

        With insertions and deletions the letters that are shown there decide about alignments, so
        that each oligo is searched with as many as it may have.
        """
        most = self._lengths[oligos] // 2
        if self._query.problem != "edit":
            yield int(most.max()), oligos
            return
        for overhang in distinct(most).tolist():
            yield overhang, oligos[most == overhang]

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
        """Return the sites in pieces that hold an unknown letter, as few runs."""
        if not len(pieces.start):
            return no_runs()
        hits = self._hits(pieces, oligos)
        hits = hits.picked(np.flatnonzero(hold_unknown(pieces, hits)))
        oligo = oligos[hits.pattern]
        record = pieces.records.take(hits.record)
        start = pieces.start[hits.record] + hits.start
        size = hits.end - hits.start

        # At most half of an oligo lies behind an end; no site is longer than a circle. Where the
        # piece of a circle begins, as sites are read, letters before may be unknown, too: a site
        # that lacks them is no site.
        behind = np.maximum(-start, 0) + np.maximum(start + size - record.size, 0)
        is_fit_at_end = behind <= self._lengths[oligo] // 2
        piece_size = np.diff(pieces.bounds)[hits.record]
        letters_read = np.where(hits.minus == PLUS, hits.end, piece_size - hits.start)
        is_fit_on_circle = (size <= record.size) & (letters_read >= self._reach)
        is_fit = np.where(record.is_circular, is_fit_on_circle, is_fit_at_end)

        # On a circle sites begin in its first turn.
        start = np.where(record.is_circular, start % record.circle_size, start)
        is_masked = np.ones(len(hits), np.bool_)
        sites = SiteRuns(
            record.number, oligo, hits.minus, start, start, size, record.circle_size, is_masked
        )
        return united_runs(sites.take(np.flatnonzero(is_fit)))

    def _hits(self, pieces: Pieces, oligos: Longs) -> HitBatch:
        """Return the sites of oligos in pieces, whose unknown letters match any base that they may
        be."""
        names = RecordNames.of([""] * len(pieces.start))
        letters = LETTERS[encode_sets(pieces.letters)]
        stretch = Stretch(names, np.diff(pieces.bounds), letters)
        genome = Genome.of_stretches("what is around unknown letters", [stretch])
        query = self._query.take(oligos, self._query.k)
        found = [no_hits()]
        for numbers, part in queries_apart(query, self._is_probe[oligos]):
            search = begin_here(part, Genomes(genome), self._run)
            for hits in search.hits_in(genome, "ends", False, united=True):
                found.append(replace(hits, pattern=numbers[hits.pattern].astype(np.int32)))
        return joined(found)


def shortened(runs: SiteRuns, most: int) -> SiteRuns:
    """Return runs, each long one as its two ends, as products reach out of these alone.

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
    """Return runs, and runs of circular records again a turn later."""
    later = runs.take(runs.circle_size < ENDLESS)
    turned = replace(
        later, first=later.first + later.circle_size, last=later.last + later.circle_size
    )
    return runs.followed_by(turned)


@dataclass(frozen=True, eq=False, repr=False)
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


class RunPairs(NamedTuple):
    """n pairs of runs, of sites of a primer on `+` and of its partner on `-`.

        plus, first to last     [===)          [===)
        minus                           (===]          (===]
        product, shortest                      |-------|
        longest                 |--------------------------|

    Products of every length between these are there too.
    """

    plus: SiteRuns
    minus: SiteRuns

    def take(self, rows: Longs) -> "RunPairs":
        """Return some of the pairs."""
        return RunPairs(self.plus.take(rows), self.minus.take(rows))

    @property
    def first_end(self) -> Longs:
        """The first end of a product, int64[n]."""
        return self.minus.first + self.minus.size

    @property
    def last_end(self) -> Longs:
        """The last end of a product, int64[n]."""
        return self.minus.last + self.minus.size

    def most(self, product: tuple[int, int]) -> Longs:
        """Return the letters of a product at most, int64[n]; none goes round a circle twice."""
        return np.minimum(self.plus.circle_size, product[1])

    def have_room(self, product: tuple[int, int]) -> Bools:
        """Return which pairs have two sites that face each other at a length that is wanted."""
        # Either site is inside the product.
        longer_site = np.maximum(self.plus.size, self.minus.size)
        least = np.maximum(longer_site, product[0])
        most = self.most(product)
        is_long_enough = self.last_end - self.plus.first >= least
        is_short_enough = self.first_end - self.plus.last <= most
        return is_long_enough & is_short_enough & (least <= most)

    def products(self, rows: Longs, masked: Longs) -> MaskedProducts:
        """Return the MaskedProducts of some pairs; masked: int64[n], see there."""
        return MaskedProducts(self.plus.record[rows], self.plus.oligo[rows], masked)


def masked_products(
    runs: SiteRuns, joins: Joins, bits: Longs, product: tuple[int, int]
) -> Iterator[MaskedProducts]:
    """Yield the products that SiteRuns have room for, in parts.

    bits: int64[P], of the role of each oligo; product: letters of a product at least and at most.
    """
    numbers, record = ranked(runs.record)
    runs = shortened(replace(runs, record=record), product[1])
    probes = with_second_turn(runs.take(joins.is_probe[runs.oligo]))
    probe_line = RunLine(probes, np.maximum(joins.probe_pair, 0))
    for pairs in pairs_with_room(runs, joins, product):
        masked = bits[pairs.plus.oligo] * pairs.plus.is_masked
        masked += bits[pairs.minus.oligo] * pairs.minus.is_masked
        needs_probe = joins.probe_pair[pairs.plus.oligo] != NO_PAIR

        # Those that need no probe, and those that have room for one.
        whole_rows = np.flatnonzero(~needs_probe)
        without_probe = pairs.products(whole_rows, masked[whole_rows])
        rows, held = held_probes(pairs, probe_line, joins, product)
        with_probe = pairs.products(rows, masked[rows] + bits[held.oligo] * held.is_masked)
        found = without_probe.followed_by(with_probe)
        yield replace(found, record=numbers[found.record])


def pairs_with_room(runs: SiteRuns, joins: Joins, product: tuple[int, int]) -> Iterator[RunPairs]:
    """Yield the RunPairs that have room for a product, in parts."""
    runs = runs.take(~joins.is_probe[runs.oligo])
    plus = runs.take(runs.minus == PLUS)
    minus = with_second_turn(runs.take(runs.minus == MINUS))
    minus_line = RunLine(minus, joins.group)
    partner = joins.partner[plus.oligo]
    ranges = minus_line.reaching(plus.record, partner, plus.first, plus.last + product[1])
    for part in parts_of(ranges.counts):
        number, place = ranges.take(part).pairs()
        plus_part = plus.take(part)
        pairs = RunPairs(plus_part.take(number), minus_line.runs.take(place))
        yield pairs.take(np.flatnonzero(pairs.have_room(product)))


def parts_of(counts: Longs) -> Iterator[slice]:
    """Yield slices of rows that have about JOINED in all; counts: int64[n], how many each has."""
    cuts = run_starts(bounds_of(counts)[:-1] // JOINED)
    for first, last in pairwise([*cuts.tolist(), len(counts)]):
        yield slice(first, last)


def held_probes(
    pairs: RunPairs, line: RunLine, joins: Joins, product: tuple[int, int]
) -> tuple[Longs, SiteRuns]:
    """Return the pairs that have room for a probe, by row, and the runs of these probes.

    A pair comes once for each run. line: of all probes. The shortest product that holds a site of
    the probe has that site as far to the right as the first primer can be:

        plus, last      [===)
        probe           [=====)
        minus             (===]
    """
    pair = joins.probe_pair[pairs.plus.oligo]
    needed = np.flatnonzero(pair != NO_PAIR)
    asked = pairs.take(needed)
    ranges = line.reaching(asked.plus.record, pair[needed], asked.plus.first, asked.last_end)
    number, place = ranges.pairs()
    around = asked.take(number)
    probe = line.runs.take(place)

    # Where the probe may begin, and the shortest product with it there.
    low = np.maximum(probe.first, around.plus.first)
    high = np.minimum(probe.last, around.last_end - probe.size)
    start = np.clip(around.plus.last, low, np.maximum(low, high))
    end = np.maximum(around.first_end, start + probe.size)
    shortest = end - np.minimum(around.plus.last, start)
    rows = np.flatnonzero((low <= high) & (shortest <= around.most(product)))
    return needed[number[rows]], probe.take(rows)
