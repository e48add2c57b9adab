"""From letters to striped bit planes."""

import numpy as np

from kmatch.engine.cpu.items import PACK_ROWS
from kmatch.engine.workers_kernels import next_item
from kmatch.jit.kernels import kernel

UPPER = 0xDF  # clears the bit that makes a letter lower case

UPPER_T_OR_U = 0xDE


@kernel
def _octet(base, compared, letters):
    """Which of eight letters are `base`, a bit each; compared: the bits of a letter that count."""
    return (
        (letters[0] & compared == base)
        | (letters[1] & compared == base) << 1
        | (letters[2] & compared == base) << 2
        | (letters[3] & compared == base) << 3
        | (letters[4] & compared == base) << 4
        | (letters[5] & compared == base) << 5
        | (letters[6] & compared == base) << 6
        | (letters[7] & compared == base) << 7
    )


@kernel
def _eight_lanes(letters, first, rows, out):
    """Pack eight lanes by 64 rows: out[64·p + r], uint8, has a bit a lane for plane p, row r."""
    lane0 = letters[first:][:PACK_ROWS]
    lane1 = letters[first + rows :][:PACK_ROWS]
    lane2 = letters[first + 2 * rows :][:PACK_ROWS]
    lane3 = letters[first + 3 * rows :][:PACK_ROWS]
    lane4 = letters[first + 4 * rows :][:PACK_ROWS]
    lane5 = letters[first + 5 * rows :][:PACK_ROWS]
    lane6 = letters[first + 6 * rows :][:PACK_ROWS]
    lane7 = letters[first + 7 * rows :][:PACK_ROWS]
    for r in range(PACK_ROWS):
        low, high = (
            (lane0[r], lane1[r], lane2[r], lane3[r]),
            (lane4[r], lane5[r], lane6[r], lane7[r]),
        )
        eight = low + high
        out[r] = _octet(ord("A"), UPPER, eight)
        out[PACK_ROWS + r] = _octet(ord("C"), UPPER, eight)
        out[2 * PACK_ROWS + r] = _octet(ord("G"), UPPER, eight)
        out[3 * PACK_ROWS + r] = _octet(ord("T"), UPPER_T_OR_U, eight)


@kernel
def _join(octets, plane, column):
    """Join eight octets a row to a word, for one plane: fills column, uint64[64]."""
    first, step = PACK_ROWS * plane, 4 * PACK_ROWS
    o0, o1 = octets[first:][:PACK_ROWS], octets[first + step :][:PACK_ROWS]
    o2, o3 = octets[first + 2 * step :][:PACK_ROWS], octets[first + 3 * step :][:PACK_ROWS]
    o4, o5 = octets[first + 4 * step :][:PACK_ROWS], octets[first + 5 * step :][:PACK_ROWS]
    o6, o7 = octets[first + 6 * step :][:PACK_ROWS], octets[first + 7 * step :][:PACK_ROWS]
    for r in range(PACK_ROWS):
        low = _word(o0[r], 0) | _word(o1[r], 8) | _word(o2[r], 16) | _word(o3[r], 24)
        high = _word(o4[r], 32) | _word(o5[r], 40) | _word(o6[r], 48) | _word(o7[r], 56)
        column[r] = low | high


@kernel
def _word(octet, shift):
    return np.uint64(octet) << np.uint64(shift)


@kernel
def _pack_block(letters, text, word, row):
    planes, words, rows, plane_words = text
    plane_rows = plane_words // words
    octets = np.empty(8 * 4 * PACK_ROWS, np.uint8)
    column = np.empty(PACK_ROWS, np.uint64)
    for i in range(8):
        first = (64 * word + 8 * i) * rows + row
        _eight_lanes(letters, first, rows, octets[4 * PACK_ROWS * i :][: 4 * PACK_ROWS])
    for plane in range(4):
        _join(octets, plane, column)
        at = (plane * plane_rows + row) * words + word
        for r in range(min(PACK_ROWS, plane_rows - row)):
            planes[at + r * words] = column[r]


@kernel
def pack(work, letters, text):
    """Fill planes A, C, G, T of a chunk.

    work: see `pack_items`; letters: uint8[≥ 64·words·rows + halo + 64], ASCII in any case, 0 beyond
    the text; text: Text with planes of at least 4·plane_words words, filled here.
    """
    block = next_item(work)
    while block >= 0:
        _pack_block(letters, text, block % text.words, block // text.words * PACK_ROWS)
        block = next_item(work)


@kernel
def unite(planes, plane_words, masks):
    """Fill the planes of IUPAC letters.

    masks: uint8[x], the bases of planes 4 … 4+x−1; planes: uint64[≥ (4+x)·plane_words].
    """
    for x in range(len(masks)):
        union = planes[(4 + x) * plane_words : (5 + x) * plane_words]
        union[:] = np.uint64(0)
        for base in range(4):
            if masks[x] >> base & 1:
                union |= planes[base * plane_words : (base + 1) * plane_words]
