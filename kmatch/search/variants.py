"""Hits that haplotypes make: those in windows of letters, of which the reference has none there."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kmatch.arrays import (
    Bools,
    Bytes,
    Longs,
    bounds_of,
    distinct,
    gather,
    order_of,
    ranked,
)
from kmatch.engine.types import LETTERS
from kmatch.engine.ways import try_lookup
from kmatch.errors import InputError, warn
from kmatch.genome import Genome, Genomes
from kmatch.published.registry import ENGINE
from kmatch.results.batches import HitBatch, joined, letters_beside, no_hits
from kmatch.results.lines import Carriers, Names
from kmatch.results.output import open_output
from kmatch.search.chunks import NO_LETTERS
from kmatch.search.haplotypes import Windows, haplotypes_of
from kmatch.search.panel import pattern_distances
from kmatch.search.query import Query
from kmatch.search.rules import load_pams
from kmatch.search.search import Search, begin_search
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.files import check_readable, open_source
from kmatch.sequences.records import Record, Stretch
from kmatch.sequences.variants import FOREVER, Block, VariantReader, Variants, check_reference

MARGIN = 1 << 9  # letters around sites that are searched with them, which leaves fewer records


class VariantSearch:
    """The hits of a search, and those that haplotypes make and the reference has not, in one order.

    search: of a Query, in one genome without circular records, which gives `engine` and `progress`.
    Raises InputError for what does not go together, at once, and on the way for a VCF that does not
    fit.
    """

    def __init__(self, search: Search[HitBatch], query: Query, given: Variants) -> None:
        self._search, self._query, self._given = search, query, given
        self.engine, self.progress = search.engine, search.progress
        genomes = search.genomes
        if genomes.named or genomes.circular:
            what = "circular records" if genomes.circular else "several genomes"
            raise InputError(f"variants are of one genome with linear records, not of {what}")
        if query.report == "loci":
            raise InputError("the report 'loci' has no variants; ask for 'minima' or 'ends'")
        check_readable(given.vcf)
        pams = load_pams(query.pam, query.pam_side)
        self._leads = bool(pams) and pams[0].leads
        self._bulges = query.problem == "edit"
        distances = pattern_distances(query.patterns, query.k)
        lengths = query.patterns.lengths + self._bulges * distances
        self._searches: dict[str, Search[HitBatch]] = {}
        # Windows have too few letters for a trial.
        tried = try_lookup(len(lengths), int(distances.max()), len(pams), not self._bulges)
        self._way = "lookup" if tried else None
        self._longest = int(lengths.max()) + max(map(len, pams), default=0)  # letters of a hit
        self._every_end = query._replace(report="ends") if self._bulges else query
        minima = self._bulges and (query.report or ("ends" if pams else "minima")) == "minima"
        # Whether an end is a minimum, the letters around it tell.
        self._flank = (3 if minima else 1) * self._longest - 1

    def __iter__(self) -> Iterator[HitBatch]:
        yield from _in_order(map(_of_reference, self._search), self._made())

    def _made(self) -> Iterator[HitBatch]:
        """Yield the hits that haplotypes make and the reference has not."""
        given, regions, listed = self._given, self._search.regions, 0
        genome = self._search.genomes.genome(0)
        records = enumerate(genome.records())
        number, record = -1, Record("", NO_LETTERS)
        listing = open_output(given.dense_groups or os.devnull)
        with open_source(given.vcf) as source, listing as log:
            lengths = dict(zip(genome.names, genome.lengths.tolist(), strict=True))
            reader = VariantReader(source, given, lengths)
            log.write(b"sequence\tstart\tend\tallele\tothers\n")
            samples = Names(f",{name}" for name in reader.samples)
            most = given.max_haplotypes + 2 * len(reader.samples)
            for block in reader.blocks(self._flank + 2, self._flank + 2 * self._longest + MARGIN):
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
                parts = [no_hits()]
                anchors, dense = self._anchors(block, letters), np.zeros(len(block.site), np.bool_)
                around = haplotypes_of(block, anchors, self._flank, self._bulges, most, dense)
                for haplotypes in around:
                    windows = Windows(block, haplotypes, letters, self._flank)
                    parts.append(self._lifted(block, windows, letters, samples))
                    for line in _dense_lines(block, haplotypes, dense):
                        log.write(line)
                        listed += 1
                batch = joined(parts)
                # In one place those with fewer alleles come first, then those with earlier ones.
                alleles = () if batch.variants is None else batch.variants
                commas = np.array([each.count(",") for each in alleles], np.int64)
                order = order_of(batch.start, batch.end, batch.minus, batch.pattern, commas)
                names = {number: record.name}
                batch = replace(batch.picked(order), record=batch.record + number, names=names)
                yield regions.inside(batch) if regions and len(batch) else batch
        if listed:
            warn(
                f"{source.label}: {listed:,} alleles have more than {given.max_haplotypes:,} "
                "combinations with those around them; they were searched alone and with each of "
                "these. --dense-groups FILE lists them, and --max-haplotypes raises the limit"
            )

    def _anchors(self, block: Block, letters: Bytes) -> Longs:
        """The rows of alleles that a hit of some haplotype may have, int64[n].

        One search finds a superset of these hits, in letters that stand for all those that single
        letters of alleles replace: around sites, and around each other allele. Where two of these
        may be in one hit, all alleles around count.
        """
        most, removed, united = self._longest, block.end - block.start, letters.copy()
        single = (block.size == 1) & (removed == 1)
        made = np.frombuffer(block.letters, np.uint8)[bounds_of(block.size)[:-1][single]]
        start = block.start[single]
        masks = np.zeros(len(letters), np.uint8)
        np.bitwise_or.at(masks, start, encode_text(made))
        united[start] = LETTERS[masks[start] | encode_text(letters[start])]
        # Stretches around sites, and windows around the alleles that are no single letters.
        low = np.maximum(block.place[:-1] - most - MARGIN, 0)
        high = np.minimum(block.reach[:-1] + most + MARGIN, len(united))
        apart = low[1:] > high[:-1]
        low, high = low[np.append(True, apart)], high[np.append(apart, True)]
        bounds, others = bounds_of(high - low), np.flatnonzero(~single & (block.size + removed > 0))
        text = gather(united, low, bounds)
        if len(others):
            windows = Windows(block, others[:, None], united, most - 1)
            text = np.concatenate([text, windows.letters])
            bounds = np.concatenate([bounds, windows.bounds[1:] + bounds[-1]])
        # Hits across borders do no harm.
        hits = self._search_in("united", text, bounds[[0, -1]])
        at = self._anchored(hits.minus, hits.start, hits.end - 1)
        row = np.searchsorted(bounds, at, "right") - 1
        begin = np.append(low, np.maximum(block.start[others] - most + 1, 0))[row] - bounds[row]
        shift = np.append(0 * low, np.abs(block.size - removed)[others])[row]
        first = begin - shift + np.minimum(hits.start, hits.end - most)
        last = begin + shift + np.maximum(hits.end, hits.start + most)
        # Other alleles of which two may be in a hit, and what is around them.
        site = distinct(block.site[others])
        near = block.place[site[1:]] - np.maximum.accumulate(block.behind[site])[:-1] <= most
        site = np.append(site[:-1][near], site[1:][near])
        first = np.append(first, block.place[site] - most)
        last = np.append(last, block.behind[site] + most)
        change = np.bincount(np.searchsorted(block.reach, first, "right"), None, len(block.place))
        change -= np.bincount(np.searchsorted(block.place, last), None, len(block.place))
        kept = (np.cumsum(change) > 0)[block.site]
        kept[block.first[:-1]] = False  # the reference
        return np.flatnonzero(kept)

    def _search_in(self, kind: str, letters: Bytes, bounds: Longs) -> HitBatch:
        """The hits in records without names, side by side: bounds, int64[n+1].

        kind: `united` letters, in which every end is looked for, `ends` for these too, or `asked`
        for the hits of the query.
        """
        if len(bounds) < 2:
            return no_hits()
        stretch = Stretch([""] * (len(bounds) - 1), np.diff(bounds), letters)
        genome = Genome.of_stretches("windows of variants", [stretch])
        if kind not in self._searches:  # of all blocks, so that tables are made once
            query, run = self._query, self._search.run
            run = run._replace(cluster=None, algorithm=ENGINE, way=self._way)
            if kind != "asked":
                query, run = self._every_end, run._replace(aligned=False)
            self._searches[kind] = begin_search(query, Genomes(genome), run)
            self._searches[kind].engine.united = kind == "united"
        return joined([no_hits(), *self._searches[kind]._find(genome)])

    def _lifted(self, block: Block, windows: Windows, letters: Bytes, samples: Names) -> HitBatch:
        """The hits of windows that the reference has not, in its coordinates, of record 0; samples:
        the names of all."""
        hits = self._search_in("asked", windows.letters, windows.bounds)
        low, high, rows = windows.lifted(hits.record, hits.start, hits.end)
        # Inside an insertion a hit is at the letter before it.
        start = np.where(low == high, np.maximum(low - 1, 0), low)
        places = np.column_stack([start, np.maximum(high, start + 1), low, high])
        own = np.where(rows < 0, FOREVER, rows).min(axis=1) == windows.anchor[hits.record]
        hits, rows, places = hits.picked(np.flatnonzero(own)), rows[own], places[own]
        there = self._distances(letters, hits, places)
        closer = (there < 0) | (hits.distance < there)
        hits, rows, places = hits.picked(np.flatnonzero(closer)), rows[closer], places[closer]
        # What alleles make is one hit, whatever is around them.
        keys: Any = places, hits.minus, hits.pattern, np.sort(rows, axis=1)
        beside: Any = 0  # beside PAMs of several lengths, hits differ in where these begin
        if hits.columns is not None:
            beside = letters_beside(hits.columns, self._query.patterns.lengths[hits.pattern])
        met = self._anchored(hits.minus, hits.start + beside, hits.end - beside)
        at = np.stack([hits.start, met]) - windows.anchor_at[hits.record]
        keys = np.column_stack([*keys, hits.end - hits.start, *at])
        order = np.lexsort(keys.T[::-1])
        order = order[(np.diff(keys[order], axis=0, prepend=-2) != 0).any(axis=1)]
        copies = windows.carriers(rows[order], *places[order, 2:].T)
        some = copies.any(axis=1)
        order, copies, rows = order[some], copies[some], rows[order[some]]
        names = {row: block.name(row) for row in distinct(rows.reshape(-1)).tolist()}
        alleles = [[names[each] for each in row if each >= 0] for row in rows.tolist()]
        start, end = places[order, :2].T + block.part.start
        sets = [each.tobytes() for each in copies]
        carriers = {each: Carriers(samples, np.frombuffer(each, np.uint8)) for each in sets}
        return replace(
            hits.picked(order),
            record=0 * start,
            start=start,
            end=end,
            names={0: block.record},
            variants=np.array([*map(",".join, alleles)], object),
            af=np.where(rows < 0, np.inf, block.af[rows]).min(axis=1, initial=np.inf),
            samples=np.array([carriers[each] for each in sets], object),
            reference_distance=np.where(there < 0, np.nan, there)[closer][order],
        )

    def _distances(self, letters: Bytes, hits: HitBatch, places: Longs) -> Longs:
        """The smallest distance of the reference's hits whose 3′ ends, beside a PAM before them
        their 5′ ends, are where those of hits are: int64[n], −1 where there is none within k."""
        at, behind = self._anchored(hits.minus, *places[:, :2].T), hits.minus != self._leads
        side, which = ranked(2 * at + behind)
        at = side // 2
        low = np.maximum(np.where(side % 2, at, at - self._longest), 0)
        size = np.minimum(np.where(side % 2, at + self._longest, at), len(letters)) - low
        bounds = bounds_of(size)
        found = self._search_in("ends", gather(letters, low, bounds), bounds)
        ends = self._anchored(found.minus, found.start, found.end) + low[found.record]
        found = found.picked(np.flatnonzero(ends == at[found.record]))
        kinds = 2 * len(self._query.patterns)
        there = found.record * kinds + 2 * found.pattern + found.minus
        order = order_of(there, found.distance)
        there, distance = there[order], found.distance[order].astype(np.int64)
        wanted = which * kinds + 2 * hits.pattern + hits.minus
        row = np.searchsorted(there, wanted)
        known = np.append(there, -1)[row] == wanted
        return np.where(known, np.append(distance, -1)[row], -1)

    def _anchored(self, minus: Bytes, start: Longs, end: Longs) -> Longs:
        return np.where(minus == self._leads, end, start)


def _dense_lines(block: Block, haplotypes: Longs, dense: Bools) -> Iterator[bytes]:
    """Yield the line of each dense allele, with all that it was searched with."""
    anchors = haplotypes[:, 0]
    for row in distinct(anchors[dense[anchors]]).tolist():
        others = distinct(haplotypes[anchors == row, 1:].reshape(-1)).tolist()
        names = ",".join(block.name(other) for other in others if other >= 0)
        place = (block.part.start + at for at in (block.start[row], block.end[row]))
        cells = (block.record, *place, block.name(row), names)
        yield "\t".join(map(str, cells)).encode() + b"\n"


def _in_order(reference: Iterable[HitBatch], made: Iterator[HitBatch]) -> Iterator[HitBatch]:
    """The hits of both, in order; of equal places those of the reference first."""
    held = no_hits()  # of what is made, as far as it has to wait
    for batch in filter(len, reference):
        last = batch.record[-1], batch.start[-1]
        while not len(held) or (held.record[-1], held.start[-1]) <= last:
            if (following := next(made, None)) is None:
                break
            held = joined([held, following])
        both = joined([batch, held])
        size = both.end - both.start
        order = order_of(both.record, both.start, size, both.minus, both.pattern)
        done = int(np.flatnonzero(order == len(batch) - 1)[0]) + 1
        yield both.picked(order[:done])
        held = both.picked(order[done:])
    yield held
    yield from made


def _of_reference(batch: HitBatch) -> HitBatch:
    """A batch of hits that no allele makes."""
    none, nobody = np.full(len(batch), "", object), np.full(len(batch), None)
    unknown, distance = np.full(len(batch), np.nan), batch.distance.astype(np.float64)
    return replace(batch, variants=none, af=unknown, samples=nobody, reference_distance=distance)
