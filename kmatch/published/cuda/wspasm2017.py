"""Ho, Oh, Kim 2017: k differences by Levenshtein distance, on CUDA devices.

See `kmatch.published.cpu.wspasm2017` for the paper. Every thread has one column of D. Rows that
threads exchange have two cells before column 1: column j is at index j + 1, column 0 at index 1,
and index 0 holds the number of the row below, which makes the last two cases of equations (3) and
(4) one.
"""

from typing import Any

import numpy as np
from numba import int32, uint8

from kmatch.arrays import Bytes, Longs
from kmatch.engine.cuda.driver import DeviceArray, cuda
from kmatch.engine.cuda.words import larger, smaller
from kmatch.errors import InputError
from kmatch.published.cuda import DeviceText

TOO_FAR = -1
THREADS = 256  # of a block that needs no other thread's results
BLOCK = 1024  # of a block whose threads exchange a row
ENTRIES = BLOCK + 2  # of a row that a block's threads exchange
WARP = 32
WHOLE_WARP = 0xFFFFFFFF


def row(text: DeviceText, pattern: Bytes, k: int) -> DeviceArray:
    """Algorithm 1, PASM: a launch a row, rows in global memory, the paper's PASM_GPU."""
    n = len(text.masks)
    x, letters = _matches(text, pattern)
    rows, table = text.empty((2, n + 2), np.int32), text.table(n)
    blocks = -(-n // THREADS)
    with text.timed():
        _first_row[blocks, THREADS, text.stream](rows)
        for i, letter in enumerate(letters.tolist(), 1):
            _row[blocks, THREADS, text.stream](x, letter, i, rows)
        _report[blocks, THREADS, text.stream](rows, len(letters), k, table)
    return table


def row_shuffle(text: DeviceText, pattern: Bytes, k: int) -> DeviceArray:
    """Algorithm 2, WsPASM: threads of a warp exchange their cells by shuffles, warps through global
    memory; the paper's WsPASM_GPU.

    A block has the columns that it owns and m + k before them, so that it waits for no other one:
    an occurrence within k is no longer. m + k is below the threads of a block.
    """
    blocks = _overlapping_blocks(text, pattern, k)
    return _by_shuffles(_shuffle, text, pattern, k, text.empty((blocks, 2, ENTRIES), np.int32))


def row_shuffle_shared(text: DeviceText, pattern: Bytes, k: int) -> DeviceArray:
    """Algorithm 2 with the block's text, the pattern and the rows that warps exchange in shared
    memory: the paper's WsPASM_GPUshared. See `row_shuffle`."""
    return _by_shuffles(_shuffle_shared, text, pattern, k)


def _by_shuffles(
    kernel: Any, text: DeviceText, pattern: Bytes, k: int, *rows: DeviceArray
) -> DeviceArray:
    blocks, table = _overlapping_blocks(text, pattern, k), text.table(len(text.masks))
    x, letters = _matches(text, pattern)
    letters, masks = text.put(letters.astype(np.int32)), text.put(pattern)
    arguments = text.masks, masks, letters, x, k, len(pattern) + k, table, *rows
    text.launch(kernel, blocks, BLOCK, *arguments)
    return table


def _overlapping_blocks(text: DeviceText, pattern: Bytes, k: int) -> int:
    """Blocks that own BLOCK − overlap columns each, and the first one all of its columns.

    overlap: m + k, columns before its own that a block needs. Raises InputError where it cannot
    have them.
    """
    overlap = len(pattern) + k
    if overlap >= BLOCK:
        raise InputError(
            f"a pattern of {len(pattern)} letters within k = {k} is too long for the shuffling "
            f"algorithms, whose blocks hold fewer than {BLOCK} letters and differences; use row"
        )
    return max(-(-(len(text.masks) - overlap) // (BLOCK - overlap)), 1)


def _matches(text: DeviceText, pattern: Bytes) -> tuple[DeviceArray, Longs]:
    """Equation (2): the matrix X, int32[a, n+1], and the row of it that each letter of the pattern
    has.

    In the paper one thread per letter goes along the whole text; here one per letter and column
    goes back to the last match, at most m columns: what lies further back costs more than m.
    """
    alphabet, letters = np.unique(pattern, return_inverse=True)
    columns = len(text.masks) + 1
    x = text.empty((len(alphabet), columns), np.int32)
    grid = (-(-columns // THREADS), len(alphabet)), THREADS
    text.launch(_find_matches, *grid, text.masks, text.put(alphabet), len(pattern), x)
    return x, letters


@cuda.jit(cache=True)
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


@cuda.jit(cache=True)
def _first_row(rows):
    """Row 0 of D, as row 1 wants it."""
    j = cuda.grid(1) + 1
    if j == 1:
        rows[0, 0], rows[0, 1] = 1, 0
    if j + 1 < rows.shape[1]:
        rows[0, j + 1] = 0


@cuda.jit(cache=True)
def _row(x, letter, i, rows):
    """Equation (3) for row i, whose letter is that of a row of X; rows: int32[2, n+2]."""
    j = cuda.grid(1) + 1
    matches, above, here = x[letter], rows[(i - 1) % 2], rows[i % 2]
    if j == 1:
        here[0], here[1] = i + 1, i
    if j < len(matches):
        match = matches[j]
        beyond = above[match] + j - 1 - match
        here[j + 1] = _cell(match == j, above[j], above[j + 1], beyond)


@cuda.jit(cache=True)
def _report(rows, i, k, table):
    """The distances of row i up to k."""
    at = cuda.grid(1)
    if at < len(table):
        distance = rows[i % 2, at + 2]
        table[at] = distance if distance <= k else TOO_FAR


@cuda.jit(device=True)
def _of_thread_before(value):
    """A value as the thread before in the warp has it; the first thread's own."""
    return cuda.shfl_up_sync(WHOLE_WARP, int32(value), 1)


@cuda.jit(device=True)
def _shuffled_cell(lane, column, matches_here, match, value, above):
    """Equation (4) for a column of the block: Avar comes from the thread before, by shuffle, or
    from memory across warps; Bvar is the thread's own value; Cvar comes from memory."""
    above_left = _of_thread_before(value)
    if lane == 0:
        above_left = above[column]
    beyond = above[match] + column - 1 - match
    return _cell(matches_here, above_left, value, beyond)


@cuda.jit(device=True)
def _store(thread, i, value, here):
    """Keep a cell of row i where other warps find it."""
    if thread == 0:
        here[0], here[1] = i + 1, i
    here[thread + 2] = value


@cuda.jit(device=True)
def _last_cell(text, pattern, letters, m, x, before, inside, rows):
    """Algorithm 2 for one column of a block: its cell of row m.

    text: that of the block, behind `before` letters; inside: whether the column is one of the
    text's; rows: int32[2, ENTRIES], what the block's warps exchange. Matches before the block's
    first column count as none: column 0 of the block stands before it.
    """
    thread = cuda.threadIdx.x
    value = int32(0)
    _store(thread, 0, value, rows[0])
    cuda.syncthreads()
    for i in range(1, m + 1):
        match = larger(x[letters[i - 1], before + thread + 1] - before, 0) if inside else 0
        same = inside and text[thread] & pattern[i - 1] != 0
        value = _shuffled_cell(thread % WARP, thread + 1, same, match, value, rows[(i - 1) % 2])
        _store(thread, i, value, rows[i % 2])
        cuda.syncthreads()
    return value


@cuda.jit(cache=True)
def _shuffle(text, pattern, letters, x, k, overlap, table, rows):
    """Algorithm 2; rows: int32[blocks, 2, ENTRIES], in global memory."""
    thread, own = cuda.threadIdx.x, rows[cuda.blockIdx.x]
    before = cuda.blockIdx.x * (BLOCK - overlap)
    inside = before + thread < len(text)
    m, part = len(pattern), text[before:]
    value = _last_cell(part, pattern, letters, m, x, before, inside, own)
    if inside and (thread >= overlap or cuda.blockIdx.x == 0):
        table[before + thread] = value if value <= k else TOO_FAR


@cuda.jit(cache=True)
def _shuffle_shared(text, pattern, letters, x, k, overlap, table):
    """Algorithm 2 with the block's text, the pattern and the rows in shared memory."""
    some_text = cuda.shared.array(BLOCK, uint8)
    whole_pattern = cuda.shared.array(BLOCK, uint8)
    indices = cuda.shared.array(BLOCK, int32)
    rows = cuda.shared.array((2, ENTRIES), int32)
    thread = cuda.threadIdx.x
    before = cuda.blockIdx.x * (BLOCK - overlap)
    inside = before + thread < len(text)
    some_text[thread] = text[before + thread] if inside else 0
    if thread < len(pattern):
        whole_pattern[thread], indices[thread] = pattern[thread], letters[thread]
    m = len(pattern)
    value = _last_cell(some_text, whole_pattern, indices, m, x, before, inside, rows)
    if inside and (thread >= overlap or cuda.blockIdx.x == 0):
        table[before + thread] = value if value <= k else TOO_FAR
