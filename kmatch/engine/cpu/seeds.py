"""k mismatches of many patterns by look-up: a hit contains one of k + 1 pieces exactly.

Table i lists piece i of all patterns by its code. The codes at every text position are looked up,
and the patterns found are compared whole. A letter is two bits, a low and a high one: A 00, C 01,
G 10, T 11. A window of up to 64 letters is three words: the low bits, the high bits, and which
letters are none of the four.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from kmatch.arrays import Bools, Bytes, Ints, Longs, Words
from kmatch.engine.cpu.hits import give_up, leave, new_writer, put
from kmatch.engine.workers import fetch_add, next_item
from kmatch.jit import inlined, kernel

LOOKED_UP = 10  # letters of a piece at the most: a table has 4^LOOKED_UP codes

BLOCK = 64  # rows of a lane taken at a time


class SeedTables(NamedTuple):
    """Q queries of one length by the codes of their k + 1 pieces.

    first, size: int64[k+1], a piece's offset in a window and the letters of it that are looked up;
    origins: int64[k+1], where each table begins in `starts`; starts: int32[Σ(4^size + 1)], the
    entries of a code are starts[code] … starts[code+1] − 1 of its table; low, high:
    uint64[(k+1)·Q], the letters of an entry; ranks: int32[(k+1)·Q], its query; used: uint64, the
    letters of a window; exact: uint64[R], by rank, those that must match.
    """

    first: Longs
    size: Longs
    origins: Longs
    starts: Ints
    low: Words
    high: Words
    ranks: Ints
    used: np.uint64
    exact: Words


def cut_pieces(length: int, k: int, patterns: int) -> tuple[Longs, Longs]:
    """Where the pieces of a pattern begin and how many of their letters are looked up, int64[k+1].

    A table need not have many more codes than there are patterns.
    """
    bounds = np.arange(k + 2) * length // (k + 1)
    most = min(LOOKED_UP, int(np.log2(patterns + 1)) // 2 + 2)
    return bounds[:-1], np.minimum(np.diff(bounds), most)


def seed_tables(codes: Bytes, ranks: Longs, exact: Bools, k: int) -> SeedTables:
    """The SeedTables of queries; see `CpuEngine.seed_tables`."""
    count, length = codes.shape
    first, size = cut_pieces(length, k, count)
    low, high = _bits(codes & 1), _bits(codes >> 1)
    tables = [_table(low, high, at, letters) for at, letters in zip(first, size, strict=True)]
    order = np.concatenate([entries for _, entries in tables])
    sizes = [len(starts) for starts, _ in tables]
    return SeedTables(
        first,
        size,
        np.cumsum([0, *sizes[:-1]]),
        np.concatenate([starts + i * count for i, (starts, _) in enumerate(tables)]).astype(
            np.int32
        ),
        low[order],
        high[order],
        ranks[order].astype(np.int32),
        _bits(np.ones((1, length), np.uint8))[0],
        _bits(exact),
    )


def _bits(flags: NDArray[Any]) -> Words:
    """Rows of up to 64 flags as words, the first flag in the lowest bit (uint64)."""
    octets = np.zeros((len(flags), 8), np.uint8)
    packed = np.packbits(flags.astype(np.uint8), axis=1, bitorder="little")
    octets[:, : packed.shape[1]] = packed
    return octets.view("<u8")[:, 0].astype(np.uint64)


def _table(low: Words, high: Words, first: int, size: int) -> tuple[Longs, Longs]:
    """Where the entries of each code begin (int64[4^size + 1]), and the queries in their order."""
    mask, shift = np.uint64((1 << int(size)) - 1), np.uint64(first)
    codes = ((low >> shift) & mask) | ((high >> shift) & mask) << np.uint64(size)
    counts = np.bincount(codes.astype(np.int64), minlength=4 ** int(size))
    return np.concatenate([[0], np.cumsum(counts)]), np.argsort(codes, kind="stable")


@intrinsic
def _popcount(typingctx, word):
    """Number of set bits of a word (int64)."""

    def build(context, builder, signature, arguments):
        unsigned = context.cast(builder, arguments[0], signature.args[0], types.uint64)
        return builder.ctpop(unsigned)

    return types.int64(word), build


@inlined
def _shifted(word, following, shift):
    """Bits `shift` … shift+63 of two words, for shift < 64."""
    return word >> shift | following << np.uint64(1) << (np.uint64(63) - shift)


@kernel
def _transpose(words):
    """Exchange bit j of word i with bit i of word j, in 64 words."""
    step, mask = 32, np.uint64(0xFFFFFFFF)
    while step:
        shift = np.uint64(step)
        for i in range(64):
            if i & step == 0:
                change = (words[i] >> shift ^ words[i + step]) & mask
                words[i] ^= change << shift
                words[i + step] ^= change
        step >>= 1
        mask ^= mask << np.uint64(step)


@kernel
def _read_block(planes, words, plane_words, word, row, text):
    """Fill text, uint64[3, 64], with the letters of 64 lanes, 64 rows of each, from `row` on."""
    for r in range(BLOCK):
        at = (row + r) * words + word
        if at < plane_words:
            a, c = planes[at], planes[plane_words + at]
            g, t = planes[2 * plane_words + at], planes[3 * plane_words + at]
            text[0, r], text[1, r], text[2, r] = c | t, g | t, ~(a | c | g | t)
        else:
            text[0, r], text[1, r], text[2, r] = np.uint64(0), np.uint64(0), ~np.uint64(0)
    for plane in range(3):
        _transpose(text[plane])


@kernel
def _is_first(wrong, piece, first, size):
    """Whether no earlier piece matches exactly as well."""
    for i in range(piece):
        letters = (np.uint64(1) << np.uint64(size[i])) - np.uint64(1)
        if wrong >> np.uint64(first[i]) & letters == np.uint64(0):
            return False
    return True


@kernel
def _scan_lane(letters, lane, position, count, piece, tables, writer):
    """Look one piece up at `count` rows of a lane, the first of them at `position`.

    letters: of 64 lanes and 64 rows, and of the 64 rows behind them; see `_read_block`. Returns how
    many candidates there were.
    """
    here, beyond = letters
    first, size, origins, starts, low, high, ranks, used, exact = tables
    offset, letters = np.uint64(first[piece]), np.uint64(size[piece])
    mask = (np.uint64(1) << letters) - np.uint64(1)
    table, candidates = starts[origins[piece] :], 0
    for r in range(count):
        shift = np.uint64(r)
        none = _shifted(here[2, lane], beyond[2, lane], shift)
        if none >> offset & mask != np.uint64(0):
            continue
        ones = _shifted(here[0, lane], beyond[0, lane], shift)
        twos = _shifted(here[1, lane], beyond[1, lane], shift)
        code = np.int64((ones >> offset & mask) | (twos >> offset & mask) << letters)
        candidates += table[code + 1] - table[code]
        for entry in range(table[code], table[code + 1]):
            wrong = ((ones ^ low[entry]) | (twos ^ high[entry]) | none) & used
            distance = _popcount(wrong)
            if distance < writer.factor:
                rank = ranks[entry]
                if wrong & exact[rank] == np.uint64(0) and _is_first(wrong, piece, first, size):
                    put(writer, position + r, rank, distance)
    return candidates


def blocks(words: int, rows: int) -> int:
    """Items of work in a look-up over a chunk: 64 lanes by BLOCK rows each."""
    return -(-rows // BLOCK) * words


@kernel
def scan_seeds(work, text, tables, k, left, buffer):
    """Find every window within k mismatches of the queries of SeedTables.

    work: see `blocks`; text: Text of a chunk whose halo is at least a pattern; tables: SeedTables;
    k, buffer: as for `kmatch.engine.cpu.hamming.scan`, with the ranks of the tables; left:
    int64[1], candidates that there may still be: below 0 all is given up.
    """
    planes, words, rows, plane_words = text
    here, beyond = np.empty((3, BLOCK), np.uint64), np.empty((3, BLOCK), np.uint64)
    writer = new_writer(buffer, len(tables.exact), k)
    block = next_item(work)
    while block >= 0:
        word, row = block % words, block // words * BLOCK
        _read_block(planes, words, plane_words, word, row, here)
        _read_block(planes, words, plane_words, word, row + BLOCK, beyond)
        count = min(BLOCK, rows - row)
        for piece in range(len(tables.first)):
            for lane in range(64):
                position = (64 * word + lane) * rows + row
                found = _scan_lane((here, beyond), lane, position, count, piece, tables, writer)
                if fetch_add(left, 0, -found) < found:
                    fetch_add(work, 0, work[1])
                    break
        give_up(work, writer)
        block = next_item(work)
    leave(writer)
