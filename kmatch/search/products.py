"""Sites of primers joined to products, and the text of these.

Sites come in the order of hits. A site on `+` waits until every site on `-` that it can be joined
to has come; what waits is within the longest product.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.engine.letters import LETTERS
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import HitBatch, joined, sizes_of
from kmatch.results.columns import Texts
from kmatch.search.facing import count_products, write_products
from kmatch.sequences.alphabet import encode_text, reverse_complement
from kmatch.sequences.circles import Circles, Circular
from kmatch.sequences.records import Stretch, gathered

PRODUCTS = 1 << 15  # yielded together, and any others that start where the last of them does


class Limits(NamedTuple):
    """Letters of a product, primers included: at least and at most."""

    least: int
    most: int


class Groups(NamedTuple):
    """Which primers are joined: those of group g on `+` to those of group partner[g] on `-`.

    of: int64, the group of each primer; partner: int64, by group, no two of them the same.
    """

    of: Longs
    partner: Longs


class Sites:
    """Sites of primers in the order of hits; most: letters of the longest product."""

    def __init__(self, hits: HitBatch, most: int) -> None:
        self.hits, self._most = hits, most

    @cached_property
    def line(self) -> tuple[Longs, Longs]:
        """Starts and ends on one line, on which no product reaches from record to record."""
        record, start, end = self.hits.record, self.hits.start, self.hits.end
        first = np.flatnonzero(np.diff(record, prepend=-1))
        reached = np.maximum.reduceat(end, first)
        sizes = np.diff(np.append(first, len(record)))
        shift = np.repeat(bounds_of(reached + self._most)[:-1], sizes)
        return start + shift, end + shift

    @property
    def finished(self) -> int:
        """How many sites are too far before the last one for a product that reaches later sites."""
        starts, _ = self.line
        return int(np.searchsorted(starts, starts[-1] - self._most, side="right"))


def finished_sites(batches: Iterable[HitBatch], most: int) -> Iterator[tuple[Sites, int]]:
    """Yield Sites, and how many of the first are finished; the others come again.

    Batches wait until they hold as many sites as come again: so the work is that of a few passes.
    """
    waiting: list[HitBatch] = []
    again = fresh = 0
    for batch in batches:
        if not len(batch):
            continue
        waiting.append(batch)
        fresh += len(batch)
        if fresh >= again:
            sites = Sites(joined(waiting), most)
            count = sites.finished
            yield sites, count
            waiting = [sites.hits.picked(slice(count, None))]
            again, fresh = len(waiting[0]), 0
    if again + fresh:
        yield Sites(joined(waiting), most), again + fresh


def joined_sites(
    sites: Sites, count: int, groups: Groups, limits: Limits
) -> Iterator[tuple[Longs, Longs]]:
    """Yield the products of the first sites on `+`, as rows (on `+`, on `-`), int64[n] each.

    They come in the order of these first sites' starts, of which none is shared by two parts.
    """
    starts, _ = sites.line
    group = groups.of[sites.hits.pattern]
    minus = sites.hits.minus.astype(bool)
    plus = np.flatnonzero(~minus[:count])
    others = np.flatnonzero(minus)
    others = others[np.argsort(group[others], kind="stable")]
    bounds = bounds_of(np.bincount(group[others], minlength=len(groups.partner)))
    wanted = groups.partner[group[plus]]
    low, many = np.empty(len(plus), np.int64), np.empty(len(plus), np.int64)
    count_products(sites.line, (plus, wanted), (others, bounds), tuple(limits), (low, many))
    for first, last in _parts(starts[plus], many):
        part = slice(first, last)
        rows = np.empty(many[part].sum(), np.int64), np.empty(many[part].sum(), np.int64)
        if not len(rows[0]):
            continue
        write_products(
            sites.line, (plus[part], wanted[part]), (others, bounds), tuple(limits), low[part], rows
        )
        yield rows


def _parts(starts: Longs, many: Longs) -> Iterator[tuple[int, int]]:
    """Cut sites into parts of about PRODUCTS products, between two starts."""
    if not len(starts):
        return
    first = np.flatnonzero(np.diff(starts, prepend=-1))
    part = (np.cumsum(many) - many)[first] // PRODUCTS
    cuts = [0, *first[np.flatnonzero(np.diff(part)) + 1].tolist(), len(starts)]
    yield from pairwise(cuts)


class _Piece(NamedTuple):
    """Letters of a record, by number, from the letter `begin` on."""

    record: int
    begin: int
    letters: Bytes

    @property
    def end(self) -> int:
        return self.begin + len(self.letters)


class ProductTexts:
    """Stretches of a genome's records, read in order; circular ones go on behind their end, for
    stretches of up to `longest` letters."""

    def __init__(self, genome: Genome, circular: Circular | None = None, longest: int = 1) -> None:
        parts: Iterable[Stretch] = genome.parts()
        if circular:
            parts = Circles(circular, longest - 1).parts(genome.parts())
        self._pieces = _pieces(parts)
        self._near: deque[_Piece] = deque()

    def close(self) -> None:
        """Read no further."""
        self._pieces.close()

    def read(self, record: Longs, start: Longs, end: Longs, minus: Bytes) -> Texts:
        """The text of stretches, A, C, G, T or N, side by side, the direction as in `minus`.

        They are sorted by record and start, and so are those of one call after another.
        """
        stretches = zip(*(column.tolist() for column in (record, start, end)), strict=True)
        parts = [np.zeros(0, np.uint8)]
        for stretch, reverse in zip(stretches, minus.tolist(), strict=True):
            masks = encode_text(self.letters(*stretch))
            parts.append(LETTERS[reverse_complement(masks) if reverse else masks])
        return Texts(bounds_of(end - start), np.concatenate(parts))

    def letters(self, record: int, start: int, end: int) -> Bytes:
        """The letters of one stretch, as they are; those behind the record's end are left out."""
        near = self._near
        while near and (near[0].record, near[0].end) <= (record, start):
            near.popleft()
        while not near or (near[-1].record, near[-1].end) < (record, end):
            piece = next(self._pieces, None)
            if piece is None:
                break
            if (piece.record, piece.end) > (record, start):
                near.append(piece)
        parts = [
            piece.letters[max(start - piece.begin, 0) : end - piece.begin]
            for piece in near
            if piece.record == record and piece.begin < end
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


class GenomeTexts:
    """The letters of stretches in several genomes, read in order; longest: as for ProductTexts."""

    def __init__(self, genomes: Genomes, longest: int) -> None:
        self._genomes, self._longest = genomes, longest
        self._number = -1
        self._texts: ProductTexts | None = None

    def close(self) -> None:
        """Read no further."""
        if self._texts:
            self._texts.close()

    def letters(self, genome: int, record: int, start: int, end: int) -> Bytes:
        """The letters of one stretch; genome, record: by number."""
        if self._texts is None or genome != self._number:
            self.close()
            self._number = genome
            circular, whole = self._genomes.circular, self._genomes.genome(genome)
            self._texts = ProductTexts(whole, circular, self._longest)
        return self._texts.letters(record, start, end)


def _pieces(parts: Iterable[Stretch]) -> Generator[_Piece, None, None]:
    number, begin = -1, 0
    for part in gathered(parts):
        bounds = bounds_of(part.lengths).tolist()
        for index, (first, last) in enumerate(pairwise(bounds)):
            if index or not part.goes_on:
                number, begin = number + 1, 0
            yield _Piece(number, begin, part.letters[first:last])
            begin += last - first


def with_second_turns(batches: Iterable[HitBatch], most: int) -> Iterator[HitBatch]:
    """The HitBatches, and behind those of a circular record its sites on `-` a turn later, as far
    as products of up to `most` letters reach."""
    waiting: list[HitBatch] = []  # sites of the last record
    for batch in batches:
        if not len(batch) or batch.origin.circles is None:
            yield batch
            continue
        bounds = [*np.flatnonzero(np.diff(batch.record, prepend=-1)).tolist(), len(batch)]
        for first, last in pairwise(bounds):
            part = batch.picked(slice(first, last))
            if waiting and waiting[-1].record[0] != part.record[0]:
                yield from _second_turn(waiting)
                waiting = []
            yield part
            near = np.flatnonzero((part.minus == 1) & (part.start < most))
            if len(near):
                waiting.append(part.picked(near))
    yield from _second_turn(waiting)


def _second_turn(batches: list[HitBatch]) -> Iterator[HitBatch]:
    for batch in batches:
        size = (batch.origin.circles or {}).get(int(batch.record[0]))
        if size is not None:
            yield replace(batch, start=batch.start + size, end=batch.end + size)


def within_one_turn(sites: Sites, rows: tuple[Longs, Longs]) -> tuple[Longs, Longs]:
    """The products, as rows (on `+`, on `-`), that are no longer than their circular record."""
    circles = sites.hits.origin.circles
    if circles is None:
        return rows
    plus, others = rows
    size = sizes_of(sites.hits.record[plus], circles)
    kept = sites.hits.end[others] - sites.hits.start[plus] <= size
    return plus[kept], others[kept]


def first_turn(sites: Sites, rows: Longs) -> tuple[Longs, Longs]:
    """Starts and ends of sites, which begin in the letters of their record."""
    start, end = sites.hits.start[rows], sites.hits.end[rows]
    circles = sites.hits.origin.circles
    if circles is not None:
        size = sizes_of(sites.hits.record[rows], circles)
        turned = np.where(start >= size, size, 0)
        start, end = start - turned, end - turned
    return start, end
