"""Minima among ends: plateaus of D[m, ·] that are lower than D on both sides.

An end is a position at which D ≤ k; where there is no end, D counts as higher. A plateau is a run
of neighbouring ends of one distance. With k = 2, read upwards:

    D          3 3 3 2 1 0 1 2 3 3 1 1 3
    ends             2 1 0 1 2     1 1
    plateaus         ─ ─ ─ ─ ─     ───
    minima               0           1

The last end of a plateau in reading direction stands for it. Ends that are read downwards are given
in the order of the text too, so that the first end of a plateau stands for it.
"""

from kmatch.jit.kernels import inlined, kernel


@inlined
def _write_minimum(plateau, query, is_backward, minima, count):
    """Write the plateau of a query as minimum number `count`; returns how many there are then."""
    minima[0, count] = query
    minima[1, count] = plateau.first if is_backward else plateau.last
    minima[2, count] = plateau.height
    return count + 1


@kernel
def feed_plateaus(backward, plateaus, apart, ends, seen, minima):
    """Take ends, and write the minima that are certain then; returns how many there are.

    backward: uint8[Q]; plateaus: PLATEAU[Q]; apart: see `Plateaus`; ends: (query, coordinate,
    distance), int64[n] each, sorted by coordinate; seen: see `Plateaus.feed`; minima: int64[3,
    n + Q], filled with rows of queries, coordinates and distances.
    """
    queries, coordinates, distances = ends
    count = 0
    for i in range(len(queries)):
        query = queries[i]
        coordinate = coordinates[i]
        plateau = plateaus[query]
        # A marked end is on a plateau that D has risen to, which is no minimum.
        rose = distances[i] >= apart
        height = distances[i] - apart if rose else distances[i]

        # It is one more end of the plateau,
        is_next = plateau.is_open and plateau.last + 1 == coordinate
        if is_next and height == plateau.height:
            plateau.last = coordinate
            plateau.fell &= not rose
            continue

        # or the plateau ends before it,
        falls_on = is_next and height < plateau.height
        if plateau.is_open and plateau.fell and not falls_on:
            count = _write_minimum(plateau, query, backward[query], minima, count)

        # and it begins the next one.
        rose = rose or (is_next and height > plateau.height)
        plateau.is_open = 1
        plateau.first = coordinate
        plateau.last = coordinate
        plateau.height = height
        plateau.fell = not rose

    # Plateaus behind which no end can follow any more.
    for query in range(len(plateaus)):
        plateau = plateaus[query]
        if plateau.is_open and plateau.last + 1 < seen:
            plateau.is_open = 0
            if plateau.fell:
                count = _write_minimum(plateau, query, backward[query], minima, count)
    return count
