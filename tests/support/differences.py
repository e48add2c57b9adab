"""Differences in tests: alignments replayed, ends of long texts, and texts with edits."""

import re
from itertools import pairwise

import naive
import numpy as np


def anchors(found):
    """(record, pattern, strand, anchored end, distance) of rows, in order."""
    return sorted(
        (record, number, sign, end if sign == "+" else start, distance)
        for record, start, end, number, distance, sign, *_ in found
    )


def mirrored(records, found):
    """The rows that the reverse-complemented records have to give."""
    return naive.in_order(
        (record, len(text) - end, len(text) - start, number, distance, "-+"[sign == "-"], ops)
        for record, start, end, number, distance, sign, ops in found
        for text in [records[record][1]]
    )


def check_alignment(pattern, text, cigar, distance):
    """Replay a CIGAR: it uses up pattern and text, tells = from X, and costs the distance."""
    i, j, cost = 0, 0, 0
    runs = re.findall(r"(\d+)([=XID])", cigar)
    assert "".join(count + op for count, op in runs) == cigar
    assert all(int(count) > 0 for count, _ in runs)
    assert all(a[1] != b[1] for a, b in pairwise(runs))
    for op in "".join(int(count) * op for count, op in runs):
        if op in "=X":
            assert naive.matches(pattern[i], text[j]) == (op == "=")
        i, j, cost = i + (op != "D"), j + (op != "I"), cost + (op != "=")
    assert (i, j, cost) == (len(pattern), len(text), distance)


def check_alignments(records, patterns, found):
    """Replay the alignments of rows, on the strand and in the direction of the pattern."""
    texts = [naive.known(text) for _, text in records]
    for record, start, end, number, distance, sign, cigar in found:
        piece = texts[record][start:end]
        piece = piece if sign == "+" else naive.reverse_complement(piece)
        check_alignment(patterns[number], piece, cigar, distance)


def last_row(pattern, text):
    """D[m, 1 … n] of A, C, G and T, row by row in NumPy: for texts too long for `naive`."""
    text = np.frombuffer(text.encode(), np.uint8)
    column = np.arange(len(text) + 1, dtype=np.int32)
    row = np.zeros(len(text) + 1, np.int32)
    for letter in pattern.encode():
        above, row = row, row + 1
        row[1:] = np.minimum(row[1:], above[:-1] + (text != letter))
        row = np.minimum.accumulate(row - column) + column
    return row[1:]


def far_ends(text, patterns, k):
    """The anchors of the ends in one record of A, C, G and T, by `last_row`."""
    found = []
    for number, pattern in enumerate(patterns):
        for sign, read in (("+", text), ("-", naive.reverse_complement(text))):
            last = last_row(pattern, read)
            for at in np.flatnonzero(last <= k).tolist():
                end = at + 1 if sign == "+" else len(text) - at - 1
                found.append((0, number, sign, end, int(last[at])))
    return sorted(found)


def edited(rng, text, edits):
    """A text after `edits` random substitutions, insertions and deletions."""
    letters = list(text)
    for _ in range(edits):
        at, kind = int(rng.integers(len(letters))), rng.integers(3)
        letter = str(rng.choice([x for x in "ACGT" if x != letters[at]]))
        letters[at : at + 1] = [[letter], [letter, letters[at]], []][kind]
    return "".join(letters)


def planted(rng, length, patterns, most):
    """Random letters with edited copies of patterns on both strands, as one text."""
    parts, size = [], 0
    while size < length:
        parts.append("".join(rng.choice(list("ACGT"), int(rng.integers(1, 300)))))
        pattern = patterns[int(rng.integers(len(patterns)))]
        copy = edited(rng, pattern, int(rng.integers(most + 1)))
        parts.append(copy if rng.integers(2) else naive.reverse_complement(copy))
        size += len(parts[-1]) + len(parts[-2])
    return "".join(parts)[:length]


def related(rng, text, share):
    """A text in which a share of the letters was changed, left out or doubled."""
    wrong = rng.random(len(text)) < share
    return "".join(
        rng.choice(["", "A", "C", "GT"]) if bad else letter
        for letter, bad in zip(text, wrong, strict=True)
    )
