"""Packed chunks of a genome, and the planes a search needs of them."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, look_up
from kmatch.engine.engine import Engine, read_text
from kmatch.engine.geometry import (
    LANES_PER_WORD,
    MOST_WORDS,
    SPARE,
    Layout,
    Text,
    halo_of,
    rows_for,
    text_of,
)
from kmatch.engine.types import LETTERS, View
from kmatch.genome import Genome
from kmatch.packed.reader import serves, stored_chunks
from kmatch.search.regions import Regions
from kmatch.sequences.chunks import ChunkPlan, LetterChunk, Spans, join_records
from kmatch.sequences.records import Progress, Stretch

# Of a Genome: the kind of its PackedChunks (see `Chunking`), and these.
_KEPT: WeakKeyDictionary[Genome, tuple[Any, list["PackedChunk"]]] = WeakKeyDictionary()
LENGTH: int | None = None  # positions of a chunk, None for what fits; tests make them few
WORDS: int | None = None  # of a row, where windows are searched for; likewise
MANY = 128  # queries from which on chunks for differences are a quarter as long
NO_LETTERS = np.zeros(0, np.uint8)


def plan_chunks(longest: int, k: int, layout: Layout) -> ChunkPlan:
    """The ChunkPlan for windows of up to `longest` letters; layout: the engine's Layout.

    Halo and gap are rounded up, so that searches of similar patterns find the chunks packed.
    """
    return ChunkPlan(LENGTH or layout.length, round_up(longest, 64), round_up(k + 1, 16))


def plan_reading(longest: int, k: int, gap: int, layout: Layout, queries: int) -> ChunkPlan:
    """The ChunkPlan for the recurrence: `longest` letters and k more warm it up in every lane.

    Of many queries the chunks are shorter, as their hits are reported while the next is scanned.
    """
    halo = round_up(longest + k + 1, 64)
    length = layout.reading_length // (4 if queries >= MANY else 1)
    fitting = max(length, min(layout.reading_halos * halo, layout.most))
    return ChunkPlan(LENGTH or fitting, halo, round_up(gap, 16), lead=halo)


def round_up(value: int, step: int) -> int:
    """The multiple of `step` that is no less than a value."""
    return -(-value // step) * step


class PackedChunk:
    """A chunk as bit planes.

    plain: the chunk as kernels take it, a Text of the planes A, C, G and T; halo: its; letters: as
    masks, once `unpack` was called; words: in a row, where the search wants so many, otherwise
    None; united: whether it may have letters for sets of bases. Searches side by side share the
    chunks of a genome, so `letters` are read once and replaced as a whole.
    """

    def __init__(
        self, chunk: Any, plain: Text, words: int | None = None, united: bool = False
    ) -> None:
        self.base, self.length, self.spans = chunk.base, chunk.length, chunk.spans
        self.plain, self.halo = plain, halo_of(plain)
        self.letters = NO_LETTERS
        self._words = words
        self._united = united

    def view(self, before: Bytes = NO_LETTERS) -> View:
        """The chunk with the letters, if they are unpacked; before: letters in front of it."""
        return View(self.plain, self.letters, before, self.length + self.halo)

    def records(self, position: Longs, letters: Longs | int = 1) -> tuple[Longs, Bools]:
        """The records, counted from the first of the spans, in which so many letters from a
        position on begin, and whether they all are in it, each of n positions."""
        begins, sizes = self.spans.begins, self.spans.lengths
        span = np.searchsorted(begins, position, side="right") - 1
        return span, (span >= 0) & (position - begins[span] + letters <= sizes[span])

    def unpack(self, engine: Engine) -> Bytes:
        """Fill `letters`, uint8[length + halo]: a dense chunk is read in order, not by lanes."""
        letters = self.letters
        if not len(letters):
            letters = np.empty(self.length + self.halo, np.uint8)
            engine.workers.run(read_text, self.plain.words, self.plain, letters)
            self.letters = letters
        return letters

    def part(self, begin: int, end: int, engine: Engine) -> "PackedChunk":
        """The PackedChunk of the positions begin … end−1 that this one owns."""
        halo, spans = self.halo, self.spans
        masks = self.unpack(engine)[begin : end + halo]
        first = max(int(np.searchsorted(spans.begins, begin)) - 1, 0)  # its last end may be open
        last = max(int(np.searchsorted(spans.begins, end + halo)), first + 1)
        inside = Spans(
            spans.first + first,
            spans.names[first:last],
            spans.begins[first:last] - begin,
            spans.lengths[first:last],
        )
        letters = np.zeros(len(masks) + _spare(self._words), np.uint8)
        letters[: len(masks)] = look_up(masks, LETTERS)
        chunk = LetterChunk(self.base + begin, letters, end - begin, inside)
        part = _pack(chunk, halo, engine, self._words, self._united)
        part.letters = masks
        return part


class Chunking(NamedTuple):
    """How a genome becomes PackedChunks.

    plan: where it is cut; engine: packs it; words: of a row, None for what fits; united: whether it
    may have letters for sets of bases (see SET), each of which they match.
    """

    plan: ChunkPlan
    engine: Engine
    words: int | None
    united: bool = False

    def packed(
        self, genome: Genome, hear: Progress | None = None, narrow: Regions | None = None
    ) -> Iterable[PackedChunk] | None:
        """The PackedChunks of a genome that is packed already: in a file whose chunks serve, or
        because it was kept; otherwise None.

        hear(read, size) hears of bytes read; narrow: Regions, without which chunks are left out.
        """
        words = self.words or WORDS
        if genome.file is not None and serves(genome.file, self.plan, words):
            stored = stored_chunks(genome.file, hear, narrow)
            return (PackedChunk(*each, words) for each in stored)
        kept_for, kept = _KEPT.get(genome, (None, None))
        return kept if kept_for == self._kind and not narrow else None

    def chunks(
        self, genome: Genome, parts: Iterable[Stretch], keep: bool = True
    ) -> Iterator[PackedChunk]:
        """Yield the PackedChunks of the Stretches of a genome, packed anew; a genome that is kept
        packs itself once for a plan.

        keep: whether these Stretches are the whole genome.
        """
        keep = keep and genome.keep and genome.file is None
        kept: list[PackedChunk] = []
        for packed in self.fresh(parts):
            if keep:
                kept.append(packed)
            yield packed
        if keep:  # chunks of other plans would only take memory
            _KEPT[genome] = self._kind, kept

    @property
    def _kind(self) -> tuple[Any, ...]:
        """What chunks that are kept have in common with those that are wanted."""
        return self.plan, self.words or WORDS, self.engine.device, self.united

    def fresh(self, parts: Iterable[Stretch], first: int = 0) -> Iterator[PackedChunk]:
        """The PackedChunks of Stretches, packed anew; first: the number of their first record."""
        words = self.words or WORDS
        for chunk in join_records(parts, self.plan, _spare(words), first):
            yield _pack(chunk, self.plan.halo, self.engine, words, self.united)


def _pack(
    chunk: LetterChunk, halo: int, engine: Engine, words: int | None, united: bool
) -> PackedChunk:
    width, rows = rows_for(chunk.length, halo, words)
    planes = engine.planes(4 * (rows + halo) * width + SPARE)
    text = text_of(planes, width, rows, halo)
    engine.pack(chunk.letters, text, united)
    return PackedChunk(chunk, text, words, united)


def _spare(words: int | None) -> int:
    """Letters that engines read behind a chunk, whose rows may have so many words."""
    return LANES_PER_WORD * ((words or MOST_WORDS) + 1)
