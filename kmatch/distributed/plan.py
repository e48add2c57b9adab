"""How a genome is cut into shards: by the work that they are, and by who can read it."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.distributed.files import SharedFile, estimated_letters, shared_file
from kmatch.distributed.shards import GenomeFiles, Shard, pack_letters
from kmatch.distributed.sizes import Sizes
from kmatch.engine.cpu.engine import CpuEngine
from kmatch.genome import Genome
from kmatch.packed.part import PackedPart, pack_part
from kmatch.search.shards.extents import Cutter, Extent, stretches_of
from kmatch.search.shards.needs import Around
from kmatch.search.shards.packed import shown_of
from kmatch.sequences.circles import Circles, Circular
from kmatch.sequences.records import Record, Stretch, gathered, whole_records

RECORDS = 1 << 14  # of a packed genome that are cut at a time
EVERYTHING = 1 << 60  # letters
HITS = 1 << 17  # of a shard of small genomes: client and scheduler hold all of some
Pieces = list[Bytes]  # letters, one after another


class ShardPlan:
    """The shards of a genome, in order, made while the genome is read.

    sizes: of what a shard owns; around: what surrounds it; circular: which records are. Of these a
    shard has whole ones. Workers read a packed genome themselves; others go with the shards.
    """

    def __init__(
        self, genome: Genome, sizes: Sizes, around: Around, circular: Circular | None = None
    ) -> None:
        self._genome, self._sizes = genome, sizes
        self._number = self._done = 0  # shards that have a size, and their letters
        self._read, self._share = 0, 0.0  # letters read, and the share of the file that they are
        self._context, self._margins = around.context, around.margins
        self._engine = CpuEngine(1)  # that packs
        self._circular = circular
        self._file: SharedFile | None = None
        if genome.file is not None and genome.path is not None:
            self._file = shared_file(genome.path)

    @property
    def count(self) -> int | None:
        """How many shards there will be; None where only reading tells."""
        if self._genome.file is None or self._circular is not None:
            return None
        left, done, count = int(self._lengths.sum()), 0, 0
        while left > (size := self._sizes.next(count, done, left, False)) + self._context:
            left, done, count = left - size, done + size, count + 1
        return count + 1

    def _next(self) -> int:
        """Letters of the next shard."""
        left = None if (total := self._total()) is None else max(total - self._done, 0)
        read = self._genome.file is None
        size = self._sizes.next(self._number, self._done, left, read)
        self._number, self._done = self._number + 1, self._done + size
        return size

    def _total(self) -> int | None:
        """About how many letters there are."""
        if self._genome.file is not None:
            return int(self._lengths.sum())
        if self._genome.keep or not self._share:
            return self._genome.expected_letters
        return int(self._read / self._share)

    def _hear(self, consumed: int | None, size: int | None) -> None:
        self._share = consumed / size if consumed and size else 0.0

    def __iter__(self) -> Iterator[Shard]:
        parts = self._of_file() if self._genome.file else self._of_stream()
        for number, (extent, letters) in enumerate(parts):
            shard = Shard(number, self._genome.label, extent, self._margins, self._file)
            if letters is not None:
                shard = self._with(shard, letters)
            yield shard if self._file or shard.sent else self.fill(shard)

    def fill(self, shard: Shard) -> Shard:
        """A shard with its content, for a worker that does not see the file."""
        assert self._genome.file
        content = shown_of(self._genome.file, shard.extent, self._margins)
        if isinstance(content, PackedPart):
            return shard._replace(part=content)
        return self._with(shard, [content])

    def _with(self, shard: Shard, letters: Pieces) -> Shard:
        extent = shard.extent
        if extent.circular:
            return shard._replace(letters=pack_letters(np.concatenate(letters)))
        stretches = _stretches(extent, letters)
        part = pack_part(stretches, extent.letters, self._margins, self._engine)
        return shard._replace(part=part)

    @cached_property
    def _lengths(self) -> Longs:
        """Letters of each record of a packed genome, 0 of one that is left out."""
        assert self._genome.file
        lengths, named = self._genome.file.sizes, self._genome.named
        if named is None:
            return lengths
        wanted = np.fromiter((name in named for name in self._genome.file.names), np.bool_)
        return np.where(wanted, lengths, 0)

    def _of_file(self) -> Iterator[tuple[Extent, None]]:
        assert self._genome.file
        names, lengths, first = self._genome.file.names, self._lengths, 0
        for circular, run in groupby(names, self._circular.has if self._circular else _never):
            part = slice(first, first + len(list(run)))
            cut = self._whole if circular else self._cut
            yield from ((extent, None) for extent in cut(first, names[part], lengths[part]))
            first = part.stop

    def _cut(self, first: int, names: list[str], lengths: Longs) -> Iterator[Extent]:
        """Yield the Extents of linear records, of which `first` is the number of the first."""
        cutter = Cutter(self._next(), self._context, first)
        for number in range(0, len(names), RECORDS):
            part = slice(number, number + RECORDS)
            for extent in cutter.add(names[part], lengths[part]):
                yield extent
                cutter.letters = self._next()
        yield from cutter.finish()

    def _whole(self, first: int, names: list[str], lengths: Longs) -> Iterator[Extent]:
        """The same of circular records."""
        begin, held = 0, 0
        for number, length in enumerate(lengths.tolist()):
            if number > begin and held + length > self._sizes.most:
                part = slice(begin, number)
                yield _circular_extent(first + begin, names[part], lengths[part])
                begin, held = number, 0
            held += length
        yield _circular_extent(first + begin, names[begin:], lengths[begin:])

    def _of_stream(self) -> Iterator[tuple[Extent, Pieces]]:
        stretches = self._counted(self._genome.parts(self._hear))
        if self._circular is None:
            yield from self._cut_stream(0, stretches)
            return
        for circular, first, parts in Circles(self._circular, 0).runs(stretches):
            yield from (self._whole_stream if circular else self._cut_stream)(first, parts)

    def _counted(self, parts: Iterable[Stretch]) -> Iterator[Stretch]:
        for part in parts:
            self._read += len(part.letters)
            yield part

    def _cut_stream(self, first: int, parts: Iterable[Stretch]) -> Iterator[tuple[Extent, Pieces]]:
        cutter = Cutter(self._next(), self._context, first)
        held: Pieces = []  # letters of which the first is the first that is shown next

        def shown(extent: Extent) -> Pieces:
            nonlocal held
            count, letters = extent.letters, held
            _, held = _cut_at(letters, count - extent.behind - cutter.before)
            return _cut_at(letters, count)[0] or [_NOTHING]

        for part in gathered(parts):
            held.append(np.asarray(part.letters))
            for extent in cutter.add(part.names, part.lengths, part.goes_on):
                yield extent, shown(extent)
                cutter.letters = self._next()
        for extent in cutter.finish():
            yield extent, shown(extent)

    def _whole_stream(
        self, first: int, parts: Iterable[Stretch]
    ) -> Iterator[tuple[Extent, Pieces]]:
        held: list[Record] = []
        size = 0

        def together() -> tuple[Extent, Pieces]:
            lengths = np.array([len(record.letters) for record in held], np.int64)
            extent = _circular_extent(first, [record.name for record in held], lengths)
            return extent, [np.asarray(record.letters) for record in held]

        for record in whole_records(gathered(parts)):
            if held and size + len(record.letters) > self._sizes.most:
                yield together()
                first, held, size = first + len(held), [], 0
            held.append(record)
            size += len(record.letters)
        yield together()


def _cut_at(letters: Pieces, count: int) -> tuple[Pieces, Pieces]:
    """The first letters, so many, and the others."""
    before: Pieces = []
    for number, piece in enumerate(letters):
        if len(piece) > count:
            return [*before, piece[:count]], [piece[count:], *letters[number + 1 :]]
        before.append(piece)
        count -= len(piece)
    return before, []


def _stretches(extent: Extent, letters: Pieces) -> Iterator[Stretch]:
    """Yield Stretches of an Extent's letters, which are not joined where one record has them."""
    if len(extent.names) > 1:
        yield from stretches_of(extent, np.concatenate(letters))
        return
    for number, piece in enumerate(letters):
        yield Stretch(extent.names, np.array([len(piece)]), piece, number > 0)


def _circular_extent(first: int, names: list[str], lengths: Longs) -> Extent:
    return Extent(first, 0, names, lengths, 0, 0, circular=True)


def _never(name: str) -> bool:
    return False


NumberedFile = tuple[int, str, SharedFile]  # of one of several genomes: number, label, file


class FilesPlan:
    """The shards of small genomes, so many, and fewer in each where they have many hits.

    sizes: of shards.
    """

    def __init__(self, files: Iterable[NumberedFile], sizes: Sizes, count: int) -> None:
        self._files, self._sizes, self._count = files, sizes, count
        self._most = sizes.most

    def hear(self, shard: GenomeFiles, hits: int) -> None:
        """Hear of the hits of a shard, which those to come are to have HITS of at the most."""
        letters = sum(map(estimated_letters, shard.files))
        self._most = max(HITS * letters // max(hits, 1), self._sizes.least)

    def __iter__(self) -> Iterator[GenomeFiles]:
        held: list[NumberedFile] = []
        number = done = letters = 0  # done: letters of shards before, letters: of this one
        for seen, each in enumerate(self._files):
            more = estimated_letters(each[2])
            left = letters + more * (self._count - seen)
            size = min(self._sizes.next(number, done, left, True), self._most)
            if held and letters + more > size:
                yield _files_shard(number, held)
                number, held, done, letters = number + 1, [], done + letters, 0
            held.append(each)
            letters += more
        if held:
            yield _files_shard(number, held)

    def fill(self, shard: GenomeFiles) -> GenomeFiles:
        """A shard with its data, for a worker that does not see a file."""
        data = []
        for file in shard.files:
            with open(file.path, "rb") as handle:
                data.append(handle.read())
        return shard._replace(data=data)


def _files_shard(number: int, held: list[NumberedFile]) -> GenomeFiles:
    numbers, labels, files = zip(*held, strict=True)
    return GenomeFiles(number, numbers[0], list(labels), list(files))


def whole_genome(genome: Genome) -> tuple[Extent, Bytes]:
    """All of a genome as one Extent, and its letters."""
    cutter, held = Cutter(EVERYTHING, 0), [_NOTHING]
    for part in genome.parts():
        held.append(np.asarray(part.letters))
        for _ in cutter.add(part.names, part.lengths, part.goes_on):
            raise AssertionError("a genome is shorter than everything")
    none = Extent(0, 0, [], np.zeros(0, np.int64), 0, 0)
    return next(cutter.finish(), none), np.concatenate(held)


_NOTHING = np.zeros(0, np.uint8)
