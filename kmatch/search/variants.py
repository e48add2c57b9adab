"""Hits that haplotypes make: those in windows of letters, of which the reference has none there."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, Objects, Words, bounds_of, distinct, gather, ranked
from kmatch.errors import InputError, warn
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import HitBatch, Made, joined, no_hits
from kmatch.results.output import open_output
from kmatch.search.haplotypes import Rule, Windows, haplotypes_of
from kmatch.search.panel import pattern_distances
from kmatch.search.query import Query
from kmatch.search.rules import load_pams
from kmatch.search.search import Search, begin_search
from kmatch.sequences.files import check_readable, open_source
from kmatch.sequences.records import Stretch
from kmatch.sequences.variants import FOREVER, Block, VariantReader, Variants, check_reference

FIELDS = b"sequence\tstart\tend\tallele\tothers\n"  # of the list of dense groups


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
        lengths, self._bulges = query.patterns.lengths, query.problem == "edit"
        if self._bulges:
            lengths = lengths + pattern_distances(query.patterns, query.k)
        self._longest = int(lengths.max()) + max(map(len, pams), default=0)  # letters of a hit
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
        number, name, letters = -1, "", np.zeros(0, np.uint8)  # of the record at hand
        listing = open_output(given.dense_groups or os.devnull)
        with open_source(given.vcf) as source, listing as log:
            lengths = dict(zip(genome.names, genome.lengths.tolist(), strict=True))
            reader = VariantReader(source, given, lengths)
            log.write(FIELDS)
            most = given.max_haplotypes + 2 * len(reader.samples)
            rule = Rule(self._flank, self._bulges, most)
            for block in reader.blocks(self._flank + 2):
                if regions and block.record not in regions:
                    continue
                while name != block.record:
                    number, record = next(records, (-1, None))
                    if record is None:
                        raise InputError(
                            f"{source.label}: line {block.lines[0]:,}: '{block.record}' "
                            "comes before others in the genome; sort both in one order"
                        )
                    name = record.name
                    letters = np.asarray(record.letters) if name == block.record else letters
                check_reference(block, letters, source.label)
                parts = [no_hits()]
                dense = np.zeros(len(block.site), np.bool_)
                for haplotypes in haplotypes_of(block, rule, dense):
                    windows = Windows(block, haplotypes, letters, self._flank)
                    parts.append(self._lifted(block, windows, letters, reader.samples))
                    for line in _dense_lines(block, haplotypes, dense):
                        log.write(line)
                        listed += 1
                batch = joined(parts)
                order = np.lexsort((batch.pattern, batch.minus, batch.end, batch.start))
                batch = batch.picked(order)
                batch = replace(batch, record=batch.record + number, names={number: name})
                yield regions.inside(batch) if regions and len(batch) else batch
        if listed:
            warn(
                f"{source.label}: {listed:,} alleles have more than {given.max_haplotypes:,} "
                "combinations with those around them; they were searched alone and with each of "
                "these. --dense-groups FILE lists them, and --max-haplotypes raises the limit"
            )

    def _search_in(self, letters: Bytes, bounds: Longs, query: Query, aligned: Any) -> HitBatch:
        """The hits in records without names, side by side: bounds, int64[n+1]."""
        if len(bounds) < 2:
            return no_hits()
        stretch = Stretch([""] * (len(bounds) - 1), np.diff(bounds), letters)
        genomes = Genomes([Genome.of_stretches("windows of variants", [stretch])], named=False)
        run = self._search.run._replace(aligned=aligned, cluster=None)
        return joined([no_hits(), *begin_search(query, genomes, run)])

    def _lifted(
        self, block: Block, windows: Windows, letters: Bytes, samples: list[str]
    ) -> HitBatch:
        """The hits of windows that the reference has not, in its coordinates, of record 0."""
        run = self._search.run
        hits = self._search_in(windows.letters, windows.bounds, self._query, run.aligned)
        low, high, rows = windows.lifted(hits.record, hits.start, hits.end)
        # Inside an insertion a hit is at the letter before it.
        start = np.where(low == high, np.maximum(low - 1, 0), low)
        places = np.column_stack([start, np.maximum(high, start + 1), low, high])
        own = np.where(rows < 0, FOREVER, rows).min(axis=1) == windows.anchor[hits.record]
        hits, rows, places = hits.picked(np.flatnonzero(own)), rows[own], places[own]
        there = self._distances(letters, hits, places)
        # What alleles make is one hit, whatever is around them.
        keys: Any = places, hits.minus, hits.pattern, np.sort(rows, axis=1)
        at = hits.start - windows.anchor_at[hits.record]
        keys = np.column_stack([*keys, at, hits.end - hits.start])
        order = np.lexsort(keys.T[::-1])
        order = order[(np.diff(keys[order], axis=0, prepend=-2) != 0).any(axis=1)]
        order = order[(there[order] < 0) | (hits.distance[order] < there[order])]
        copies = windows.carriers(rows[order], *places[order, 2:].T)
        some = copies.any(axis=1)
        order, copies = order[some], copies[some]
        alleles = [[each for each in row if each >= 0] for row in rows[order].tolist()]
        made = Made(
            _objects(",".join(map(block.name, each)) for each in alleles),
            np.array([block.af[each].min() for each in alleles], np.float64),
            _objects(_carriers(each, samples) for each in copies),
            np.where(there < 0, np.nan, there)[order],
        )
        (start, end, *_), record = places[order].T, np.zeros(len(order), np.int64)
        batch, names = hits.picked(order), {0: block.record}
        return replace(batch, record=record, start=start, end=end, names=names, made=made)

    def _distances(self, letters: Bytes, hits: HitBatch, places: Longs) -> Longs:
        """The smallest distance of the reference's hits whose 3′ ends, beside a PAM before them
        their 5′ ends, are where those of hits are: int64[n], −1 where there is none within k."""
        at, which = ranked(self._anchored(hits.minus, *places[:, :2].T))
        low = np.maximum(at - self._longest, 0)
        size = np.minimum(at + self._longest, len(letters)) - low
        bounds = bounds_of(size)
        text = gather(letters, low, bounds)
        query = self._query._replace(report="ends") if self._bulges else self._query
        found = self._search_in(text, bounds, query, False)
        ends = self._anchored(found.minus, found.start, found.end) + low[found.record]
        found = found.picked(np.flatnonzero(ends == at[found.record]))
        kinds = 2 * len(query.patterns)
        there = found.record * kinds + 2 * found.pattern + found.minus
        order = np.lexsort((found.distance, there))
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
        place = block.start[row], block.end[row]
        cells = (block.record, *place, block.name(row), names)
        yield "\t".join(map(str, cells)).encode() + b"\n"


def _carriers(copies: Words, samples: list[str]) -> str:
    """The samples of some copies, comma separated."""
    which = np.flatnonzero(np.unpackbits(copies.view(np.uint8), bitorder="little")) // 2
    return ",".join(map(samples.__getitem__, distinct(which).tolist())) if samples else ""


def _in_order(reference: Iterable[HitBatch], made: Iterator[HitBatch]) -> Iterator[HitBatch]:
    """The hits of both, in order; of equal places those of the reference first."""
    held = no_hits()  # of what is made, as far as it has to wait
    for batch in filter(len, reference):
        while not len(held) or _place(held) <= _place(batch):
            if (following := next(made, None)) is None:
                break
            held = joined([held, following])
        both = joined([batch, held])
        order = np.lexsort((both.pattern, both.minus, both.end, both.start, both.record))
        done = int(np.flatnonzero(order == len(batch) - 1)[0]) + 1
        yield both.picked(order[:done])
        held = both.picked(order[done:])
    yield held
    yield from made


def _place(batch: HitBatch) -> tuple[int, ...]:
    """The place of the last hit in the order of all."""
    columns = (batch.record, batch.start, batch.end, batch.minus, batch.pattern)
    return tuple(int(column[-1]) for column in columns)


def _of_reference(batch: HitBatch) -> HitBatch:
    """A batch of hits that no allele makes."""
    none = np.full(len(batch), "", object)
    unknown = np.full(len(batch), np.nan)
    return replace(batch, made=Made(none, unknown, none, batch.distance.astype(np.float64)))


def _objects(words: Iterable[str]) -> Objects:
    return np.array([*words, ""], object)[:-1]
