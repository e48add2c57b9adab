"""Which way differences beside a PAM are searched for, and what it needs of a panel.

All positions are scanned and PAMs looked for beside what is found; or the sites are found first,
and the patterns compared there, all of them (`anchors`) or those that are looked up (`lookup`).
Without a PAM large panels may be looked up at every position.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.engine import costs
from kmatch.engine.constraints import AnchoredQuery, Constraints
from kmatch.engine.costs import CPU, FIRST_ROWS, total
from kmatch.engine.cpu.edit.anchors import (
    LANES,
    AnchoredPanel,
    anchored_masks,
    anchored_panel,
    first_look,
)
from kmatch.engine.cpu.edit.filter import (
    Extent,
    Shares,
    ends_within,
    expected_ends,
    expected_time,
)
from kmatch.engine.cpu.edit.lookup import WIDEST, spans
from kmatch.engine.cpu.edit.seeds import (
    AnchorSeeds,
    Piece,
    anchor_seeds,
    find_pieces,
    serve,
    site_factors,
)
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.geometry import likeness

BLOCKS = 32  # of a chunk in which candidates are counted, at the least
SPARSE = 8  # they are counted in one of so many blocks, or in fewer
SURE = 1.25  # times as long as a look-up everywhere a scan has to take: estimates err by as much
HOPE = 0.5  # of the candidates that letters let expect: there may be so few
DOUBT = 20  # times as many as they let expect: repeats may have so many
INFINITE = float("inf")


class AnchorTables(NamedTuple):
    """What a search beside PAMs needs of its queries.

    strands: int64[S, 2], (minus, backward) of each strand that is searched; panel, seeds: one of
    them, None is the other.
    """

    query: DifferenceQuery
    constraints: Constraints
    strands: Longs
    panel: AnchoredPanel | None
    seeds: AnchorSeeds | None

    @property
    def lasts(self) -> bool:
        """Whether there would be such for more positions, of which each is cheaper so."""
        return self.seeds is not None


class Sample:
    """A chunk that others are like, and what a scan of it costs a position.

    count_ends(): the ends at a position of some of its rows, all queries together, or None where it
    has too few rows; count_candidates(seeds, strands, step): see `lookup`. ends: as counted, 0
    before.
    """

    def __init__(
        self,
        query: DifferenceQuery,
        shares: Shares,
        extent: Extent,
        count_ends: Callable[[], float | None],
        count_candidates: Callable[[AnchorSeeds, Longs, int], tuple[int, int, int]],
    ) -> None:
        self._query, self._shares, self._extent = query, shares, extent
        self._count_ends, self._count_candidates = count_ends, count_candidates
        self.alike = likeness(shares.alone[:4])
        self.ends = 0.0

    @cached_property
    def _scan(self) -> float:
        """Nanoseconds at a position to scan for the ends."""
        models = CPU.recurrence, CPU.pieces
        return float(expected_time(self._query, self._shares, self._extent, models))

    @cached_property
    def _beside(self) -> float:
        """Nanoseconds at a position to find out what is beside the ends."""
        counted = self._count_ends()
        self.ends = counted or 0.0
        if counted is None:
            counted = expected_ends(self._query, self._shares)
        return CPU.beside.end * float(counted)

    def scan_may_be_faster(self, other: float) -> bool:
        """Whether a scan takes less than so many nanoseconds a position, however few ends it has.

        The least that it takes is known before that is worked out for each query.
        """
        k, shortest = self._query.k, int(self._query.lengths.min())
        rows = min(shortest, FIRST_ROWS + 2 * k)
        scanned = CPU.recurrence.column + CPU.recurrence.cell * rows
        least = min(scanned, CPU.pieces.look * (int(self._query.limits.min()) + 1))
        return least * len(self._query.limits) < other and self._scan < other

    def scan_is_faster(self, other: float, everywhere: bool) -> bool:
        """The same with the ends; everywhere: all are wanted, not those beside PAMs.

        Letters say little about the ends in repeats, so these are counted where the rest is faster.
        """
        if everywhere:
            return self.scan_may_be_faster(SURE * other)
        return self.scan_may_be_faster(other) and self._scan + self._beside < other

    def counted(
        self, factors: costs.AnchorSeeds, seeds: AnchorSeeds, strands: Longs
    ) -> costs.AnchorSeeds:
        """The factors once there are tables, with what is found in some blocks of the chunk."""
        step = max(spans(self._extent.positions) // BLOCKS, SPARSE)
        windows, found, candidates = self._count_candidates(seeds, strands, step)
        factors = factors._replace(entry=0)
        if not windows:
            return factors
        sites = factors.site / windows
        return factors._replace(branch=sites * found, candidate=sites * candidates)


def anchor_factors(query: DifferenceQuery, share: float, alike: float) -> costs.Anchors:
    """What is paid at a text position where all patterns are compared at the sites.

    share: of the positions that are sites, on each strand; alike: see `geometry.likeness`.
    """
    k, strands, rows = query.k, len(np.unique(query.reading.backward)), 0.0
    lengths, counts = np.unique(query.lengths, return_counts=True)
    for m, count in zip(lengths.tolist(), counts.tolist(), strict=True):
        looked = first_look(m, k)
        rows += count * (looked + (m - looked) * min(LANES * ends_within(looked, k, alike), 1.0))
    letters = share * strands * (int(lengths[-1]) + k)
    return costs.Anchors(1, letters, share * rows * (2 * k + 1), share * len(query.limits))


def anchor_pieces(
    masks: Bytes, begins: Longs, k: int, alike: float, sites: float = INFINITE
) -> list[Piece] | None:
    """The pieces to look up at so many sites, None where that is not possible.

    masks, begins: of `anchored_masks`; alike: see `geometry.likeness`.
    """
    if not serve(masks, begins, k):
        return None
    return find_pieces(int(np.diff(begins).min()), k, len(begins) - 1, alike, sites)


def anchor_seed_factors(
    query: DifferenceQuery, pieces: list[Piece], share: float, alike: float, positions: float
) -> costs.AnchorSeeds:
    """What is paid where pieces are looked up, with the tables for so many positions; other
    arguments as for `anchor_factors`."""
    strands = len(np.unique(query.reading.backward))
    sites, patterns = share * strands, len(query.limits) // strands
    paid = site_factors(pieces, query.k, patterns, alike)
    _, _, lookup, branch, candidate, _ = (sites * each for each in paid)
    return costs.AnchorSeeds(1, sites, lookup, branch, candidate, paid.entry / positions)


def in_doubt(factors: costs.AnchorSeeds) -> tuple[float, float]:
    """The least and the most nanoseconds a position that look-ups may take.

    The least are those of fewer candidates, with the tables paid for twice, as they may have been
    made in vain; the most those of repeats.
    """
    fewer = factors._replace(candidate=HOPE * factors.candidate, entry=2 * factors.entry)
    branch = min(DOUBT * factors.branch, factors.lookup)
    more = factors._replace(branch=branch, candidate=DOUBT * factors.candidate)
    likely, least, most = (total(CPU.anchor_seeds, each) for each in (factors, fewer, more))
    return min(likely, least), most


def anchor_tables(
    search: AnchoredQuery,
    sample: Sample,
    positions: int | None,
    before: AnchorTables | None = None,
) -> AnchorTables | None:
    """The AnchorTables of the better of both ways, None where a scan is better than both.

    sample: of the text; positions: to search, None for many of them, and where a scan is better
    too; before: for fewer positions, where a scan was no better and so is not for more. Everywhere
    only look-ups serve. Letters say little about candidates in repeats, so these are counted where
    they may matter.
    """
    query, constraints, share = search
    everywhere, alike = not len(constraints.sizes), sample.alike
    compared = INFINITE if everywhere else total(CPU.anchors, anchor_factors(query, share, alike))
    masks, begins = anchored_masks(query)
    strands = strands_of(query, constraints)
    sites = max(share * len(strands) * (positions or INFINITE), 1.0)
    narrow = constraints.pams.shape[2] <= WIDEST
    pieces = anchor_pieces(masks, begins, query.k, alike, sites) if narrow else None
    looked_up = most = INFINITE
    if pieces:
        factors = anchor_seed_factors(query, pieces, share, alike, positions or INFINITE)
        looked_up, most = in_doubt(factors)

    def scan_is_faster() -> bool:
        other = min(looked_up, compared)
        return bool(positions) and not before and sample.scan_is_faster(other, everywhere)

    if scan_is_faster():
        return None
    if pieces and looked_up < compared:
        seeds = anchor_seeds(masks, begins, query.limits[: len(begins) - 1], pieces)
        if positions and (everywhere or compared < most or sample.scan_may_be_faster(most)):
            looked_up = total(CPU.anchor_seeds, sample.counted(factors, seeds, strands))
            if scan_is_faster():
                return None
        if looked_up < compared:
            return AnchorTables(query, constraints, strands, None, seeds)
    if everywhere:
        return None
    return AnchorTables(query, constraints, strands, anchored_panel(query), None)


def strands_of(query: DifferenceQuery, constraints: Constraints) -> Longs:
    """The strands of AnchorTables."""
    strands = np.unique(constraints.minus)
    first = [int(np.argmax(constraints.minus == minus)) for minus in strands]
    return np.stack([strands, query.reading.backward[first]], axis=1).astype(np.int64)
