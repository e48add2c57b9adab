"""In-silico PCR: the products that pairs of primers make within their distances."""

from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from itertools import groupby
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.engine.types import LETTERS
from kmatch.errors import PAIRINGS, InputError, check_choice, checked_count, warn
from kmatch.genome import Genome
from kmatch.results.batches import HitBatch, PrimerSites, ProductBatch, Texts, numbers_of
from kmatch.search.alignments import GenomeTexts
from kmatch.search.products import (
    Groups,
    Limits,
    Sites,
    finished_sites,
    first_turn,
    joined_sites,
    with_second_turns,
    within_one_turn,
)
from kmatch.search.query import Query
from kmatch.search.regions import Regions
from kmatch.search.rules import check_ends
from kmatch.search.search import Search
from kmatch.sequences.alphabet import encode_text, reverse_complement
from kmatch.sequences.primer_pairs import PrimerPairs

PRODUCT = (50, 5000)
MANY = 1_000_000  # products of a search


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
        self.engine, self.progress = sites.engine, sites.progress

    def everywhere(self) -> Iterator[ProductBatch]:
        """Yield the products in one genome after another."""
        products = 0
        for number, hits in groupby(self._kept(), lambda batch: batch.origin.number):
            for batch in self._of_genome(number, hits):
                before, products = products, products + len(batch)
                if before <= MANY < products:
                    warn(
                        f"more than {MANY:,} products, and more to come; a smaller k, more letters "
                        "that must match at the 3′ ends or a narrower range of lengths leaves fewer"
                    )
                yield batch

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
            hits = with_second_turns(hits, longest)
        with closing(texts) if texts else nullcontext():
            for sites, count in finished_sites(hits, longest):
                for rows in joined_sites(sites, count, self._groups, self._limits):
                    rows = within_one_turn(sites, rows)
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
    if mixed:
        return Groups(np.zeros(len(pairs.primers), np.int64), np.zeros(1, np.int64))
    return Groups(2 * pairs.pair + pairs.role, np.arange(2 * len(pairs)) ^ 1)


def _inside(regions: Regions, sites: Sites, rows: tuple[Longs, Longs]) -> tuple[Longs, Longs]:
    """The products, as rows (on `+`, on `-`), that are inside a region."""
    plus, others = rows
    hits = sites.hits
    numbers, which = numbers_of(hits.record[plus])
    names = [hits.names[number] for number in numbers.tolist()]
    kept = regions.hold(names, which, hits.start[plus], hits.end[others])
    return plus[kept], others[kept]


def _batch(
    sites: Sites, pairs: PrimerPairs, rows: tuple[Longs, Longs], texts: GenomeTexts | None
) -> ProductBatch:
    """The ProductBatch of (sites on `+`, sites on `-`), in order."""
    primer, end = sites.hits.pattern, sites.hits.end
    plus, others = rows
    # The forward primer of two is the forward one of its pair, otherwise the first one given.
    ranks = np.stack([pairs.role[primer[row]].astype(np.int64) for row in rows])
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
    hits = sites.hits.picked(rows)
    return PrimerSites(hits.pattern, *first_turn(sites, rows), hits.distance, hits.columns)
