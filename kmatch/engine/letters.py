"""Letters read back: whole texts and windows out of striped planes, and patterns and texts from
anchored ends on."""

from typing import Any, NamedTuple

import numpy as np

from kmatch.engine import queries
from kmatch.engine.cpu.hits import next_item
from kmatch.engine.cpu.vectors import pointer
from kmatch.engine.types import COMPLEMENT, MATCH, MISMATCH, SHOWN
from kmatch.engine.workers import SLAB
from kmatch.jit.kernels import inlined, kernel

BLOCK = 64  # rows read at a time

ONE = np.uint64(1)

step_of = inlined(queries.step_of)


class Anchor(NamedTuple):
    """An anchored end, one of Ends, with the step of its query (see `step_of`)."""

    query: int
    position: int
    distance: int
    limit: int
    step: int


@inlined
def anchor_of(ends, reading, number):
    """Return the Anchor of one of some Ends by its number; reading: ReadingArrays."""
    positions, queries, distances, limits = ends
    query = queries[number]
    step = step_of(reading.backward[query])
    return Anchor(query, positions[number], distances[number], limits[number], step)


class Sides(NamedTuple):
    """The two sides of a matrix: a pattern, and the text that its anchored end was found in.

    pattern, text: pointers to `rows` and to `shown` masks, both from the anchor on.

                  T  C  A  A  …   text, from the anchor on
               T
               G      cell (2, 1): two letters of the pattern are used, and one of the text
               C
               A
        pattern, from the anchor on
    """

    pattern: Any
    rows: int
    text: Any
    shown: int


@kernel
def decode(text, position, step, count, letters):
    """Write the text's letters at position, position + step, … as masks of bases.

    text: Text; position: 0 … 64·words·rows + halo − 1, in the chunk, and so are all that are read;
    step: 1 or −1; letters: uint8[≥ count], or a pointer to as many.
    """
    planes, words, lane_rows, plane = text
    lane = min(position // lane_rows, 64 * words - 1)
    row = position - lane * lane_rows
    for i in range(count):
        at = row * words + (lane >> 6)
        bit = np.uint64(lane & 63)
        letter = np.uint64(0)
        for base in range(4):
            letter |= ((planes[at + base * plane] >> bit) & ONE) << np.uint64(base)
        letters[i] = letter
        row += step
        if row < 0:
            lane -= 1
            row = lane_rows - 1
        elif row == lane_rows and lane < 64 * words - 1:
            lane += 1
            row = 0


@kernel
def read_view(view, position, step, count, letters):
    """Write a View's letters at position, position + step, … as masks, 0 where it shows none.

    letters: uint8[≥ count], or a pointer to as many.
    """
    last = position + step * (count - 1)
    inside = min(position, last) >= 0 and max(position, last) < view.shown
    if inside and len(view.letters) == 0:
        decode(view.text, position, step, count, letters)
    elif inside:
        for i in range(count):
            letters[i] = view.letters[position + step * i]
    else:
        for i in range(count):
            at = position + step * i
            if at < 0:
                letters[i] = view.before[at] if -at <= len(view.before) else 0
            elif at >= view.shown:
                letters[i] = 0
            elif len(view.letters) > 0:
                letters[i] = view.letters[at]
            else:
                decode(view.text, at, 1, 1, pointer(letters, i))


@inlined
def sides_of(view, reading, anchor, most, pattern, text):
    """Read the letters of an Anchor's query, and of the text before it; returns the Sides.

    view: View; reading: ReadingArrays; most: letters that an alignment may use of the text beyond
    the pattern's; pattern, text: pointers to memory for as many masks.
    """
    begin = reading.begins[anchor.query]
    end = reading.begins[anchor.query + 1]
    rows = end - begin
    for i in range(rows):
        pattern[i] = reading.bases[reading.letters[end - 1 - i]]
    shown = min(rows + most, (anchor.position - anchor.limit) * anchor.step + 1)
    read_view(view, anchor.position, -anchor.step, shown, text)
    return Sides(pattern, rows, text, shown)


@kernel
def copy_rows(values, begins, bounds, out):
    """Fill out, uint8, with rows of `values`; see `kmatch.arrays.gather`."""
    for i in range(len(begins)):
        source = values[begins[i] :]
        target = out[bounds[i] :]
        for j in range(bounds[i + 1] - bounds[i]):
            target[j] = source[j]


@kernel
def _read_lane(column, bit, count, letters):
    for r in range(count):
        letter = np.uint64(0)
        for base in range(4):
            letter |= ((column[base, r] >> bit) & ONE) << np.uint64(base)
        letters[r] = letter


@kernel
def read_text(work, text, letters):
    """Fill `letters`, uint8[n], with the masks of a chunk's first n letters, halo included.

    work: an item is a word of the rows; text: Text.
    """
    planes, words, rows, plane_words = text
    owned = 64 * words * rows
    column = np.empty((4, BLOCK), np.uint64)
    word = next_item(work)
    while word >= 0:
        for row in range(0, rows, BLOCK):
            count = min(BLOCK, rows - row)
            for base in range(4):
                for r in range(count):
                    column[base, r] = planes[base * plane_words + (row + r) * words + word]
            for bit in range(64):
                first = (64 * word + bit) * rows + row
                many = min(count, len(letters) - first)
                _read_lane(column, np.uint64(bit), many, letters[first:])
        if word == words - 1 and owned < len(letters):
            decode(text, owned, 1, len(letters) - owned, letters[owned:])
        word = next_item(work)


@kernel
def read_windows(work, view, positions, minus, bounds, compared, windows):
    """Write windows of a chunk one after another, each in the direction of its strand, and compare
    them with their patterns.

    work: see `slabs`; view: View; positions: int64[n], where the windows start; minus: uint8[n], 1
    reads the reverse complement; bounds: int64[n+1], where each is among `windows`, uint8, filled
    here; compared: (masks, begins, ops), the masks of patterns, where each window's pattern begins,
    int64[n], and the columns of the alignments, uint8, filled here.
    """
    masks, begins, ops = compared
    slab = next_item(work)
    while slab >= 0:
        for i in range(slab * SLAB, min((slab + 1) * SLAB, len(positions))):
            window = windows[bounds[i] : bounds[i + 1]]
            columns = ops[bounds[i] : bounds[i + 1]]
            pattern = masks[begins[i] : begins[i] + len(window)]
            size = len(window)
            is_reverse = minus[i] != 0
            if is_reverse:
                read_view(view, positions[i] + size - 1, -1, size, window)
            else:
                read_view(view, positions[i], 1, size, window)
            for j in range(size):
                mask = COMPLEMENT[window[j]] if is_reverse else window[j]
                columns[j] = MATCH if mask & pattern[j] else MISMATCH
                window[j] = SHOWN[mask]
        slab = next_item(work)
