"""Arguments and results of engines: hits that are read back, primers, constraints."""

from typing import Annotated, NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, bounds_of, counted_in_rows, gather
from kmatch.engine.geometry import Text

SET = 128  # and a mask: a letter that matches several bases, which united texts have alone
LETTERS = np.arange(SET, SET + 16, dtype=np.uint8)  # by mask
LETTERS[[0, 1, 2, 4, 8]] = np.frombuffer(b"NACGT", np.uint8)
SHOWN = np.where(LETTERS < SET, LETTERS, ord("N")).astype(np.uint8)  # by mask, N for any other
COMPLEMENT = np.array([0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15], np.uint8)
MATCH = np.uint8(ord("="))
MISMATCH = np.uint8(ord("X"))
SKIP_TEXT = np.uint8(ord("D"))
SKIP_PATTERN = np.uint8(ord("I"))

# An alignment in an int64: how many columns it has, and above that its differences, the first one
# lowest. A difference is its column and, in the lowest bits, which of KINDS it is.
#
#     bits    … 15 14 13 12 11 10  9 │ 8  7 │ 6  5  4  3  2  1  0
#               column of the first  │ kind │ columns of the alignment
KINDS = np.array([MATCH, MISMATCH, SKIP_PATTERN, SKIP_TEXT])
MISMATCH_KIND, SKIP_PATTERN_KIND, SKIP_TEXT_KIND = range(1, 4)
COLUMN_BITS = 7
KIND_BITS = 2
MOST_EDITS = 6

# Of cells in lines: what kernels write out of an int64.
NUMBER = -1
CIGAR = -2


class Ends(NamedTuple):
    """n anchored ends of a chunk, int64[n] each.

    position, query, distance: as `start_edit` found them; limit: the last position that an
    alignment may use, the record's first for a query that is read upwards, its last for one read
    downwards.
    """

    position: Longs
    query: Longs
    distance: Longs
    limit: Longs

    def take(self, rows: Longs) -> "Ends":
        """Return copies of some ends; rows: int64[m], their numbers."""
        return Ends(*(column[rows] for column in self))


class Texts(NamedTuple):
    """n texts side by side; text i is letters[bounds[i] … bounds[i+1]−1].

    bounds: int64[n+1], where each text begins, and where the last one ends.
    letters: uint8, ASCII.
    """

    bounds: Longs
    letters: Bytes

    def counted(self, letter: str) -> Longs:
        """Return how often each text has a letter, int64[n]."""
        return counted_in_rows(self.letters == ord(letter), self.bounds)

    def stretches(self, begins: Longs, lengths: Longs) -> "Texts":
        """Return stretches of the letters side by side, a text each.

        begins, lengths: int64[m], where each begins among the letters of all texts, and how many
        letters it has.
        """
        bounds = bounds_of(lengths)
        return Texts(bounds, gather(self.letters, begins, bounds))


class Columns(NamedTuple):
    """n alignments in the direction of the pattern: ops has one of `=XID` a column, text A, C, G, T
    or N a text base."""

    ops: Texts
    text: Texts


UNKNOWN = 4  # a letter that matches nothing

FRESH = 5  # before the first letter of a record: alignments begin anew

_CODES = np.full(256, UNKNOWN, np.uint8)
_CODES[[1, 2, 4, 8]] = range(4)


def codes_of(masks: Bytes) -> Bytes:
    """Return the codes of letters, uint8[n]: 0 to 3 for A, C, G and T, UNKNOWN for any other.

    masks: uint8[n], the letters as sets of bases.
    """
    return _CODES[masks]


class Starts(NamedTuple):
    """All starts of primers in a target of T records and n letters.

    masks: uint8[n], sets of bases (0 matches nothing), records joined end to end; begins:
    int64[T+1], where each begins, and n; limits: int64[n], the largest lengths of interest, none
    beyond the record's end; bounds: int64[n], lower bounds of the shortest lengths, at least k,
    which `extend_primers` raises.
    """

    masks: Bytes
    begins: Longs
    limits: Longs
    bounds: Longs


def part_of(starts: Starts, begin: int, end: int) -> Starts:
    """Return the Starts from `begin` to `end`, and behind them the letters that their primers may
    take.

        starts        begin ─────────── end ───── stop
        looked for    yes               no, as bounds are above limits
    """
    reach = np.arange(begin, end) + starts.limits[begin:end]
    stop = int(reach.max(initial=end))
    limits = np.minimum(starts.limits[begin:stop], stop - np.arange(begin, stop))
    bounds = starts.bounds[begin:stop].copy()
    bounds[end - begin :] = limits[end - begin :] + 1
    is_inside = (starts.begins > begin) & (starts.begins < stop)
    begins = np.concatenate([[begin], starts.begins[is_inside], [stop]])
    return Starts(starts.masks[begin:stop].copy(), begins.astype(np.int64) - begin, limits, bounds)


class States(NamedTuple):
    """How far an alignment from its anchor has come, besides the pattern letters it has used.

    offset: int64[S], text letters beyond these; inserted, deleted: int64[S], the state after one
    more insertion or deletion, −1 where there is none; cost: int64[S], the differences that a state
    itself stands for; start: the state at the anchor; gap: the cost of an insertion or a deletion
    beyond its state; apart: whether the states at the end bound the states before. A deletion leads
    to a later state.
    """

    offset: Longs
    inserted: Longs
    deleted: Longs
    cost: Longs
    start: int
    gap: int
    apart: bool


Pams = Annotated[Bytes, 3]


class Constraints(NamedTuple):
    """Constraints on the alignments of Q queries, and on the letters beside them.

    pams: uint8[2, X, w], the letters of X PAMs from the anchor outwards, for each strand as they
    stand on the forward strand; sizes: int64[X], the letters of each; near, far: letters at the
    anchor, and at the other end, that match with nothing inserted or deleted beside them; states:
    States; mismatches: the most there may be; minus: uint8[Q], the strand of each query; leads:
    whether the anchor is the pattern's beginning.
    """

    pams: Pams
    sizes: Longs
    near: int
    far: int
    states: States
    mismatches: int
    minus: Bytes
    leads: bool


class Beside(NamedTuple):
    """PAMs that have to stand beside ends; shown: the positions that their chunk shows."""

    constraints: Constraints
    shown: int


class View(NamedTuple):
    """The letters that a chunk shows, and some letters before it.

    text: Text; letters: uint8, its letters as masks, or none where they are to be read from the
    planes; before: uint8[w], the letters in front of it; shown: how many letters it has.
    """

    text: Text
    letters: Bytes
    before: Bytes
    shown: int


def unit_states(k: int) -> States:
    """Return the States where only the sum of all differences is bounded, by k.

    There is one for each diagonal. With k = 1:

        state       0    1    2
        offset     −1    0    1
        inserted   −1    0    1      −1: none
        deleted     1    2   −1
    """
    offset = np.arange(-k, k + 1)
    number = np.arange(2 * k + 1)
    inserted = number - 1
    deleted = np.where(number < 2 * k, number + 1, -1)
    cost = np.zeros_like(offset)
    return States(offset, inserted, deleted, cost, start=k, gap=1, apart=False)


def kind_states(k: int, insertions: int, deletions: int) -> States:
    """Return the States where each kind is bounded.

    There is one for each number of insertions and of deletions. With at most 1 of each:

        state          0       1       2       3
        (ins., del.)   (0, 0)  (0, 1)  (1, 0)  (1, 1)
        offset         0       1       −1      0
        inserted       2       3       −1      −1        −1: none
        deleted        1       −1      3       −1
        cost           0       1       1       2
    """
    pairs = [
        (inserted, deleted)
        for inserted in range(min(insertions, k) + 1)
        for deleted in range(min(deletions, k) + 1)
        if inserted + deleted <= k
    ]
    states = {pair: state for state, pair in enumerate(pairs)}
    counts = np.array(pairs, np.int64)
    return States(
        offset=counts[:, 1] - counts[:, 0],
        inserted=np.array([states.get((i + 1, d), -1) for i, d in pairs], np.int64),
        deleted=np.array([states.get((i, d + 1), -1) for i, d in pairs], np.int64),
        cost=counts.sum(axis=1),
        start=0,
        gap=0,
        apart=True,
    )
