"""Lines of BED, TSV, SAM and GFF3, formatted in compiled code, as there may be millions."""

import numpy as np

from kmatch.jit.kernels import kernel

TAB, NEWLINE, PLUS, MINUS = ord("\t"), ord("\n"), ord("+"), ord("-")
TEN, ZERO = np.uint64(10), np.uint64(ord("0"))
MATCH, SKIPPED, REVERSE = ord("="), ord("D"), 16


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


@kernel
def _put_runs_back(out, at, ops, first, last):
    """Write alignment columns as a CIGAR from the last to the first."""
    end = last
    for i in range(last - 1, first - 1, -1):
        if i == first or ops[i - 1] != ops[i]:
            at = put_number(out, at, end - i)
            out[at] = ops[i]
            at += 1
            end = i
    return at


@kernel
def _put_letters(out, at, queries, columns, row, pattern, minus):
    """Write the letters of a hit on the forward strand, a pattern's that matched as the text's."""
    op_ends, ops, text_ends, text = columns
    letters, size = queries.letters, 0
    for i in range(op_ends[row], op_ends[row + 1]):
        size += ops[i] != SKIPPED
    next_text = text_ends[row]
    next_letter = letters.ends[pattern]
    if queries.pam_first:
        next_letter -= size - (letters.ends[pattern + 1] - letters.ends[pattern])
    to, step = (at + size - 1, -1) if minus else (at, 1)
    for i in range(op_ends[row], op_ends[row + 1]):
        op = ops[i]
        if op != SKIPPED:
            letter = text[next_text] if op == MATCH else letters.letters[next_letter]
            out[to] = queries.complement[letter] if minus else letter
            to += step
            next_letter += 1
        next_text += op != ord("I")
    return at + size


@kernel
def sam_lines(rows, names, queries, columns, words, out):
    """Fill `out`, uint8, with the SAM lines of n hits and return the bytes written.

    rows: Rows; names: the Names of records; queries: Queries; columns: the hits' Columns; words:
    Words.
    """
    op_ends, ops = columns.op_ends, columns.ops
    labels, at = queries.labels, 0
    for i in range(len(rows.start)):
        pattern, minus, record = rows.pattern[i], rows.minus[i], rows.record[i]
        at = put_bytes(out, at, labels.letters, labels.ends[pattern], labels.ends[pattern + 1])
        out[at] = TAB
        at = put_number(out, at + 1, REVERSE if minus else 0)
        out[at] = TAB
        at = put_bytes(out, at + 1, names.letters, names.ends[record], names.ends[record + 1])
        out[at] = TAB
        at = put_number(out, at + 1, rows.start[i] + 1)
        at = put_bytes(out, at, words.cigar, 0, len(words.cigar))
        if minus:
            at = _put_runs_back(out, at, ops, op_ends[i], op_ends[i + 1])
        else:
            at = put_runs(out, at, ops, op_ends[i], op_ends[i + 1])
        at = put_bytes(out, at, words.letters, 0, len(words.letters))
        at = _put_letters(out, at, queries, columns, i, pattern, minus)
        at = put_bytes(out, at, words.differences, 0, len(words.differences))
        differences = 0
        for j in range(op_ends[i], op_ends[i + 1]):
            differences += ops[j] != MATCH
        at = put_number(out, at, differences)
        at = put_bytes(out, at, words.distance, 0, len(words.distance))
        at = put_number(out, at, rows.distance[i])
        out[at] = NEWLINE
        at += 1
    return at


@kernel
def gff3_lines(rows, names, labels, lengths, columns, words, out):
    """Fill `out` with the GFF3 lines of n hits and return the bytes written.

    names, labels: as GFF3 escapes them; lengths: int64, those of the patterns; words: (number,
    source, hit, name, distance, cigar): the first hit's number, and what stands before each value,
    uint8; the rest as for `sam_lines`.
    """
    op_ends, ops = columns.op_ends, columns.ops
    number, source, hit, name, distance, cigar = words
    at = 0
    for i in range(len(rows.start)):
        pattern, record = rows.pattern[i], rows.record[i]
        at = put_bytes(out, at, names.letters, names.ends[record], names.ends[record + 1])
        at = put_bytes(out, at, source, 0, len(source))
        at = put_number(out, at, rows.start[i] + 1)
        out[at] = TAB
        at = put_number(out, at + 1, rows.end[i])
        out[at] = TAB
        at = put_number(out, at + 1, score(rows.distance[i], lengths[pattern]))
        out[at] = TAB
        out[at + 1] = MINUS if rows.minus[i] else PLUS
        out[at + 2] = TAB
        at = put_bytes(out, at + 3, hit, 0, len(hit))
        at = put_number(out, at, number + i)
        at = put_bytes(out, at, name, 0, len(name))
        at = put_bytes(out, at, labels.letters, labels.ends[pattern], labels.ends[pattern + 1])
        at = put_bytes(out, at, distance, 0, len(distance))
        at = put_number(out, at, rows.distance[i])
        at = put_bytes(out, at, cigar, 0, len(cigar))
        at = put_runs(out, at, ops, op_ends[i], op_ends[i + 1])
        out[at] = NEWLINE
        at += 1
    return at
