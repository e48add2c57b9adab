"""What an Extent shows of a packed genome: its letters, or planes of its own."""

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of, gather
from kmatch.packed.part import Margins, PackedPart, part_of
from kmatch.packed.reader import PackedRecords
from kmatch.search.shards.extents import Extent


def shown_of(file: PackedRecords, extent: Extent, margins: Margins) -> Bytes | PackedPart:
    """What an Extent shows of a packed genome: planes where they serve, otherwise letters."""
    part = None if extent.circular else _part_of(file, extent, margins)
    return _letters_of(file, extent) if part is None else part


def _part_of(file: PackedRecords, extent: Extent, margins: Margins) -> PackedPart | None:
    """None where no letters are shown, or where records are left out between those that are."""
    lengths, begins = extent.lengths, _begins(file, extent)
    shown = np.flatnonzero(lengths)
    if not len(shown):
        return None
    first, last = shown[0], shown[-1]
    ends = begins + lengths
    stored = file.begins + file.sizes
    if (ends[first:last] != stored[extent.first :][first:last]).any():
        return None
    low, high = int(begins[first]), int(ends[last])
    return part_of(file, range(low, high), np.clip(begins, low, high) - low, margins)


def _letters_of(file: PackedRecords, extent: Extent) -> Bytes:
    """The letters that an Extent of a packed genome shows."""
    lengths = extent.lengths
    begins = _begins(file, extent)
    shown = np.flatnonzero(lengths)
    if not len(shown):
        return np.zeros(0, np.uint8)
    low, high = int(begins[shown[0]]), int((begins + lengths)[shown[-1]])
    together = file.letters(low, high)
    if high - low == lengths.sum():
        return together
    return gather(together, begins - low, bounds_of(lengths))


def _begins(file: PackedRecords, extent: Extent) -> Longs:
    """The positions of the first letters that are shown, int64[r]."""
    begins: Longs = file.begins[extent.first : extent.first + len(extent.lengths)].copy()
    begins[0] += extent.offset
    return begins
