"""A part of a genome as one chunk of bit planes in memory, which can be sent."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs, Words
from kmatch.engine.geometry import LANES_PER_WORD, SPARE, Geometry
from kmatch.engine.protocol import Engine
from kmatch.packed.reader import PackedRecords
from kmatch.packed.writer import ROWS, WORDS, packed_geometry
from kmatch.sequences.chunks import ChunkPlan, join_records
from kmatch.sequences.records import Stretch

LANES = LANES_PER_WORD * WORDS


class Margins(NamedTuple):
    """Positions that a search needs to be empty: `halo` before and behind all records of a part,
    and `gap` between two of them."""

    halo: int
    gap: int


class PackedPart(NamedTuple):
    """Records in one chunk of planes.

    length: positions of the chunk; begins: where each record begins, int64[r]; planes: as a packed
    genome has them, WORDS words in a row.
    """

    margins: Margins
    length: int
    begins: Longs
    planes: Words

    @property
    def geometry(self) -> Geometry:
        """How the planes are laid out."""
        return packed_geometry(self.length, WORDS, self.margins.halo)


class PartRecords(PackedRecords):
    """The records of a PackedPart; names, sizes: of these, and their letters, int64[r]."""

    def __init__(self, label: str, names: list[str], sizes: Longs, part: PackedPart) -> None:
        halo, gap = part.margins
        self.label, self.names, self.sizes, self.begins = label, names, sizes, part.begins
        self.plan, self.words = ChunkPlan(part.length, halo, gap, lead=halo), WORDS
        self.size, self.offsets = part.planes.nbytes, [0]
        self.lengths, self.rows = [part.length], [part.geometry.rows]
        self._ends = self.begins + sizes
        # What was sent may lie anywhere, and kernels are compiled for writeable arrays.
        self._only = np.require(part.planes, np.uint64, ("C", "A", "W"))

    def planes(self, number: int) -> Words:
        return self._only


def pack_part(
    records: Iterable[Stretch], letters: int, margins: Margins, engine: Engine
) -> PackedPart:
    """The PackedPart of Records and Stretches; letters: how many there are, at least."""
    halo, gap = margins
    parts = list(records)
    count = sum(len(part.names) for part in parts)
    plan = ChunkPlan(2 * halo + letters + gap * count, halo, gap, lead=halo)
    chunk = next(join_records(parts, plan, LANES * ROWS + LANES_PER_WORD))
    geometry = packed_geometry(chunk.length, WORDS, halo)
    planes = _empty_planes(geometry)
    engine.pack(chunk.letters, geometry.text(planes))
    return PackedPart(margins, chunk.length, chunk.spans.begins, planes)


def part_of(packed: PackedRecords, positions: range, begins: Longs, margins: Margins) -> PackedPart:
    """The PackedPart of positions of PackedRecords, at least one.

    begins: of the records there, counted from the first position.
    """
    from kmatch.packed.restripe import bits_of, empty_bits, planes_of

    first, last, each = positions.start, positions.stop, packed.plan.length
    length = margins.halo + last - first
    geometry = packed_geometry(length, WORDS, margins.halo)
    bits = empty_bits(geometry.letters)
    for number in range(first // each, -(-last // each)):
        packed.check(number)
        base = number * each
        low, high = max(first - base, 0), min(last - base, each)
        bits_of(packed.text(number), low, high, margins.halo + base + low - first, bits)
    planes = _empty_planes(geometry)
    planes_of(bits, geometry.text(planes))
    return PackedPart(margins, length, begins + margins.halo, planes)


def _empty_planes(geometry: Geometry) -> Words:
    planes = np.empty(4 * geometry.plane_words + SPARE, np.uint64)
    planes[4 * geometry.plane_words :] = 0
    return planes
