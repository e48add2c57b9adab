"""The search for primers on a cluster: shards are starts, each with all of the background."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from kmatch.distributed.files import shared_file
from kmatch.distributed.plan import whole_genome
from kmatch.distributed.rounds import Where, told
from kmatch.distributed.shards import Background, PrimerJob, PrimerShard, pack_letters
from kmatch.distributed.sizes import SHARES
from kmatch.distributed.versions import version
from kmatch.distributed.worker import search_starts
from kmatch.engine.primers import Starts
from kmatch.results.batches import PrimerBatch
from kmatch.search.primer import PrimerStarts, part_of, raise_bounds
from kmatch.search.running import Running

STARTS = 1 << 12  # of a shard, at least


class _UnseenBackground(Exception):
    """A worker has not got the file of the background."""


def primers(given: dict[str, Any], running: Running, where: Where) -> Iterator[PrimerBatch]:
    """The primers of `primer`: shards are starts, each with all of the background."""
    background, options = given["background"], given["options"]
    k = given["k"]
    starts = PrimerStarts(given["target"], k, options, running)
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
    job = PrimerJob(version(), search, told(running), background)
    for shard, answer in cluster.answers(job, shards, unseen, search_starts):
        end = min(shard.begin + step, total)
        starts.bounds[shard.begin : end] = answer.value[: end - shard.begin]
        if running.on_progress:
            running.on_progress(shard.number + 1, -(-total // step))
