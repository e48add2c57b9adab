"""Filter for small k/m: a hit within k differences holds one of k + 1 pieces exactly.

A block of threads copies its tile of text, and what pieces that start there need below, to shared
memory and looks for all pieces in it: a letter is an AND with the word some rows further down. A
thread has one word and DEPTH rows of the tile. What survives is verified.
"""

from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import uint64

from kmatch.engine.cpu.edit.pieces import cut
from kmatch.engine.cuda.bits.buffer import reserve
from kmatch.engine.cuda.bits.logic import all_of
from kmatch.engine.cuda.bits.words import ALL_ONES, NONE, ONE, any_live, lowest
from kmatch.engine.cuda.gpu.driver import background_grain, cuda, multiprocessors
from kmatch.engine.cuda.text.tiles import Part, Size, copy_tile, finish_copies
from kmatch.engine.geometry import Text

THREADS = 64
WIDTH = 16  # words in a row of a tile
DEPTH = 12  # rows in which a thread looks; with more, fewer blocks find room to copy meanwhile
APART = THREADS // WIDTH  # rows between two rows of a thread
BAND = DEPTH * APART  # rows in which a block does
LETTERS = 16  # of a piece that are looked at; the rest hardly ever decides
GROUP = 4  # letters between looks at whether anything is left
UNSEEN = 2  # groups after which the first look pays
BLOCKS = 32  # for every multiprocessor, where there are pieces enough
CODE = uint64(0xFFFF)
TOP = uint64(1 << 63)  # the last lane of a word


class PiecePlan(NamedTuple):
    """Pieces of queries as the GPU reads them.

    letters: uint64[G], four each, 16 bits a letter: where its word is in shared memory, less the
    thread's number; pieces: int32[n, 5], a piece's groups, begin, end of those that are counted
    without looking and end, its query, and where the end of a hit is expected from where the
    piece begins, along the reading; tile_rows: rows of the text that a block keeps.
    """

    letters: np.ndarray
    pieces: np.ndarray
    tile_rows: int


def used_letters(letters, k, backward):
    """The (plane, offset) that are looked at of each piece of a query, as a list of int64[n, 2].

    letters: int64[m], plane numbers as they are read; offsets are from the piece's first position
    in the text. IUPAC letters, whose planes are not kept in shared memory, are left out.
    """
    bounds = cut(len(letters), k)
    for a, b in pairwise(bounds):
        planes = (letters[a:b][::-1] if backward else letters[a:b])[:LETTERS]
        offsets = np.flatnonzero(planes < 4)
        yield np.stack([planes[offsets], offsets], axis=1)


def plan_pieces(reading, limits, chosen):
    """The PiecePlan for the chosen queries of ReadingArrays, each within its limit."""
    letters, begins, backward, _ = reading
    used, places = [], []
    for query in chosen.tolist():
        pattern, k = letters[begins[query] : begins[query + 1]], int(limits[query])
        used += used_letters(pattern, k, backward[query])
        bounds = cut(len(pattern), k)
        # The end is as far from either end of a piece as the pattern goes on there.
        ends = len(pattern) - bounds[:-1] - 1 if not backward[query] else len(pattern) - bounds[1:]
        places += [(query, end) for end in ends.tolist()]
    tile_rows = BAND + max(int(piece[:, 1].max(initial=0)) for piece in used)
    codes, pieces = [], []
    for piece, place in zip(used, places, strict=True):
        first = len(codes)
        at = ((piece[:, 0] * tile_rows + piece[:, 1]) * WIDTH).tolist()
        for i in range(0, len(at), GROUP):
            group = at[i : i + GROUP]
            group += group[-1:] * (GROUP - len(group))  # once more changes nothing
            codes.append(sum(letter << 16 * j for j, letter in enumerate(group)))
        pieces.append((first, min(first + UNSEEN, len(codes)), len(codes), *place))
    codes = np.array(codes or [0], np.uint64)
    return PiecePlan(codes, np.array(pieces, np.int32), tile_rows)


class Shape(NamedTuple):
    """What the kernel is told of a chunk, whose lanes have rows of their own and of the halo, and
    of a PiecePlan."""

    words: int
    rows: int
    plane_rows: int
    tile_rows: int


class Survivors(NamedTuple):
    """What the filter leaves, int64 each, on the GPU.

    counts: of each query; codes: position·pieces + piece, in any order; count: int64[1], of all,
    which may be more than there is memory for. Counts are 0 before.
    """

    counts: Any
    codes: Any
    count: Any


class Lanes(NamedTuple):
    """The lanes of a thread: those of one word, in rows from `row` on; last: whether the word is
    the last of its row."""

    row: int
    word: int
    last: bool


@cuda.jit(device=True)
def _require(tile, thread, code, live):
    """Keep the windows in which a group of letters matches."""
    w = (code & CODE) + thread
    x = ((code >> uint64(16)) & CODE) + thread
    y = ((code >> uint64(32)) & CODE) + thread
    z = (code >> uint64(48)) + thread
    for i in range(DEPTH):
        s = uint64(i * THREADS)
        live[i] = all_of(all_of(live[i], tile[w + s], tile[x + s]), tile[y + s], tile[z + s])


@cuda.jit(device=True)
def _note(shape, lanes, live, pieces, piece, survivors):
    """Append the positions of live lanes to the survivors."""
    lane_rows = shape.rows
    many = 0
    for i in range(DEPTH):
        at = lanes.row + i * APART
        if at >= lane_rows:
            live[i] &= TOP if lanes.last and at < shape.plane_rows else NONE
        many += int(cuda.popc(live[i]))
    if many:
        reserve(survivors.counts, pieces[piece, 3], many)
        to = reserve(survivors.count, 0, many)
        for i in range(DEPTH):
            left = live[i]
            first = 64 * lanes.word * lane_rows + lanes.row + i * APART
            while left:
                bit = lowest(left)
                left &= left - ONE
                if to < len(survivors.codes):
                    survivors.codes[to] = (first + bit * lane_rows) * len(pieces) + piece
                to += 1


@cache
def make_search(grain):
    """The kernel that finds where pieces begin that occur exactly; grain: see `copy_tile`."""

    @cuda.jit(cache=True)
    def kernel(planes, shape, letters, pieces, counts, codes, count):
        words, lane_rows, plane_rows, tile_rows = shape
        text = Text(planes, words, lane_rows, plane_rows * words)
        survivors = Survivors(counts, codes, count)
        tile = cuda.shared.array(0, uint64)
        live = cuda.local.array(DEPTH, uint64)
        thread = cuda.threadIdx.x
        across = (words + WIDTH - 1) // WIDTH
        bands = (lane_rows + BAND - 1) // BAND
        block = cuda.blockIdx.x
        band = block // across
        column = block - band * across
        # Beyond the own rows only the last lane counts: other lanes' letters are their neighbours'.
        if band >= bands:
            column, band = across - 1, block - bands * (across - 1)
        word, row = column * WIDTH + thread % WIDTH, band * BAND
        part, size = Part(row, column * WIDTH, plane_rows), Size(4, tile_rows, WIDTH)
        copy_tile(grain, text, part, size, thread, THREADS, tile, 0)
        finish_copies(grain)
        cuda.syncthreads()
        if word >= words:
            return
        row += thread // WIDTH
        for piece in range(cuda.blockIdx.y, len(pieces), cuda.gridDim.y):
            for i in range(DEPTH):
                live[i] = ALL_ONES
            for g in range(pieces[piece, 0], pieces[piece, 1]):
                _require(tile, uint64(thread), letters[g], live)
            g = pieces[piece, 1]
            while g < pieces[piece, 2] and any_live(DEPTH, live):
                _require(tile, uint64(thread), letters[g], live)
                g += 1
            if any_live(DEPTH, live):
                lanes = Lanes(row, word, word == words - 1)
                _note(shape, lanes, live, pieces, piece, survivors)

    return kernel


def launch_pieces(text, plan, arrays, survivors, stream):
    """Find where pieces of a PiecePlan begin that occur exactly.

    text: a chunk whose planes are on the GPU; arrays: letters and pieces of the plan, there too;
    survivors: Survivors.
    """
    planes, words, rows, plane_words = text
    plane_rows = plane_words // words
    across, bands = -(-words // WIDTH), -(-rows // BAND)
    blocks = across * bands + max(-(-plane_rows // BAND) - bands, 0)
    parts = min(max(BLOCKS * multiprocessors() // blocks, 1), len(plan.pieces))
    grid = ((blocks, parts), THREADS, stream, 8 * 4 * WIDTH * plan.tile_rows)
    launch = make_search(background_grain(words))[grid]
    launch(planes, Shape(words, rows, plane_rows, plan.tile_rows), *arrays, *survivors)
