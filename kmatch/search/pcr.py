"""In-silico PCR: the products that pairs of primers make within their distances."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.errors import PAIRINGS, InputError, check_choice, checked_count
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.results.batches import HitBatch, PrimerSites, ProductBatch, numbers_of
from kmatch.search.edit import EditOptions, edit_batches
from kmatch.search.hamming import HammingOptions, hamming_batches
from kmatch.search.panels.checks import check_ends
from kmatch.search.products.circles import first_turn, with_second_turns, within_one_turn
from kmatch.search.products.joins import Groups, Limits, Sites, finished_sites, joined_sites
from kmatch.search.products.texts import ProductTexts
from kmatch.search.regions import Regions
from kmatch.search.running import HOOKS, RUNNING, Hooks, Running
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


def pcr_batches(
    genome: Genome | Genomes,
    pairs: PrimerPairs,
    k: int | str,
    options: PcrOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Iterator[ProductBatch]:
    """Yield the products as ProductBatches, in order, while the genome is read.

    k: 0 ≤ k < m for every primer, or a share of m such as `10%`. genome: it is read twice, if it is
    not kept, where the text of products is asked for. Raises InputError and DeviceError as
    `kmatch.pcr` does.
    """
    genomes = as_genomes(genome)
    sites = pcr_sites(pairs, k, options)(genomes, running=running, hooks=hooks)
    return _counted(pcr_products(sites, genomes, pairs, options), running)


def _counted(batches: Iterable[ProductBatch], running: Running) -> Iterator[ProductBatch]:
    """The same batches; warns as soon as they hold more products than anyone reads."""
    products = 0
    for batch in batches:
        before, products = products, products + len(batch)
        if before <= MANY < products:
            running.on_warning(
                f"more than {MANY:,} products, and more to come; a smaller k, more letters that "
                "must match at the 3′ ends or a narrower range of lengths leaves fewer"
            )
        yield batch


def pcr_sites(
    pairs: PrimerPairs, k: int | str, options: PcrOptions
) -> Callable[..., Iterator[HitBatch]]:
    """The search for the sites of primers, a partial that lacks the genomes."""
    check_pcr(pairs, options)
    if options.edit:
        loci = EditOptions("loci", exact_3p=options.exact_3p)
        return partial(edit_batches, patterns=pairs.primers, k=k, options=loci)
    windows = HammingOptions(exact_3p=options.exact_3p)
    return partial(hamming_batches, patterns=pairs.primers, k=k, options=windows)


def pcr_products(
    sites: Iterable[HitBatch], genomes: Genomes, pairs: PrimerPairs, options: PcrOptions
) -> Iterator[ProductBatch]:
    """Yield the products that sites make, in order; genomes: read where their text is asked for."""
    return _by_genome(sites, pairs, check_pcr(pairs, options), options, genomes)


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


def _by_genome(
    sites: Iterable[HitBatch],
    pairs: PrimerPairs,
    limits: Limits,
    options: PcrOptions,
    genomes: Genomes,
) -> Iterator[ProductBatch]:
    groups = _groups(pairs, options.pairs == "any")
    hits: Iterable[HitBatch]
    regions = genomes.regions
    if regions:  # as a product is inside one only if its sites are
        sites = (found for batch in sites if len(found := regions.inside(batch)))
    for number, hits in groupby(sites, lambda batch: batch.origin.number):
        texts = None
        if options.sequence:
            texts = ProductTexts(genomes.genome(number), genomes.circular, limits.most)
        if genomes.circular:
            hits = with_second_turns(hits, limits.most)
        yield from _products(hits, pairs, groups, limits, texts, regions)


def _products(
    hits: Iterable[HitBatch],
    pairs: PrimerPairs,
    groups: Groups,
    limits: Limits,
    texts: ProductTexts | None,
    regions: Regions | None,
) -> Iterator[ProductBatch]:
    with closing(texts) if texts else nullcontext():
        for sites, count in finished_sites(hits, limits.most):
            for rows in joined_sites(sites, count, groups, limits):
                rows = within_one_turn(sites, rows)
                if regions:
                    rows = _inside(regions, sites, rows)
                if len(rows[0]):
                    yield _batch(sites, pairs, rows, texts)


def _inside(regions: Regions, sites: Sites, rows: tuple[Longs, Longs]) -> tuple[Longs, Longs]:
    """The products, as rows (on `+`, on `-`), that are inside a region."""
    plus, others = rows
    hits = sites.hits
    numbers, which = numbers_of(hits.record[plus])
    names = [hits.names[number] for number in numbers.tolist()]
    kept = regions.hold(names, which, hits.start[plus], hits.end[others])
    return plus[kept], others[kept]


def _batch(
    sites: Sites, pairs: PrimerPairs, rows: tuple[Longs, Longs], texts: ProductTexts | None
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
    text = texts.read(record, start, end, minus) if texts else None
    return ProductBatch(
        record,
        start,
        end,
        sites.hits.names,
        minus,
        _primer_sites(sites, forward),
        _primer_sites(sites, reverse),
        text,
        sites.hits.origin,
    )


def _primer_sites(sites: Sites, rows: Longs) -> PrimerSites:
    hits = sites.hits.picked(rows)
    return PrimerSites(hits.pattern, *first_turn(sites, rows), hits.distance, hits.columns)
