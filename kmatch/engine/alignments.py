"""Hits that are read back from a chunk, and the arrays that receive their alignments."""

from typing import NamedTuple

from kmatch.arrays import Bytes, Ints, Longs


class Written(NamedTuple):
    """P patterns as they are written.

    masks: uint8[L], letters side by side; begins: int64[P+1], pattern p has those from begins[p] to
    begins[p+1].
    """

    masks: Bytes
    begins: Longs


class Windows(NamedTuple):
    """n windows of a chunk.

    position: int64[n], where each starts; pattern: int32[n]; minus: uint8[n], 1 for the strand `-`.
    """

    position: Longs
    pattern: Ints
    minus: Bytes


class Ends(NamedTuple):
    """n anchored ends of a chunk, int64[n] each.

    position, query, distance: what `start_edit` found; limit: the last position that an alignment
    may use, the record's first for a query that is read upwards, its last for one read downwards.
    """

    position: Longs
    query: Longs
    distance: Longs
    limit: Longs


class Traced(NamedTuple):
    """The result of tracing n ends, int64[n] each.

    other: the position of the alignment's letter farthest from the anchored end; size: the number
    of its columns.
    """

    other: Longs
    size: Longs


class Columns(NamedTuple):
    """n alignments in the direction of the pattern, side by side.

    ops: uint8, one of `=XID` a column, those of alignment i from op_ends[i] to op_ends[i+1]; text:
    uint8, A, C, G, T or N a text base, from text_ends[i] to text_ends[i+1]; ends: int64[n+1].
    """

    op_ends: Longs
    ops: Bytes
    text_ends: Longs
    text: Bytes
