"""The searches as rounds of shards, whose answers are joined to what one machine finds."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kmatch import __version__
from kmatch.arrays import Longs
from kmatch.distributed.files import SharedFile, estimated_letters, shared_file
from kmatch.distributed.plan import (
    MOST,
    SHARES,
    FilesPlan,
    ShardPlan,
    shard_letters,
    whole_genome,
)
from kmatch.distributed.shards import (
    Answer,
    Background,
    Job,
    PrimerJob,
    PrimerShard,
    Shard,
    pack_letters,
)
from kmatch.distributed.worker import search_files, search_starts
from kmatch.engine.choice import Work
from kmatch.engine.primers import Starts
from kmatch.errors import ClusterError
from kmatch.genome import Genome
from kmatch.genomes import Genomes, as_genomes
from kmatch.results.batches import HitBatch, Origin, PrimerBatch, ProductBatch
from kmatch.search.best import best_batches, best_distances, best_within, warn_of_none
from kmatch.search.edit import edit_batches
from kmatch.search.hamming import hamming_batches
from kmatch.search.multi import multi_batches
from kmatch.search.panels.distances import pattern_distances
from kmatch.search.panels.panel import wanted_strands
from kmatch.search.panels.repeats import distinct_patterns, with_copies
from kmatch.search.pcr import PcrOptions, pcr_batches, pcr_products, pcr_sites
from kmatch.search.primer import PrimerStarts, part_of, primer_batches, raise_bounds
from kmatch.search.running import Running
from kmatch.search.scanning.work import difference_work, window_work
from kmatch.search.several import over_genomes
from kmatch.search.shards.found import batch_of, edges_of
from kmatch.search.shards.joining import ShardJoiner, in_parts
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
    genomes, k, options = _linear(given["genome"]), given["k"], given["options"]
    if (files := _small_files(genomes)) is not None:
        yield from _of_files(find, given, files, running, where)
        return
    distinct, copies = distinct_patterns(given["patterns"])
    needs = needs_of(distinct, k, options)
    most = int(pattern_distances(distinct, k).max())
    estimate = difference_work if find is edit_batches else window_work
    search = partial(find, patterns=distinct, k=k, options=needs.options)
    loci = len(distinct) if needs.loci else None

    def found(genome: Genome, running: Running) -> Iterable[HitBatch]:
        work = estimate(as_genomes(genome), distinct, most, options.strand)
        joiner = ShardJoiner(needs.context, loci)
        joined = _Round(where, search, genome, work).joined(joiner, needs.context, running)
        return with_copies(joined, copies)

    yield from over_genomes(genomes, running, found)


def _best(
    find: Callable[..., Any], given: dict[str, Any], running: Running, where: Where
) -> Iterator[HitBatch]:
    """The hits of `best`: the smallest distances in a first round, where they are in a second."""
    genomes, options = _linear(given["genome"]), given["options"]
    if (files := _small_files(genomes)) is not None:
        yield from _of_files(find, given, files, running, where)
        return
    distinct, copies = distinct_patterns(given["patterns"])
    longest = int(distinct.lengths.max())

    def closest(genome: Genome, running: Running) -> Iterable[HitBatch]:
        work = difference_work(as_genomes(genome), distinct, None, options.strand)
        search: Any = partial(best_distances, patterns=distinct, options=options)
        least: Longs = distinct.lengths.copy()
        for found in _Round(where, search, genome, work).values(2 * longest + MORE, running):
            np.minimum(least, found, out=least)
        near = least < distinct.lengths
        named = f" in {genome.label}" if genomes.named else ""
        warn_of_none(copies, ~near, named, running.on_warning)
        if not near.any():
            return []
        context = longest + int(least[near].max()) + MORE
        search = partial(best_within, patterns=distinct, distances=least, options=options)
        again = _Round(where, search, genome, work)
        return with_copies(again.joined(ShardJoiner(context), context, running), copies)

    yield from over_genomes(genomes, running, closest)


def _products(
    find: Callable[..., Any], given: dict[str, Any], running: Running, where: Where
) -> Iterator[ProductBatch]:
    """The products of `pcr`: sites are found by shards, and joined here."""
    genomes = _linear(given["genome"])
    pairs: PrimerPairs = given["pairs"]
    options: PcrOptions = given["options"]
    sites = pcr_sites(pairs, given["k"], options)
    search = partial(sites, genomes)
    found = _hits(search.func, _arguments(search), running, where)
    yield from pcr_products(found, genomes, pairs, options)


def _small_files(genomes: Genomes) -> list[SharedFile] | None:
    """The files of several genomes, none of which is too large for one shard; None elsewhere."""
    if not genomes.named or len(genomes.paths) < len(genomes):
        return None
    files = [shared_file(path) for path in genomes.paths]
    known = [file for file in files if file and estimated_letters(file) <= MOST]
    return known if len(known) == len(files) else None


def _of_files(
    find: Callable[..., Any],
    given: dict[str, Any],
    files: list[SharedFile],
    running: Running,
    where: Where,
) -> Iterator[HitBatch]:
    """The hits of small genomes, many a shard."""
    genomes, patterns, options = given["genome"], given["patterns"], given["options"]
    cluster, k = where.cluster, given.get("k")
    most = None if k is None else int(pattern_distances(patterns, k).max())
    strands, lengths = len(wanted_strands(options.strand)), patterns.lengths
    differs = find not in (hamming_batches, multi_batches)
    deep = int(lengths.max()) if most is None else most
    work = Work(None, len(lengths) * strands, float(lengths.mean()), deep, differs)
    letters = where.letters or shard_letters(work, cluster.threads)
    many = max(len(files) // (SHARES * cluster.threads), 1)
    fixed = {name: value for name, value in given.items() if name in ("patterns", "k", "options")}
    job = Job(__version__, partial(find, **fixed), _told(running), running.aligned, genomes.view)
    plan = FilesPlan(genomes.names, files, letters, many)
    heard, records, done = _Warnings(running), 0, 0
    for shard, answer in cluster.answers(job, plan, plan.fill, search_files):
        heard.tell(answer.warnings)
        found, spans = answer.value
        if running.on_spans:
            for each in spans:
                running.on_spans(each._replace(first=records + each.first))
        records += max((each.first + len(each.lengths) for each in spans), default=0)
        done += len(shard.files)
        if running.on_progress:
            running.on_progress(done, len(files))
        for number, name, hits in found:
            batch = replace(batch_of(hits), origin=Origin(shard.first + number, name))
            yield from in_parts(batch)


class _Warnings:
    """Tells of each warning once."""

    def __init__(self, running: Running) -> None:
        self._tell = running.on_warning
        self._told: set[str] = set()

    def tell(self, warnings: Iterable[str]) -> None:
        for warning in warnings:
            if warning not in self._told:
                self._told.add(warning)
                self._tell(warning)


def _linear(genome: Any) -> Genomes:
    """The Genomes that are searched. Raises ClusterError for circular records."""
    genomes = as_genomes(genome)
    if genomes.circular is not None:
        raise ClusterError(
            "circular records are searched on one machine so far; leave out circular, or the "
            "scheduler"
        )
    return genomes


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
        heard = _Warnings(running)
        count = plan.count if running.on_progress else None
        for shard, answer in cluster.answers(job, plan, plan.fill):
            heard.tell(answer.warnings)
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
