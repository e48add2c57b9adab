"""Ho, Oh, Kim 2017: k differences by Levenshtein distance, on CUDA devices.

See `kmatch.published.cpu.wspasm2017` for the paper. Every thread has one column of D. Rows that
threads exchange have two cells before column 1: column j is at index j + 1, column 0 at index 1,
and index 0 holds the number of the row below, which makes the last two cases of equations (3) and
(4) one.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import int32, uint8

from kmatch.arrays import Bytes, Longs
from kmatch.engine.cuda.driver import DeviceArray, cuda, kept
from kmatch.engine.cuda.words import larger, smaller
from kmatch.errors import InputError
from kmatch.published.cuda import DeviceText

TOO_FAR = -1
THREADS = 256  # of a block that needs no other thread's results
BLOCK = 1024  # of a block whose threads exchange a row
ENTRIES = BLOCK + 2  # of a row that a block's threads exchange
WARP = 32
WHOLE_WARP = 0xFFFFFFFF


def row(text: DeviceText, pattern: Bytes, k: int, table: DeviceArray) -> None:
    """Algorithm 1, PASM: a launch a row, rows in global memory, the paper's PASM_GPU."""
    n = len(text)
    m = len(pattern)
    x, letters = _matches(text, pattern)
    row_0 = np.zeros((2, n + 2), np.int32)
    row_0[0, 0] = 1
    rows = text.put(row_0)
    for i, letter in enumerate(letters.tolist(), 1):
        text.launch(_row, -(-n // THREADS), THREADS, x, letter, i, rows, m, k, table)


def row_shuffle(text: DeviceText, pattern: Bytes, k: int, table: DeviceArray) -> None:
    """Algorithm 2, WsPASM: threads of a warp exchange their cells by shuffles, warps through global
    memory; the paper's WsPASM_GPU.

    A block has the columns that it owns and m + k before them, so that it waits for no other one:
    an occurrence within k is no longer. m + k is below the threads of a block.
    """
    _by_shuffles(text, pattern, k, table, False)


def row_shuffle_shared(text: DeviceText, pattern: Bytes, k: int, table: DeviceArray) -> None:
    """Algorithm 2 with the block's text, the pattern and the rows that warps exchange in shared
    memory: the paper's WsPASM_GPUshared. See `row_shuffle`."""
    _by_shuffles(text, pattern, k, table, True)


def _by_shuffles(
    text: DeviceText, pattern: Bytes, k: int, table: DeviceArray, shared: bool
) -> None:
    """Blocks own BLOCK − overlap columns each, and the first one all of its columns.

    overlap: m + k, columns before its own that a block needs. Raises InputError where it cannot
    have them.
    """
    overlap = len(pattern) + k
    if overlap >= BLOCK:
        raise InputError(
            f"a pattern of {len(pattern)} letters within k = {k} is too long for the shuffling "
            f"algorithms, whose blocks hold fewer than {BLOCK} letters and differences; use row"
        )
    blocks = max(-(-(len(text) - overlap) // (BLOCK - overlap)), 1)
    x, letters = _matches(text, pattern)
    given = text.masks, text.put(pattern), text.put(letters.astype(np.int32)), x
    rows = text.empty((1 if shared else blocks, 2, ENTRIES), np.int32)
    text.launch(make_shuffle(shared), blocks, BLOCK, *given, k, overlap, rows, table)


def _matches(text: DeviceText, pattern: Bytes) -> tuple[DeviceArray, Longs]:
    """Equation (2): the matrix X, int32[a, n+1], and the row of it that each letter of the pattern
    has.

    In the paper one thread per letter goes along the whole text; here one per letter and column
    goes back to the last match, at most m columns: a match further back costs more than m.
    """
    alphabet, letters = np.unique(pattern, return_inverse=True)
    columns = len(text) + 1
    x = text.empty((len(alphabet), columns), np.int32)
    grid = (-(-columns // THREADS), len(alphabet)), THREADS
    text.launch(_find_matches, *grid, text.masks, text.put(alphabet), len(pattern), x)
    return x, letters


@kept()
def _find_matches(text, alphabet, m, x):
    """Column j of X, a thread each; rows along the grid's second dimension."""
    j, letter = cuda.grid(1), cuda.blockIdx.y
    if j <= len(text):
        match = j
        while match > 0 and text[match - 1] & alphabet[letter] == 0:
            match = match - 1 if j - match < m else 0
        x[letter, j] = match


@cuda.jit(device=True)
def _cell(matches_here, above_left, above, beyond):
    """Equations (3) and (4); beyond: the cost by way of the last match before, or of column 0."""
    if matches_here:
        return int32(above_left)
    return int32(1 + smaller(smaller(above_left, above), beyond))


@kept()
def _row(x, letter, i, rows, m, k, table):
    """Equation (3) for row i, whose letter is the letter of a row of X; rows: int32[2, n+2], row 0
    as row 1 wants it to begin with. Row m goes to the table."""
    j = cuda.grid(1) + 1
    matches, above, here = x[letter], rows[(i - 1) % 2], rows[i % 2]
    if j == 1:
        here[0], here[1] = i + 1, i
    if j < len(matches):
        match = matches[j]
        distance = _cell(match == j, above[j], above[j + 1], above[match] + j - 1 - match)
        here[j + 1] = distance
        if i == m:
            table[j - 1] = distance if distance <= k else TOO_FAR


@cuda.jit(device=True)
def _of_thread_before(value):
    """Return a value as the thread before in the warp has it; the first thread's own."""
    return cuda.shfl_up_sync(WHOLE_WARP, int32(value), 1)


@cuda.jit(device=True)
def _last_cell(text, pattern, letters, x, before, inside, rows):
    """Algorithm 2 for one column of a block: its cell of the last row.

    text: the block's, behind `before` letters; inside: whether the column is one of the
    text's; rows: int32[2, ENTRIES], which the block's warps exchange. Matches before the block's
    first column count as none: column 0 of the block stands before it. Of equation (4) Avar comes
    from the thread before, by shuffle, or from memory across warps; Bvar is the thread's own value;
    Cvar comes from memory.
    """
    thread = cuda.threadIdx.x
    column, value = thread + 1, int32(0)
    for i in range(len(pattern) + 1):
        above, here = rows[(i + 1) % 2], rows[i % 2]
        if i:
            match = larger(x[letters[i - 1], before + column] - before, 0) if inside else 0
            same = inside and text[thread] & pattern[i - 1] != 0
            above_left = _of_thread_before(value)
            if thread % WARP == 0:
                above_left = above[column]
            value = _cell(same, above_left, value, above[match] + column - 1 - match)
        if thread == 0:
            here[0], here[1] = i + 1, i
        here[thread + 2] = value
        cuda.syncthreads()
    return value


@cache
def make_shuffle(shared: bool) -> Any:
    """Return the kernel of algorithm 2; shared: whether the block's text, the pattern and the rows
    are in shared memory. Otherwise rows, int32[blocks, 2, ENTRIES], are in global memory."""

    @kept()
    def kernel(text, pattern, letters, x, k, overlap, rows, table):
        thread = cuda.threadIdx.x
        before = cuda.blockIdx.x * (BLOCK - overlap)
        inside = before + thread < len(text)
        if shared:
            some_text = cuda.shared.array(BLOCK, uint8)
            masks = cuda.shared.array(BLOCK, uint8)
            indices = cuda.shared.array(BLOCK, int32)
            own = cuda.shared.array((2, ENTRIES), int32)
            some_text[thread] = text[before + thread] if inside else 0
            if thread < len(pattern):
                masks[thread], indices[thread] = pattern[thread], letters[thread]
            whole = masks[: len(pattern)]
            value = _last_cell(some_text, whole, indices, x, before, inside, own)
        else:
            own = rows[cuda.blockIdx.x]
            value = _last_cell(text[before:], pattern, letters, x, before, inside, own)
        if inside and (thread >= overlap or cuda.blockIdx.x == 0):
            table[before + thread] = value if value <= k else TOO_FAR

    return kernel
