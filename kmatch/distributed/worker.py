"""What a worker does: it reads a shard, searches it and gives back what was found."""

from typing import Any

import numpy as np

from kmatch import __version__
from kmatch.distributed.faults import other_version
from kmatch.distributed.files import open_shared
from kmatch.distributed.shards import Answer, Job, Shard, Unseen, letters_of, unpack_letters
from kmatch.errors import ClusterError, KmatchError
from kmatch.genome import Genome
from kmatch.search.shards.edges import Edges
from kmatch.search.shards.extents import ShardGenome
from kmatch.search.shards.found import found_edges, found_of


def hold(job: Job) -> Job:
    """A job as the result of a task: it is sent once, and made anew where a worker dies."""
    return job


def search_shard(job: Job, shard: Shard) -> Answer | Unseen:
    """Search a shard; gives back Unseen where it has to be sent."""
    if job.version != __version__:
        raise other_version(_address(), __version__, job.version)
    if shard.letters is None and not (shard.file and shard.file.is_here()):
        return Unseen(_address())
    try:
        return answer(job, shard, open_shard(shard))
    except KmatchError:
        raise
    except Exception as error:
        # Of any class, which the client may not know.
        raise ClusterError(f"on {_address()}: {type(error).__name__}: {error}") from error


def open_shard(shard: Shard) -> Genome:
    """The ShardGenome of a shard."""
    extent = shard.extent
    if shard.letters is not None:
        letters = unpack_letters(shard.letters, extent.letters)
    else:
        assert shard.file
        file = open_shared(shard.file).file
        assert file
        letters = letters_of(file, extent)
    return ShardGenome(shard.label, extent, letters)


def answer(job: Job, shard: Shard, genome: Genome) -> Answer:
    """What the job's search finds in a shard."""
    warnings: list[str] = []
    devices: list[str] = []
    edges: list[Edges] = []
    running = job.running._replace(
        on_engine=lambda engine: devices.append(engine.description),
        on_warning=warnings.append,
        on_edges=edges.append,
    )
    found: Any = job.search(genome=genome, running=running)
    device = "" if not devices else devices[0].partition(" (")[0]
    if isinstance(found, np.ndarray):
        return Answer(None, None, found, device, warnings)
    batches = list(found)
    hits = found_of(batches, shard.extent, job.aligned)
    device = "" if not devices else devices[0].partition(" (")[0]
    open_ends = found_edges(edges[0] if edges else None, shard.extent, job.aligned)
    return Answer(hits, open_ends, None, device, warnings)


def _address() -> str:
    """The address of this worker, for messages."""
    try:
        from distributed import get_worker

        return str(get_worker().address)
    except (ImportError, ValueError):
        return "this machine"
