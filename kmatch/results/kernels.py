"""Lines of cells and scores of sites, of which there may be millions."""

import numpy as np

from kmatch.engine.types import CIGAR, COLUMN_BITS, KIND_BITS, KINDS, MATCH
from kmatch.jit.kernels import inlined, kernel

NEWLINE = ord("\n")
COLUMN, KIND, EDIT = ((1 << bits) - 1 for bits in (COLUMN_BITS, KIND_BITS, COLUMN_BITS + KIND_BITS))
TEN, ZERO = np.uint64(10), np.uint64(ord("0"))
PAM = 3  # letters
CODE = 7  # bits of an ASCII letter in which A, C, G, T and - differ
GAP = ord("-") & CODE


@kernel
def put_number(out, at, number):
    """Write a number that is not negative; returns where it ends."""
    rest, bound, end = np.uint64(number), TEN, at + 1  # unsigned: // is then one multiplication
    while rest >= bound:
        bound *= TEN
        end += 1
    for i in range(end - 1, at - 1, -1):
        more = rest // TEN
        out[i] = ZERO + (rest - more * TEN)
        rest = more
    return end


@inlined
def put_text(out, at, letters, first, last):
    """Write letters; returns where they end."""
    for i in range(first, last):
        out[at] = letters[i]
        at += 1
    return at


@inlined
def put_run(out, at, length, letter):
    """Write a run of a CIGAR; returns where it ends."""
    at = put_number(out, at, length)
    out[at] = letter
    return at + 1


@kernel
def put_runs(out, at, ops, first, last):
    """Write alignment columns as a CIGAR: the length of each run, then its letter."""
    begin = first
    for i in range(first, last):
        if i + 1 == last or ops[i + 1] != ops[i]:
            at = put_run(out, at, i + 1 - begin, ops[i])
            begin = i + 1
    return at


@kernel
def put_edits(out, at, edits):
    """Write an alignment that is a number (see KINDS) as a CIGAR."""
    size, rest, done = edits & COLUMN, edits >> COLUMN_BITS, 0
    while rest > 0:
        edit, run = rest & EDIT, 0
        if edit >> KIND_BITS > done:
            at = put_run(out, at, (edit >> KIND_BITS) - done, MATCH)
        while rest & EDIT == edit + (run << KIND_BITS):  # the same in the next column
            rest >>= COLUMN_BITS + KIND_BITS
            run += 1
        at = put_run(out, at, run, KINDS[edit & KIND])
        done = (edit >> KIND_BITS) + run
    return put_run(out, at, size - done, MATCH) if size > done else at


@kernel
def fill_lines(is_runs, begins, values, ends, letters, out):
    """Fill `out`, uint8, with n lines of F cells each and return the bytes written.

    values: int64[F·n], those of one cell of all lines side by side: numbers where begins[f] is
    NUMBER, alignments (see KINDS) where it is CIGAR, else which of the texts from number begins[f]
    on, whose letters are alignment columns where is_runs[f]. Text i is letters[ends[i] …
    ends[i+1]−1], and text f < F stands before cell f.
    """
    cells, at = len(begins), 0
    rows = len(values) // cells
    for row in range(rows):
        for cell in range(cells):
            at = put_text(out, at, letters, ends[cell], ends[cell + 1])
            value, text = values[cell * rows + row], begins[cell]
            if text < 0:
                at = put_edits(out, at, value) if text == CIGAR else put_number(out, at, value)
                continue
            text += value
            if is_runs[cell]:
                at = put_runs(out, at, letters, ends[text], ends[text + 1])
            else:
                at = put_text(out, at, letters, ends[text], ends[text + 1])
        out[at] = NEWLINE
        at += 1
    return at


@kernel
def score_cfd(sites, guides, distances, most, weights, best, scores):
    """Fill `scores`, float64[n], with CFD: the greatest of the alignments of a distance.

    sites: (ends int64[n+1], text uint8) of the letters of each, its PAM behind them; guides:
    (number int32[n], codes uint8[P, 20]); distances: int32[n]; most: mismatches, insertions and
    deletions that there may be; weights: see `cfd_weights`; best: float64[2, …] for `_best_cfd`.
    """
    ends, text = sites
    numbers, codes = guides
    for h in range(len(scores)):  # few slices: each takes as long as half a guide
        guide, distance, first, pam = numbers[h], distances[h], ends[h], ends[h + 1] - PAM
        straight = distance < 2 or most[1] == 0 or most[2] == 0
        if straight and pam - first == codes.shape[1]:
            score = 1.0
            for i in range(codes.shape[1]):
                score *= weights[i, codes[guide, i], text[first + i] & CODE]
        else:
            site = text[first:pam]
            score = _best_cfd(codes[guide], site, distance, most, weights, best[0], best[1])
        scores[h] = score * weights[-1, text[pam + 1] & CODE, text[pam + 2] & CODE]


@kernel
def _best_cfd(guide, site, distance, most, weights, best, after):
    """The greatest product of weights over all alignments of a distance, NaN where none has one.

    best, after: float64[a, b, c], before a letter of the guide and behind it: the greatest product
    of what was aligned with so many insertions, deletions and mismatches, negative for none: `max`
    keeps its first argument where the second is NaN.
    """
    mismatches = min(most[0], distance)
    insertions, deletions = min(most[1], distance), min(most[2], distance)
    best[:] = -1.0
    best[0, 0, 0] = 1.0
    for i in range(len(guide) + 1):
        after[:] = -1.0
        for a in range(insertions + 1):
            for b in range(deletions + 1):
                at = i - a + b  # the letters of the site that are used
                if at < 0 or at > len(site):
                    continue
                for c in range(min(mismatches, distance - a - b) + 1):
                    value = best[a, b, c]
                    if value < 0:
                        continue
                    if at < len(site) and b < deletions:
                        skipped = value * weights[i, GAP, site[at] & CODE]
                        best[a, b + 1, c] = max(best[a, b + 1, c], skipped)
                    if i < len(guide) and a < insertions:
                        skipped = value * weights[i, guide[i], GAP]
                        after[a + 1, b, c] = max(after[a + 1, b, c], skipped)
                    if i < len(guide) and at < len(site):
                        letter = site[at] & CODE
                        differs = guide[i] != letter
                        if not differs or c < mismatches:
                            d, value = c + differs, value * weights[i, guide[i], letter]
                            after[a, b, d] = max(after[a, b, d], value)
        if i < len(guide):
            best, after = after, best
    found = -1.0
    for a in range(insertions + 1):
        b = a + len(site) - len(guide)
        c = distance - a - b
        if 0 <= b <= deletions and 0 <= c <= mismatches:
            found = max(found, best[a, b, c])
    return found if found >= 0 else np.nan
