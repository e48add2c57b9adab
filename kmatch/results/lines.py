"""Lines of cells, filled in compiled code, as there may be millions."""

import numpy as np

from kmatch.jit.kernels import kernel

NEWLINE = ord("\n")
TEN, ZERO = np.uint64(10), np.uint64(ord("0"))


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


@kernel
def put_runs(out, at, ops, first, last):
    """Write alignment columns as a CIGAR: the length of each run, then its letter."""
    begin = first
    for i in range(first, last):
        if i + 1 == last or ops[i + 1] != ops[i]:
            at = put_number(out, at, i + 1 - begin)
            out[at] = ops[i]
            at += 1
            begin = i + 1
    return at


@kernel
def fill_lines(is_number, is_runs, begins, values, ends, letters, out):
    """Fill `out`, uint8, with n lines of F cells each and return the bytes written.

    values: int64[F·n], those of one cell of all lines side by side: numbers where is_number[f],
    else which of the texts from number begins[f] on, whose letters are alignment columns where
    is_runs[f]. Text i is letters[ends[i] … ends[i+1]−1], and text f < F stands before cell f.
    """
    cells, at = len(begins), 0
    rows = len(values) // cells
    for row in range(rows):
        for cell in range(cells):
            value = values[cell * rows + row]
            for i in range(ends[cell], ends[cell + 1]):
                out[at] = letters[i]
                at += 1
            if is_number[cell]:
                at = put_number(out, at, value)
                continue
            first, last = ends[begins[cell] + value], ends[begins[cell] + value + 1]
            if is_runs[cell]:
                at = put_runs(out, at, letters, first, last)
                continue
            for i in range(first, last):
                out[at] = letters[i]
                at += 1
        out[at] = NEWLINE
        at += 1
    return at
