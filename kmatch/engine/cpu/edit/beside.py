"""Which way differences beside a PAM are searched for, and what it needs of a panel.

All positions are scanned and PAMs looked for beside what is found; or the sites are found first,
and the patterns compared there, all of them (`anchors`) or those that are looked up (`lookup`).
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.constraints import Constraints
from kmatch.engine.costs import CPU
from kmatch.engine.cpu.edit.anchors import AnchoredPanel, anchored_masks, anchored_panel
from kmatch.engine.cpu.edit.lookup import WIDEST
from kmatch.engine.cpu.edit.seeds import (
    AnchorSeeds,
    anchor_seeds,
    find_pieces,
    serve,
    setup_entries,
    site_cost,
)
from kmatch.engine.differences import DifferenceQuery

DEEPER = 30  # rows of a column that a scan computes beyond 2·k


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


def scan_cost(query: DifferenceQuery) -> float:
    """Nanoseconds to scan a text position."""
    rows = np.minimum(np.diff(query.reading.begins), 2 * query.k + DEEPER)
    return float((rows * CPU.recurrence.cell + CPU.recurrence.column).sum())


def band_cost(query: DifferenceQuery, share: float) -> float:
    """Nanoseconds a text position where all patterns are compared at the sites.

    share: of the positions that are sites, on each strand.
    """
    lengths = np.diff(query.reading.begins)
    strands = len(np.unique(query.reading.backward))
    window = int(lengths.max()) + query.k
    cells = float((lengths * (2 * query.k + 1) * CPU.anchors.cell + CPU.anchors.pair).sum())
    return CPU.anchors.position + share * (strands * CPU.anchors.letter * window + cells)


def seeds_cost(query: DifferenceQuery, share: float, positions: float) -> float:
    """The same where they are looked up, with the tables for so many positions."""
    masks, begins = anchored_masks(query)
    if not serve(masks, begins, query.k):
        return float("inf")
    patterns = len(begins) - 1
    pieces = find_pieces(int(np.diff(begins).min()), query.k, patterns)
    if pieces is None:
        return float("inf")
    strands = len(query.limits) // patterns
    site = site_cost(pieces, query.k, patterns)
    tables = setup_entries(pieces, patterns) * CPU.anchor_seeds.entry / positions
    return CPU.anchor_seeds.position + share * strands * site + tables


def anchor_tables(
    query: DifferenceQuery, constraints: Constraints, share: float, positions: int, always: bool
) -> AnchorTables | None:
    """The AnchorTables of the better of both ways, None where a scan is better than both.

    share: of the positions that are sites, on each strand; positions: of the text, about; always:
    where a scan is better too.
    """
    short = constraints.pams.shape[2] <= WIDEST
    looked_up = seeds_cost(query, share, positions) if short else float("inf")
    compared = band_cost(query, share)
    if not always and min(looked_up, compared) > scan_cost(query):
        return None
    strands = np.unique(constraints.minus)
    first = [int(np.argmax(constraints.minus == minus)) for minus in strands]
    both = np.stack([strands, query.reading.backward[first]], axis=1).astype(np.int64)
    if looked_up < compared:
        masks, begins = anchored_masks(query)
        seeds = anchor_seeds(masks, begins, query.limits[: len(begins) - 1])
        return AnchorTables(query, constraints, both, None, seeds)
    return AnchorTables(query, constraints, both, anchored_panel(query), None)
