"""Hits that are read back from a chunk, and the arrays that receive their alignments."""

from typing import NamedTuple

import numpy as np


class Written(NamedTuple):
    """P patterns as they are written: masks: uint8[L], side by side, those of pattern p from
    begins[p] to begins[p+1], int64[P+1]."""

    masks: np.ndarray
    begins: np.ndarray


class Windows(NamedTuple):
    """n windows of a chunk: position: int64[n], where each starts; pattern: int32[n]; minus:
    uint8[n], 1 for the strand `-`."""

    position: np.ndarray
    pattern: np.ndarray
    minus: np.ndarray


class Ends(NamedTuple):
    """n anchored ends of a chunk, int64[n] each.

    position, query, distance: what `start_edit` found; limit: the last position that an alignment
    may use, the record's first for a query that is read upwards, its last for one read downwards.
    """

    position: np.ndarray
    query: np.ndarray
    distance: np.ndarray
    limit: np.ndarray


class Traced(NamedTuple):
    """What a traceback finds of n ends, int64[n] each.

    other: the position of the alignment's letter farthest from the anchored end; size: the number
    of its columns.
    """

    other: np.ndarray
    size: np.ndarray


class Columns(NamedTuple):
    """Alignments in the direction of the pattern, ragged: row i lies from ends[i] to ends[i+1].

    ops: uint8, one of `=XID` a column; text: uint8, A, C, G, T or N a text base; ends: int64[n+1].
    """

    op_ends: np.ndarray
    ops: np.ndarray
    text_ends: np.ndarray
    text: np.ndarray
