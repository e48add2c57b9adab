"""A round: one search of all shards of a genome, whose answers are joined."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from kmatch.distributed.plan import ShardPlan
from kmatch.distributed.shards import Answer, Job, Shard
from kmatch.distributed.sizes import Sizes, alike, sizes_for
from kmatch.distributed.versions import version
from kmatch.engine.choice import Work
from kmatch.genome import Genome
from kmatch.results.batches import ALONE, HitBatch
from kmatch.search.running import Running
from kmatch.search.shards.found import batch_of, edges_of
from kmatch.search.shards.joining import ShardJoiner, in_parts
from kmatch.search.shards.needs import Around
from kmatch.sequences.circles import Circular


class Where(NamedTuple):
    """Who searches shards, and how large they are.

    cluster: a Cluster, or what has its methods; letters: of a shard, None for those that the work
    asks for.
    """

    cluster: Any
    letters: int | None = None

    def sizes(self, work: Work) -> Sizes:
        """The Sizes of shards of some Work."""
        if self.letters:
            return alike(self.letters)
        return sizes_for(work, self.cluster.threads)


class Searches(NamedTuple):
    """The searches of shards: partials that lack genome and running; on_circles: of those that have
    circular records."""

    linear: Callable[..., Any]
    on_circles: Callable[..., Any]


class Round(NamedTuple):
    """One search of all shards of a genome; work: of all of it; circular: which records are."""

    where: Where
    searches: Searches
    genome: Genome
    work: Work
    circular: Circular | None

    def values(self, around: Around, running: Running) -> Iterator[Any]:
        """Yield the value that each shard gives."""
        for _, answer in self._answers(around, running):
            yield answer.value

    def joined(self, joiner: ShardJoiner, around: Around, running: Running) -> Iterator[HitBatch]:
        """Yield the hits of all shards, joined."""
        circles: dict[int, int] = {}  # letters of circular records, by number
        origin = ALONE._replace(circles=None if self.circular is None else circles)
        for shard, answer in self._answers(around, running):
            assert answer.hits
            hits, extent = batch_of(answer.hits), shard.extent
            if extent.circular:
                circles.update(enumerate(extent.lengths.tolist(), extent.first))
                found: Iterator[HitBatch] = chain(joiner.finish(), in_parts(hits))
            else:
                found = joiner.take(hits, edges_of(answer.edges), extent)
            yield from (replace(batch, origin=origin) for batch in found)
        yield from (replace(batch, origin=origin) for batch in joiner.finish())

    def _answers(self, around: Around, running: Running) -> Iterable[tuple[Shard, Answer]]:
        cluster = self.where.cluster
        plan = ShardPlan(self.genome, self.where.sizes(self.work), around, self.circular)
        job = Job(version(), *self.searches, told(running), running.aligned)
        heard = Warnings(running)
        count = plan.count if running.on_progress else None
        for shard, answer in cluster.answers(job, plan, plan.fill):
            heard.tell(answer.warnings)
            if running.on_spans:
                running.on_spans(shard.extent.spans())
            if running.on_progress:
                running.on_progress(shard.number + 1, count)
            yield shard, answer


class Warnings:
    """Tells of each warning once."""

    def __init__(self, running: Running) -> None:
        self._tell = running.on_warning
        self._told: set[str] = set()

    def tell(self, warnings: Iterable[str]) -> None:
        """Take the warnings of a shard."""
        for warning in warnings:
            if warning not in self._told:
                self._told.add(warning)
                self._tell(warning)


def told(running: Running) -> Running:
    """How shards run: as the search, without those here who hear of it."""
    return Running(running.device, running.threads or 1, running.algorithm, on_warning=_ignore)


def _ignore(message: str) -> None:
    """Nobody hears of it."""
