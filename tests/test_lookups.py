"""Look-ups: words of letters, windows beside sites, tables of pieces, and distances, drawn."""

import numpy as np
import pytest

from kmatch.engine.cpu import diagonals, tables
from kmatch.engine.cpu.tables import Piece
from kmatch.engine.cpu.windows import (
    LOWS,
    MARGIN,
    MOST_WINDOWS,
    OTHERS,
    SEVERAL,
    Windows,
)
from kmatch.engine.geometry import WORDS
from kmatch.jit.entries import Entry

MASKS = {"A": 1, "C": 2, "G": 4, "T": 8, "N": 0, "R": 5, "Y": 10}


def masks(word):
    return np.array([MASKS[letter] for letter in word], np.uint8)


def drawn(word, letters):
    """The lowest bits of a word, the first letter's first."""
    return "".join("x" if int(word) >> i & 1 else "." for i in range(letters))


def test_letters_become_rows_of_bits():
    """From position −2 on, so that the text begins at bit 2.

    text        A C G T N R
    """
    bits = np.zeros((8, 2), np.uint64)
    Entry("kmatch.engine.cpu.windows", "fill_bits")(masks("ACGTNR"), -2, bits)
    assert drawn(bits[0, 0], 8) == "..x....x"  # A
    assert drawn(bits[2, 0], 8) == "....x..x"  # G
    assert drawn(bits[LOWS, 0], 8) == "...x.x.."  # C, T
    assert drawn(bits[OTHERS, 0], 8) == "xx....x."
    assert drawn(bits[SEVERAL, 0], 8) == ".......x"


@pytest.mark.parametrize(
    ("minus", "backward", "anchor", "window"),
    [(0, 0, 6, "ATCGCAT"), (1, 1, 13, "ACGTTAC")],
)
def test_windows_beside_sites(minus, backward, anchor, window):
    """They are read from the anchor on, what is read upwards by its complement.

    position    0         1
                01234567890123456789
    text        ATGCGATAGGCCTACGTTAC
    upwards     <<<<<<aNGG              the complement of T, A, G, C, G, T and A
    downwards             NCCa>>>>>>    NCC: as PAMs are given, from the anchor outwards
    """
    bits = np.zeros((8, 131), np.uint64)
    Entry("kmatch.engine.cpu.windows", "fill_bits")(masks("ATGCGATAGGCCTACGTTAC"), -MARGIN, bits)
    pams = np.array([[[15, 4, 4]], [[15, 2, 2]]], np.uint8)
    windows = Windows(*np.zeros((3, MOST_WINDOWS), np.uint64), np.zeros(MOST_WINDOWS, np.int64))
    read = Entry("kmatch.engine.cpu.windows", "read_windows")
    given = bits, (3, 17, 20), (minus, backward), pams, np.array([3]), np.uint64(0)
    assert read(*given, windows) == 1
    low, high = int(windows.low[0]), int(windows.high[0])
    letters = ["ACGT"[(low >> i & 1) + 2 * (high >> i & 1)] for i in range(7)]
    assert (windows.position[0], "".join(letters)) == (anchor, window)


def test_letters_of_several_bases_are_split():
    """R is A or G, and Y is C or T.

    ACRAY   →   ACAAC, ACGAC, ACAAT, ACGAT
    """
    bits = np.zeros((8, 131), np.uint64)
    Entry("kmatch.engine.cpu.windows", "fill_bits")(masks("ACRAY"), -MARGIN, bits)
    windows = Windows(*np.zeros((3, MOST_WINDOWS), np.uint64), np.zeros(MOST_WINDOWS, np.int64))
    read = Entry("kmatch.engine.cpu.windows", "read_windows")
    pams = np.zeros((2, 0, 0), np.uint8)
    given = bits, (0, 1, 5), (1, 1), pams, np.zeros(0, np.int64), np.uint64(0b11111)
    assert read(*given, windows) == 4
    found = {
        "".join("ACGT"[(int(low) >> i & 1) + 2 * (int(high) >> i & 1)] for i in range(5))
        for low, high in zip(windows.low[:4], windows.high[:4], strict=True)
    }
    assert found == {"ACAAC", "ACGAC", "ACAAT", "ACGAT"}


def test_pieces_share_differences_out():
    """20 letters in 2 pieces with 4 differences: 3 + 2 = 4 + 1.

    letters   0 … 9   with 2 differences       10 … 19   with 1 difference
    """
    cut = tables._cut(20, 4, 2, True)
    assert cut == [Piece(0, 10, 2, True), Piece(10, 10, 1, True)]


def code(word):
    """The code of letters: their low bits, and above these their high bits."""
    low = sum(("ACGT".index(letter) & 1) << i for i, letter in enumerate(word))
    return low | sum(("ACGT".index(letter) >> 1) << len(word) + i for i, letter in enumerate(word))


def test_texts_with_one_difference():
    """Of ACG, and any letter where one is left out.

    another letter   ?CG A?G AC?    one more   ?AC A?C AC?    one less   CG? AG? AC?
    """
    patterns = ["?CG", "A?G", "AC?", "?AC", "A?C", "AC?", "CG?", "AG?", "AC?"]
    expected = {pattern.replace("?", letter) for pattern in patterns for letter in "ACGT"}
    found = tables._neighbours(np.array([code("ACG")], np.uint32), 3, False)
    assert found.tolist() == sorted(map(code, expected))


@pytest.mark.parametrize(
    ("pattern", "window", "distance"),
    [
        ("GATCA", "GATCA", 0),
        ("GATCA", "GATTCA", 1),  # reaches row 3, and the end on the diagonal of the letter skipped
        ("GATCA", "GTCA", 1),
        ("GATCA", "GCTCC", 2),
        ("GATCA", "CCCCC", 3),  # more than k
    ],
)
def test_distances_by_diagonals(pattern, window, distance):
    """
    row                    0 1 2 3 4
    pattern                G A T C A
    window, diagonal 0     G A T T C      differs at 3
    window, diagonal 1     A T T C A      goes on from row 3 to the end
    """
    k, length = 2, len(pattern)
    state = np.zeros(diagonals.FIRST + (4 * k + 4) * WORDS, np.uint64)
    rows = {diagonals.LOW: (window, 1), diagonals.HIGH: (window, 2)}
    rows |= {diagonals.PATTERN_LOW: (pattern, 1), diagonals.PATTERN_HIGH: (pattern, 2)}
    for row, (word, bit) in rows.items():
        bits = [("ACGT".index(letter) & bit > 0) << i for i, letter in enumerate(word)]
        state[row : row + WORDS] = sum(bits)
    state[diagonals.OTHER : diagonals.OTHER + WORDS] = ~np.uint64((1 << len(window)) - 1)
    state[diagonals.STOP : diagonals.STOP + WORDS] = 1 << length
    state[diagonals.END : diagonals.END + WORDS] = length + diagonals.SHIFT
    Entry("kmatch.engine.cpu.diagonals", "distances")(state, k)
    assert set(state[:WORDS].tolist()) == {distance}
