"""Lines of cells and scores of sites, for millions of them."""

import numpy as np

from kmatch.engine.types import CIGAR, COLUMN_BITS, KIND_BITS, KINDS, MATCH
from kmatch.jit.kernels import inlined, kernel

NEWLINE = ord("\n")
EDIT_BITS = COLUMN_BITS + KIND_BITS  # of a difference in an alignment that is a number
COLUMN = (1 << COLUMN_BITS) - 1
KIND = (1 << KIND_BITS) - 1
EDIT = (1 << EDIT_BITS) - 1
TEN = np.uint64(10)
ZERO = np.uint64(ord("0"))
PAM = 3  # letters
CODE = 7  # bits of an ASCII letter in which A, C, G, T and - differ
GAP = ord("-") & CODE


@kernel
def put_number(out, start, number):
    """Write a number that is not negative; returns where it ends."""
    rest = np.uint64(number)  # unsigned: // is then one multiplication
    bound = TEN
    end = start + 1
    while rest >= bound:
        bound *= TEN
        end += 1
    for place in range(end - 1, start - 1, -1):
        higher = rest // TEN
        out[place] = ZERO + (rest - higher * TEN)
        rest = higher
    return end


@inlined
def put_text(out, start, letters, first, last):
    """Write letters; returns where they end."""
    end = start
    for i in range(first, last):
        out[end] = letters[i]
        end += 1
    return end


@inlined
def put_run(out, start, length, letter):
    """Write a run of a CIGAR; returns where it ends."""
    end = put_number(out, start, length)
    out[end] = letter
    return end + 1


@kernel
def put_runs(out, start, ops, first, last):
    """Write alignment columns as a CIGAR, `==X` as `2=1X`; returns where it ends."""
    end = start
    run_start = first
    for i in range(first, last):
        if i + 1 == last or ops[i + 1] != ops[i]:
            end = put_run(out, end, i + 1 - run_start, ops[i])
            run_start = i + 1
    return end


@kernel
def put_edits(out, start, edits):
    """Write an alignment that is a number (see KINDS) as a CIGAR; returns where it ends.

    differences, from the lowest bits on      (3, X) (4, X) (8, D)      of 12 columns
    CIGAR                                     3=2X3=1D3=
    """
    size = edits & COLUMN
    rest = edits >> COLUMN_BITS
    end = start
    done = 0  # columns that are written
    while rest > 0:
        edit = rest & EDIT
        column = edit >> KIND_BITS
        if column > done:
            end = put_run(out, end, column - done, MATCH)
        # The same kind in the next columns is one run.
        length = 0
        while rest & EDIT == edit + (length << KIND_BITS):
            rest >>= EDIT_BITS
            length += 1
        end = put_run(out, end, length, KINDS[edit & KIND])
        done = column + length
    return put_run(out, end, size - done, MATCH) if size > done else end


@kernel
def fill_lines(is_runs, begins, values, bounds, letters, out):
    """Fill `out`, uint8, with n lines of F cells each and return the bytes written.

    values: int64[F·n], one cell's of all lines side by side: numbers where begins[f] is
    NUMBER, alignments (see KINDS) where it is CIGAR, else which of the texts from number begins[f]
    on, whose letters are alignment columns where is_runs[f]. Text i is letters[bounds[i] …
    bounds[i+1]−1], and text f < F stands before cell f.
    """
    cell_count = len(begins)
    row_count = len(values) // cell_count
    end = 0
    for row in range(row_count):
        for cell in range(cell_count):
            end = put_text(out, end, letters, bounds[cell], bounds[cell + 1])
            value = values[cell * row_count + row]
            begin = begins[cell]
            if begin == CIGAR:
                end = put_edits(out, end, value)
            elif begin < 0:
                end = put_number(out, end, value)
            else:
                text = begin + value
                if is_runs[cell]:
                    end = put_runs(out, end, letters, bounds[text], bounds[text + 1])
                else:
                    end = put_text(out, end, letters, bounds[text], bounds[text + 1])
        out[end] = NEWLINE
        end += 1
    return end


@kernel
def score_cfd(sites, guides, distances, most, weights, products, scores):
    """Fill `scores`, float64[n], with CFD: the greatest of the alignments of a distance.

    sites: (bounds int64[n+1], text uint8) of the letters of each, its PAM behind them; guides:
    (number int32[n], codes uint8[P, 20]); distances: int32[n]; most: mismatches, insertions and
    deletions that there may be; weights: see `cfd_weights`; products: float64[2, …] for
    `_best_cfd`.
    """
    bounds, text = sites
    numbers, codes = guides
    length = codes.shape[1]
    for hit in range(len(scores)):  # few slices: each takes as long as half a guide
        guide = numbers[hit]
        distance = distances[hit]
        first = bounds[hit]
        pam = bounds[hit + 1] - PAM
        # With one difference, or without bulges of one kind, letters of equally many stand in line.
        is_straight = distance < 2 or most[1] == 0 or most[2] == 0
        if is_straight and pam - first == length:
            score = 1.0
            for i in range(length):
                letter = text[first + i] & CODE
                score *= weights[i, codes[guide, i], letter]
        else:
            site = text[first:pam]
            score = _best_cfd(codes[guide], site, distance, most, weights, products[0], products[1])
        second = text[pam + 1] & CODE
        third = text[pam + 2] & CODE
        scores[hit] = score * weights[-1, second, third]


@kernel
def _best_cfd(guide, site, distance, most, weights, before, after):
    """Return the greatest product of weights over all alignments of a distance, NaN where none has
    one.

    before, after: float64[a, b, c], before a letter of the guide and behind it: the greatest
    product of an alignment with a insertions, b deletions and c mismatches, negative for none:
    `max` keeps its first argument where the second is NaN.

    The steps from a product; the last two take the letter of the guide:

        deletion      a letter of the site alone     before[a, b, c]  ->  before[a, b + 1, c]
        insertion     a letter of the guide alone    before[a, b, c]  ->  after[a + 1, b, c]
        equal         a letter of each               before[a, b, c]  ->  after[a, b, c]
        mismatch      a letter of each               before[a, b, c]  ->  after[a, b, c + 1]
    """
    mismatches = min(most[0], distance)
    insertions = min(most[1], distance)
    deletions = min(most[2], distance)
    before[:] = -1.0
    before[0, 0, 0] = 1.0
    for i in range(len(guide) + 1):
        after[:] = -1.0
        for a in range(insertions + 1):
            for b in range(deletions + 1):
                j = i - a + b  # letters of the site before this step
                if j < 0 or j > len(site):
                    continue
                for c in range(min(mismatches, distance - a - b) + 1):
                    product = before[a, b, c]
                    if product < 0:
                        continue
                    if j < len(site) and b < deletions:
                        skipped = product * weights[i, GAP, site[j] & CODE]
                        before[a, b + 1, c] = max(before[a, b + 1, c], skipped)
                    if i < len(guide) and a < insertions:
                        skipped = product * weights[i, guide[i], GAP]
                        after[a + 1, b, c] = max(after[a + 1, b, c], skipped)
                    if i < len(guide) and j < len(site):
                        letter = site[j] & CODE
                        d = c if guide[i] == letter else c + 1
                        if d <= mismatches:
                            joined = product * weights[i, guide[i], letter]
                            after[a, b, d] = max(after[a, b, d], joined)
        if i < len(guide):
            before, after = after, before
    # Behind the last letter of the guide all letters of the site are used.
    best = -1.0
    for a in range(insertions + 1):
        b = a + len(site) - len(guide)
        c = distance - a - b
        if 0 <= b <= deletions and 0 <= c <= mismatches:
            best = max(best, before[a, b, c])
    return best if best >= 0 else np.nan


@kernel
def count_hits(patterns, distances, hits):
    """Add hits to those of each pattern at each distance.

    patterns, distances: int32[n], of the hits; hits: int64[P, k+1], added to here.
    """
    for i in range(len(patterns)):
        hits[patterns[i], distances[i]] += 1
