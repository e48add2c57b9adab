"""Filter for small k/m: a hit within k differences contains one of k + 1 pieces exactly.

A block of threads copies its tile of text, and the rows below it into which pieces reach, to shared
memory and looks for all pieces there: a letter is an AND with the word some rows further down. A
thread has one word and DEPTH rows of the tile. Survivors are verified.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import uint64
from numpy.lib.stride_tricks import sliding_window_view

from kmatch.arrays import Ints, Longs, Planes, Words
from kmatch.engine.cpu.edit.pieces import cut
from kmatch.engine.cuda.bits.buffer import reserve
from kmatch.engine.cuda.bits.logic import all_of
from kmatch.engine.cuda.bits.words import ALL_ONES, NONE, ONE, any_live, lowest
from kmatch.engine.cuda.gpu.driver import (
    DeviceArray,
    Stream,
    background_grain,
    cuda,
    multiprocessors,
)
from kmatch.engine.cuda.text.tiles import Part, Size, copy_tile, finish_copies, tile_indices
from kmatch.engine.geometry import Text
from kmatch.engine.queries import ReadingArrays

THREADS = 64
WIDTH = 16  # words in a row of a tile
DEPTH = 12  # rows in which a thread looks; with more, fewer blocks fit to copy in the background
APART = THREADS // WIDTH  # rows between two rows of a thread
BAND = DEPTH * APART  # rows in which a block looks
LETTERS = 16  # of a piece that are looked at; the others hardly ever decide
GROUP = 4  # letters between looks at whether any lane is live
UNSEEN = 2  # groups after which the first look pays
BLOCKS = 32  # for every multiprocessor, where there are pieces enough
CODE = uint64(0xFFFF)
TOP = uint64(1 << 63)  # the last lane of a word


class PiecePlan(NamedTuple):
    """Pieces of queries as the GPU reads them.

    letters: uint64[G], groups of four, 16 bits a letter: the index of its word in shared memory,
    less the thread's number; pieces: int32[n, 5]: the first group of a piece, the end of those that
    are required without a look, the end of all, the query, and the piece's number in it; tile_rows:
    rows of the text that a block keeps.
    """

    letters: Words
    pieces: Ints
    tile_rows: int


def by_kind(reading: ReadingArrays, limits: Longs, chosen: Longs) -> list[Longs]:
    """The chosen queries by their kinds.

    Queries of the letters A, C, G and T are of a kind where length, limit and direction are the
    same; any other query is a kind of its own.
    """
    lengths = np.diff(reading.begins)
    number = 2 * (lengths * (int(limits.max()) + 1) + limits) + (reading.backward != 0)
    if len(reading.masks):
        rare = np.logical_or.reduceat(reading.letters >= 4, reading.begins[:-1])
        number[rare] = -1 - np.flatnonzero(rare)
    kind = number[chosen]
    order = np.argsort(kind, kind="stable")
    return np.split(chosen[order], np.flatnonzero(np.diff(kind[order])) + 1)


def kind_of(reading: ReadingArrays, limits: Longs, queries: Longs) -> tuple[Planes, int, bool]:
    """(plane numbers, int8[n, m], limit, whether they are read downwards) of queries of a kind."""
    letters, begins, backward, _ = reading
    first, last = queries[0], queries[-1]
    m = int(begins[first + 1] - begins[first])
    if last - first + 1 == len(queries):  # side by side, as large panels are
        patterns = letters[begins[first] : begins[last + 1]].reshape(-1, m)
    else:
        patterns = sliding_window_view(letters, m)[begins[queries]]
    return patterns, int(limits[first]), bool(backward[first])


def used_letters(letters: Planes, k: int, backward: bool) -> Iterator[tuple[Planes, Longs]]:
    """Yield the letters of each piece that are looked at: planes, int8[n, l], and offsets from the
    piece's first position in the text, int64[l].

    letters: int8[n, m], plane numbers as they are read, of n queries of one kind. IUPAC letters,
    whose planes are not in shared memory, are left out.
    """
    for a, b in pairwise(cut(letters.shape[1], k)):
        planes = (letters[:, a:b][:, ::-1] if backward else letters[:, a:b])[:, :LETTERS]
        offsets = np.flatnonzero(planes[0] < 4)
        yield (planes if len(offsets) == planes.shape[1] else planes[:, offsets]), offsets


def plan_pieces(reading: ReadingArrays, limits: Longs, chosen: Longs) -> PiecePlan:
    """The PiecePlan of the chosen queries, each within its limit."""
    used: list[tuple[Planes, Longs]] = []
    whose: list[tuple[Longs, int]] = []  # queries of each, and its number
    for queries in by_kind(reading, limits, chosen):
        patterns, k, down = kind_of(reading, limits, queries)
        used += used_letters(patterns, k, down)
        whose += [(queries, number) for number in range(k + 1)]
    tile_rows = BAND + max(int(offsets.max(initial=0)) for _, offsets in used)
    pieces = np.empty((sum(len(queries) for queries, _ in whose), 5), np.int32)
    codes, groups, done = [np.zeros(0, np.uint64)], 0, 0
    for (planes, offsets), (queries, number) in zip(used, whose, strict=True):
        packed = _in_groups(planes, offsets, tile_rows)
        size, rows = packed.shape[1], pieces[done : done + len(queries)]
        rows[:, 0] = groups + size * np.arange(len(queries))
        rows[:, 1] = rows[:, 0] + min(UNSEEN, size)
        rows[:, 2] = rows[:, 0] + size
        rows[:, 3], rows[:, 4] = queries, number
        codes.append(packed.reshape(-1))
        groups, done = groups + packed.size, done + len(queries)
    letters_of_all = np.concatenate(codes) if groups else np.zeros(1, np.uint64)
    return PiecePlan(letters_of_all, pieces, tile_rows)


def _in_groups(planes: Planes, offsets: Longs, tile_rows: int) -> Words:
    """The index in shared memory of each letter, of `used_letters`, GROUP to a number, uint64[n,
    groups]; the last one again to fill it changes nothing."""
    at = tile_indices(planes, offsets, tile_rows, WIDTH)
    whole = -(-len(offsets) // GROUP) * GROUP
    filled = at.take(np.minimum(np.arange(whole), len(offsets) - 1), axis=1)
    return filled.view(np.uint64)


class Shape(NamedTuple):
    """A chunk and a PiecePlan as the kernel takes them.

    rows: that a lane owns; plane_rows: with those of the halo; tile_rows: see PiecePlan; step: of
    so many tiles one is looked through.
    """

    words: int
    rows: int
    plane_rows: int
    tile_rows: int
    step: int


class Survivors(NamedTuple):
    """What the filter leaves, int64 each, on the GPU.

    counts: for each query, 0 before; codes: position·pieces + piece, in any order; count: int64[1],
    0 before, of all, which may exceed the memory for codes.
    """

    counts: DeviceArray
    codes: DeviceArray
    count: DeviceArray


class Lanes(NamedTuple):
    """The lanes of a thread: those of one word, in rows from `row` on; last: whether the word is
    the last of its row."""

    row: int
    word: int
    last: bool


@cuda.jit(device=True)
def _require(tile, thread, code, live):
    """Keep the lanes live in which a group of letters matches."""
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
def make_search(grain: int) -> Any:
    """The kernel that finds exact occurrences of pieces; grain: see `copy_tile`."""

    @cuda.jit(cache=True)
    def kernel(planes, shape, letters, pieces, counts, codes, count):
        words, lane_rows, plane_rows, tile_rows, step = shape
        text = Text(planes, words, lane_rows, plane_rows * words)
        survivors = Survivors(counts, codes, count)
        tile = cuda.shared.array(0, uint64)
        live = cuda.local.array(DEPTH, uint64)
        thread = cuda.threadIdx.x
        across = (words + WIDTH - 1) // WIDTH
        bands = (lane_rows + BAND - 1) // BAND
        block = cuda.blockIdx.x * step
        band = block // across
        column = block - band * across
        # Beyond the owned rows only the last lane counts: other lanes repeat letters there.
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


def tiles(text: Text) -> tuple[int, int]:
    """(columns, bands) of the tiles of a chunk."""
    return -(-text.words // WIDTH), -(-text.rows // BAND)


def share_of(text: Text, step: int) -> float:
    """The share of a text's positions in one of so many tiles; see `launch_pieces`."""
    across, bands = tiles(text)
    band, column = np.divmod(np.arange(0, across * bands, step), across)
    rows = np.minimum(text.rows - band * BAND, BAND)
    words = np.minimum(text.words - column * WIDTH, WIDTH)
    return float(rows @ words) / (text.rows * text.words)


def launch_pieces(
    text: Text,
    plan: PiecePlan,
    arrays: tuple[DeviceArray, DeviceArray],
    survivors: Survivors,
    stream: Stream,
    step: int = 1,
) -> None:
    """Find where pieces of a PiecePlan occur exactly.

    text: a chunk whose planes are on the GPU; arrays: letters and pieces of the plan, there too;
    survivors: filled here; step: look through one of so many tiles.
    """
    planes, words, rows, plane_words = text
    plane_rows = plane_words // words
    across, bands = tiles(text)
    blocks = -(-(across * bands + max(-(-plane_rows // BAND) - bands, 0)) // step)
    parts = min(max(BLOCKS * multiprocessors() // blocks, 1), len(plan.pieces))
    grid = ((blocks, parts), THREADS, stream, 8 * 4 * WIDTH * plan.tile_rows)
    launch = make_search(background_grain(words))[grid]
    shape = Shape(words, rows, plane_rows, plan.tile_rows, step)
    launch(planes, shape, *arrays, *survivors)
