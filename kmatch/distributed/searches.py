"""The searches as rounds of shards, whose answers are joined to what one machine finds."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.distributed.lists import FilesSearch, over_list
from kmatch.distributed.primers import primers
from kmatch.distributed.rounds import Round, Searches, Where
from kmatch.engine.choice import Work
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.results.batches import HitBatch, ProductBatch
from kmatch.search.best import best_batches, best_distances, best_within, warn_of_none
from kmatch.search.edit import edit_batches
from kmatch.search.hamming import hamming_batches
from kmatch.search.multi import multi_batches
from kmatch.search.panels.distances import pattern_distances
from kmatch.search.panels.panel import wanted_strands
from kmatch.search.panels.repeats import distinct_patterns, with_copies
from kmatch.search.pcr import PcrOptions, pcr_batches, pcr_products, pcr_sites
from kmatch.search.primer import primer_batches
from kmatch.search.running import Running
from kmatch.search.scanning.work import difference_work, window_work
from kmatch.search.several import Search, over_genomes
from kmatch.search.shards.joining import ShardJoiner
from kmatch.search.shards.needs import MORE, Around, needs_of
from kmatch.sequences.primer_pairs import PrimerPairs


class Devices(NamedTuple):
    """What a search runs on, for those who hear of engines."""

    description: str


def spread(search: Callable[..., Any], running: Running) -> Iterator[Any]:
    """What search(running=running) gives, found by the cluster that `running` names."""
    from kmatch.distributed.client import connected

    with connected(running.scheduler) as cluster:
        yield from spread_over(search, running, Where(cluster))


def spread_over(search: Callable[..., Any], running: Running, where: Where) -> Iterator[Any]:
    """The same with a given cluster; search: a partial of one of the functions `*_batches`."""
    call: Any = search
    given = _arguments(call)
    if running.on_engine:
        running.on_engine(Devices(where.cluster.describe()))
    if call.func is primer_batches:
        yield from primers(given, running, where)
    else:
        yield from _ROUNDS[call.func](call.func, given, running, where)


def _hits(
    find: Callable[..., Any], given: dict[str, Any], running: Running, where: Where
) -> Iterator[HitBatch]:
    """The hits of `hamming`, `multi` and `edit`."""
    genomes, k, options = as_genomes(given["genome"]), given["k"], given["options"]
    distinct, copies = distinct_patterns(given["patterns"])
    needs = needs_of(distinct, k, options)
    most = int(pattern_distances(distinct, k).max())
    estimate = difference_work if find is edit_batches else window_work
    each = partial(find, patterns=distinct, k=k)
    searches = Searches(partial(each, options=needs.options), partial(each, options=options))
    loci = len(distinct) if needs.loci else None

    def found(genome: Genome, running: Running) -> Iterable[HitBatch]:
        work = estimate(as_genomes(genome), distinct, most, options.strand)
        joiner = ShardJoiner(needs.around.context, loci)
        joined = Round(where, searches, genome, work, genomes.circular)
        return with_copies(joined.joined(joiner, needs.around, running), copies)

    yield from _over(genomes, running, found, _small(find, given, where))


def _best(
    find: Callable[..., Any], given: dict[str, Any], running: Running, where: Where
) -> Iterator[HitBatch]:
    """The hits of `best`: the smallest distances in a first round, where they are in a second."""
    genomes, options = as_genomes(given["genome"]), given["options"]
    distinct, copies = distinct_patterns(given["patterns"])
    longest = int(distinct.lengths.max())

    def closest(genome: Genome, running: Running) -> Iterable[HitBatch]:
        work = difference_work(as_genomes(genome), distinct, None, options.strand)
        search: Any = partial(best_distances, patterns=distinct, options=options)
        first = Round(where, Searches(search, search), genome, work, genomes.circular)
        least: Longs = distinct.lengths.copy()
        for found in first.values(Around(2 * longest + MORE, longest), running):
            np.minimum(least, found, out=least)
        near = least < distinct.lengths
        named = f" in {genome.label}" if genomes.named else ""
        warn_of_none(copies, ~near, named, running.on_warning)
        if not near.any():
            return []
        around = Around(longest + int(least[near].max()) + MORE, longest)
        search = partial(best_within, patterns=distinct, distances=least, options=options)
        again = first._replace(searches=Searches(search, search))
        return with_copies(again.joined(ShardJoiner(around.context), around, running), copies)

    yield from _over(genomes, running, closest, _small(find, given, where))


def _products(
    find: Callable[..., Any], given: dict[str, Any], running: Running, where: Where
) -> Iterator[ProductBatch]:
    """The products of `pcr`: sites are found by shards, and joined here."""
    genomes = as_genomes(given["genome"])
    pairs: PrimerPairs = given["pairs"]
    options: PcrOptions = given["options"]
    sites = pcr_sites(pairs, given["k"], options)
    search = partial(sites, genomes)
    found = _hits(search.func, _arguments(search), running, where)
    yield from pcr_products(found, genomes, pairs, options)


_ROUNDS: dict[Any, Callable[..., Iterator[Any]]] = {
    hamming_batches: _hits,
    multi_batches: _hits,
    edit_batches: _hits,
    best_batches: _best,
    pcr_batches: _products,
}


def _over(
    genomes: Genomes, running: Running, search: Search, small: FilesSearch
) -> Iterator[HitBatch]:
    """Yield the HitBatches of all genomes; those in a list of files may share shards."""
    if genomes.named and len(genomes.paths) == len(genomes):
        yield from over_list(genomes, running, small, search)
    else:
        yield from over_genomes(genomes, running, search)


def _small(find: Callable[..., Any], given: dict[str, Any], where: Where) -> FilesSearch:
    """The search of small genomes by one of the functions `*_batches`."""
    patterns, options, k = given["patterns"], given["options"], given.get("k")
    lengths = patterns.lengths
    deep = int((lengths if k is None else pattern_distances(patterns, k)).max())
    strands = len(wanted_strands(options.strand))
    differs = find not in (hamming_batches, multi_batches)
    work = Work(None, len(lengths) * strands, float(lengths.mean()), deep, differs)
    fixed = {name: value for name, value in given.items() if name in ("patterns", "k", "options")}
    return FilesSearch(where, partial(find, **fixed), work)


def _arguments(search: Any) -> dict[str, Any]:
    """The arguments of a partial by name, with those left at their defaults."""
    bound = inspect.signature(search.func).bind_partial(*search.args, **search.keywords)
    bound.apply_defaults()
    return bound.arguments
