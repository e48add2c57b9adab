"""Minima among ends, of which dense chunks have millions."""

from kmatch.jit.kernels import inlined, kernel


@inlined
def _note_minimum(plateau, backward, q, out, many):
    """Write the plateau of a query as minimum number `many`; returns how many there are then."""
    out[0, many], out[2, many] = q, plateau.height
    out[1, many] = plateau.first if backward[q] else plateau.last
    return many + 1


@kernel
def feed_plateaus(backward, plateaus, ends, seen, out):
    """Take ends, and write the minima that are certain then to the three rows of `out`, of n + Q
    numbers; returns how many there are.

    backward: uint8[Q]; plateaus: PLATEAU[Q]; ends: (query, coordinate, distance), int64[n] each;
    seen: see `Plateaus.feed`.
    """
    query, coordinate, distance = ends
    many = 0
    for i in range(len(query)):
        q, at, d = query[i], coordinate[i], distance[i]
        plateau = plateaus[q]
        beside = plateau.is_open and plateau.last + 1 == at
        if beside and d == plateau.height:
            plateau.last = at
            continue
        if plateau.is_open and plateau.fell and not (beside and d < plateau.height):
            many = _note_minimum(plateau, backward, q, out, many)
        plateau.fell = not (beside and d > plateau.height)
        plateau.is_open, plateau.first, plateau.last, plateau.height = 1, at, at, d
    for q in range(len(plateaus)):
        plateau = plateaus[q]
        if plateau.is_open and plateau.last + 1 < seen:
            plateau.is_open = 0
            if plateau.fell:
                many = _note_minimum(plateau, backward, q, out, many)
    return many
