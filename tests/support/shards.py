"""Searches by shards in this process, without Dask: what goes to workers is pickled, as there."""

import pickle

from kmatch.distributed.rounds import Where
from kmatch.distributed.searches import spread_over
from kmatch.distributed.shards import Unseen
from kmatch.distributed.worker import search_shard
from kmatch.search.running import Running


class Serial:
    """A cluster of no machines, which searches a shard when its answer is asked for."""

    threads = 1

    def describe(self):
        return "nobody else"

    def answers(self, job, shards, fill, search=search_shard):
        job = pickle.loads(pickle.dumps(job))
        for shard in shards:
            answer = search(job, pickle.loads(pickle.dumps(shard)))
            if isinstance(answer, Unseen):
                answer = search(job, pickle.loads(pickle.dumps(fill(shard))))
            yield shard, pickle.loads(pickle.dumps(answer))


def by_shards(search, letters, **running):
    """The batches of a search, a partial that lacks `running`, by shards of so many letters."""
    return spread_over(search, Running(device="cpu", **running), Where(Serial(), letters))
