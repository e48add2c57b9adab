"""In-silico PCR: the products that pairs of primers make within their distances.

Sites of primers come in the order of hits. A site on `+` waits until every site on `-` that it can
be joined to has come; what waits is within the longest product.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np

from kmatch.apps.searches import begin_search
from kmatch.arguments import PAIRINGS, check_choice, checked_count
from kmatch.arrays import Bools, Bytes, Longs, bounds_of, gather
from kmatch.engine.types import LETTERS, Texts
from kmatch.errors import InputError, warn
from kmatch.genome import Genomes
from kmatch.results.batches import ENDLESS, HitBatch, ProductBatch, joined, no_hits, sizes_of
from kmatch.search.alignments import GenomeTexts
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.search import by_record
from kmatch.sequences.alphabet import encode_text, reverse_complement
from kmatch.sequences.oligos import PROBE, PrimerPairs

PRODUCT = (50, 5000)
MANY = 1_000_000  # products of a search
PRODUCTS = 1 << 15  # yielded together, and any others that start where the last of them does


Rows = tuple[Longs, ...]  # of sites, by number: on `+`, on `-` and of a probe


class Joins(NamedTuple):
    """What is joined, by oligo, int64 each: primers of group g on `+` to those of group partner g
    on `-`, around a probe of the pair `probe`, -1 where products hold none. probes: bool, whether
    an oligo is one."""

    group: Longs
    partner: Longs
    probe: Longs
    probes: Bools


class Sites(NamedTuple):
    """Sites of oligos in the order of hits; start, end: on one line, on which no product reaches
    from record to record; size: letters of the circular records that they are in."""

    hits: HitBatch
    start: Longs
    end: Longs
    size: Longs


def _on_one_line(hits: HitBatch, most: int) -> Sites:
    """Sites, of which no product has more than `most` letters."""
    first = np.flatnonzero(np.diff(hits.record, prepend=-1))
    reached = np.maximum.reduceat(hits.end, first)
    counts = np.diff(np.append(first, len(hits)))
    shift = np.repeat(bounds_of(reached + most)[:-1], counts)
    size = sizes_of(hits.record, hits.origin.circles or {})
    return Sites(hits, hits.start + shift, hits.end + shift, size)


def finished_sites(batches: Iterable[HitBatch], most: int) -> Iterator[tuple[Sites, int]]:
    """Yield Sites, and how many of the first are finished, as no product reaches from them to what
    is to come; the others come again."""
    waiting = no_hits()
    for batch in filter(len, batches):
        sites = _on_one_line(joined([waiting, batch]), most)
        count = int(np.searchsorted(sites.start, sites.start[-1] - most, side="right"))
        yield sites, count
        waiting = sites.hits.picked(slice(count, None))
    if len(waiting):
        yield _on_one_line(waiting, most), len(waiting)


def joined_sites(
    sites: Sites, count: int, joins: Joins, product: tuple[int, int]
) -> Iterator[Rows]:
    """Yield the products of the first sites on `+`, as rows (on `+`, on `-`), int64[n] each, none
    of which goes round a circle more than once.

    They come in the order of these first sites' starts, of which none is shared by two parts.
    """
    (least, most), oligo = product, sites.hits.pattern
    minus, primer = sites.hits.minus == 1, ~joins.probes[oligo]
    plus = np.flatnonzero((primer & ~minus)[:count])
    others = np.flatnonzero(primer & minus)
    # By group, a line of its own each, on which no product reaches from group to group.
    apart = int(sites.start[-1]) + most + 1
    others = others[np.argsort(joins.group[oligo[others]], kind="stable")]
    place = joins.group[oligo[others]] * apart + sites.start[others]
    first = joins.partner[oligo[plus]] * apart + sites.start[plus]
    longest = int((sites.end - sites.start).max())
    low = np.searchsorted(place, first + max(least - longest, 0))
    many = np.searchsorted(place, first + most) - low
    for part in _parts(sites.start[plus], many):
        bounds = bounds_of(many[part])
        on_plus = np.repeat(plus[part], many[part])
        on_minus = gather(others, low[part], bounds)
        length = sites.end[on_minus] - sites.start[on_plus]
        kept = (sites.end[on_minus] >= sites.end[on_plus]) & (length >= least)
        kept &= length <= np.minimum(most, sites.size[on_plus])
        if kept.any():
            yield on_plus[kept], on_minus[kept]


def _parts(starts: Longs, many: Longs) -> Iterator[slice]:
    """Cut sites into parts of about PRODUCTS products, between two starts."""
    first = np.flatnonzero(np.diff(starts, prepend=-1))
    part = (np.cumsum(many) - many)[first] // PRODUCTS
    cuts = first[np.flatnonzero(np.diff(part, prepend=-1))].tolist()
    yield from map(slice, cuts, [*cuts[1:], len(starts)])


def with_probes(sites: Sites, rows: Rows, joins: Joins) -> Rows:
    """Of products, as rows (on `+`, on `-`), those that hold a probe or need none, with the closest
    site of a probe in each, the first of these, as a third row; -1 where it needs none."""
    plus, others = rows
    oligo, (_, starts, ends, _) = sites.hits.pattern, sites
    wanted = joins.probe[oligo[plus]]
    probes = np.flatnonzero(joins.probes[oligo])
    apart = int(ends.max()) + 1
    probes = probes[np.argsort(joins.probe[oligo[probes]], kind="stable")]
    place = joins.probe[oligo[probes]] * apart + starts[probes]
    low = np.searchsorted(place, wanted * apart + starts[plus])
    many = np.searchsorted(place, wanted * apart + ends[others]) - low
    many[wanted < 0] = 0
    product = np.repeat(np.arange(len(plus)), many)
    probe = gather(probes, low, bounds_of(many))
    held = ends[probe] <= ends[others][product]
    product, probe = product[held], probe[held]
    order = np.lexsort((probe, sites.hits.distance[probe], product))
    best = order[np.flatnonzero(np.diff(product[order], prepend=-1))]
    found = np.full(len(plus), -1)
    found[product[best]] = probe[best]
    kept = (wanted < 0) | (found >= 0)
    return plus[kept], others[kept], found[kept]


def with_second_turns(batches: Iterable[HitBatch], most: int, probes: Bools) -> Iterator[HitBatch]:
    """The HitBatches, and behind those of a circular record its sites on `-` and of probes a turn
    later, as far as products of up to `most` letters reach; probes: as Joins has them."""
    for sites in by_record(batches):
        size = sizes_of(sites.record, sites.origin.circles or {})
        turns = (sites.minus == 1) | probes[sites.pattern]
        near = np.flatnonzero(turns & (size < ENDLESS) & (sites.start < most))
        later = sites.picked(near)
        later = replace(later, start=later.start + size[near], end=later.end + size[near])
        both = joined([sites, later])
        yield both.picked(np.lexsort((both.start, both.record)))


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


class PcrSearch:
    """The search for the products that sites of primers make, while the genome is read: iterated
    once, it gives ProductBatches.

    k: of primers; the rest is as a Search has it. A genome that is not kept is read twice where the
    text of products is asked for. Warns as soon as there are more products than anyone reads.
    """

    def __init__(
        self,
        pairs: PrimerPairs,
        genomes: Genomes,
        k: int | str,
        options: PcrOptions,
        run: Run = RUN,
        regions: Regions | None = None,
    ) -> None:
        # A product is inside a region only if its sites are.
        self._sites = begin_search(site_query(pairs, k, options), genomes, run, regions)
        self._pairs, self._options, self.regions = pairs, options, regions
        self.engine, self.progress = self._sites.engine, self._sites.progress

    def __iter__(self) -> Iterator[ProductBatch]:
        products = 0
        for batch in products_of(self._sites, self._sites.genomes, self._pairs, self._options):
            before, products = products, products + len(batch)
            if before <= MANY < products:
                warn(
                    f"more than {MANY:,} products, and more to come; a smaller k, more letters "
                    "that must match at the 3′ ends or a narrower range of lengths leaves fewer"
                )
            yield self.regions.inside(batch) if self.regions else batch


def products_of(
    sites: Iterable[HitBatch], genomes: Genomes, pairs: PrimerPairs, options: PcrOptions
) -> Iterator[ProductBatch]:
    """Yield the products of sites, in order, of one genome after another."""
    joins, most = _joins(pairs, options), options.product[1]
    has_probes = bool((joins.probe >= 0).any())
    texts = GenomeTexts(genomes, most) if options.sequence else None
    for _, hits in groupby(sites, lambda batch: batch.origin.number):
        hits = with_second_turns(hits, most, joins.probes) if genomes.circular else hits
        for found, count in finished_sites(hits, most):
            for rows in joined_sites(found, count, joins, options.product):
                rows = with_probes(found, rows, joins) if has_probes else rows
                if len(rows[0]):
                    yield _batch(found, pairs, rows, texts)


def site_query(pairs: PrimerPairs, k: int | str, options: PcrOptions) -> Query:
    """The Query for the sites of primers. Raises InputError for options that they do not fit."""
    check_choice("pairs", options.pairs, PAIRINGS)
    if options.pairs == "own":
        pairs.check_partners()
    try:
        least, most = options.product
    except (TypeError, ValueError):
        raise InputError(
            f"product is {options.product!r}; give two numbers, the least and the most"
        ) from None
    if checked_count("product", least) > checked_count("product", most):
        raise InputError(f"product: the least, {least}, is more than the most, {most}")
    problem, report = ("edit", "loci") if options.edit else ("hamming", None)
    return Query(problem, pairs.primers, k, exact_3p=options.exact_3p, report=report)


def _joins(pairs: PrimerPairs, options: PcrOptions) -> Joins:
    probes = pairs.role == PROBE
    if options.pairs == "any":  # whatever the probes
        none = np.zeros(len(probes), np.int64)
        return Joins(none, none, none - 1, probes)
    group = 2 * pairs.pair + pairs.role
    probe = np.where(pairs.sides[pairs.pair, PROBE], pairs.pair, -1)
    return Joins(group, group ^ 1, probe, probes)


def _batch(sites: Sites, pairs: PrimerPairs, rows: Rows, texts: GenomeTexts | None) -> ProductBatch:
    """The ProductBatch of rows of sites, in order."""
    primer, end = sites.hits.pattern, sites.hits.end
    plus, others, *probes = rows
    # The forward primer of two is the forward one of its pair, otherwise the first one given.
    ranks = np.stack([pairs.role[primer[row]].astype(np.int64) for row in rows[:2]])
    turned = np.where(ranks[0] == ranks[1], primer[plus] > primer[others], ranks[0] > ranks[1])
    forward, reverse = np.where(turned, others, plus), np.where(turned, plus, others)
    keys = primer[reverse], primer[forward], turned, sites.end[others], sites.start[plus]
    order = np.lexsort(keys)
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
        part = slice(*text.bounds[row : row + 2].tolist())
        masks[part] = reverse_complement(masks[part])
    return Texts(text.bounds, LETTERS[masks])


def _primer_sites(sites: Sites, rows: Longs) -> HitBatch:
    """The HitBatch of sites, of pattern -1 for row -1, each of which begins in the letters of its
    record."""
    at = np.maximum(rows, 0)
    hits, size = sites.hits.picked(at), sites.size[at]
    turned = np.where(hits.start >= size, size, 0)
    pattern = np.where(rows < 0, np.int32(-1), hits.pattern)
    return replace(hits, pattern=pattern, start=hits.start - turned, end=hits.end - turned)
