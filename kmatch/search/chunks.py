"""Packed chunks of a genome, and the planes a search needs of them."""

from kmatch.engine.geometry import LANES_PER_WORD, SPARE, geometry_for
from kmatch.search.lengths import telling_spans
from kmatch.search.stored import serves, stored_chunks
from kmatch.sequences.chunks import ChunkPlan, join_records

SMALLEST = 1 << 16  # positions, however many queries there are


def plan_chunks(longest, k, queries, length, layout):
    """The ChunkPlan for windows of up to `longest` letters; layout: the engine's Layout.

    Halo and gap are rounded up, so that searches of similar patterns find the chunks packed. Large
    panels get smaller chunks, which bounds the hits of one.
    """
    if length is None:
        fitting = layout.query_positions // max(queries, 1)
        length = min(max(fitting, SMALLEST), layout.length)
    return ChunkPlan(length, _round_up(longest, 64), _round_up(k + 1, 16))


def plan_reading(longest, k, gap, length, layout):
    """The ChunkPlan for the recurrence: `longest` letters and k more warm it up in every lane."""
    halo = _round_up(longest + k + 1, 64)
    if length is None:
        length = max(layout.reading_length, min(layout.reading_halos * halo, layout.most))
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
        self.planes = planes
        self._masks = ()

    def text(self, masks, unite):
        """The chunk as kernels take it: planes with those of `masks`, words, rows, plane_words."""
        geometry = self.geometry
        if self._masks[: len(masks)] != tuple(masks):
            self.planes = unite(self.planes, geometry.plane_words, masks)
            self._masks = tuple(masks)
        return self.planes, geometry.words, geometry.rows, geometry.plane_words


@telling_spans
def packed_chunks(genome, plan, engine, words=None, on_progress=None):
    """Yield the PackedChunks of a genome; a genome that is kept packs itself once for a plan.

    A packed genome is searched as it is, where its chunks serve; otherwise it is unpacked and
    packed anew.
    """
    if genome.file is not None and serves(genome.file, plan, words):
        for stored in stored_chunks(genome.file, engine, on_progress):
            yield PackedChunk(*stored)
        return
    keep = genome.keep and genome.file is None
    key = (plan, words, engine.place)
    if key in genome.packed:
        yield from _one_ahead(genome.packed[key], engine)
        return
    kept = []
    spare = LANES_PER_WORD * (max(words or 0, engine.layout.words) + 1)
    for chunk in join_records(genome.parts(on_progress), plan, spare):
        packed = _pack(chunk, plan, engine, words)
        if keep:
            kept.append(packed)
        yield packed
    if keep:
        genome.packed = {key: kept}  # other plans' chunks would only hold memory


def _one_ahead(chunks, engine):
    """The chunks one by one, the next one being fetched while one is searched."""
    for number, chunk in enumerate(chunks):
        for soon in chunks[number : number + 2]:
            engine.fetch(soon.planes)
        yield chunk


def _pack(chunk, plan, engine, words):
    geometry = geometry_for(chunk.length, plan.halo, words, engine.layout.words)
    planes = engine.planes(4 * geometry.plane_words + SPARE)
    engine.pack(chunk.letters, geometry.words, geometry.rows, geometry.plane_rows, planes)
    return PackedChunk(chunk, geometry, planes)
