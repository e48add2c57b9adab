"""Lines of BED and TSV, formatted in compiled code: dense results are millions of them."""

from typing import NamedTuple

import numpy as np

from kmatch.jit import kernel

TAB, NEWLINE, PLUS, MINUS = ord("\t"), ord("\n"), ord("+"), ord("-")
DIGITS = 20  # the most that an int64 takes
TEN, ZERO = np.uint64(10), np.uint64(ord("0"))


class Rows(NamedTuple):
    """n hits: record, start, end: int64[n]; pattern, distance: int32[n]; minus: uint8[n]."""

    record: np.ndarray
    start: np.ndarray
    end: np.ndarray
    pattern: np.ndarray
    distance: np.ndarray
    minus: np.ndarray


class Names(NamedTuple):
    """Names side by side: letters: uint8; ends: int64, number i is from ends[i] to ends[i+1]."""

    letters: np.ndarray
    ends: np.ndarray


@kernel
def put_bytes(out, at, source, first, last):
    for i in range(first, last):
        out[at] = source[i]
        at += 1
    return at


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
def _put_window(out, at, names, record, start, end):
    at = put_bytes(out, at, names.letters, names.ends[record], names.ends[record + 1])
    out[at] = TAB
    at = put_number(out, at + 1, start)
    out[at] = TAB
    at = put_number(out, at + 1, end)
    out[at] = TAB
    return at + 1


@kernel
def score(distance, length):
    return np.int64(np.rint(1000 * (1 - distance / length)))


@kernel
def bed_lines(rows, names, labels, lengths, out):
    """Fill `out`, uint8, with the BED lines of n hits and return the bytes written.

    rows: Rows; names, labels: the Names of records and of patterns; lengths: int64, those of the
    patterns.
    """
    at = 0
    for i in range(len(rows.start)):
        at = _put_window(out, at, names, rows.record[i], rows.start[i], rows.end[i])
        pattern, distance = rows.pattern[i], rows.distance[i]
        at = put_bytes(out, at, labels.letters, labels.ends[pattern], labels.ends[pattern + 1])
        out[at] = TAB
        at = put_number(out, at + 1, score(distance, lengths[pattern]))
        out[at] = TAB
        out[at + 1] = MINUS if rows.minus[i] else PLUS
        out[at + 2] = TAB
        at = put_number(out, at + 3, distance)
        out[at] = NEWLINE
        at += 1
    return at


@kernel
def tsv_lines(rows, names, labels, columns, out):
    """Fill `out` with the TSV lines of n hits and return the bytes written.

    columns: the hits' Columns; the rest as for `bed_lines`.
    """
    op_ends, ops, text_ends, text = columns
    at = 0
    for i in range(len(rows.start)):
        at = _put_window(out, at, names, rows.record[i], rows.start[i], rows.end[i])
        pattern = rows.pattern[i]
        at = put_bytes(out, at, labels.letters, labels.ends[pattern], labels.ends[pattern + 1])
        out[at] = TAB
        at = put_number(out, at + 1, rows.distance[i])
        out[at] = TAB
        out[at + 1] = MINUS if rows.minus[i] else PLUS
        out[at + 2] = TAB
        at = put_runs(out, at + 3, ops, op_ends[i], op_ends[i + 1])
        out[at] = TAB
        at = put_bytes(out, at + 1, text, text_ends[i], text_ends[i + 1])
        out[at] = NEWLINE
        at += 1
    return at
