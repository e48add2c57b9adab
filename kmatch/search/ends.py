"""Anchored ends, as they are taken out of the hit codes of chunks.

A chunk shows `halo` letters of the next one. A query that is read forward is warmed up by the first
`halo` positions, so its ends there were found in the chunk before:

    position              0 ...... halo ................. length ...... length + halo
    read forward                   [ found in this chunk ----------------------)
    read backward         [ found in this chunk -----------)
    decided in this chunk [--------------------------------)

What was found behind `length` is held until the next chunk, which shows the letters beside it.
"""

from dataclasses import dataclass

import numpy as np

from kmatch.arrays import Bools, Longs, Rows, run_starts
from kmatch.engine.codes import Coding
from kmatch.results.batches import HitBatch, letters_beside
from kmatch.search.chunks import PackedChunk
from kmatch.search.rules import Rules


@dataclass(frozen=True, eq=False, repr=False)
class AnchoredEnds(Rows):
    """n anchored ends of alignments, sorted by coordinate, then by query.

    coordinate: int64[n], of the letter that is read last, in the genome as it is laid out; query:
    int64[n]; distance: int64[n], which may be marked (see `kmatch.engine.codes.marked`).
    """

    coordinate: Longs
    query: Longs
    distance: Longs

    def split_at(self, coordinate: int) -> tuple["AnchoredEnds", "AnchoredEnds"]:
        """Return the ends before a coordinate, and the others."""
        count = int(np.searchsorted(self.coordinate, coordinate))
        return self.take(slice(count)), self.take(slice(count, None))


NO_ENDS = AnchoredEnds(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))


def ends_of(
    codes: Longs, code_before: int, coding: Coding, is_backward: Bools, chunk: PackedChunk
) -> AnchoredEnds:
    """Return the ends in records that a chunk finds, each once.

    codes: int64[n], some sorted codes of the chunk, n > 0; code_before: the one before these, −1
    for none; is_backward: bool[Q], which queries are read backward. A scan may have found an end
    twice, first with its own distance, then with a marked one, which is left out.
    """
    position, query, distance = coding.decode(codes)

    # The first code of each end, whose number is the code without the distance.
    end_numbers = codes - distance
    rows = run_starts(end_numbers)
    number_before = code_before - code_before % (coding.k + 1)
    if end_numbers[0] == number_before:
        rows = rows[1:]

    # What lies in the part of the chunk where it finds ends, and in a record.
    first_position = np.where(is_backward[query], 0, chunk.halo)
    is_found = (position >= first_position) & (position < first_position + chunk.length)
    _, is_in_record = chunk.records(position)
    rows = rows[(is_found & is_in_record)[rows]]
    return AnchoredEnds(chunk.base + position[rows], query[rows], distance[rows])


def shown_before(codes: Longs, coding: Coding, chunk: PackedChunk) -> int:
    """Return the coordinate before which all ends are known once some sorted codes are."""
    position, _, _ = coding.decode(codes[-1:])
    return chunk.base + min(int(position[0]), chunk.length)


def anchors_of(hits: HitBatch, rules: Rules, pattern_lengths: Longs) -> Longs:
    """Return the letter of each hit that is read last, int64[n], counted as its start is.

    Beside a PAM it is the pattern's letter next to that. hits: of patterns of some lengths,
    int64[P], with their alignments beside PAMs of several lengths.

        strand +, 3p     [ pattern    *][ PAM ]
        strand -, 3p     [ PAM ][*    pattern ]      with 5p the other way round
    """
    if hits.anchors is not None:
        return hits.anchors
    pam_length: Longs | int = rules.reach
    if rules.unequal:
        pam_length = letters_beside(hits.aligned, pattern_lengths[hits.pattern])
    is_backward = hits.minus != rules.leads
    first = hits.start + pam_length
    last = hits.end - 1 - pam_length
    return np.where(is_backward, first, last)
