"""Hits that haplotypes make: those in windows of letters, of which the reference has none there.

A window has one allele, its anchor, in the middle, the other alleles of a haplotype around it, and
letters enough for every hit that overlaps the anchor. Of such hits those are kept of which the
anchor is the first allele in the file, so that each is found beside one anchor.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from kmatch.arrays import (
    Bools,
    Bytes,
    Longs,
    Words,
    bounds_of,
    distinct,
    gather,
    offsets_in_rows,
    order_of,
)
from kmatch.engine.types import LETTERS
from kmatch.engine.ways import try_lookup
from kmatch.errors import InputError, warn
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import RECORD, HitBatch, joined, letters_beside, no_hits
from kmatch.results.lines import Carriers, Names
from kmatch.results.output import open_output
from kmatch.search.algorithms import ENGINE
from kmatch.search.begin import begin_here
from kmatch.search.chunks import NO_LETTERS
from kmatch.search.panel import pattern_distances
from kmatch.search.query import Query
from kmatch.search.rules import rules_of
from kmatch.search.search import Search
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.files import check_readable, label_of, open_source
from kmatch.sequences.records import Record, RecordNames, Stretch
from kmatch.variants.vcf import FOREVER, Block, VariantReader, Variants, check_reference

TOGETHER = 1 << 13  # anchors whose haplotypes are searched together
FULL, NONE = ~np.uint64(0), np.uint64(0)  # words of copies
LARGE = 1 << 22  # bytes of copies that are looked at together


class VariantSearch(Search[HitBatch]):
    """The hits of a search, and those that haplotypes make and the reference has not, in one order.

    search: of a Query, in one genome without circular records. Raises InputError for what does not
    go together, at once, and on the way for a VCF that does not fit.
    """

    def __init__(self, search: Search[HitBatch], query: Query, given: Variants) -> None:
        genomes = search.genomes
        if genomes.named or genomes.circular:
            what = "circular records" if genomes.circular else "several genomes"
            raise InputError(f"variants are of one genome with linear records, not of {what}")
        if query.report == "loci":
            raise InputError("the report 'loci' has no variants; ask for 'minima' or 'ends'")
        check_readable(given.vcf)
        self._query, self._given = query, given
        self._rules = rules_of(query)
        self._bulges = query.problem == "edit"
        distances = pattern_distances(query.patterns, query.k)
        self._most = int(distances.max())
        lengths = query.patterns.lengths + self._bulges * distances
        self._search: Any = None  # of windows
        # Windows have too few letters for a trial.
        tried = try_lookup(len(lengths), self._most, len(self._rules.pams), not self._bulges)
        run = search.run._replace(cluster=None, algorithm=ENGINE, way="lookup" if tried else None)
        super().__init__(genomes, run, search.regions)
        self.engine, self.progress = search.engine, search.progress
        self._longest = int(lengths.max()) + self._rules.reach  # letters of a hit
        self._minima = self._bulges and query.reported == "minima"
        # Whether an end is a minimum, those around it tell.
        self._flank = (2 if self._minima else 1) * self._longest - 1
        # Hits that end in one place may begin so far from one another.
        self._apart = 2 * self._most * self._bulges + self._rules.reach * self._rules.unequal
        self._ahead = [no_hits()]  # hits of the reference that were found, and others
        self._reference = map(_of_reference, filter(len, search.everywhere()))

    def everywhere(self) -> Iterator[HitBatch]:
        """Yield the hits of both kinds in one order, inside regions and elsewhere."""
        given, listed = self._given, 0
        with open_output(given.dense_groups or os.devnull) as log:
            log.write(b"sequence\tstart\tend\tallele\tothers\n")
            for number, block, letters, samples in self._blocks():
                # What blocks have between them is theirs alone, and no hit goes over it.
                place = number * RECORD + block.part.start
                yield from self._before(place)
                beside = [*self._before(place + block.reach[-2] + 1 + self._apart)]
                known = [self._number(each, -block.part.start) + each.distance for each in beside]
                there = np.sort(np.concatenate([*known, [FOREVER]]), kind="stable")
                anchors, there = self._anchors(block, letters, there)
                dense = np.zeros(len(block.site), np.bool_)
                most = given.max_haplotypes + 2 * len(samples.words)
                made: list[Any] = []
                for rows in _haplotypes(block, anchors, self._flank, self._bulges, most, dense):
                    windows = _Windows(block, rows, letters, self._flank)
                    made.append(self._lifted(number, block, windows, there, samples))
                    for line in _dense_lines(block, rows, dense):
                        log.write(line)
                        listed += 1
                yield _merged(beside, made)
            yield from self._before(FOREVER)
        if listed:
            warn(
                f"{label_of(given.vcf)}: {listed:,} alleles have more than "
                f"{given.max_haplotypes:,} combinations with those around them; they were searched "
                "alone and with each of these. --dense-groups FILE lists them, and "
                "--max-haplotypes raises the limit"
            )

    def _before(self, place: int) -> Iterator[HitBatch]:
        """Yield the hits of the reference that begin before a place, of those that are left."""
        for batch in chain(self._ahead, self._reference):
            cut = int(np.searchsorted(batch.record * RECORD + batch.start, place))
            self._ahead = [batch.picked(slice(cut, None))]
            yield batch.picked(slice(cut))
            if cut < len(batch):
                break

    def _blocks(self) -> Iterator[tuple[int, Block, Bytes, Names]]:
        """Yield the number of a record, a Block of it, its letters, and the names of all samples,
        each behind a comma."""
        genome, regions = self.genomes.genome(0), self.regions
        records = enumerate(genome.records())
        number, record = -1, Record("", NO_LETTERS)
        with open_source(self._given.vcf) as source:
            lengths = dict(zip(genome.names, genome.lengths.tolist(), strict=True))
            reader = VariantReader(source, self._given, lengths)
            samples = Names(f",{name}" for name in reader.samples)
            apart, around = self._flank + 2 + self._apart, self._flank + 2 * self._longest
            for block in reader.blocks(apart, around):
                if regions and block.record not in regions:
                    continue
                while record.name != block.record:
                    number, record = next(records, (-1, record))
                    if number < 0:
                        raise InputError(
                            f"{source.label}: line {block.lines[0]:,}: '{block.record}' "
                            "comes before others in the genome; sort both in one order"
                        )
                letters = record.letters[block.part]
                check_reference(block, letters, source.label)
                yield number, block, letters, samples

    def _anchors(self, block: Block, letters: Bytes, known: Longs) -> tuple[Longs, Longs]:
        """The rows of alleles that a hit of some haplotype may have which is closer than those that
        are known, int64[n], and what is known there, as the search's own minima are not all ends.
        """
        hits, around, crowded = self._superset(block, letters)
        # Of hits that differ in their PAM alone a text may have another one.
        kept = (hits.distance < self._nearest(known, hits)) | self._rules.unequal
        hits, around = hits.picked(np.flatnonzero(kept)), around[:, kept]
        if self._minima:
            low = np.minimum(hits.start, hits.end - self._longest)
            high = np.maximum(hits.end, hits.start + self._longest)
            low, bounds = _stretches(low, high, len(letters))
            ends = self._search_in(gather(letters, low, bounds), bounds)
            number = self._number(ends, low[ends.record])
            known = np.sort(np.append(known, number + ends.distance), kind="stable")
            around = around[:, hits.distance < self._nearest(known, hits)]
        first, last = np.append(around, crowded, axis=1)
        change = np.bincount(np.searchsorted(block.reach, first), None, len(block.place))
        change -= np.bincount(np.searchsorted(block.place, last, "right"), None, len(block.place))
        kept = (np.cumsum(change) > 0)[block.site]
        kept[block.first[:-1]] = False  # the reference
        return np.flatnonzero(kept), known

    def _superset(self, block: Block, letters: Bytes) -> tuple[HitBatch, Longs, Longs]:
        """Hits among which those of all haplotypes are, in the coordinates of the reference, the
        intervals of which alleles may be in each, int64[2, n], and others that are full of alleles.

        They are found in letters that stand for all those that single letters of alleles replace:
        around these, and in windows of each other allele and of two that a hit may have.
        """
        most, removed, united = self._longest, block.end - block.start, letters.copy()
        single = (block.size == 1) & (removed == 1)
        made = np.frombuffer(block.letters, np.uint8)[bounds_of(block.size)[:-1][single]]
        start = block.start[single]
        masks = np.zeros(len(letters), np.uint8)
        np.bitwise_or.at(masks, start, encode_text(made))
        united[start] = LETTERS[masks[start] | encode_text(letters[start])]
        others = np.flatnonzero(~single & (block.size + removed > 0))
        low, high = block.place[block.site[others]] - most, block.reach[block.site[others]] + most
        near = low[1:] < high[:-1] - most
        one, two = others[:-1], others[1:]
        both = near & ~block.overlap(one, two)
        rows = np.append(others, one[both]), np.append(0 * others - 1, two[both])
        windows = _Windows(block, np.stack(rows, axis=1), united, most - 1)
        three = near[1:] & near[:-1]
        crowded = np.stack([low[:-2][three], high[2:][three]])
        low, bounds = _stretches(start - most, start + most, len(letters))
        text = np.append(gather(united, low, bounds), windows.letters)
        bounds = np.append(bounds, windows.bounds[1:] + bounds[-1])
        hits = self._search_in(text, bounds[[0, -1]], united=True)
        at = self._anchored(hits.minus, hits.start, hits.end - 1)
        row = np.searchsorted(bounds, at, "right") - 1
        # Hits across borders do no harm.
        places = [hits.start, hits.end, hits.start - self._apart, hits.end + self._apart]
        places = np.clip(places, bounds[row], bounds[row + 1]) - bounds[row]
        places += np.append(low, 0 * windows.anchor)[row]
        within = np.flatnonzero(row >= len(low))
        window = row[within] - len(low)
        places[:2, within] = windows.lifted(window, *places[:2, within])[:2]
        places[2:, within] = windows.lifted(window, *places[2:, within])[2:]
        return replace(hits, start=places[0], end=places[1]), places[2:], crowded

    def _search_in(
        self, letters: Bytes, bounds: Longs, asked: bool = False, united: bool = False
    ) -> HitBatch:
        """The hits in records without names, side by side: bounds, int64[n+1].

        asked: whether those of the query, or every end; united: whether letters stand for several.
        """
        if len(bounds) < 2:
            return no_hits()
        stretch = Stretch(RecordNames.of([""] * (len(bounds) - 1)), np.diff(bounds), letters)
        genome = Genome.of_stretches("windows of variants", [stretch])
        if self._search is None:
            self._search = begin_here(self._query, Genomes(genome), self.run)
        search = self._search
        search.run = self.run._replace(aligned=asked and self.run.aligned)
        search.report = self._query.reported if asked else "ends"
        search.engine.united = united
        return joined([no_hits(), *search._find(genome)])

    def _lifted(
        self, number: int, block: Block, windows: "_Windows", known: Longs, samples: Names
    ) -> HitBatch:
        """The hits of windows that are closer than those that are known, in the coordinates of the
        reference; number: of the record, samples: the names of all, each behind a comma."""
        hits = self._search_in(windows.letters, windows.bounds, asked=True)
        places = windows.lifted(hits.record, hits.start, hits.end).T
        there = self._nearest(known, replace(hits, start=places[:, 0], end=places[:, 1]))
        closer = np.flatnonzero(hits.distance < there)
        rows = windows.under(*(each[closer] for each in (hits.record, hits.start, hits.end)))
        own = np.where(rows < 0, FOREVER, rows).min(axis=1) == windows.anchor[hits.record[closer]]
        rows, closer = rows[own], closer[own]
        rows = rows[:, (rows >= 0).any(axis=0)]
        hits, places, there = hits.picked(closer), places[closer], there[closer]
        beside: Any = 0  # beside PAMs of several lengths, hits differ in where these begin
        if hits.columns is not None:
            beside = letters_beside(hits.columns, self._query.patterns.lengths[hits.pattern])
        met = self._anchored(hits.minus, hits.start + beside, hits.end - beside)
        at = np.stack([hits.start, met]) - windows.anchor_at[hits.record]
        # What alleles make is one hit, whatever is around them.
        made = hits.minus, hits.pattern, np.sort(rows, axis=1), hits.end - hits.start
        keys = np.column_stack([places, *made, *at])
        order = np.lexsort(keys.T[::-1])
        order = order[(np.diff(keys[order], axis=0, prepend=-2) != 0).any(axis=1)]
        copies = windows.carriers(rows[order], *places[order, 2:].T)
        some = copies.any(axis=1)
        order, copies, rows = order[some], copies[some], rows[order[some]]
        names = block.names(distinct(rows[rows >= 0]))
        alleles = [[names[each] for each in row if each >= 0] for row in rows.tolist()]
        start, end = places[order, :2].T + block.part.start
        sets = [each.tobytes() for each in copies]
        carriers = {each: Carriers(samples, np.frombuffer(each, np.uint8)) for each in sets}
        return replace(
            hits.picked(order),
            record=0 * start + number,
            start=start,
            end=end,
            names={number: block.record},
            variants=np.array([*map(",".join, alleles)], object),
            af=np.where(rows < 0, np.inf, block.af[rows]).min(axis=1, initial=np.inf),
            samples=np.array([carriers[each] for each in sets], object),
            reference_distance=np.where(there > self._most, np.nan, there)[order],
        )

    def _nearest(self, known: Longs, hits: HitBatch) -> Longs:
        """The smallest known distance where hits are, int64[n], and more than any k where there is
        none; known: numbers and distances together, sorted, FOREVER behind them."""
        number = self._number(hits)
        return known[np.searchsorted(known, number)] - number

    def _number(self, hits: HitBatch, shift: Longs | int = 0) -> Longs:
        """A number for the place, the pattern and the strand of each hit, int64[n]. Its place is
        where its 3′ end is, beside a PAM before the pattern its 5′ end, and some letters on."""
        at = self._anchored(hits.minus, hits.start, hits.end - 1) + shift
        kinds = 2 * len(self._query.patterns)
        return (at * kinds + 2 * hits.pattern + hits.minus) * (self._most + 1)

    def _anchored(self, minus: Bytes, start: Longs, end: Longs) -> Longs:
        return np.where(minus == self._rules.leads, end, start)


def _stretches(low: Longs, high: Longs, end: int) -> tuple[Longs, Longs]:
    """Where the stretches that intervals make together begin, int64[n], and their bounds side by
    side, int64[n+1]; end: letters of all."""
    order = np.argsort(low)
    low, high = np.maximum(low[order], 0), np.maximum.accumulate(np.minimum(high, end)[order])
    first = low > np.append(-1, high)[:-1]
    low, high = low[first], high[np.append(first, True)[1:]]
    return low, bounds_of(high - low)


def _dense_lines(block: Block, haplotypes: Longs, dense: Bools) -> Iterator[bytes]:
    """Yield the line of each dense allele, with all that it was searched with."""
    anchors = haplotypes[:, 0]
    for row in distinct(anchors[dense[anchors]]).tolist():
        others = distinct(haplotypes[anchors == row].reshape(-1))
        names = block.names(others[others >= 0])
        place = (block.part.start + at for at in (block.start[row], block.end[row]))
        cells = (block.record, *place, names.pop(row), ",".join(names.values()))
        yield "\t".join(map(str, cells)).encode() + b"\n"


def _of_reference(batch: HitBatch) -> HitBatch:
    """A batch of hits that no allele makes."""
    none, nobody = np.full(len(batch), "", object), np.full(len(batch), None)
    unknown, distance = np.full(len(batch), np.nan), batch.distance.astype(np.float64)
    return replace(batch, variants=none, af=unknown, samples=nobody, reference_distance=distance)


def _merged(beside: list[HitBatch], made: list[Any]) -> HitBatch:
    """Hits of the reference and those that haplotypes make in one order: in one place those with
    fewer alleles come first, then those with earlier ones."""
    commas = [each.count(",") for part in made for each in part.variants]
    both = joined([*beside, *made])
    alleles = np.full(len(both), -1)
    alleles[len(both) - len(commas) :] = commas
    size = both.end - both.start
    return both.picked(order_of(both.start, size, both.minus, both.pattern, alleles))


def _haplotypes(
    block: Block, anchors: Longs, flank: int, before: bool, most: int, dense: Bools
) -> Iterator[Longs]:
    """Yield the haplotypes around alleles, int64[n, D]: the row of an anchor, and of alleles beside
    it, -1 behind these.

    flank: letters on either side that count; before: whether alleles before the anchor do; dense:
    bool[R], receives which anchors have more haplotypes than `most`.
    """
    for first in range(0, len(anchors), TOGETHER):
        some = anchors[first : first + TOGETHER]
        found = [*_around(block, some, flank, before, most, dense)]
        parts = [part[~dense[part[:, 0]]] for part in found]
        parts += _around(block, some[dense[some]], flank, before, most, None)
        width, pad = max(part.shape[1] for part in parts), partial(np.pad, constant_values=-1)
        yield np.concatenate([pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts])


def _around(
    block: Block, anchors: Longs, flank: int, before: bool, most: int, dense: Bools | None
) -> Iterator[Longs]:
    """Yield haplotypes around anchors. Each goes on at one site after another, down from its own
    and then up from it, with every allele there that some of its copies may have.

    dense: as for `_haplotypes`; None where a copy has one at a time of the alleles that it may be
    without.
    """
    first, site = block.first, block.site[anchors] + (-1 if before else 1)
    # Copies, and in the second of two planes those that have such an allele.
    planes = np.array([[FULL], [NONE]] if dense is None else [[FULL]])
    waiting: list[Any] = [(anchors[:, None], site, block.copies[anchors][:, None] & planes)]
    while waiting:
        state = waiting.pop()
        if len(site := state[1]) > 1 and state[2].nbytes > LARGE:
            halves = slice(len(site) // 2), slice(len(site) // 2, None)
            waiting += [tuple(column[half] for column in state) for half in halves]
            continue
        rows, site, copies = state
        own = block.site[rows[:, 0]]
        # Where alleles have fewer letters than the reference, those from behind come nearer.
        gap = np.maximum(block.end[rows] - block.start[rows] - block.size[rows], 0) * (rows >= 0)
        below = block.site[rows] < own[:, None]
        low = block.start[rows[:, 0]] - flank - (gap * below).sum(axis=1)
        high = block.end[rows[:, 0]] + flank + (gap * ~below)[:, 1:].sum(axis=1)
        site = np.where((site < own) & ((site < 0) | (block.reach[site] <= low)), own + 1, site)
        going = (site < own) | (block.place[site] < high)
        yield rows[~going]
        if dense is not None:
            counts = np.bincount(rows[:, 0] - anchors[0])
            dense[anchors[0] :][: len(counts)] |= counts > most
            going &= ~dense[rows[:, 0]]
        if not going.any():
            continue
        rows, site, copies, own, low = (each[going] for each in (rows, site, copies, own, low))
        near = (site > own) | (block.behind[site] > low)
        sizes = np.where(near, first[site + 1] - first[site], 1)
        parent, row = np.repeat(np.arange(len(site)), sizes), offsets_in_rows(bounds_of(sizes))
        there, taken, rows = first[site[parent]], row > 0, rows[parent]
        row = np.where(taken, there + row, -1)
        copies = copies[parent]
        may = block.copies[np.where(taken, row, there)]
        copies[:, 0] &= np.where(near[parent, None], may, FULL)
        if dense is None:
            free = np.where(taken[:, None], block.copies[there], NONE)
            copies[:, 0] &= ~(free & copies[:, 1])
            copies[:, 1] |= free & copies[:, 0]
        fits = copies[:, 0].any(axis=1)
        for other in rows.T:
            fits &= ~(taken & (other >= 0) & block.overlap(row, other))
        rows = np.column_stack([rows, row]) if taken.any() else rows
        site = (site + np.where(site < own, -1, 1))[parent]
        waiting.append((rows[fits], site[fits], copies[fits]))


class _Windows:
    """The letters of haplotypes around their anchors, side by side in `letters`.

    bounds: int64[n+1]; rows: int64[n, D], the alleles of each in order, -1 behind them; anchor,
    anchor_at: int64[n], one of these, and where it begins in its window.
    """

    def __init__(self, block: Block, haplotypes: Longs, letters: Bytes, flank: int) -> None:
        self._block, self.anchor = block, haplotypes[:, 0]
        order = 2 * block.start + (block.start < block.end)  # an insertion comes first
        order = np.argsort(np.where(haplotypes < 0, FOREVER, order[haplotypes]), axis=1)
        self.rows = rows = np.take_along_axis(haplotypes, order, axis=1)
        missing, own = rows < 0, rows == self.anchor[:, None]
        size = np.where(missing, 0, block.size[rows])
        end = np.maximum.accumulate(np.where(missing, 0, block.end[rows]), axis=1)
        start = np.where(missing, end, block.start[rows])
        # As many letters before the anchor and behind it, where others are shorter or longer.
        more = np.cumsum(size - end + start, axis=1)
        before, through = (more - size + end - start)[own], more[own]
        begin = np.clip(start[own] - flank + before, 0, start[:, 0])
        stop = np.clip(end[own] + flank - more[:, -1] + through, end[:, -1], len(letters))
        # Letters of the record and of an allele by turns; alleles are behind those of the record.
        every = np.append(letters, np.frombuffer(block.letters, np.uint8))
        begins, sizes = np.empty((2, len(rows), 2 * rows.shape[1] + 1), np.int64)
        begins[:, 0], begins[:, 2::2] = begin, end
        begins[:, 1::2] = bounds_of(block.size)[rows] + len(letters)
        sizes[:, :-1:2], sizes[:, -1], sizes[:, 1::2] = start, stop, size
        sizes[:, ::2] -= begins[:, ::2]
        self._begins, self._ends = begins.reshape(-1), bounds_of(sizes)
        self.letters = gather(every, self._begins, self._ends)
        self.bounds = self._ends[:: begins.shape[1]]
        self._low = self._ends[:-1].reshape(begins.shape)[:, 1::2] - self.bounds[:-1, None]
        self._high, self.anchor_at = self._low + size, self._low[own]

    def lifted(self, window: Longs, start: Longs, end: Longs) -> Longs:
        """Where hits begin and end in the reference, twice, int64[4, n]: inside an insertion at
        the letter before it, and there without a letter."""
        letter = self.bounds[window] + np.stack([start, end - 1])
        part = np.searchsorted(self._ends, letter, side="right") - 1
        offset = letter - self._ends[part] + [[0], [1]]
        turn = part % (2 * self.rows.shape[1] + 1)
        row = self.rows[window, np.minimum(turn // 2, self.rows.shape[1] - 1)]
        begins, ends = self._block.start[row], self._block.end[row]
        # What is as long as the reference's letters stands for them, one by one.
        exact = ends - begins == self._block.size[row]
        place = np.where(exact, begins + offset, np.stack([begins[0], ends[1]]))
        low, high = np.where(turn % 2, place, self._begins[part] + offset)
        start = np.where(low == high, np.maximum(low - 1, 0), low)
        return np.stack([start, np.maximum(high, start + 1), low, high])

    def under(self, window: Longs, start: Longs, end: Longs) -> Longs:
        """The alleles that hits overlap, int64[n, D], −1 for others."""
        under = (self._low[window] < end[:, None]) & (self._high[window] > start[:, None])
        return np.where(under, self.rows[window], -1)

    def carriers(self, rows: Longs, low: Longs, high: Longs) -> Words:
        """The copies that have the alleles under hits, and no others there, uint64[n, W].

        rows, low, high: of hits, see `under` and `lifted`.
        """
        block, first = self._block, self._block.first
        copies = np.full((len(rows), block.copies.shape[1]), FULL)
        for row in rows.T:
            some = np.flatnonzero(row >= 0)
            copies[some] &= block.copies[row[some]]
        site, stop = np.searchsorted(block.reach, low, "right"), np.searchsorted(block.place, high)
        while len(some := np.flatnonzero(site < stop)):
            own = (block.site[rows[some]] == site[some, None]) & (rows[some] >= 0)
            some = some[~own.any(axis=1)]
            at = site[some]
            may = block.copies[first[at]]
            for offset in range(1, int(np.diff(first)[at].max(initial=0))):
                row = np.minimum(first[at] + offset, first[at + 1] - 1)
                away = (block.start[row] >= high[some]) | (block.end[row] <= low[some])
                may |= np.where(away[:, None], block.copies[row], NONE)
            copies[some] &= may
            site += 1
        return copies
