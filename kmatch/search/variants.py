"""Hits that haplotypes make: alleles become short windows, whose hits go back to the reference.

A window has one allele, its anchor, in the middle, the other alleles of a haplotype around it, and
letters enough for every hit that overlaps the anchor. Of such hits those are kept of which the
anchor is the first allele, so that each is found beside one anchor.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from kmatch.arrays import (
    Bytes,
    Longs,
    Objects,
    bounds_of,
    distinct,
    gather,
    offsets_in_rows,
    ranked,
)
from kmatch.errors import InputError, warn
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import HitBatch, Made, joined, no_hits
from kmatch.results.output import open_output
from kmatch.search.panel import pattern_distances
from kmatch.search.query import Query
from kmatch.search.rules import load_pams
from kmatch.search.search import Search, begin_search
from kmatch.sequences.files import check_readable, open_source
from kmatch.sequences.records import Record, Stretch
from kmatch.sequences.variants import PLOIDY, Block, VariantReader, Variants, check_reference

TOGETHER = 1 << 12  # windows of a Stretch
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
        given, regions, dense = self._given, self._search.regions, 0
        genome = self._search.genomes.genome(0)
        records = enumerate(genome.records())
        number, record = -1, Record("", np.zeros(0, np.uint8))
        with ExitStack() as stack:
            source = stack.enter_context(open_source(given.vcf))
            lengths = dict(zip(genome.names, genome.lengths.tolist(), strict=True))
            reader = VariantReader(source, given, lengths)
            log = stack.enter_context(open_output(given.dense_groups or os.devnull))
            log.write(FIELDS)
            for name, block in reader.blocks(self._flank + 2):
                while record.name != name or number < 0:
                    number, record = next(records, (-1, record))
                    if number < 0:
                        raise InputError(
                            f"{source.label}: line {block.line[0]:,}: '{name}' comes before "
                            "others in the genome; sort both in one order"
                        )
                if regions and name not in regions:
                    continue
                letters = np.asarray(record.letters)
                check_reference(block, letters, name, source.label)
                around = Haplotypes(block, self._flank, self._bulges, given.max_haplotypes)
                batch = self._lifted(Windows(around, letters), reader.samples)
                batch = replace(batch, record=batch.record + number, names={number: name})
                yield regions.inside(batch) if regions and len(batch) else batch
                dense += len(around.dense)
                for each, others in around.dense.items():
                    words = (name, block.start[each], block.end[each], block.name[each])
                    listed = ",".join(block.name[other] for other in others)
                    log.write("\t".join(map(str, (*words, listed))).encode() + b"\n")
        if dense:
            warn(
                f"{source.label}: {dense:,} alleles have more than {given.max_haplotypes:,} "
                "combinations with those around them; they were searched alone and with each of "
                "these. --dense-groups FILE lists them, and --max-haplotypes raises the limit"
            )

    def _search_in(self, stretches: Sequence[Stretch], query: Query, aligned: bool) -> HitBatch:
        genomes = Genomes([Genome.of_stretches("windows of variants", stretches)], named=False)
        run = self._search.run._replace(aligned=aligned)
        return joined([no_hits(), *begin_search(query, genomes, run)])

    def _lifted(self, windows: "Windows", samples: list[str]) -> HitBatch:
        """The hits of windows that the reference has not, in its coordinates, of record 0."""
        hits = self._search_in(windows.stretches(), self._query, self._search.run.aligned)
        hits = hits.picked(windows.beside_anchors(hits))
        start, end = windows.lifted(hits)
        there = self._distances(windows.letters, hits, start, end)
        new = np.flatnonzero((there < 0) | (hits.distance < there))
        rows: dict[tuple[Any, ...], tuple[list[int], float]] = {}  # that have all in common
        block, at = windows.haplotypes.block, windows.at
        columns = (start, end, hits.minus, hits.pattern, hits.record, hits.start, hits.end)
        values = (column[new].tolist() for column in columns)
        for row, *place, window, begin, last in zip(new.tolist(), *values, strict=True):
            alleles = windows.alleles_in(window, last)
            names = ",".join(block.name[each] for each in alleles)
            # Of hits in an insertion, many may be at one letter.
            key = (*place, names, begin - at[window], last - at[window])
            rows.setdefault(key, ([], float(block.af[[*alleles]].min())))[0].append(row)
        keys = sorted(rows)
        first = np.array([rows[key][0][0] for key in keys], np.int64)
        who = [windows.haplotypes.carriers(hits.record[rows[key][0]].tolist()) for key in keys]
        made = Made(
            _objects(key[4] for key in keys),
            np.array([rows[key][1] for key in keys], np.float64),
            _objects(",".join(samples[each] for each in those if samples) for those in who),
            np.where(there < 0, np.nan, there)[first],
        )
        record = np.zeros(len(first), np.int64)
        whole = hits.picked(first)
        return replace(whole, record=record, start=start[first], end=end[first], made=made)

    def _distances(self, letters: Bytes, hits: HitBatch, start: Longs, end: Longs) -> Longs:
        """The smallest distance of the reference's hits whose 3′ ends, beside a PAM before them
        their 5′ ends, are where those of hits are: int64[n], −1 where there is none within k."""
        at, which = ranked(self._anchored(hits.minus, start, end))
        low = np.maximum(at - self._longest, 0)
        size = np.minimum(at + self._longest, len(letters)) - low
        bounds = bounds_of(size)
        text = gather(letters, low, bounds)
        query = self._query._replace(report="ends") if self._bulges else self._query
        found = self._search_in(_stretches(text, bounds), query, False)
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


class Haplotypes:
    """The distinct haplotypes around each allele of a Block, as far as `flank` letters.

    left: whether alleles before an anchor that a copy may be without matter; most: combinations.
    anchor: of each haplotype, and alleles: all of it, in order. dense: the anchors that have more
    combinations, and what is around each.
    """

    def __init__(self, block: Block, flank: int, left: bool, most: int) -> None:
        self.block, self.flank, self._left, self._most = block, flank, left, most
        self.start, self.end = block.start.tolist(), block.end.tolist()
        self.sizes = [len(alt) for alt in block.alt]
        self.dense: dict[int, list[int]] = {}
        first, last = self._neighbours()
        which = self._surroundings(first, last)
        order = np.argsort(which, kind="stable")
        self._copies = block.copy[order]
        self._bounds = np.append(np.flatnonzero(np.diff(which[order], prepend=-1)), len(which))
        rows = order[self._bounds[:-1]]  # one of each kind of surroundings
        alleles, free = block.allele.tolist(), block.free.tolist()
        known: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        bounds = zip(rows.tolist(), first[rows].tolist(), last[rows].tolist(), strict=True)
        for kind, (row, begin, end) in enumerate(bounds):
            anchor = alleles[row]
            others = [each for each in range(begin, end) if each != row]
            around = [(alleles[each], free[each]) for each in others]
            for some in self._combined(anchor, around) if around else [(anchor,)]:
                known.setdefault((anchor, some), []).append(kind)
        keys = sorted(known)
        self._kinds = [known[key] for key in keys]
        self.anchor, self.alleles = [key[0] for key in keys], [key[1] for key in keys]

    def carriers(self, numbers: Iterable[int]) -> list[int]:
        """The samples that carry, or may carry, one of some haplotypes, sorted."""
        kinds = {kind for number in numbers for kind in self._kinds[number]}
        parts = [self._copies[self._bounds[kind] : self._bounds[kind + 1]] for kind in kinds]
        found: list[int] = distinct(np.concatenate(parts) // PLOIDY).tolist()
        return found

    def _neighbours(self) -> tuple[Longs, Longs]:
        """For each carrier the first of the same copy that may be near, and that behind the last,
        int64[E]: what is deleted between them counts as absent."""
        block = self.block
        copies = block.copy * (int(block.end.max()) + self.flank)  # which are far apart
        start, end = block.start[block.allele] + copies, block.end[block.allele] + copies
        least = np.minimum(self.sizes, block.end - block.start)[block.allele]
        behind = self._steps(start, end, least)
        before = self._steps(-np.maximum.accumulate(end)[::-1], -start[::-1], least[::-1])[::-1]
        rows = np.arange(len(start))
        return rows - before, rows + 1 + behind

    def _steps(self, begin: Longs, end: Longs, least: Longs) -> Longs:
        """How many of the intervals behind each may be near, int64[E]; least: int64[E], the fewest
        letters that each leaves, if no other overlaps it."""
        steps = np.zeros_like(begin)
        rows = np.flatnonzero(begin[1:] - end[:-1] < self.flank)  # of few the next is near
        used, left, reach = np.zeros_like(rows), np.zeros_like(rows), end[rows]
        while len(rows):
            other = rows + steps[rows] + 1
            gap = begin[other] - reach
            used = used + np.where(gap < 0, 0, gap + left)
            near = np.flatnonzero(used < self.flank)
            rows, used, other = rows[near], used[near], other[near]
            left = np.where(gap[near] < 0, 0, least[other])
            reach = np.maximum(reach[near], end[other])
            steps[rows] += 1
            more = np.flatnonzero(other + 1 < len(begin))
            rows, used, left, reach = rows[more], used[more], left[more], reach[more]
        return steps

    def _surroundings(self, first: Longs, last: Longs) -> Longs:
        """The kind of each carrier, int64[E]: the same allele with the same ones around it."""
        block, size = self.block, len(self.block.start)
        words, kind = 2 * block.allele + block.free, block.allele.copy()
        rows, depth, most = np.flatnonzero(last - first > 1), 0, size
        while len(rows):
            found, which = ranked(2 * size * kind[rows] + words[first[rows] + depth])
            kind[rows] = most + which
            most, depth = most + len(found), depth + 1
            rows = rows[last[rows] - first[rows] > depth]
        return kind

    def _combined(self, anchor: int, around: list[tuple[int, bool]]) -> Iterable[tuple[int, ...]]:
        """The combinations of an anchor with alleles around it, some of which may be absent."""
        sites: dict[int, list[int]] = {}
        for other, _ in around:
            sites.setdefault(int(self.block.line[other]), []).append(other)
        sites.pop(int(self.block.line[anchor]), None)
        absent = {other for other, free in around if free}
        choices: list[tuple[list[int], bool]] = []
        for alleles in sites.values():
            others = [anchor, *(each for each, _ in around if each not in alleles)]
            # Alleles that overlap cannot all be there.
            free = not absent.isdisjoint(alleles) or self._fitting(alleles, others) != alleles
            if self._left or not free or max(alleles) > anchor:
                choices.append((alleles, free))
        found: list[tuple[int, ...]] = [(anchor,)]
        for alleles, free in choices:
            parts = [
                [*((*some, each) for each in self._fitting(alleles, some)), *[some] * free]
                for some in found
            ]
            found = [*chain(*parts)]
            if len(found) > self._most:
                self.dense[anchor] = [other for other, _ in around]
                sure = [alleles[0] for alleles, free in choices if not free and len(alleles) == 1]
                base = (anchor, *sure)
                others = [each for alleles, _ in choices for each in alleles]
                found = [base, *((*base, each) for each in self._fitting(others, base))]
                break
        return dict.fromkeys(map(self._near, found))

    def _fitting(self, alleles: list[int], others: Sequence[int]) -> list[int]:
        """Those of alleles that overlap none of others."""
        start, end = self.start, self.end
        return [
            each
            for each in alleles
            if not any(
                (start[each] < end[other] and start[other] < end[each])
                or (start[each], end[each]) == (start[other], end[other])
                for other in others
            )
        ]

    def _near(self, alleles: tuple[int, ...]) -> tuple[int, ...]:
        """Those of an anchor's haplotype that a window shows, in order; the anchor is the first."""
        kept = [alleles[0]]
        for sign in (1, -1):
            used, last = 0, alleles[0]
            for each in sorted(alleles, key=lambda other: sign * other):
                if sign * each > sign * alleles[0]:
                    low, high = (last, each) if sign > 0 else (each, last)
                    used += self.start[high] - self.end[low]
                    if used >= self.flank:
                        break
                    kept.append(each)
                    used, last = used + self.sizes[each], each
        return tuple(sorted(kept))


class Windows:
    """The letters of haplotypes around their anchors, and where these are in the reference.

    letters: of the record.
    """

    def __init__(self, haplotypes: Haplotypes, letters: Bytes) -> None:
        self.haplotypes, self.letters = haplotypes, letters
        block, flank = haplotypes.block, haplotypes.flank
        low = max(int(block.start.min()) - flank, 0)
        reference = letters[low : int(block.end.max()) + flank]
        sizes = np.array(haplotypes.sizes, np.int64)
        begins = bounds_of(sizes)
        self._alts = (len(reference) + begins).tolist()
        self._low, self._high = low, low + len(reference)
        parts = [
            self._parts(*each) for each in zip(haplotypes.anchor, haplotypes.alleles, strict=True)
        ]
        pieces, self.at, self._free = zip(*parts, strict=True)
        piece, size = np.array([each for some in pieces for each in some], np.int64).T
        # Of each letter of a window, which it is of the reference and the alleles side by side.
        ends = bounds_of(size)
        self._which = offsets_in_rows(ends) + np.repeat(piece, size).astype(np.int32)
        self._bounds = ends[bounds_of([len(some) for some in pieces])]
        self._text = np.concatenate([reference, np.frombuffer(b"".join(block.alt), np.uint8)])
        # What is as long as the reference's letters stands for them, one by one.
        offset = offsets_in_rows(begins)
        exact = np.repeat(block.end - block.start == sizes, sizes)
        start, end = np.repeat(block.start, sizes), np.repeat(block.end, sizes)
        first = np.arange(low, self._high)
        self._first = np.concatenate([first, np.where(exact, start + offset, start)])
        self._last = np.concatenate([first + 1, np.where(exact, start + offset + 1, end)])

    def _parts(
        self, anchor: int, alleles: tuple[int, ...]
    ) -> tuple[list[tuple[int, int]], int, int]:
        """The pieces of a window, (begin, letters); where its anchor begins, and from where on no
        other allele is before that."""
        known, low, alts = self.haplotypes, self._low, self._alts
        start, end, sizes = known.start, known.end, known.sizes
        at = alleles.index(anchor)
        left, edge, pieces = known.flank, start[anchor], []
        for each in alleles[:at][::-1]:
            pieces += [(end[each] - low, edge - end[each]), (alts[each], sizes[each])]
            left -= edge - end[each] + sizes[each]
            edge = start[each]
        begin = max(edge - max(left, 0), low)
        pieces.append((begin - low, edge - begin))
        before = sum(size for _, size in pieces)
        alone = before - pieces[0][1] if at else 0
        pieces = [*pieces[::-1], (alts[anchor], sizes[anchor])]
        left, edge = known.flank, end[anchor]
        for each in alleles[at + 1 :]:
            pieces += [(edge - low, start[each] - edge), (alts[each], sizes[each])]
            left -= start[each] - edge + sizes[each]
            edge = end[each]
        pieces.append((edge - low, min(max(left, 0), self._high - edge)))
        return pieces, before, alone

    def stretches(self) -> list[Stretch]:
        """Their letters, a record each."""
        return _stretches(self._text[self._which], self._bounds)

    def beside_anchors(self, hits: HitBatch) -> Longs:
        """Which hits overlap the anchor of their window, and no allele before it."""
        known, window = self.haplotypes, hits.record
        at, free = np.array(self.at)[window], np.array(self._free)[window]
        size = np.array(known.sizes)[np.array(known.anchor)[window]]
        there = (hits.start < at + size) & (hits.end > at) & (hits.start >= free)
        return np.flatnonzero(there)

    def lifted(self, hits: HitBatch) -> tuple[Longs, Longs]:
        """Starts and ends of hits in the reference, int64[n]: of one inside an insertion those of
        the letter before it, at the beginning of a record behind it."""
        begin = self._bounds[hits.record]
        start = self._first[self._which[begin + hits.start]]
        end = self._last[self._which[begin + hits.end - 1]]
        inside = start == end
        start = np.where(inside, np.maximum(start - 1, 0), start)
        return start, np.where(inside, start + 1, end)

    def alleles_in(self, window: int, end: int) -> tuple[int, ...]:
        """The alleles that a hit overlaps, the first of which is the anchor of its window."""
        known = self.haplotypes
        anchor, alleles = known.anchor[window], known.alleles[window]
        found, last = [anchor], anchor
        at = self.at[window] + known.sizes[anchor]
        for each in alleles[alleles.index(anchor) + 1 :]:
            at += known.start[each] - known.end[last]
            if at >= end:
                break
            found.append(each)
            at, last = at + known.sizes[each], each
        return tuple(found)


def _stretches(letters: Bytes, bounds: Longs) -> list[Stretch]:
    """Records without names, side by side: bounds, int64[n+1]."""
    parts = []
    for first in range(0, len(bounds) - 1, TOGETHER):
        some = bounds[first : first + TOGETHER + 1]
        sizes = np.diff(some)
        parts.append(Stretch([""] * len(sizes), sizes, letters[some[0] : some[-1]]))
    return parts


def _in_order(reference: Iterable[HitBatch], made: Iterator[HitBatch]) -> Iterator[HitBatch]:
    """The hits of both, in order; of equal places those of the reference first."""
    held = no_hits()  # of what is made, as far as it has to wait
    for batch in reference:
        if not len(batch):
            continue
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
