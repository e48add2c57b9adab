"""The searches as rounds of shards, whose answers are joined to what one machine finds."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kmatch import __version__
from kmatch.arrays import Longs
from kmatch.distributed.files import shared_file
from kmatch.distributed.plan import SHARES, ShardPlan, shard_letters, whole_genome
from kmatch.distributed.shards import (
    Answer,
    Background,
    Job,
    PrimerJob,
    PrimerShard,
    Shard,
    pack_letters,
)
from kmatch.distributed.worker import search_starts
from kmatch.engine.choice import Work
from kmatch.engine.primers import Starts
from kmatch.genome import Genome
from kmatch.results.batches import HitBatch, PrimerBatch, ProductBatch
from kmatch.search.best import best_batches, best_distances, best_within, warn_of_none
from kmatch.search.edit import edit_batches
from kmatch.search.hamming import hamming_batches
from kmatch.search.multi import multi_batches
from kmatch.search.panels.distances import pattern_distances
from kmatch.search.panels.repeats import distinct_patterns, with_copies
from kmatch.search.pcr import PcrOptions, pcr_batches, pcr_products, pcr_sites
from kmatch.search.primer import PrimerStarts, part_of, primer_batches, raise_bounds
from kmatch.search.running import Running
from kmatch.search.scanning.work import difference_work, window_work
from kmatch.search.shards.found import batch_of, edges_of
from kmatch.search.shards.joining import ShardJoiner
from kmatch.search.shards.needs import MORE, needs_of
from kmatch.sequences.primer_pairs import PrimerPairs

STARTS = 1 << 12  # of a shard, at least


class Where(NamedTuple):
    """Who searches shards, and how large they are.

    cluster: a Cluster, or what has its methods; letters: of a shard, None for those that the work
    asks for.
    """

    cluster: Any
    letters: int | None = None


class Devices(NamedTuple):
    """What a search runs on, for those who hear of engines."""

    description: str
    name: str = "cluster"
    expected: float | None = None


def spread(search: Callable[..., Any], running: Running) -> Iterator[Any]:
    """What search(running=running) gives, found by the cluster that `running` names."""
    from kmatch.distributed.client import connected

    with connected(running.scheduler) as cluster:
        yield from spread_over(search, running, Where(cluster))


def spread_over(search: Callable[..., Any], running: Running, where: Where) -> Iterator[Any]:
    """The same with a given cluster; search: a partial of one of the functions `*_batches`."""
    call: Any = search
    given = _arguments(call)
    rounds = _ROUNDS[call.func]
    if running.on_engine:
        running.on_engine(Devices(where.cluster.describe()))
    yield from rounds(call.func, given, running, where)


def _hits(
    find: Callable[..., Any], given: dict[str, Any], running: Running, where: Where
) -> Iterator[HitBatch]:
    """The hits of `hamming`, `multi` and `edit`."""
    genome, k, options = given["genome"], given["k"], given["options"]
    distinct, copies = distinct_patterns(given["patterns"])
    needs = needs_of(distinct, k, options)
    most = int(pattern_distances(distinct, k).max())
    estimate = difference_work if find is edit_batches else window_work
    search = partial(find, patterns=distinct, k=k, options=needs.options)
    loci = len(distinct) if needs.loci else None
    round_ = _Round(where, search, genome, estimate(genome, distinct, most, options.strand))
    joiner = ShardJoiner(needs.context, loci)
    yield from with_copies(round_.joined(joiner, needs.context, running), copies)


def _best(
    find: Callable[..., Any], given: dict[str, Any], running: Running, where: Where
) -> Iterator[HitBatch]:
    """The hits of `best`: the smallest distances in a first round, where they are in a second."""
    genome, options = given["genome"], given["options"]
    distinct, copies = distinct_patterns(given["patterns"])
    longest = int(distinct.lengths.max())
    work = difference_work(genome, distinct, None, options.strand)
    search: Any = partial(best_distances, patterns=distinct, options=options)
    least: Longs = distinct.lengths.copy()
    for found in _Round(where, search, genome, work).values(2 * longest + MORE, running):
        np.minimum(least, found, out=least)
    warn_of_none(distinct, copies, least, running)
    near = least < distinct.lengths
    if not near.any():
        return
    context = longest + int(least[near].max()) + MORE
    search = partial(best_within, patterns=distinct, distances=least, options=options)
    found_again = _Round(where, search, genome, work).joined(ShardJoiner(context), context, running)
    yield from with_copies(found_again, copies)


def _products(
    find: Callable[..., Any], given: dict[str, Any], running: Running, where: Where
) -> Iterator[ProductBatch]:
    """The products of `pcr`: sites are found by shards, and joined here."""
    genome: Genome = given["genome"]
    pairs: PrimerPairs = given["pairs"]
    options: PcrOptions = given["options"]
    sites = pcr_sites(pairs, given["k"], options)
    search = partial(sites, genome)
    found = _hits(search.func, _arguments(search), running, where)
    yield from pcr_products(found, genome, pairs, options)


class _UnseenBackground(Exception):
    """A worker has not got the file of the background."""


def _primers(
    find: Callable[..., Any], given: dict[str, Any], running: Running, where: Where
) -> Iterator[PrimerBatch]:
    """The primers of `primer`: shards are starts, each with all of the background."""
    background, options = given["background"], given["options"]
    k = given["k"]
    starts = PrimerStarts(given["target"], k, options)
    search = partial(raise_bounds, k=k, options=options)
    file = shared_file(background.path) if background.path is not None else None
    if file is not None:
        with suppress(_UnseenBackground):
            by_file = Background(background.label, file, None, None)
            _raise_by_shards(starts.known, search, by_file, running, where)
            yield from starts.batches()
            return
    extent, letters = whole_genome(background)
    sent = Background(background.label, None, extent, pack_letters(letters))
    _raise_by_shards(starts.known, search, sent, running, where)
    yield from starts.batches()


def _raise_by_shards(
    starts: Starts, search: Any, background: Background, running: Running, where: Where
) -> None:
    """Raise the bounds of starts, in place."""

    def unseen(shard: PrimerShard) -> PrimerShard:
        raise _UnseenBackground

    total, cluster = len(starts.masks), where.cluster
    step = where.letters or max(-(-total // (SHARES * cluster.threads)), STARTS)
    sent = background.letters is not None
    shards = (
        PrimerShard(number, begin, part_of(starts, begin, min(begin + step, total)), sent)
        for number, begin in enumerate(range(0, total, step))
    )
    job = PrimerJob(__version__, search, _told(running), background)
    for shard, answer in cluster.answers(job, shards, unseen, search_starts):
        end = min(shard.begin + step, total)
        starts.bounds[shard.begin : end] = answer.value[: end - shard.begin]
        if running.on_progress:
            running.on_progress(shard.number + 1, -(-total // step))


_ROUNDS: dict[Any, Callable[..., Iterator[Any]]] = {
    hamming_batches: _hits,
    multi_batches: _hits,
    edit_batches: _hits,
    best_batches: _best,
    pcr_batches: _products,
    primer_batches: _primers,
}


class _Round(NamedTuple):
    """One search of all shards of a genome.

    search: a partial that lacks genome and running; work: of all of it.
    """

    where: Where
    search: Callable[..., Any]
    genome: Genome
    work: Work

    def values(self, context: int, running: Running) -> Iterator[Any]:
        """Yield the value that each shard gives."""
        for _, answer in self._answers(context, running):
            yield answer.value

    def joined(self, joiner: ShardJoiner, context: int, running: Running) -> Iterator[HitBatch]:
        """Yield the hits of all shards, joined."""
        for shard, answer in self._answers(context, running):
            assert answer.hits
            yield from joiner.take(batch_of(answer.hits), edges_of(answer.edges), shard.extent)
        yield from joiner.finish()

    def _answers(self, context: int, running: Running) -> Iterable[tuple[Shard, Answer]]:
        cluster = self.where.cluster
        letters = self.where.letters or shard_letters(self.work, cluster.threads)
        plan = ShardPlan(self.genome, letters, context)
        job = Job(__version__, self.search, _told(running), running.aligned)
        heard: set[str] = set()
        count = plan.count if running.on_progress else None
        for shard, answer in cluster.answers(job, plan, plan.fill):
            for warning in answer.warnings:
                if warning not in heard:
                    heard.add(warning)
                    running.on_warning(warning)
            if running.on_spans:
                running.on_spans(shard.extent.spans())
            if running.on_progress:
                running.on_progress(shard.number + 1, count)
            yield shard, answer


def _arguments(search: Any) -> dict[str, Any]:
    """The arguments of a partial by name, with those left at their defaults."""
    bound = inspect.signature(search.func).bind_partial(*search.args, **search.keywords)
    bound.apply_defaults()
    return bound.arguments


def _told(running: Running) -> Running:
    """How shards run: as the search, without those here who hear of it."""
    return Running(running.device, running.threads or 1, running.algorithm, on_warning=_ignore)


def _ignore(message: str) -> None:
    """Nobody hears of it."""
