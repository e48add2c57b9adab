"""Lists of genomes: many small ones a shard, and large ones by themselves, by turns."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from kmatch.distributed.files import SharedFile, estimated_letters, shared_file
from kmatch.distributed.plan import FilesPlan
from kmatch.distributed.rounds import Warnings, Where, told
from kmatch.distributed.shards import FilesJob, FoundInFiles, GenomeFiles
from kmatch.distributed.sizes import MOST
from kmatch.distributed.versions import version
from kmatch.distributed.worker import search_files
from kmatch.engine.choice import Work
from kmatch.genome import Genomes
from kmatch.results.batches import HitBatch, Origin
from kmatch.search.running import Running
from kmatch.search.several import Counted, Search
from kmatch.search.shards.found import batches_of
from kmatch.search.shards.joining import in_parts

_Listed = tuple[int, str, SharedFile | None]  # number, name, and the file that a shard may have


class FilesSearch(NamedTuple):
    """A search of small genomes as wholes.

    search: a partial that lacks genome and running; work: of one letter and more.
    """

    where: Where
    search: Callable[..., Any]
    work: Work


def over_list(
    genomes: Genomes, running: Running, small: FilesSearch, large: Search
) -> Iterator[HitBatch]:
    """Yield the HitBatches of the genomes in a list of files, in order.

    A file is looked at when its turn comes. large(genome, running): searches one that is too large
    for a shard.
    """
    heard = _Heard(running, len(genomes))
    for is_small, group in groupby(_listed(genomes), lambda each: each[2] is not None):
        if is_small:
            yield from _of_files(genomes, running, small, group, heard)
            continue
        for number, name, _ in group:
            alone = heard.alone(running)
            for batch in large(genomes.genome(number), alone):
                yield replace(batch, origin=batch.origin._replace(number=number, name=name))
            heard.done(1)
    genomes.check_circular()


def _listed(genomes: Genomes) -> Iterator[_Listed]:
    for number, (name, path) in enumerate(zip(genomes.names, genomes.paths, strict=True)):
        file = shared_file(path)
        fits = file is not None and estimated_letters(file) <= MOST
        yield number, name, file if fits else None


def _of_files(
    genomes: Genomes,
    running: Running,
    small: FilesSearch,
    files: Iterable[Any],
    heard: "_Heard",
) -> Iterator[HitBatch]:
    cluster = small.where.cluster
    circular = genomes.circular.of_part() if genomes.circular else None
    job = FilesJob(version(), small.search, genomes.view, circular, told(running), running.aligned)
    plan = FilesPlan(files, small.where.sizes(small.work), len(genomes))
    for shard, answer in cluster.answers(job, plan, plan.fill, search_files):
        found, spans, missing = answer.value
        plan.hear(shard, len(found.hits.start))
        heard.take(answer.warnings, spans)
        if genomes.circular:
            genomes.circular.hear(missing)
        heard.done(len(shard.files))
        yield from _batches(shard, found)


def _batches(shard: GenomeFiles, found: FoundInFiles) -> Iterator[HitBatch]:
    batches = batches_of(found.hits, found.counts, found.names)
    for number, circles, batch in zip(found.numbers, found.circles, batches, strict=True):
        origin = Origin(shard.first + number, shard.labels[number], circles)
        yield from in_parts(replace(batch, origin=origin))


class _Heard:
    """Tells of records, warnings and progress over all genomes of a list; count: of genomes."""

    def __init__(self, running: Running, count: int) -> None:
        self._progress, self._spans = running.on_progress, running.on_spans
        self._warnings, self._counted = Warnings(running), Counted(running.on_spans)
        self._done, self._count = 0, count

    def take(self, warnings: Iterable[str], spans: Iterable[Any]) -> None:
        """Take what a shard of small genomes told."""
        self._warnings.tell(warnings)
        for each in spans:
            self._counted.hear(each)
        self._counted.go_on()

    def alone(self, running: Running) -> Running:
        """How a genome by itself runs, of which `done` is to be called."""
        hear = self._counted.hear if self._spans else None
        return running._replace(on_progress=None, on_spans=hear)

    def done(self, genomes: int) -> None:
        """Count genomes that are done."""
        self._counted.go_on()
        self._done += genomes
        if self._progress:
            self._progress(self._done, self._count)
