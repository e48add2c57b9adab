"""How a genome is cut into shards: by the work that they are, and by who can read it."""

from collections.abc import Iterator

import numpy as np

from kmatch.arrays import Longs
from kmatch.distributed.files import SharedFile, estimated_letters, shared_file
from kmatch.distributed.shards import GenomeFiles, Shard, letters_of, pack_letters
from kmatch.engine.choice import Work, cpu_seconds
from kmatch.genome import Genome
from kmatch.search.shards.extents import Cutter, Extent
from kmatch.sequences.readers.files import reading

SECONDS = 2.0  # of a thread's work in a shard
SHARES = 4  # shards for each thread at least, where the genome is large enough
LEAST, MOST = 1 << 18, 1 << 24  # letters of a shard
RECORDS = 1 << 14  # of a packed genome that are cut at a time
EVERYTHING = 1 << 60  # letters
_PROBE = 1 << 20  # letters of which the work is estimated


def shard_letters(work: Work, threads: int) -> int:
    """Letters of a shard of some Work on so many threads."""
    letter = cpu_seconds(work._replace(letters=_PROBE), 1) / _PROBE
    letters = int(SECONDS / letter)
    if work.letters:
        letters = min(letters, work.letters // (SHARES * threads))
    return min(max(letters, LEAST), MOST)


class ShardPlan:
    """The shards of a genome, in order, made while the genome is read.

    letters: that a shard owns; context: letters that it shows around these. Workers read a packed
    genome themselves; other letters go with the shards.
    """

    def __init__(self, genome: Genome, letters: int, context: int) -> None:
        self._genome, self._letters, self._context = genome, letters, context
        self._file: SharedFile | None = None
        if genome.file is not None and genome.path is not None:
            self._file = shared_file(genome.path)

    @property
    def count(self) -> int | None:
        """How many shards there will be; None where only reading tells."""
        if self._genome.file is None:
            return None
        return -(-int(self._lengths().sum()) // self._letters)

    def __iter__(self) -> Iterator[Shard]:
        file = self._file
        parts = self._of_file() if self._genome.file else self._of_stream()
        for number, (extent, letters) in enumerate(parts):
            shard = Shard(number, self._genome.label, extent, file, letters)
            yield shard if file or letters is not None else self.fill(shard)

    def fill(self, shard: Shard) -> Shard:
        """A shard with its letters, for a worker that does not see the file."""
        assert self._genome.file
        letters = letters_of(self._genome.file, shard.extent)
        return shard._replace(letters=pack_letters(letters))

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
        names, lengths = self._genome.file.names, self._lengths()
        cutter = Cutter(self._letters, self._context)
        for first in range(0, len(names), RECORDS):
            part = slice(first, first + RECORDS)
            yield from ((extent, None) for extent in cutter.add(names[part], lengths[part]))
        yield from ((extent, None) for extent in cutter.finish())

    def _of_stream(self) -> Iterator[tuple[Extent, np.ndarray]]:
        cutter = Cutter(self._letters, self._context)
        held: list[np.ndarray] = []  # letters of which the first is the first that is shown next

        def packed(extent: Extent) -> np.ndarray:
            nonlocal held
            letters = held[0] if len(held) == 1 else np.concatenate([_NOTHING, *held])
            shown = extent.letters
            held = [letters[shown - extent.behind - cutter.before :]]
            return pack_letters(letters[:shown])

        for part in self._genome.parts():
            held.append(np.asarray(part.letters))
            for extent in cutter.add(part.names, part.lengths, part.goes_on):
                yield extent, packed(extent)
        for extent in cutter.finish():
            yield extent, packed(extent)


class FilesPlan:
    """The shards of a list of small genomes: as many as are `letters` together, at most `most`."""

    def __init__(self, labels: list[str], files: list[SharedFile], letters: int, most: int) -> None:
        self._labels, self._files = labels, files
        self._letters, self._most = letters, most

    def __iter__(self) -> Iterator[GenomeFiles]:
        first = number = 0
        while first < len(self._files):
            end = first + 1
            letters = estimated_letters(self._files[first])
            while end < len(self._files) and end - first < self._most:
                letters += estimated_letters(self._files[end])
                if letters > self._letters:
                    break
                end += 1
            labels, files = self._labels[first:end], self._files[first:end]
            yield GenomeFiles(number, first, labels, files)
            first, number = end, number + 1

    def fill(self, shard: GenomeFiles) -> GenomeFiles:
        """A shard with its data, for a worker that does not see a file."""
        data = []
        for file in shard.files:
            with reading(file.path), open(file.path, "rb") as handle:
                data.append(handle.read())
        return shard._replace(data=data)


def whole_genome(genome: Genome) -> tuple[Extent, np.ndarray]:
    """All of a genome as one Extent, and its letters."""
    cutter, held = Cutter(EVERYTHING, 0), [_NOTHING]
    for part in genome.parts():
        held.append(np.asarray(part.letters))
        for _ in cutter.add(part.names, part.lengths, part.goes_on):
            raise AssertionError("a genome is shorter than everything")
    none = Extent(0, 0, [], np.zeros(0, np.int64), 0, 0)
    return next(cutter.finish(), none), np.concatenate(held)


_NOTHING = np.zeros(0, np.uint8)
