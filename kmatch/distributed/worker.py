"""What a worker does: it reads a shard, searches it and gives back what was found."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import attrgetter
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from kmatch.distributed.faults import other_version
from kmatch.distributed.files import open_shared
from kmatch.distributed.memory import keep_memory
from kmatch.distributed.shards import (
    Answer,
    FilesJob,
    FoundInFiles,
    GenomeFiles,
    Job,
    PrimerJob,
    PrimerShard,
    Shard,
    Unseen,
    unpack_letters,
)
from kmatch.distributed.versions import version
from kmatch.errors import ClusterError, InputError, KmatchError
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.results.batches import HitBatch
from kmatch.search.shards.edges import Edges
from kmatch.search.shards.extents import ShardGenome
from kmatch.search.shards.found import found_edges, found_of
from kmatch.search.shards.packed import shown_of
from kmatch.search.shards.rows import bare, names_of, settled
from kmatch.sequences.chunks import Spans


def hold(job: Job) -> Job:
    """A job as the result of a task: it is sent once, and made anew where a worker dies."""
    return job


def search_shard(job: Job, shard: Shard) -> Answer | Unseen:
    """Search a shard; gives back Unseen where it has to be sent."""
    with _told(job.version):
        if not (shard.sent or (shard.file and shard.file.is_here())):
            return Unseen(_address())
        return answer(job, shard, open_shard(shard))


def search_files(job: FilesJob, shard: GenomeFiles) -> Answer | Unseen:
    """As `search_shard`, for whole genomes: the answer's value is (FoundInFiles, the spans that
    were heard, names of circular records that there were not)."""
    with _told(job.version), TemporaryDirectory() as folder:
        paths = [file.path for file in shard.files]
        if shard.data is not None:
            paths = [_written(folder, *each) for each in enumerate(shard.data)]
        elif not all(file.is_here() for file in shard.files):
            return Unseen(_address())
        with _naming(paths, shard.labels):
            return _answer_of_files(job, paths, shard.labels)


def _written(folder: str, number: int, data: bytes) -> str:
    path = os.path.join(folder, str(number))
    with open(path, "wb") as handle:
        handle.write(data)
    return path


class _Labelled(Genomes):
    """Genomes in files, which messages name by labels."""

    def __init__(
        self, paths: list[str], labels: list[str], on_warning: Callable[[str], None]
    ) -> None:
        super().__init__(paths, keep=_never, on_warning=on_warning, check=False)
        self._labels = labels

    def _unopened(self, number: int, path: Any) -> Genome:
        genome = super()._unopened(number, path)
        genome.label = self._labels[number]
        return genome


def _never(path: Any) -> bool:
    return False


@contextmanager
def _naming(paths: list[str], labels: list[str]) -> Iterator[None]:
    """Have errors name files by labels."""
    try:
        yield
    except InputError as error:
        said = str(error)
        for path, label in zip(paths, labels, strict=True):
            if said.startswith(f"{path}:"):
                raise InputError(label + said.removeprefix(path)) from None
        raise


def _answer_of_files(job: FilesJob, paths: list[str], labels: list[str]) -> Answer:
    warnings: list[str] = []
    genomes = _Labelled(paths, labels, warnings.append)
    genomes.view = job.view
    if job.circular:
        genomes.circular = job.circular.of_part()
    spans: list[Spans] = []
    devices: list[str] = []
    running = job.running._replace(
        on_engine=lambda engine: devices.append(_device(engine)),
        on_warning=warnings.append,
        on_spans=spans.append,
    )
    found = _found_in_files(job.search(genome=genomes, running=running), job.aligned)
    missing = set(genomes.circular.missing) if genomes.circular else set()
    return Answer(None, None, (found, spans, missing), devices[0], warnings)


def _found_in_files(batches: Iterable[HitBatch], aligned: bool) -> FoundInFiles:
    held: list[HitBatch] = []
    numbers, counts, names, circles = [], [], [], []
    for number, group in groupby(filter(len, batches), attrgetter("origin.number")):
        # Without what alignments are computed from, so that one genome at a time is in memory.
        of_one = [settled(batch) if aligned else bare(batch) for batch in group]
        named: dict[int, str] = {}
        for batch in of_one:
            named.update(names_of(batch))
        sizes = of_one[-1].origin.circles
        if sizes is not None:
            sizes = {each: sizes[each] for each in named if each in sizes}
        numbers.append(number)
        counts.append(sum(map(len, of_one)))
        names.append(named)
        circles.append(sizes)
        held += of_one
    hits = found_of(held, None, aligned)
    return FoundInFiles(hits._replace(names={}), numbers, counts, names, circles)


def search_starts(job: PrimerJob, shard: PrimerShard) -> Answer | Unseen:
    """As `search_shard`, for primers: the answer's value are the bounds of the shard's starts."""
    with _told(job.version):
        label, file, extent, letters = job.background
        if extent is not None and letters is not None:
            whole = unpack_letters(letters, extent.letters)
            background: Genome = ShardGenome(label, extent, whole)
        elif file and file.is_here():
            background = open_shared(file) if file.is_packed else Genome(file.path, keep=False)
        else:
            return Unseen(_address())
        starts = shard.starts._replace(bounds=shard.starts.bounds.copy())
        devices: list[str] = []
        running = job.running._replace(on_engine=lambda engine: devices.append(_device(engine)))
        bounds = job.search(starts, background, running=running)
        return Answer(None, None, bounds, devices[0], [])


@contextmanager
def _told(wanted: str) -> Iterator[None]:
    """Raise ClusterError for another version of the client, and for errors of any class, which the
    client may not know."""
    keep_memory()
    if version() != wanted:
        raise other_version(_address(), version(), wanted)
    try:
        yield
    except KmatchError:
        raise
    except Exception as error:
        said = ClusterError(f"on {_address()}: {type(error).__name__}: {error}")
        said.may_pass = True
        raise said from None  # the error itself may be more than can be sent


def open_shard(shard: Shard) -> Genome:
    """The ShardGenome of a shard."""
    extent, content = shard.extent, shard.part
    if shard.letters is not None:
        return ShardGenome(shard.label, extent, unpack_letters(shard.letters, extent.letters))
    if content is None:
        assert shard.file
        file = open_shared(shard.file).file
        assert file
        return ShardGenome(shard.label, extent, shown_of(file, extent, shard.margins))
    return ShardGenome(shard.label, extent, content)


def answer(job: Job, shard: Shard, genome: Genome) -> Answer:
    """What the job's search finds in a shard."""
    warnings: list[str] = []
    devices: list[str] = []
    edges: list[Edges] = []
    running = job.running._replace(
        on_engine=lambda engine: devices.append(_device(engine)),
        on_warning=warnings.append,
        on_edges=edges.append,
    )
    if shard.extent.circular:
        circular = as_genomes(genome).with_circular(True)
        found: Any = job.on_circles(genome=circular, running=running)
    else:
        found = job.search(genome=genome, running=running)
    if isinstance(found, np.ndarray):
        return Answer(None, None, found, devices[0], warnings)
    hits = found_of(list(found), shard.extent, job.aligned)
    open_ends = found_edges(edges[0] if edges else None, shard.extent, job.aligned)
    return Answer(hits, open_ends, None, devices[0], warnings)


def _device(engine: Any) -> str:
    device: str = engine.description.partition(" (")[0]
    return device


def _address() -> str:
    """The address of this worker, for messages."""
    try:
        from distributed import get_worker

        return str(get_worker().address)
    except (ImportError, ValueError):
        return "this machine"
