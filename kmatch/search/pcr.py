"""In-silico PCR: the products that pairs of primers make within their distances.

Sites of primers come in the order of hits. A site on `+` waits until every site on `-` that it can
be joined to has come; what waits is within the longest product.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, bounds_of, gather
from kmatch.engine.types import LETTERS
from kmatch.errors import PAIRINGS, InputError, check_choice, checked_count, warn
from kmatch.genome import Genome
from kmatch.results.batches import (
    HitBatch,
    PrimerSites,
    ProductBatch,
    Texts,
    joined,
    numbers_of,
    sizes_of,
)
from kmatch.search.alignments import GenomeTexts
from kmatch.search.query import Query
from kmatch.search.regions import Regions
from kmatch.search.rules import check_ends
from kmatch.search.search import Search
from kmatch.sequences.alphabet import encode_text, reverse_complement
from kmatch.sequences.primer_pairs import FORWARD, PROBE, REVERSE, PrimerPairs

PRODUCT = (50, 5000)
MANY = 1_000_000  # products of a search
PROBES = 1 << 20  # sites of probes that are looked at together
PRODUCTS = 1 << 15  # yielded together, and any others that start where the last of them does


Rows = tuple[Longs, ...]  # of sites, by number: on `+`, on `-` and of a probe


class Limits(NamedTuple):
    """Letters of a product, primers included: at least and at most."""

    least: int
    most: int


class Groups(NamedTuple):
    """Which primers are joined: those of group g on `+` to those of group partner[g] on `-`, around
    a site of probes of group probe[g].

    of: int64, the group of each oligo; partner: int64, by group, no two of them the same, -1 for
    groups of probes; probe: int64, by group, -1 where products hold none.
    """

    of: Longs
    partner: Longs
    probe: Longs


class Sites:
    """Sites of primers in the order of hits; most: letters of the longest product."""

    def __init__(self, hits: HitBatch, most: int) -> None:
        self.hits, self._most = hits, most

    @cached_property
    def line(self) -> tuple[Longs, Longs]:
        """Starts and ends on one line, on which no product reaches from record to record."""
        record, start, end = self.hits.record, self.hits.start, self.hits.end
        first = np.flatnonzero(np.diff(record, prepend=-1))
        reached = np.maximum.reduceat(end, first)
        sizes = np.diff(np.append(first, len(record)))
        shift = np.repeat(bounds_of(reached + self._most)[:-1], sizes)
        return start + shift, end + shift

    @property
    def finished(self) -> int:
        """How many sites are too far before the last one for a product that reaches later sites."""
        starts, _ = self.line
        return int(np.searchsorted(starts, starts[-1] - self._most, side="right"))


def finished_sites(batches: Iterable[HitBatch], most: int) -> Iterator[tuple[Sites, int]]:
    """Yield Sites, and how many of the first are finished; the others come again.

    Batches wait until they hold as many sites as come again: so the work is that of a few passes.
    """
    waiting: list[HitBatch] = []
    again = fresh = 0
    for batch in batches:
        if not len(batch):
            continue
        waiting.append(batch)
        fresh += len(batch)
        if fresh >= again:
            sites = Sites(joined(waiting), most)
            count = sites.finished
            yield sites, count
            waiting = [sites.hits.picked(slice(count, None))]
            again, fresh = len(waiting[0]), 0
    if again + fresh:
        yield Sites(joined(waiting), most), again + fresh


def joined_sites(sites: Sites, count: int, groups: Groups, limits: Limits) -> Iterator[Rows]:
    """Yield the products of the first sites on `+`, as rows (on `+`, on `-`), int64[n] each.

    They come in the order of these first sites' starts, of which none is shared by two parts.
    """
    starts, ends = sites.line
    group, minus = groups.of[sites.hits.pattern], sites.hits.minus.astype(bool)
    primer = groups.partner[group] >= 0
    plus = np.flatnonzero((primer & ~minus)[:count])
    others = np.flatnonzero(primer & minus)
    # By group, a line of its own each, on which no product reaches from group to group.
    apart = int(starts[-1]) + limits.most + 1
    others = others[np.argsort(group[others], kind="stable")]
    place = group[others] * apart + starts[others]
    first = groups.partner[group[plus]] * apart + starts[plus]
    longest = int((ends - starts).max())
    low = np.searchsorted(place, first + max(limits.least - longest, 0))
    many = np.searchsorted(place, first + limits.most) - low
    for part in _parts(starts[plus], many):
        bounds = bounds_of(many[part])
        on_plus = np.repeat(plus[part], many[part])
        on_minus = gather(others, low[part], bounds)
        length = ends[on_minus] - starts[on_plus]
        kept = (ends[on_minus] >= ends[on_plus]) & (length >= limits.least)
        kept &= length <= limits.most
        if kept.any():
            yield on_plus[kept], on_minus[kept]


def _parts(starts: Longs, many: Longs) -> Iterator[slice]:
    """Cut sites into parts of about PRODUCTS products, between two starts."""
    first = np.flatnonzero(np.diff(starts, prepend=-1))
    part = (np.cumsum(many) - many)[first] // PRODUCTS
    cuts = first[np.flatnonzero(np.diff(part, prepend=-1))].tolist()
    yield from map(slice, cuts, [*cuts[1:], len(starts)])


def with_probes(sites: Sites, rows: Rows, groups: Groups) -> Rows:
    """Of products, as rows (on `+`, on `-`), those that hold a probe or need none, with the closest
    site of a probe in each, the first of these, as a third row; -1 where it needs none."""
    plus, others = rows
    starts, ends = sites.line
    group = groups.of[sites.hits.pattern]
    wanted = groups.probe[group[plus]]
    probes = np.flatnonzero(groups.partner[group] < 0)
    apart = int(ends.max()) + 1
    probes = probes[np.argsort(group[probes], kind="stable")]
    place = group[probes] * apart + starts[probes]
    low = np.searchsorted(place, wanted * apart + starts[plus])
    many = np.searchsorted(place, wanted * apart + ends[others]) - low
    many[wanted < 0] = 0
    found = np.full(len(plus), -1)
    part = np.cumsum(many) // PROBES
    for first, last in pairwise([0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(plus)]):
        bounds = bounds_of(many[first:last])
        product = np.repeat(np.arange(first, last), many[first:last])
        probe = gather(probes, low[first:last], bounds)
        held = ends[probe] <= ends[others][product]
        product, probe = product[held], probe[held]
        order = np.lexsort((probe, sites.hits.distance[probe], product))
        best = order[np.flatnonzero(np.diff(product[order], prepend=-1))]
        found[product[best]] = probe[best]
    kept = (wanted < 0) | (found >= 0)
    return plus[kept], others[kept], found[kept]


def with_second_turns(batches: Iterable[HitBatch], most: int, probes: Bools) -> Iterator[HitBatch]:
    """The HitBatches, and behind those of a circular record its sites on `-` and of probes a turn
    later, as far as products of up to `most` letters reach.

    probes: bool[P], whether an oligo is one.
    """
    waiting: list[HitBatch] = []  # sites of the last record
    for batch in batches:
        if not len(batch) or batch.origin.circles is None:
            yield batch
            continue
        bounds = [*np.flatnonzero(np.diff(batch.record, prepend=-1)).tolist(), len(batch)]
        for first, last in pairwise(bounds):
            part = batch.picked(slice(first, last))
            if waiting and waiting[-1].record[0] != part.record[0]:
                yield from _second_turn(waiting)
                waiting = []
            yield part
            turns = (part.minus == 1) | probes[part.pattern]
            near = np.flatnonzero(turns & (part.start < most))
            if len(near):
                waiting.append(part.picked(near))
    yield from _second_turn(waiting)


def _second_turn(batches: list[HitBatch]) -> Iterator[HitBatch]:
    for batch in batches:
        size = (batch.origin.circles or {}).get(int(batch.record[0]))
        if size is not None:
            yield replace(batch, start=batch.start + size, end=batch.end + size)


def within_one_turn(sites: Sites, rows: Rows) -> Rows:
    """The products, as rows (on `+`, on `-`), that are no longer than their circular record."""
    circles = sites.hits.origin.circles
    if circles is None:
        return rows
    plus, others = rows
    size = sizes_of(sites.hits.record[plus], circles)
    kept = sites.hits.end[others] - sites.hits.start[plus] <= size
    return plus[kept], others[kept]


def first_turn(sites: Sites, rows: Longs) -> tuple[Longs, Longs]:
    """Starts and ends of sites, which begin in the letters of their record."""
    start, end = sites.hits.start[rows], sites.hits.end[rows]
    circles = sites.hits.origin.circles
    if circles is not None:
        size = sizes_of(sites.hits.record[rows], circles)
        turned = np.where(start >= size, size, 0)
        start, end = start - turned, end - turned
    return start, end


class PcrOptions(NamedTuple):
    """product: letters of a product at least and at most, primers included; pairs: `own` joins the
    partners of a pair, `any` any two primers; edit: whether sites are the loci of `edit`, with
    insertions and deletions; exact_3p: last letters of a primer that must match; sequence: whether
    products come with their text."""

    product: tuple[int, int] = PRODUCT
    pairs: str = "own"
    edit: bool = False
    exact_3p: int = 0
    sequence: bool = False


OPTIONS = PcrOptions()


class PcrSearch(Search[ProductBatch]):
    """The search for the products that sites of primers make, while the genome is read.

    sites: the search of a Query that `site_query` gives, without regions. A genome that is not kept
    is read twice where the text of products is asked for. Warns as soon as there are more products
    than anyone reads.
    """

    def __init__(
        self,
        sites: Search[HitBatch],
        pairs: PrimerPairs,
        options: PcrOptions = OPTIONS,
        regions: Regions | None = None,
    ) -> None:
        super().__init__(sites.genomes, sites.run, regions)
        sites.regions = regions  # of which it meets the records
        self._sites, self._pairs, self._options = sites, pairs, options
        self._limits = check_pcr(pairs, options)
        self._groups = _groups(pairs, options.pairs == "any")
        self._has_probes = bool((self._groups.probe >= 0).any())
        self.engine, self.progress = sites.engine, sites.progress

    def everywhere(self) -> Iterator[ProductBatch]:
        """Yield the products in one genome after another."""
        products = 0
        for batch in self.products():
            before, products = products, products + len(batch)
            if before <= MANY < products:
                warn(
                    f"more than {MANY:,} products, and more to come; a smaller k, more letters "
                    "that must match at the 3′ ends or a narrower range of lengths leaves fewer"
                )
            yield batch

    def products(self) -> Iterator[ProductBatch]:
        """Yield the same, however many there are."""
        for number, hits in groupby(self._kept(), lambda batch: batch.origin.number):
            yield from self._of_genome(number, hits)

    def _kept(self) -> Iterator[HitBatch]:
        """The sites that are inside regions, as a product is inside one only if its sites are."""
        for batch in self._sites.everywhere():
            found = self.regions.inside(batch) if self.regions else batch
            if len(found):
                yield found

    def _find(self, genome: Genome) -> Iterable[ProductBatch]:
        raise NotImplementedError

    def _of_genome(self, number: int, hits: Iterable[HitBatch]) -> Iterator[ProductBatch]:
        longest, texts = self._limits.most, None
        if self._options.sequence:
            texts = GenomeTexts(self.genomes, longest)
        if self.genomes.circular:
            hits = with_second_turns(hits, longest, self._pairs.role == PROBE)
        with closing(texts) if texts else nullcontext():
            for sites, count in finished_sites(hits, longest):
                for rows in joined_sites(sites, count, self._groups, self._limits):
                    rows = within_one_turn(sites, rows)
                    if self._has_probes:
                        rows = with_probes(sites, rows, self._groups)
                    if self.regions:
                        rows = _inside(self.regions, sites, rows)
                    if len(rows[0]):
                        yield _batch(sites, self._pairs, rows, texts)


def site_query(pairs: PrimerPairs, k: int | str, options: PcrOptions = OPTIONS) -> Query:
    """The Query for the sites of primers. Raises InputError as `check_pcr` does."""
    check_pcr(pairs, options)
    if options.edit:
        return Query("edit", pairs.primers, k, exact_3p=options.exact_3p, report="loci")
    return Query("hamming", pairs.primers, k, exact_3p=options.exact_3p)


def check_pcr(pairs: PrimerPairs, options: PcrOptions, exact: str = "exact_3p") -> Limits:
    """The Limits of products; InputError for options that primers do not fit.

    exact: what the option for the 3′ end is called.
    """
    check_choice("pairs", options.pairs, PAIRINGS)
    if options.pairs == "own":
        pairs.check_partners()
    check_ends(pairs.primers, {exact: options.exact_3p})
    try:
        least, most = options.product
    except (TypeError, ValueError):
        raise InputError(
            f"product is {options.product!r}; give two numbers, the least and the most"
        ) from None
    limits = Limits(checked_count("product", least), checked_count("product", most))
    if limits.least > limits.most:
        raise InputError(f"product: the least, {least}, is more than the most, {most}")
    return limits


def _groups(pairs: PrimerPairs, mixed: bool) -> Groups:
    """mixed: any two primers are joined, whatever the probes."""
    if mixed:
        return Groups((pairs.role == PROBE).astype(np.int64), np.array([0, -1]), np.array([-1, -1]))
    groups = 3 * np.arange(len(pairs))[:, None] + [REVERSE, FORWARD, -len(pairs) * 3]
    probe = np.where(pairs.sides[:, PROBE], 3 * np.arange(len(pairs)) + PROBE, -1)
    partner = np.maximum(groups, -1).reshape(-1)
    return Groups(3 * pairs.pair + pairs.role, partner, np.repeat(probe, 3))


def _inside(regions: Regions, sites: Sites, rows: Rows) -> Rows:
    """The products, as rows of sites, that are inside a region."""
    plus, others, *_ = rows
    hits = sites.hits
    numbers, which = numbers_of(hits.record[plus])
    names = [hits.names[number] for number in numbers.tolist()]
    kept = regions.hold(names, which, hits.start[plus], hits.end[others])
    return tuple(row[kept] for row in rows)


def _batch(sites: Sites, pairs: PrimerPairs, rows: Rows, texts: GenomeTexts | None) -> ProductBatch:
    """The ProductBatch of rows of sites, in order."""
    primer, end = sites.hits.pattern, sites.hits.end
    plus, others, *probes = rows
    # The forward primer of two is the forward one of its pair, otherwise the first one given.
    ranks = np.stack([pairs.role[primer[row]].astype(np.int64) for row in rows[:2]])
    turned = np.where(ranks[0] == ranks[1], primer[plus] > primer[others], ranks[0] > ranks[1])
    forward, reverse = np.where(turned, others, plus), np.where(turned, plus, others)
    starts, ends = sites.line
    order = np.lexsort((primer[reverse], primer[forward], turned, ends[others], starts[plus]))
    plus, others, forward, reverse, turned = (
        column[order] for column in (plus, others, forward, reverse, turned)
    )
    record, minus = sites.hits.record[plus], turned.astype(np.uint8)
    start, end = sites.hits.start[plus], end[others]
    text = None
    if texts:
        text = texts.read(sites.hits.origin.number, record, start, end)
        text = _in_direction(text, minus)
    return ProductBatch(
        record,
        start,
        end,
        sites.hits.names,
        minus,
        _primer_sites(sites, forward),
        _primer_sites(sites, reverse),
        text,
        _primer_sites(sites, probes[0][order]) if probes else None,
        origin=sites.hits.origin,
    )


def _in_direction(text: Texts, minus: Bytes) -> Texts:
    """Texts of A, C, G, T or N, of which those on the strand `-` are reversed and complemented."""
    masks = encode_text(text.letters)
    for row in np.flatnonzero(minus).tolist():
        part = slice(*text.ends[row : row + 2].tolist())
        masks[part] = reverse_complement(masks[part])
    return Texts(text.ends, LETTERS[masks])


def _primer_sites(sites: Sites, rows: Longs) -> PrimerSites:
    """The PrimerSites of sites, or -1 for none."""
    at = np.maximum(rows, 0)
    hits = sites.hits.picked(at)
    primer = np.where(rows < 0, np.int32(-1), hits.pattern)
    return PrimerSites(primer, *first_turn(sites, at), hits.minus, hits.distance, hits.columns)
