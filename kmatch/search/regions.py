"""Hits inside regions: the hits of a search of the whole genome that are inside one of them."""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import compress, groupby
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Longs
from kmatch.errors import InputError, checked_count, listed, shown, warn
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import SomeBatch
from kmatch.sequences.chunks import Spans
from kmatch.sequences.others import COMMENT, Region, read_regions
from kmatch.sequences.records import Progress, Stretch

# A path of BED, `-` for standard input, or rows (name of the record, start, end).
RegionsGiven = str | os.PathLike[str] | Iterable[tuple[str, int, int]]
RECORD = 1 << 32  # more than a position in a record: a row's record and position in one number


class Regions:
    """Regions, by the names of records; they may overlap, and adjacent ones stay apart."""

    def __init__(self, regions: list[Region]) -> None:
        ordered = sorted(regions, key=lambda region: (region.record, region.start))
        self._furthest: dict[str, Region] = {}  # of each record, the region that ends last
        for name, group in groupby(ordered, key=lambda region: region.record):
            self._furthest[name] = max(group, key=lambda region: region.end)
        self.met: set[str] = set()  # records of them, with letters or without, that were read
        self.lengths: dict[str, int] = {}  # letters of those, as far as they were searched
        self._numbers = {name: number for number, name in enumerate(self._furthest)}
        rows = [(self._numbers[name], start, end) for name, start, end, _ in ordered]
        record, start, end = np.array(rows, np.int64).reshape(-1, 3).T
        self._starts = record * RECORD + start
        # How far the regions reach that do not begin later; those of a later record reach further.
        self._reach = np.maximum.accumulate(record * RECORD + end)

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def hold(self, names: list[str], which: Longs, start: Longs, end: Longs) -> Bools:
        """Which rows are inside a region, bool[n]; names: of records, which: int64[n], of them."""
        number = np.array([self._numbers.get(name, -1) for name in names], np.int64)[which]
        first = number * RECORD + start
        region = np.searchsorted(self._starts, first, side="right") - 1
        held: Bools = (number >= 0) & (region >= 0) & (self._reach[region] >= first + end - start)
        return held

    def inside(self, batch: SomeBatch) -> SomeBatch:
        """The rows of a batch that are inside a region."""
        kept = self.hold(*batch.record_names(), batch.start, batch.end)
        return batch if kept.all() else batch.picked(np.flatnonzero(kept))

    def narrow(self, genomes: Genomes) -> None:
        """Let genomes be searched only in the records that regions name."""
        genomes.view = partial(NarrowGenome, regions=self)

    def meet(self, spans: Spans) -> None:
        """Take the records in a chunk."""
        for number in np.flatnonzero(_named(spans.names, self)).tolist():
            self._meet(spans.names[number], int(spans.lengths[number]))

    def _meet(self, name: str, letters: int) -> None:
        self.lengths[name] = max(letters, self.lengths.get(name, 0))

    def join(self, met: set[str], lengths: Mapping[str, int]) -> None:
        """Take what a search of some of the records has met."""
        self.met |= met
        for name, letters in lengths.items():
            self._meet(name, letters)

    def check(self, label: str) -> None:
        """Compare the regions with the records that there were.

        Raises InputError for regions beyond the end of a record and where the genomes, of which
        `label` is the name, have none of the records named; warns of those they have not.
        """
        self.lengths |= dict.fromkeys(self.met - self.lengths.keys(), 0)
        for name, letters in self.lengths.items():
            region = self._furthest[name]
            if region.end > letters:
                raise InputError(
                    f"{region.where}the region ends at {region.end:,}, and '{shown(name)}' of "
                    f"{label} has {letters:,} letters; are the regions those of another genome?"
                )
        missing = [name for name in self._furthest if name not in self.lengths]
        if not self.lengths:
            raise InputError(
                f"{self._furthest[missing[0]].where}{label} has no record {listed(missing)}; name "
                "records in the regions as the genome does"
            )
        # Those of lines that begin so are comments where no record is named like them.
        missing = [name for name in missing if not name.startswith(COMMENT)]
        if missing:
            warn(f"{label} has no record {listed(missing)}, which regions name")


def load_regions(regions: "RegionsGiven | Regions | None") -> Regions | None:
    """The Regions of what a user gives; None stays None. Raises InputError for what are none."""
    if regions is None or isinstance(regions, Regions):
        return regions
    if isinstance(regions, str | os.PathLike):
        return Regions(read_regions(regions))
    found = []
    try:
        for number, (name, start, end) in enumerate(regions, 1):
            where = f"region {number}: "
            start, end = checked_count("start", start), checked_count("end", end)
            if start > end or not isinstance(name, str):
                raise InputError(f"{where}{(name, start, end)!r}; give (name, start, end)")
            found.append(Region(name, start, end, where))
    except (TypeError, ValueError):
        raise InputError(
            f"regions are {regions!r}; give a path of BED, or rows (name, start, end)"
        ) from None
    if not found:
        raise InputError("no regions were given")
    return Regions(found)


class NarrowGenome(Genome):
    """A Genome of which only the records that regions name have letters; others stay as empty."""

    def __init__(self, genome: Genome, regions: Regions) -> None:
        self.__setstate__(genome.__getstate__())
        self.keep = False  # of what is left out, the whole genome keeps its letters
        self._whole, self.named = genome, regions
        self._regions = regions
        vars(self)["file"] = genome.file

    def sizes(self) -> tuple[list[str], Longs]:
        """Names and letters of all records of the whole genome."""
        return self._whole.sizes()

    @property
    def can_reread(self) -> bool:
        """Whether the whole genome can be read more than once."""
        return self._whole.can_reread

    @cached_property
    def _listed(self) -> tuple[list[str], Longs]:
        return self._whole._listed

    @property
    def _known(self) -> tuple[list[str], Longs] | None:
        return self._whole._known

    @property
    def expected_letters(self) -> int | None:
        """About how many letters the whole genome has."""
        return self._whole.expected_letters

    def parts(self, on_progress: Progress | None = None) -> Iterator[Stretch]:
        """The Stretches of the whole genome, without the letters that are left out."""
        return map(self._narrowed, self._whole.parts(on_progress))

    def _narrowed(self, part: Stretch) -> Stretch:
        named = _named(part.names, self.named)
        if named.any():
            self._regions.met.update(compress(part.names, named))
        if named.all():
            return part
        letters = np.zeros(0, np.uint8)
        if named.any():
            letters = np.asarray(part.letters)[np.repeat(named, part.lengths)]
        return part._replace(lengths=np.where(named, part.lengths, 0), letters=letters)


def _named(names: list[str], known: Any) -> Bools:
    """Which names are known, bool[n]."""
    return np.fromiter(map(known.__contains__, names), np.bool_, len(names))
