"""The haplotypes around alleles, as windows of letters that are searched like a genome.

A window has one allele, its anchor, in the middle, the other alleles of a haplotype around it, and
letters enough for every hit that overlaps the anchor. Of such hits those are kept of which the
anchor is the first allele in the file, so that each is found beside one anchor.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, Words, bounds_of, gather, offsets_in_rows
from kmatch.sequences.variants import FOREVER, Block

TOGETHER = 1 << 13  # anchors whose haplotypes are searched together
FULL, NONE = ~np.uint64(0), np.uint64(0)  # words of copies
LARGE = 1 << 22  # bytes of copies that are looked at together


def haplotypes_of(
    block: Block, anchors: Longs, flank: int, before: bool, most: int, dense: Bools
) -> Iterator[Longs]:
    """Yield the haplotypes around alleles, int64[n, D]: the row of an anchor, and of alleles beside
    it, -1 behind these.

    flank: letters on either side that count; before: whether alleles before the anchor do; dense:
    bool[R], receives which anchors have more haplotypes than `most`.
    """
    for first in range(0, len(anchors), TOGETHER):
        some = anchors[first : first + TOGETHER]
        found = [*_around(block, some, flank, before, most, dense)]
        parts = [part[~dense[part[:, 0]]] for part in found]
        parts += _around(block, some[dense[some]], flank, before, most, None)
        width, pad = max(part.shape[1] for part in parts), partial(np.pad, constant_values=-1)
        yield np.concatenate([pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts])


def _around(
    block: Block, anchors: Longs, flank: int, before: bool, most: int, dense: Bools | None
) -> Iterator[Longs]:
    """Yield haplotypes around anchors. Each goes on at one site after another, down from its own
    and then up from it, with every allele there that some of its copies may have.

    dense: as for `haplotypes_of`; None where a copy has one at a time of the alleles that it may be
    without.
    """
    first, site = block.first, block.site[anchors] + (-1 if before else 1)
    # Copies, and in the second of two planes those that have such an allele.
    planes = np.array([[FULL], [NONE]] if dense is None else [[FULL]])
    waiting: list[Any] = [(anchors[:, None], site, block.copies[anchors][:, None] & planes)]
    while waiting:
        state = waiting.pop()
        if len(site := state[1]) > 1 and state[2].nbytes > LARGE:
            halves = slice(len(site) // 2), slice(len(site) // 2, None)
            waiting += [tuple(column[half] for column in state) for half in halves]
            continue
        rows, site, copies = state
        own = block.site[rows[:, 0]]
        # Where alleles have fewer letters than the reference, those from behind come nearer.
        gap = np.maximum(block.end[rows] - block.start[rows] - block.size[rows], 0) * (rows >= 0)
        below = block.site[rows] < own[:, None]
        low = block.start[rows[:, 0]] - flank - (gap * below).sum(axis=1)
        high = block.end[rows[:, 0]] + flank + (gap * ~below)[:, 1:].sum(axis=1)
        site = np.where((site < own) & ((site < 0) | (block.reach[site] <= low)), own + 1, site)
        going = (site < own) | (block.place[site] < high)
        yield rows[~going]
        if dense is not None:
            counts = np.bincount(rows[:, 0] - anchors[0])
            dense[anchors[0] :][: len(counts)] |= counts > most
            going &= ~dense[rows[:, 0]]
        if not going.any():
            continue
        rows, site, copies, own, low = (each[going] for each in (rows, site, copies, own, low))
        near = (site > own) | (block.behind[site] > low)
        sizes = np.where(near, first[site + 1] - first[site], 1)
        parent, row = np.repeat(np.arange(len(site)), sizes), offsets_in_rows(bounds_of(sizes))
        there, taken, rows = first[site[parent]], row > 0, rows[parent]
        row = np.where(taken, there + row, -1)
        copies = copies[parent]
        copies[:, 0] &= _where(near[parent], block.copies[np.where(taken, row, there)], FULL)
        if dense is None:
            free = _where(taken, block.copies[there], NONE)
            copies[:, 0] &= ~(free & copies[:, 1])
            copies[:, 1] |= free & copies[:, 0]
        fits = copies[:, 0].any(axis=1)
        for other in rows.T:
            fits &= ~(taken & (other >= 0) & block.overlap(row, other))
        rows = np.column_stack([rows, row]) if taken.any() else rows
        site = (site + np.where(site < own, -1, 1))[parent]
        waiting.append((rows[fits], site[fits], copies[fits]))


class Windows:
    """The letters of haplotypes around their anchors, side by side in `letters`.

    bounds: int64[n+1]; rows: int64[n, D], the alleles of each in order, -1 behind them; anchor,
    anchor_at: int64[n], one of these, and where it begins in its window.
    """

    def __init__(self, block: Block, haplotypes: Longs, letters: Bytes, flank: int) -> None:
        self._block, self.anchor = block, haplotypes[:, 0]
        order = 2 * block.start + (block.start < block.end)  # an insertion comes first
        order = np.argsort(np.where(haplotypes < 0, FOREVER, order[haplotypes]), axis=1)
        self.rows = rows = np.take_along_axis(haplotypes, order, axis=1)
        missing, own = rows < 0, rows == self.anchor[:, None]
        size = np.where(missing, 0, block.size[rows])
        end = np.maximum.accumulate(np.where(missing, 0, block.end[rows]), axis=1)
        start = np.where(missing, end, block.start[rows])
        # As many letters before the anchor and behind it, where others are shorter or longer.
        behind, more = np.maximum.accumulate(own, axis=1), size - end + start
        left = start[own] - start[:, 0] + np.sum(more * ~behind, axis=1)
        right = end[:, -1] - end[own] + np.sum(more * (behind & ~own), axis=1)
        begin = np.maximum(start[:, 0] - np.maximum(flank - left, 0), 0)
        stop = np.minimum(end[:, -1] + np.maximum(flank - right, 0), len(letters))
        # Letters of the record and of an allele by turns; alleles are behind those of the record.
        self._base = base = int(begin.min())
        most = int(stop.max()) - base
        every = np.concatenate([letters[base:][:most], np.frombuffer(block.letters, np.uint8)])
        begins, sizes = np.empty((2, len(rows), 2 * rows.shape[1] + 1), np.int64)
        begins[:, 0], begins[:, 2::2] = begin - base, end - base
        begins[:, 1::2] = bounds_of(block.size)[rows] + most
        sizes[:, :-1:2], sizes[:, -1], sizes[:, 1::2] = start - base, stop - base, size
        sizes[:, ::2] -= begins[:, ::2]
        self._begins, self._ends = begins.reshape(-1), bounds_of(sizes)
        self.letters = gather(every, self._begins, self._ends)
        self.bounds = self._ends[:: begins.shape[1]]
        self._low = self._ends[:-1].reshape(begins.shape)[:, 1::2] - self.bounds[:-1, None]
        self._high, self.anchor_at = self._low + size, self._low[own]

    def lifted(self, window: Longs, start: Longs, end: Longs) -> tuple[Longs, Longs, Longs]:
        """Where hits begin and end in the reference, int64[n], and the alleles that they overlap,
        int64[n, D], -1 for others."""
        first = self._place(self.bounds[window] + start, 0)
        last = self._place(self.bounds[window] + end - 1, 1)
        under = (self._low[window] < end[:, None]) & (self._high[window] > start[:, None])
        return first, last, np.where(under, self.rows[window], -1)

    def _place(self, letter: Longs, more: int) -> Longs:
        """The position in the reference of letters of all windows; more: 1 for that behind each."""
        part = np.searchsorted(self._ends, letter, side="right") - 1
        offset = letter - self._ends[part] + more
        window, turn = np.divmod(part, 2 * self.rows.shape[1] + 1)
        row = self.rows[window, np.minimum(turn // 2, self.rows.shape[1] - 1)]
        start, end = self._block.start[row], self._block.end[row]
        # What is as long as the reference's letters stands for them, one by one.
        exact = end - start == self._block.size[row]
        place = np.where(exact, start + offset, end if more else start)
        return np.where(turn % 2, place, self._base + self._begins[part] + offset)

    def carriers(self, rows: Longs, low: Longs, high: Longs) -> Words:
        """The copies that have the alleles under hits, and no others there, uint64[n, W].

        rows, low, high: of hits, see `lifted`.
        """
        block, first = self._block, self._block.first
        copies = np.full((len(rows), block.copies.shape[1]), FULL)
        for row in rows.T:
            copies &= _where(row >= 0, block.copies[row], FULL)
        site, stop = np.searchsorted(block.reach, low, "right"), np.searchsorted(block.place, high)
        while len(some := np.flatnonzero(site < stop)):
            at = site[some]
            may = block.copies[first[at]]
            for offset in range(1, int(np.diff(first)[at].max())):
                row = np.minimum(first[at] + offset, first[at + 1] - 1)
                away = (block.start[row] >= high[some]) | (block.end[row] <= low[some])
                may |= _where(away, block.copies[row], NONE)
            own = (block.site[rows[some]] == at[:, None]) & (rows[some] >= 0)
            copies[some] &= _where(own.any(axis=1), FULL, may)
            site += 1
        return copies


def _where(flags: Bools, copies: Any, others: Any) -> Words:
    """The copies of flags that are set, and the others elsewhere."""
    found: Words = np.where(flags[..., None], copies, others)
    return found
