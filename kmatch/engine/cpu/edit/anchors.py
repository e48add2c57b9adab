"""Search for differences at the sites of a PAM alone: a lane is a site, anchored there.

A lane holds the letters from its anchor on, so the matrix of a pattern begins in a corner, and only
the k diagonals on either side of the main one can hold a value within k: a row of the matrix has
2·k + 1 cells. Rows go down the pattern. The vertical deltas go along a row, the horizontal ones of
each column stay in place; cells beyond the band are taken to be one more than their neighbours,
which is never too small.
"""

from typing import NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs, Planes
from kmatch.engine.constraints import Sites, View
from kmatch.engine.cpu.bits.buffer import give_up, leave, new_writer, put
from kmatch.engine.cpu.bits.distances import add, copy, counter_bits, put_number, read
from kmatch.engine.cpu.bits.vectors import (
    ALL_ONES,
    NONE,
    ONE,
    WORDS,
    aligned,
    fill,
    load,
    lowest,
    nonzero,
    store,
)
from kmatch.engine.cpu.edit.recurrence import PAIR, cell
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.geometry import LANES_PER_WORD, SPARE, Geometry, Text
from kmatch.engine.host.extremes import longest
from kmatch.engine.host.letters import COMPLEMENT
from kmatch.engine.host.sharing import next_item
from kmatch.engine.protocol import Engine
from kmatch.engine.queries import reading_arrays
from kmatch.jit import kernel

LOOK = 0.7  # of the rows, after which it is looked whether any lane is within k
LANES = LANES_PER_WORD * WORDS


class AnchoredPanel(NamedTuple):
    """P patterns as they are read from the anchor on, in a direction that all sites share.

    letters: of the windows; plane: int64[L], numbers of planes, those of pattern p from begins[p]
    to begins[p+1]; bases: uint8[x], the mask of each plane.
    """

    letters: int
    plane: Planes
    begins: Longs
    bases: Bytes


def anchored_masks(query: DifferenceQuery) -> tuple[Bytes, Longs]:
    """(masks, begins) of the patterns of a DifferenceQuery whose queries go strand by strand.

    Those of a pattern go from its far end to the anchor. What is read upwards is compared by its
    complement, as the window of such a site is the reverse complement of the text.
    """
    reading = query.reading
    strands = len(np.unique(reading.backward))
    begins = reading.begins[: len(query.limits) // strands + 1]
    masks = reading.bases[reading.letters[: begins[-1]]]
    return masks if reading.backward[0] else COMPLEMENT[masks], begins


def anchored_panel(query: DifferenceQuery) -> AnchoredPanel:
    """The AnchoredPanel of a DifferenceQuery."""
    masks, begins = anchored_masks(query)
    own = reading_arrays(masks, begins, query.reading.backward[: len(begins) - 1])
    return AnchoredPanel(int(np.diff(begins).max()) + query.k, own.letters, begins, own.bases)


def window_text(engine: Engine, view: View, sites: Sites, letters: int) -> Text:
    """The Text of the windows at sites, a lane each, whose rows are their letters."""
    count = len(sites.position)
    words = max(-(-count // LANES), 1) * WORDS
    geometry = Geometry(words, letters, 0)
    windows = np.zeros(geometry.letters + LANES_PER_WORD * (words + 1), np.uint8)
    upwards = 1 - sites.backward
    first = sites.position - np.where(upwards == 1, letters - 1, 0)
    engine.read_sites(view.text, view.letters, first, upwards, letters, windows)
    text = geometry.text(engine.planes(4 * geometry.plane_words + SPARE))
    engine.pack(windows, text)
    return text


def tiles(text: Text) -> int:
    """Items of work in the Text of windows."""
    return text.words // WORDS


@kernel
def _load_tile(text, number, bases, tile):
    """Copy the rows of a tile out of the planes, and unite those of several bases."""
    rows, words = text.rows, text.words
    for row in range(rows):
        for plane in range(len(bases)):
            united = fill(NONE)
            for base in range(4):
                if (bases[plane] >> base) & 1:
                    at = base * text.plane_words + row * words + number * WORDS
                    united = united | load(text.planes, at)
            store(tile, (plane * rows + row) * WORDS, united)


@kernel
def _pass(tile, state, base, columns, pv, mv):
    """Cells of a row in the columns first … last−1, (first, last); returns the vertical deltas."""
    first, last = columns
    for column in range(first, last):
        at = PAIR * column
        nh, mh = load(state, at), load(state, at + WORDS)
        eq = load(tile, base + column * WORDS)
        pv, mv, nh, mh = cell(eq, pv, mv, nh, mh)
        store(state, at, nh)
        store(state, at + WORDS, mh)
    return pv, mv


@kernel
def _look(state, row, width, k, counter, bits):
    """Write the lanes within k in a row of the matrix to `spare`; returns whether there are any."""
    spare = counter + bits * WORDS
    seen = spare + bits * WORDS
    low = load(state, counter + (bits - 1) * WORDS)
    copy(state, counter, spare, bits)
    for column in range(row + 1, min(row + k, width - 1) + 1):
        at = PAIR * column
        low = low | add(state, spare, bits, ~load(state, at), load(state, at + WORDS))
    copy(state, counter, spare, bits)
    for column in range(row, max(row - k, 0), -1):
        at = PAIR * column
        low = low | add(state, spare, bits, load(state, at + WORDS), ~load(state, at))
    # The column before the first one has the value row + 1, more than k unless the row is short.
    store(state, seen, low)
    return nonzero(low) != 0


@kernel
def first_look(m, k):
    """The row of m after which it is looked whether any lane is within k."""
    return max(np.int64(LOOK * m), k + 1)


@kernel
def _rows(tile, state, letters, width, k, counter, bits):
    """Go down a pattern's rows in all lanes of a tile; returns whether a lane ends within k.

    letters: int64[m], numbers of planes from the far end to the anchor; width: letters of a window;
    counter: the index in `state` of the counter of D − (k + 1) on the main diagonal.
    """
    m = len(letters)
    look = first_look(m, k)
    put_number(state, counter, bits, -k - 1)
    for column in range(min(k, width)):
        store(state, PAIR * column, fill(NONE))
        store(state, PAIR * column + WORDS, fill(NONE))
    for row in range(m):
        base = letters[m - 1 - row] * width * WORDS
        if row + k < width:
            store(state, PAIR * (row + k), fill(NONE))
            store(state, PAIR * (row + k) + WORDS, fill(NONE))
        pv, mv = fill(ALL_ONES), fill(NONE)
        pv, mv = _pass(tile, state, base, (max(row - k, 0), row), pv, mv)
        eq, mh = load(tile, base + row * WORDS), load(state, PAIR * row + WORDS)
        add(state, counter, bits, ~(eq | mv | mh), fill(NONE))
        _pass(tile, state, base, (row, min(row + k + 1, width)), pv, mv)
        if row == look and row < m - 1 and not _look(state, row, width, k, counter, bits):
            return False
    return _look(state, m - 1, width, k, counter, bits)


@kernel
def _total(state, word, bit, row, width, k, counter, bits):
    """The smallest value in the last row of the matrix of a lane."""
    value = read(state, counter, bits, word, bit) + k + 1
    best = value
    here = np.uint64(bit)
    for column in range(row + 1, min(row + k, width - 1) + 1):
        at = PAIR * column + word
        value += np.int64(~(state[at] >> here) & ONE) - np.int64((state[at + WORDS] >> here) & ONE)
        best = min(best, value)
    value = read(state, counter, bits, word, bit) + k + 1
    for column in range(row, max(row - k, 0), -1):
        at = PAIR * column + word
        value -= np.int64(~(state[at] >> here) & ONE) - np.int64((state[at + WORDS] >> here) & ONE)
        best = min(best, value)
    return best


@kernel
def _emit(state, sites, first, query, shape, writer):
    """Keep the codes of the lanes that `_look` saw; query: (pattern, patterns)."""
    row, width, k, counter, bits = shape
    seen = counter + 2 * bits * WORDS
    for word in range(WORDS):
        left = state[seen + word]
        while left != 0:
            bit = lowest(left)
            left &= left - ONE
            lane = first + 64 * word + bit
            if lane < len(sites.position):
                total = _total(state, word, bit, row, width, k, counter, bits)
                number = sites.strand[lane] * query[1] + query[0]
                put(writer, sites.position[lane], number, total)


@kernel
def scan_anchors(work, text, search, sites, panel, buffer):
    """Find the patterns within their limits at sites.

    work: tiles of LANES sites; text: Text of their windows; search: DifferenceQuery; sites: Sites;
    panel: AnchoredPanel; buffer: HitBuffer, receives the codes.
    """
    width, patterns = panel.letters, len(panel.begins) - 1
    most = counter_bits(longest(panel.begins) + search.k + 1, 0)
    writer = new_writer(buffer, len(search.limits), search.k)
    tile = aligned(len(panel.bases) * width * WORDS)
    counter = PAIR * width
    state = aligned(counter + (2 * most + 1) * WORDS)
    item = next_item(work)
    while item >= 0:
        _load_tile(text, item, panel.bases, tile)
        for pattern in range(patterns):
            letters = panel.plane[panel.begins[pattern] : panel.begins[pattern + 1]]
            k = search.limits[pattern]
            bits = counter_bits(len(letters) + k + 1, k)
            if _rows(tile, state, letters, width, k, counter, bits):
                shape = (len(letters) - 1, width, k, counter, bits)
                _emit(state, sites, item * LANES, (pattern, patterns), shape, writer)
        give_up(work, writer)
        item = next_item(work)
    leave(writer)
