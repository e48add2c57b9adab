"""What columns and formats tell of the site of a hit: where it differs, its cut, its flanks."""

from collections.abc import Callable, Iterator
from math import nan

import numpy as np

from kmatch.arrays import Bytes, Floats, Longs, bounds_of
from kmatch.results.batches import HitBatch, letters_beside, sizes_of

COMPLEMENT = bytes.maketrans(b"ACGTURYSWKMBDHVN", b"TGCAAYRSWMKVHDBN")
CUT = 3  # letters between a cut and the PAM behind it
SKIP_TEXT = ord("D")  # an alignment column without a letter of the pattern
MATCH = ord("=")

# The letters of a genome's record, both by number, from a start to an end.
Letters = Callable[[int, int, int, int], Bytes]


def differences(batch: HitBatch, lengths: Longs, pam_first: bool) -> tuple[Longs, Longs]:
    """Return the row and the position of each difference of aligned hits, int64[differences] each.

    lengths: int64[P], letters of each pattern; pam_first: whether PAMs stand before patterns.
    Positions are those of the pattern's letters, counted from 1. Letters of the text that the
    pattern lacks have the position of the letter before them.

        pattern         A C G T - A C
        text            A G G T A A -
        column          = X = = D = I
        letters so far  1 2 3 4 4 5 6
        position          2     4   6
    """
    ops_bounds, ops = batch.aligned.ops
    # How many letters patterns and PAMs have before each column, over all rows.
    letters_before = bounds_of(ops != SKIP_TEXT)
    differing = np.flatnonzero(ops != MATCH)
    rows = np.searchsorted(ops_bounds, differing, "right") - 1
    row_starts = ops_bounds[rows]
    positions = letters_before[differing + 1] - letters_before[row_starts]
    if pam_first:
        pam_lengths = letters_beside(batch.aligned, lengths[batch.pattern])
        positions -= pam_lengths[rows]
    return rows, positions


def cuts(batch: HitBatch, lengths: Longs, pam_first: bool) -> Floats:
    """Return how many letters of the record stand before the cut of each aligned hit, float64[n].

    It is NaN where no PAM stands behind the pattern. lengths, pam_first: as in `differences`.

        +  start [ pattern     | CUT ][ PAM ] end
        -  start [ PAM ][ CUT |     pattern ] end
    """
    pam_lengths = letters_beside(batch.aligned, lengths[batch.pattern])
    on_plus = batch.end - pam_lengths - CUT
    on_minus = batch.start + pam_lengths + CUT
    cut = np.where(batch.minus, on_minus, on_plus)
    # A cut behind the origin of a circle counts from there.
    record_lengths = sizes_of(batch.record, batch.origin.circles or {})
    is_behind = cut > record_lengths
    cut = np.where(is_behind, cut - record_lengths, cut)
    has_cut = (pam_lengths > 0) & (not pam_first)
    return np.where(has_cut, cut, nan)


def flanks(batch: HitBatch, letters: Letters | None, size: int) -> Iterator[tuple[str, str]]:
    """Yield up to `size` letters before and behind each hit, as its pattern reads them, T for U.

    letters: of the genome's records, None where they cannot be read, and both flanks are empty.

        record   T T G C [ A C G T ] G A A C    a hit on +: TTGC before, GAAC behind
                                                a hit on -: GTTC before, GCAA behind
    """
    rows = zip(
        batch.record.tolist(),
        batch.start.tolist(),
        batch.end.tolist(),
        batch.minus.tolist(),
        strict=True,
    )
    for record, start, end, minus in rows:
        if letters is None:
            yield "", ""
            continue
        first = max(start - size, 0)
        found = letters(batch.origin.number, record, first, end + size)
        around = found.tobytes().upper().replace(b"U", b"T")
        left = around[: start - first]
        right = around[end - first :]
        if minus:
            yield _reversed(right), _reversed(left)
        else:
            yield left.decode("latin-1"), right.decode("latin-1")


def _reversed(letters: bytes) -> str:
    """Return the reverse complement of letters."""
    return letters[::-1].translate(COMPLEMENT).decode("latin-1")
