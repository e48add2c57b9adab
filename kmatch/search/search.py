"""A search: an object that is iterated and asked."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
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

NAMED = 10_000  # records whose lengths are kept


class Progress:
    """How far a search is.

    read, size: bytes of its genome read so far and in all, or numbers of genomes; None where a
    number is unknown; records, letters, longest: of the records that it has met, how many there
    are, how many letters they have, and the longest one; lengths: letters by name of the first
    NAMED of them, of one genome alone; tell(read, size): is called, if there is one, with the first
    two.
    """

    def __init__(self, genomes: Genomes | None = None) -> None:
        self.read: int | None = 0
        self.size: int | None = None
        self.tell: Tell | None = None
        self.records = 0
        self.letters = 0
        self.longest = 0
        self.lengths: dict[str, int] = {}
        self._genomes = len(genomes) if genomes and genomes.named else 0  # where there are several
        self._last_length = 0  # of the last record so far

    def go_to(self, number: int) -> None:
        """Go on to a genome, by number."""
        if self._genomes:
            self.come_to(number, self._genomes)

    def hear(self, read: int | None, size: int | None) -> None:
        """Take the bytes read of the genome at hand, and its size."""
        if not self._genomes:
            self.come_to(read, size)

    def come_to(self, read: int | None, size: int | None) -> None:
        """Take the numbers of bytes or genomes done and in all."""
        self.read = read
        self.size = size
        if self.tell:
            self.tell(read, size)

    def join(self, other: "Progress") -> None:
        """Take the records of a search of other ones."""
        self.records += other.records
        self.letters += other.letters
        self.longest = max(self.longest, other.longest)
        self.lengths = dict(islice((other.lengths | self.lengths).items(), NAMED))

    def meet(self, names: RecordNames, lengths: Longs) -> None:
        """Take the names of records and their letters so far, int64[r], of several of one name the
        most."""
        if self._genomes:
            return
        room = NAMED - len(self.lengths)
        looked_at = max(room, 1)  # the first may be the last one before, which goes on
        for name, length in zip(names[:looked_at], lengths[:looked_at].tolist(), strict=True):
            if room > 0 or name in self.lengths:
                self.lengths[name] = max(length, self.lengths.get(name, 0))

    def add(self, lengths: Longs, goes_on: bool = False) -> None:
        """Take the letters of records, int64[r].

        goes_on: whether these are more letters of the last record.
        """
        length = int(lengths[-1]) if len(lengths) else 0
        if goes_on:
            self._last_length += length
        else:
            self._last_length = length
            self.records += len(lengths)
        self.letters += int(lengths.sum())
        self.longest = max(self.longest, self._last_length, int(lengths.max(initial=0)))


class Search(Generic[SomeBatch]):
    """A search that is iterated once: it gives batches in order, and its `progress` meanwhile.

    engine: of the device that was chosen, or the cluster; regions: Regions in which rows are given,
    None for everywhere. Options that do not fit raise InputError at once, devices that
    cannot be used DeviceError, files and regions InputError on the way.
    """

    narrows = True  # whether records without regions need no search

    def __init__(self, genomes: Genomes, run: Run = RUN, regions: Regions | None = None) -> None:
        self.genomes = genomes
        self.run = run
        self.regions = regions
        self.engine: Any = None
        self.progress = Progress(genomes)
        self._last_length = 0  # letters of the last record so far

    def __iter__(self) -> Iterator[SomeBatch]:
        regions = self.regions
        for batch in self.everywhere():
            yield regions.inside(batch) if regions else batch
        self.genomes.check_names()
        if regions:
            regions.check(self.genomes.label, self.genomes.selection)

    def everywhere(self) -> Iterator[SomeBatch]:
        """Yield the batches of one genome after another, inside regions and elsewhere."""
        genomes = self.genomes
        for number, name in enumerate(genomes.names):
            self.progress.go_to(number)
            for batch in filter(len, self._find(genomes.genome(number))):
                if genomes.named:
                    origin = batch.origin._replace(number=number, name=name)
                    batch = replace(batch, origin=origin)
                yield batch
        self.progress.go_to(len(genomes))

    def _find(self, genome: Genome) -> Iterable[SomeBatch]:
        """Return the batches of one genome, some perhaps without rows."""
        raise NotImplementedError

    def parts(self, genome: Genome) -> Iterator[Stretch]:
        """Yield the Stretches of a genome without letters that need no search.

        The search takes note of their records.
        """
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
        """Regions, where their records alone are searched; None for all records."""
        return self.regions if self.narrows else None

    def chunks(
        self, chunking: Chunking, genome: Genome, circles: Circles | None = None
    ) -> Iterable[PackedChunk]:
        """Return the PackedChunks of a genome; Circles lay out records that are circular."""
        if circles is not None:
            return chunking.fresh(circles.parts(self.parts(genome)))

        packed = chunking.packed(genome, self.progress.hear, self.narrow)
        if packed is not None:
            names, lengths = genome.sizes
            self.note(names, lengths)
            return packed

        return chunking.chunks(genome, self.parts(genome), keep=self.narrow is None)

    def note(self, names: RecordNames, lengths: Longs, goes_on: bool = False) -> None:
        """Take note of records with so many letters.

        goes_on: whether these are more letters of the last record.
        """
        # The letters of each so far. Other searches with the same Regions may be under way.
        lengths_so_far = lengths.copy()
        if goes_on:
            lengths_so_far[0] += self._last_length
        self._last_length = int(lengths_so_far[-1]) if len(lengths) else 0

        self.progress.meet(names, lengths_so_far)
        if self.regions:
            is_named = self.regions.meet(names, lengths_so_far)
            if self.narrows:
                lengths = np.where(is_named, lengths, 0)
        self.progress.add(lengths, goes_on)


def by_record(batches: Iterable[HitBatch]) -> Iterator[HitBatch]:
    """Yield the hits in HitBatches that hold all of their records.

    batches     |0 0 0 1|1 1 2|2 2|
    records     |0 0 0|1 1 1|2 2 2|
    """
    waiting: list[HitBatch] = []  # hits of one record
    for batch in filter(len, batches):
        last_start = int(np.searchsorted(batch.record, batch.record[-1]))  # more may come of it
        is_other = bool(waiting) and waiting[0].record[0] != batch.record[0]
        if last_start or is_other:
            yield joined([*waiting, batch.picked(slice(last_start))])
            waiting = []
        waiting.append(batch.picked(slice(last_start, None)))
    if waiting:
        yield joined(waiting)
