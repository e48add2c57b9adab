"""Packed chunks of a genome, and the planes a search needs of them."""

from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs
from kmatch.engine.engine import Engine, add_sets, read_text
from kmatch.engine.geometry import (
    SPARE,
    Layout,
    Text,
    halo_of,
    rows_for,
    text_of,
)
from kmatch.engine.types import View
from kmatch.genome import Genome
from kmatch.jit.entries import entry
from kmatch.packed.reader import PackedFile, serves, stored_chunks
from kmatch.search.regions import Regions
from kmatch.sequences.chunks import ChunkPlan, LetterChunk, Spans, join_records
from kmatch.sequences.records import Progress as Tell
from kmatch.sequences.records import Stretch
from kmatch.sequences.unknown import NO_RUNS, UnknownLetters, unknown_letters

read_view = entry("kmatch.engine.letters:read_view", tuple[View, int, int, int, Bytes])

# Of a Genome: the kind of its PackedChunks (see `Chunking`), and these.
_KEPT: WeakKeyDictionary[Genome, tuple[Any, list["PackedChunk"]]] = WeakKeyDictionary()
LENGTH: int | None = None  # positions of a chunk, None for what fits; tests make them few
WORDS: int | None = None  # of a row, where windows are searched for; likewise
MANY = 128  # queries from which on chunks for differences are a quarter as long
NO_LETTERS = np.zeros(0, np.uint8)
NO_PLANES = np.zeros(0, np.uint64)


def plan_chunks(longest: int, k: int, layout: Layout) -> ChunkPlan:
    """Return the ChunkPlan for windows of up to `longest` letters.

    layout: the engine's Layout. Halo and gap are rounded up, so that searches of similar patterns
    find the chunks packed.
    """
    halo = round_up(longest, 64)
    gap = round_up(k + 1, 16)
    return ChunkPlan(LENGTH or layout.length, halo, gap)


def plan_reading(longest: int, k: int, gap: int, layout: Layout, queries: int) -> ChunkPlan:
    """Return the ChunkPlan for the recurrence.

    longest: letters of a pattern and its PAM, which warm it up in every lane with k more; gap:
    empty letters between records. Of many queries the chunks are shorter, as their hits are
    reported while the next is scanned.
    """
    halo = round_up(longest + k + 1, 64)
    length = layout.reading_length // (4 if queries >= MANY else 1)
    fitting = max(length, min(layout.reading_halos * halo, layout.most))
    return ChunkPlan(LENGTH or fitting, halo, round_up(gap, 16), lead=halo)


def round_up(value: int, step: int) -> int:
    """Return the multiple of `step` that is no less than a value."""
    return -(-value // step) * step


class PackedChunk:
    """A chunk as bit planes.

    base: the coordinate of its first letter; length: positions that it owns; halo: letters of the
    next chunk that it shows; shown: letters of both; spans: its records; plain: the chunk as
    kernels take it, a Text of the planes A, C, G and T; letters: as masks, once `unpack` was
    called; words: in a row, where the search wants so many, otherwise None; unknown: the runs of
    unknown letters that it shows, where the search counts these. Searches side by side share the
    chunks of a genome, so `letters` are read by one thread and replaced as a whole.
    """

    def __init__(self, chunk: Any, plain: Text, words: int | None = None) -> None:
        self.base: int = chunk.base
        self.length: int = chunk.length
        self.spans: Spans = chunk.spans
        self.plain = plain
        self.halo = halo_of(plain)
        self.shown = self.length + self.halo
        self.letters = NO_LETTERS
        self.unknown = NO_RUNS
        self.words = words
        self._unpacking = Lock()

    def packed(self, engine: Engine) -> Text:
        """Return `plain` with its planes, which a part of a chunk has not before."""
        return self.plain

    def view(self, before: Bytes = NO_LETTERS) -> View:
        """Return the chunk with its letters, if they are unpacked; before: the letters in front of
        it."""
        return View(self.plain, self.letters, before, self.shown)

    def records(self, position: Longs, letters: Longs | int = 1) -> tuple[Longs, Bools]:
        """Return the record at each position, and whether so many letters from there on are in it.

        position: int64[n], in the chunk; letters: int64[n], or the same number for all. Returns
        (span, is_inside): int64[n], counted from the first of the spans, and bool[n].

            spans        |0 0 0 0 0|   |1 1 1 1 1 1|          two records, and the gap
            position       ^     ^   ^      ^        ^
            3 letters      yes   no  no     yes      no
        """
        begins = self.spans.begins
        span = np.searchsorted(begins, position, side="right") - 1
        ends_inside = position - begins[span] + letters <= self.spans.lengths[span]
        return span, (span >= 0) & ends_inside

    def unpack(self, engine: Engine) -> Bytes:
        """Fill `letters`, uint8[shown]: a dense chunk is read in order, not by lanes."""
        with self._unpacking:
            letters = self.letters
            if not len(letters):
                letters = self._read(engine)
                self.letters = letters
            return letters

    def _read(self, engine: Engine) -> Bytes:
        """Return the letters as masks, uint8[shown]."""
        letters = np.empty(self.shown, np.uint8)
        engine.workers.run(read_text, self.plain.words, self.plain, letters)
        return letters

    def last_letters(self, count: int) -> Bytes:
        """Return the last letters that the chunk owns as masks, uint8[count]."""
        letters = np.empty(count, np.uint8)
        read_view(self.view(), self.length - count, 1, count, letters)
        return letters

    def part(self, begin: int, end: int) -> "ChunkPart":
        """Return the PackedChunk of the positions begin … end−1 that this one owns."""
        return ChunkPart(self, begin, end)

    def spans_of(self, begin: int, end: int) -> Spans:
        """Return the Spans of a part that shows the positions begin … end−1.

        The last record before the part is one, as an end there may still be held.
        """
        spans = self.spans
        first, last = np.searchsorted(spans.begins, [begin, end]).tolist()
        first = max(first - 1, 0)
        last = max(last, first + 1)
        return Spans(
            first=spans.first + first,
            names=spans.names[first:last],
            begins=spans.begins[first:last] - begin,
            lengths=spans.lengths[first:last],
        )


class ChunkPart(PackedChunk):
    """The PackedChunk of the positions begin … end−1 of another, the whole.

        whole    |----------------------------~~~~|     ~ the halo
        part              |---------~~~~|

    The letters of all parts are those of the whole. Its planes are packed for a scan alone, as
    look-ups read letters.
    """

    def __init__(self, whole: PackedChunk, begin: int, end: int) -> None:
        length = end - begin
        spans = whole.spans_of(begin, end + whole.halo)
        plain = _shape_of(length, whole.halo, whole.words)
        chunk = LetterChunk(whole.base + begin, NO_LETTERS, length, spans)
        super().__init__(chunk, plain, whole.words)
        self.unknown = whole.unknown.moved(-begin)
        self._whole = whole
        self._begin = begin

    def packed(self, engine: Engine) -> Text:
        """Return `plain` with its planes, which are packed once."""
        if not len(self.plain.planes):
            text = _with_planes(self.plain, engine)
            engine.pack_masks(self.unpack(engine), text)
            self.plain = text
        return self.plain

    def _read(self, engine: Engine) -> Bytes:
        return self._whole.unpack(engine)[self._begin : self._begin + self.shown]


class Chunking(NamedTuple):
    """How a genome becomes PackedChunks.

    plan: where it is cut; engine: packs it; words: of a row, None for as many as fit; united:
    whether it may have letters for sets of bases (see SET), which match each base of the set;
    most_unknown: how many unknown letters at either end of a run match the bases that they may
    stand for, None for none.
    """

    plan: ChunkPlan
    engine: Engine
    words: int | None
    united: bool = False
    most_unknown: int | None = None

    def packed(
        self, genome: Genome, hear: Tell | None = None, narrow: Regions | None = None
    ) -> Iterable[PackedChunk] | None:
        """Return the PackedChunks of a genome that is packed already, otherwise None.

        They are in a file whose chunks serve, or were kept. hear(read, size) hears of bytes read;
        narrow: Regions, outside which chunks are left out.
        """
        words = self.words or WORDS
        if genome.file is not None and serves(genome.file, self.plan, words):
            stored = stored_chunks(genome.file, hear, narrow)
            return (self._stored(genome.file, chunk, text) for chunk, text in stored)

        kind, kept = _KEPT.get(genome, (None, None))
        return kept if kind == self._kind and not narrow else None

    def chunks(
        self, genome: Genome, parts: Iterable[Stretch], keep: bool = True
    ) -> Iterator[PackedChunk]:
        """Yield the PackedChunks of the Stretches of a genome, packed anew.

        keep: whether these Stretches are the whole genome: if that stays in memory, so do its
        chunks, for the next search.
        """
        if not (keep and genome.keep and genome.file is None):
            yield from self.fresh(parts)
            return

        kept: list[PackedChunk] = []
        for packed in self.fresh(parts):
            kept.append(packed)
            yield packed
        _KEPT[genome] = self._kind, kept  # those of another plan would only take memory

    @property
    def _kind(self) -> tuple[Any, ...]:
        """Return the properties that kept chunks share with wanted ones."""
        return self.plan, self.words or WORDS, self.engine.device, self.united, self.most_unknown

    def fresh(self, parts: Iterable[Stretch], first: int = 0) -> Iterator[PackedChunk]:
        """Yield the PackedChunks of Stretches, packed anew.

        first: the number of their first record.
        """
        words = self.words or WORDS
        for chunk in join_records(parts, self.plan, first):
            text = _with_planes(_shape_of(chunk.length, self.plan.halo, words), self.engine)
            self.engine.pack(chunk.letters, text, self.united)
            packed = PackedChunk(chunk, text, words)
            if self.most_unknown is not None:
                shown = chunk.letters[: chunk.length + self.plan.halo]
                self._match_unknown(packed, unknown_letters(shown))
            yield packed

    def _stored(self, file: PackedFile, chunk: LetterChunk, text: Text) -> PackedChunk:
        """Return a PackedChunk of a packed file; its planes are copied where letters change."""
        words = self.words or WORDS
        if self.most_unknown is None:
            return PackedChunk(chunk, text, words)
        unknown = file.unknown_of(chunk)
        if self.most_unknown and len(unknown):
            planes = self.engine.planes(len(text.planes))
            planes[:] = text.planes
            text = text._replace(planes=planes)
        packed = PackedChunk(chunk, text, words)
        self._match_unknown(packed, unknown)
        return packed

    def _match_unknown(self, packed: PackedChunk, unknown: UnknownLetters) -> None:
        """Have unknown letters of a PackedChunk match the bases that they may stand for.

        unknown: by position in the chunk. The letters inside of a long run go on matching nothing.
        """
        assert self.most_unknown is not None
        packed.unknown = unknown.runs()
        places, masks = unknown.edges(self.most_unknown)
        if len(places):
            add_sets(masks, places, packed.plain)


def _shape_of(length: int, halo: int, words: int | None) -> Text:
    """Return the Text of a chunk of so many positions, without planes.

    words: of a row, None for as many as fit.
    """
    row_words, rows = rows_for(length, halo, words)
    return text_of(NO_PLANES, row_words, rows, halo)


def _with_planes(shape: Text, engine: Engine) -> Text:
    """Return a Text with room for its planes; shape: the same without planes."""
    return shape._replace(planes=engine.planes(4 * shape.plane_words + SPARE))
