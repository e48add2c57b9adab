"""A search: an object that is iterated and asked."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Generic

import numpy as np

from kmatch.arrays import Longs
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import HitBatch, SomeBatch, joined
from kmatch.search.chunks import Chunking, PackedChunk
from kmatch.search.query import RUN, Run
from kmatch.search.regions import Regions
from kmatch.sequences.circles import Circles
from kmatch.sequences.records import Progress as Tell
from kmatch.sequences.records import RecordNames, Stretch, in_turn


class Progress:
    """How far a search is: `read` of `size` bytes of its genome, size being None where that is
    unknown, or of several genomes; `records` that it has met with `letters`, the longest having
    `longest`. tell(read, size), if there is one, hears of both.
    """

    def __init__(self, genomes: Genomes | None = None) -> None:
        self.read: int | None = 0
        self.size: int | None = None
        self.tell: Tell | None = None
        self.records = self.letters = self.longest = 0
        self._genomes = len(genomes) if genomes and genomes.named else 0  # where there are several
        self._last = 0  # letters of the last record so far

    def go_to(self, number: int) -> None:
        """Go on to a genome, by number."""
        if self._genomes:
            self.reach(number, self._genomes)

    def hear(self, read: int | None, size: int | None) -> None:
        """Take the bytes read of the genome at hand, and its size."""
        if not self._genomes:
            self.reach(read, size)

    def reach(self, read: int | None, size: int | None) -> None:
        """Take what is done, and of how much."""
        self.read, self.size = read, size
        if self.tell:
            self.tell(read, size)

    def join(self, other: "Progress") -> None:
        """Take the records of a search of other ones."""
        self.records += other.records
        self.letters += other.letters
        self.longest = max(self.longest, other.longest)

    def add(self, lengths: Longs, goes_on: bool = False) -> None:
        """Take the letters of records, int64[r], or more letters of the last one."""
        self._last = int(lengths[-1:].sum()) + goes_on * self._last
        self.records += len(lengths) - goes_on
        self.letters += int(lengths.sum())
        self.longest = max(self.longest, self._last, int(lengths.max(initial=0)))


class Search(Generic[SomeBatch]):
    """What finds batches in genomes: iterated once, it gives them in order, and can be asked for
    its `progress` meanwhile.

    engine: of the device that was chosen, None on a cluster; regions: Regions in which rows are
    given, None for everywhere. Options that do not fit raise InputError at once, devices that
    cannot be used DeviceError, files and regions InputError on the way.
    """

    narrows = True  # whether records without regions need no search

    def __init__(self, genomes: Genomes, run: Run = RUN, regions: Regions | None = None) -> None:
        self.genomes, self.run, self.regions = genomes, run, regions
        self.engine: Any = None
        self.progress = Progress(genomes)

    def __iter__(self) -> Iterator[SomeBatch]:
        regions = self.regions
        for batch in self.everywhere():
            yield regions.inside(batch) if regions else batch
        self.genomes.check_circular()
        if regions:
            regions.check(self.genomes.label)

    def everywhere(self) -> Iterator[SomeBatch]:
        """Yield the batches of one genome after another, inside regions and elsewhere."""
        genomes = self.genomes
        for number, name in enumerate(genomes.names):
            self.progress.go_to(number)
            for batch in filter(len, self._find(genomes.genome(number))):
                if genomes.named:
                    batch = replace(batch, origin=batch.origin._replace(number=number, name=name))
                yield batch
        self.progress.go_to(len(genomes))

    def _find(self, genome: Genome) -> Iterable[SomeBatch]:
        """The batches of one genome, some perhaps without rows."""
        raise NotImplementedError

    def parts(self, genome: Genome) -> Iterator[Stretch]:
        """The Stretches of a genome, of whose records the search takes note, without letters that
        need no search."""
        ahead = self.engine.workers.ahead if self.engine else in_turn
        for part in genome.parts(self.progress.hear, ahead):
            self.note(part.names, part.lengths, part.goes_on)
            yield self.narrow.narrowed(part) if self.narrow else part

    @property
    def expected_letters(self) -> int | None:
        """About how many letters are searched; None where that is unknown, as in regions."""
        return None if self.regions else self.genomes.expected_letters

    @property
    def narrow(self) -> Regions | None:
        """Regions in whose records alone is searched; None for all records."""
        return self.regions if self.narrows else None

    def chunks(
        self, chunking: Chunking, genome: Genome, circles: Circles | None = None
    ) -> Iterable[PackedChunk]:
        """The PackedChunks of a genome; Circles lay out records that are circular."""
        if circles is not None:
            return chunking.fresh(circles.parts(self.parts(genome)))
        packed = chunking.packed(genome, self.progress.hear, self.narrow)
        if packed is not None:
            self.note(*genome.sizes)
            return packed
        return chunking.chunks(genome, self.parts(genome), keep=self.narrow is None)

    def note(self, names: RecordNames, lengths: Longs, goes_on: bool = False) -> None:
        """Take note of records with so many letters, or of more letters of the last one."""
        if self.regions:
            named = self.regions.meet(names, lengths, goes_on)
            lengths = np.where(named, lengths, 0) if self.narrows else lengths
        self.progress.add(lengths, goes_on)


def by_record(batches: Iterable[HitBatch]) -> Iterator[HitBatch]:
    """The hits in HitBatches that hold all of their records."""
    waiting: list[HitBatch] = []  # hits of one record
    for batch in filter(len, batches):
        last = int(np.searchsorted(batch.record, batch.record[-1]))  # of whose hits more may come
        if last or (waiting and waiting[0].record[0] != batch.record[0]):
            yield joined([*waiting, batch.picked(slice(last))])
            waiting = []
        waiting.append(batch.picked(slice(last, None)))
    if waiting:
        yield joined(waiting)
