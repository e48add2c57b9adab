"""Packed chunks of a genome, and the planes a search needs of them."""

import numpy as np

from kmatch.engine.geometry import HALO_SHARE, LANES_PER_WORD, SPARE, WORDS, geometry_for
from kmatch.sequences.chunks import ChunkPlan, join_records

LENGTH = 1 << 23  # positions a chunk owns
READING_LENGTH = 1 << 24
READING_WORDS = 8  # words in a row: one vector of the recurrence, whatever the processor's are
SMALLEST = 1 << 16
QUERY_POSITIONS = 1 << 29  # large panels get smaller chunks, which bounds the hits of one


def plan_chunks(longest, k, queries, length=None):
    """The ChunkPlan for windows of up to `longest` letters.

    Halo and gap are rounded up, so that searches of similar patterns find the chunks packed.
    """
    if length is None:
        length = min(max(QUERY_POSITIONS // max(queries, 1), SMALLEST), LENGTH)
    return ChunkPlan(length, _round_up(longest, 64), _round_up(k + 1, 16))


def plan_reading(longest, k, gap, length=None):
    """The ChunkPlan for the recurrence: `longest` letters and k more warm it up in every lane."""
    halo = _round_up(longest + k + 1, 64)
    if length is None:
        length = max(READING_LENGTH, LANES_PER_WORD * READING_WORDS * HALO_SHARE * halo)
    return ChunkPlan(length, halo, _round_up(gap, 16), lead=halo)


def _round_up(value, step):
    return -(-value // step) * step


class PackedChunk:
    """A chunk as bit planes: `planes` is laid out by `geometry` (see `kmatch.engine.geometry`)."""

    def __init__(self, chunk, geometry, planes):
        self.base = chunk.base
        self.length = chunk.length
        self.spans = chunk.spans
        self.geometry = geometry
        self._planes = planes
        self._masks = ()

    def text(self, masks, unite):
        """The chunk as kernels take it: planes with those of `masks`, words, rows, plane_words."""
        geometry = self.geometry
        planes = self._planes_for(masks, unite)
        return planes, geometry.words, geometry.rows, geometry.plane_words

    def _planes_for(self, masks, unite):
        if self._masks[: len(masks)] != tuple(masks):
            words = self.geometry.plane_words
            planes = np.empty((4 + len(masks)) * words + SPARE, np.uint64)
            planes[: 4 * words] = self._planes[: 4 * words]
            unite(planes, words, masks)
            self._planes, self._masks = planes, tuple(masks)
        return self._planes


def packed_chunks(genome, plan, engine, words=None, on_progress=None):
    """Yield the PackedChunks of a genome; a genome that is kept packs itself once for a plan."""
    key = (plan, words)
    if key in genome.packed:
        yield from genome.packed[key]
        return
    kept = []
    spare = LANES_PER_WORD * (max(words or 0, WORDS) + 1)
    for chunk in join_records(genome.records(on_progress), plan, spare):
        packed = _pack(chunk, plan, engine, words)
        if genome.keep:
            kept.append(packed)
        yield packed
    if genome.keep:
        genome.packed = {key: kept}  # other plans' chunks would only hold memory


def _pack(chunk, plan, engine, words):
    geometry = geometry_for(chunk.length, plan.halo, words)
    planes = np.empty(4 * geometry.plane_words + SPARE, np.uint64)
    engine.pack(chunk.letters, geometry.words, geometry.rows, geometry.plane_rows, planes)
    return PackedChunk(chunk, geometry, planes)
