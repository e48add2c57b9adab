"""k mismatches of many patterns by look-up: a hit contains one of k + 1 pieces exactly.

Table i lists piece i of all patterns by its code. The codes at every text position are looked up,
and the patterns found are compared whole. A letter is two bits, a low and a high one: A 00, C 01,
G 10, T 11. A window of up to 64 letters is three words: the low bits, the high bits, and which
letters are none of the four.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from kmatch.engine.cpu.hits import give_up, leave, new_writer, put
from kmatch.engine.cpu.items import SEED_ROWS
from kmatch.engine.workers_kernels import fetch_add, next_item
from kmatch.jit.kernels import inlined, kernel


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
    for r in range(SEED_ROWS):
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


@kernel
def scan_seeds(work, text, tables, k, left, buffer):
    """Find every window within k mismatches of the queries of SeedTables.

    work: see `seed_items`; text: Text of a chunk whose halo is at least a pattern; tables:
    SeedTables; k, buffer: as for `kmatch.engine.cpu.hamming.scan`, with the ranks of the tables;
    left: int64[1], candidates that there may still be: below 0 all is given up.
    """
    planes, words, rows, plane_words = text
    here, beyond = np.empty((3, SEED_ROWS), np.uint64), np.empty((3, SEED_ROWS), np.uint64)
    writer = new_writer(buffer, len(tables.exact), k)
    block = next_item(work)
    while block >= 0:
        word, row = block % words, block // words * SEED_ROWS
        _read_block(planes, words, plane_words, word, row, here)
        _read_block(planes, words, plane_words, word, row + SEED_ROWS, beyond)
        count = min(SEED_ROWS, rows - row)
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
