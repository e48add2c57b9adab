"""In-silico PCR: the products that pairs of primers make within their distances.

A product reaches from a site on `+` to a site on `-` that faces it. Where its pair has a probe,
there is a site of that inside, on either strand:

    forward site →                                       +
    |=========>-------------(=====)--------------------
    ---------------------------------------<==========|
                              probe     ← reverse site   -

It may be the other way round, with the reverse site on `+`. The steps are: the sites of all oligos
are searched for (`site_query`); which oligos make products with which is written down
(`joins_of`); sites are joined, and probes looked for (`kmatch.apps.joins`); the products are put in
order (`_batch`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np

from kmatch.apps.apart import begin_apart
from kmatch.apps.joins import (
    NO_PAIR,
    NO_ROW,
    Joins,
    ProductRows,
    Sites,
    finished_sites,
    joined_sites,
    with_probes,
    with_second_turns,
)
from kmatch.apps.reasons import SiteTally, explained
from kmatch.arguments import PAIRINGS, check_choice, checked_count
from kmatch.arrays import Bytes, Longs, order_of
from kmatch.engine.types import LETTERS, Texts
from kmatch.errors import InputError, counted, warn
from kmatch.genome import Genomes
from kmatch.results.batches import HitBatch, ProductBatch, no_hits
from kmatch.search.alignments import GenomeTexts
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.sequences.alphabet import encode_text, reverse_complement
from kmatch.sequences.oligos import PROBE, PrimerPairs

PRODUCT = (50, 5000)
MANY = 1_000_000  # products of a search


class PcrOptions(NamedTuple):
    """How sites are found and joined.

    product: letters of a product at least and at most, primers included; pairs: `own` joins the
    partners of a pair, `any` any two primers; edit: whether sites are the loci of `edit`, with
    insertions and deletions; exact_3p: last letters of a primer that must match; sequence: whether
    products come with their text; max_unknown: unknown letters of a site at the most, None where
    they match nothing.
    """

    product: tuple[int, int] = PRODUCT
    pairs: str = "own"
    edit: bool = False
    exact_3p: int = 0
    sequence: bool = False
    max_unknown: int | None = None


class PcrSearch:
    """The search for the products that sites of primers make, while the genome is read: iterated
    once, it gives ProductBatches.

    k: of primers; the rest is as a Search has it. A genome that is not kept is read twice where the
    text of products is asked for, and where primers and probes are searched apart. Warns as soon as
    there are more products than anyone reads.
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
        query = site_query(pairs, k, options)
        self._sites = begin_apart(query, pairs.role == PROBE, genomes, run, regions)
        self._tally = SiteTally(pairs, joins_of(pairs, options))
        self._pairs = pairs
        self._options = options
        self._count = 0  # of products, inside regions and elsewhere
        self.regions = regions
        self.engine = self._sites.engine
        self.progress = self._sites.progress

    def __iter__(self) -> Iterator[ProductBatch]:
        count = 0
        batches = products_of(
            self._sites, self._sites.genomes, self._pairs, self._options, self._tally
        )
        for batch in batches:
            if count <= MANY < count + len(batch):
                warn(
                    f"more than {MANY:,} products, and more to come; a smaller k, more letters "
                    "that must match at the 3′ ends or a narrower range of lengths leaves fewer"
                )
            count += len(batch)
            yield self.regions.inside(batch) if self.regions else batch
        self._count = count

    def why_none(self) -> str:
        """Return in a line why there is no product, once the search is over and found none."""
        why = explained(self._tally, self._pairs, self._options.product)
        if self._count:
            why = f"of {counted(self._count, 'product')} none lies in one region"
        where = " in these regions" if self.regions else ""
        return f"no product{where}; {why}"


def site_query(pairs: PrimerPairs, k: int | str, options: PcrOptions) -> Query:
    """Return the Query for the sites of primers and probes.

    Raises InputError for options that they do not fit.
    """
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
    query = Query(
        "edit" if options.edit else "hamming",
        pairs.primers,
        k,
        exact_3p=options.exact_3p,
        max_unknown=options.max_unknown,
    )
    return query._replace(report="loci") if options.edit else query


def products_of(
    batches: Iterable[HitBatch],
    genomes: Genomes,
    pairs: PrimerPairs,
    options: PcrOptions,
    tally: SiteTally,
) -> Iterator[ProductBatch]:
    """Yield the products of sites, in order, of one genome after another.

    batches: of the sites that a `site_query` has in the genomes; tally: notes them.
    """
    longest = options.product[1]
    joins = joins_of(pairs, options)
    texts = GenomeTexts(genomes, longest) if options.sequence else None
    for _, of_genome in groupby(tally.heard(batches), lambda batch: batch.origin.number):
        if genomes.circular:
            of_genome = with_second_turns(of_genome, longest, joins.is_probe)
        for sites, finished_count in finished_sites(of_genome, longest):
            for products in joined_sites(sites, finished_count, joins, options.product):
                hits = sites.hits
                tally.note_products(hits.record[products.plus], hits.pattern[products.plus])
                if joins.has_probes:
                    products = with_probes(sites, products, joins)
                if len(products):
                    yield _batch(sites, products, joins, texts)


def joins_of(pairs: PrimerPairs, options: PcrOptions) -> Joins:
    """Return the Joins of PrimerPairs."""
    count = len(pairs.primers)
    is_probe = pairs.role == PROBE
    # The forward primer of its pair comes before the reverse one, and of two forward primers, as
    # `any` joins them, the one that was given first.
    rank = pairs.role.astype(np.int64) * count + np.arange(count)
    if options.pairs == "any":  # whatever the probes
        one_group = np.zeros(count, np.int64)
        no_pair = np.full(count, NO_PAIR)
        return Joins(one_group, one_group, no_pair, is_probe, rank)
    # The forward primers of pair p are group 2 p, its reverse ones group 2 p + 1.
    group = 2 * pairs.pair + pairs.role
    needs_probe = pairs.sides[pairs.pair, PROBE]
    probe_pair = np.where(needs_probe, pairs.pair, NO_PAIR)
    return Joins(group, group ^ 1, probe_pair, is_probe, rank)


def no_products() -> ProductBatch:
    """Return a ProductBatch without rows."""
    sites = no_hits()
    return ProductBatch(
        sites.record, sites.start, sites.end, {}, sites.minus, sites, sites, text=None
    )


def _batch(
    sites: Sites, products: ProductRows, joins: Joins, texts: GenomeTexts | None
) -> ProductBatch:
    """Return the ProductBatch of products, in order; texts: where their letters are read, if they
    are to have them."""
    products = products.take(_order(sites, products))
    minus = products.is_turned.astype(np.uint8)
    hits = sites.hits
    record = hits.record[products.plus]
    start = hits.start[products.plus]
    end = hits.end[products.minus]
    text = None
    if texts:
        text = _in_direction(texts.read(hits.origin.number, record, start, end), minus)
    return ProductBatch(
        record,
        start,
        end,
        hits.names,
        minus,
        forward=_oligo_sites(sites, products.forward),
        reverse=_oligo_sites(sites, products.reverse),
        text=text,
        probe=_oligo_sites(sites, products.probe) if joins.has_probes else None,
        origin=hits.origin,
    )


def _order(sites: Sites, products: ProductRows) -> Longs:
    """Return the order of products: by start, end, strand and primers, int64[n]."""
    start = sites.start[products.plus]
    size = sites.end[products.minus] - start
    strand = products.is_turned.astype(np.uint8)
    return order_of(
        start, size, strand, sites.oligo[products.forward], sites.oligo[products.reverse]
    )


def _in_direction(text: Texts, minus: Bytes) -> Texts:
    """Return texts of A, C, G, T or N as their strand reads them.

    minus: uint8[n], 1 for texts that are to be reversed and complemented.
    """
    masks = encode_text(text.letters)
    for row in np.flatnonzero(minus).tolist():
        begin, end = text.bounds[row : row + 2].tolist()
        masks[begin:end] = reverse_complement(masks[begin:end])
    return Texts(text.bounds, LETTERS[masks])


def _oligo_sites(sites: Sites, rows: Longs) -> HitBatch:
    """Return the HitBatch of rows of Sites. Each begins in the letters of its record.

    A site that stands a turn later, behind the end of a circular record, goes back by a turn. Where
    there is NO_ROW, the pattern is -1.
    """
    is_missing = rows == NO_ROW
    rows = np.where(is_missing, 0, rows)
    hits = sites.hits.picked(rows)
    circle_size = sites.circle_size[rows]
    back = np.where(hits.start >= circle_size, circle_size, 0)
    pattern = np.where(is_missing, np.int32(-1), hits.pattern)
    return replace(hits, pattern=pattern, start=hits.start - back, end=hits.end - back)
