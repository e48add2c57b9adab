"""Ho, Oh, Kim 2017: k differences by Levenshtein distance, on CUDA devices.

See `kmatch.published.cpu.wspasm2017` for the paper. Every thread has one column of D. Rows that
threads exchange have two cells before column 1: column j is at index j + 1, column 0 at index 1,
and index 0 holds the number of the row below, which makes the last two cases of equations (3) and
(4) one.
"""

import numpy as np
from numba import int32, uint8

from kmatch.arrays import Bytes
from kmatch.engine.cuda.bits.words import larger, smaller
from kmatch.engine.cuda.gpu.driver import DeviceArray, cuda
from kmatch.errors import InputError
from kmatch.published.cuda.text import DeviceText

TOO_FAR = -1
THREADS = 256  # of a block that needs no other thread's results
BLOCK = 1024  # of a block whose threads exchange a row
ENTRIES = BLOCK + 2  # of a row that a block's threads exchange
WARP = 32
WHOLE_WARP = 0xFFFFFFFF


def row(text: DeviceText, pattern: Bytes, k: int) -> DeviceArray:
    """Algorithm 1, PASM: a launch a row, rows in global memory, the paper's PASM_GPU.

    See `kmatch.published`.
    """
    n = len(text.masks)
    alphabet, letters = np.unique(pattern, return_inverse=True)
    rows, table = text.empty((2, n + 2), np.int32), text.table(n)
    matches = _Matches(text, alphabet)
    blocks = -(-n // THREADS)
    with text.timed():
        matches.find()
        _first_row[blocks, THREADS, text.stream](rows)
        for i, letter in enumerate(letters.tolist(), 1):
            _row[blocks, THREADS, text.stream](matches.x, letter, i, rows)
        _report[blocks, THREADS, text.stream](rows, len(letters), k, table)
    return table


def row_shuffle(text: DeviceText, pattern: Bytes, k: int) -> DeviceArray:
    """Algorithm 2, WsPASM: threads of a warp exchange their cells by shuffles, warps through global
    memory; the paper's WsPASM_GPU. See `kmatch.published`.

    A block has the columns that it owns and m + k before them, so that it waits for no other one:
    an occurrence within k is no longer. m + k is below the threads of a block.
    """
    overlap = _overlap(pattern, k)
    n = len(text.masks)
    alphabet, letters = np.unique(pattern, return_inverse=True)
    blocks = _overlapping_blocks(n, overlap)
    rows, table = text.empty((blocks, 2, ENTRIES), np.int32), text.table(n)
    letters, pattern = text.put(letters.astype(np.int32)), text.put(pattern)
    matches = _Matches(text, alphabet)
    with text.timed():
        matches.find()
        _shuffle[blocks, BLOCK, text.stream](
            text.masks, pattern, letters, matches.x, k, overlap, rows, table
        )
    return table


def row_shuffle_shared(text: DeviceText, pattern: Bytes, k: int) -> DeviceArray:
    """Algorithm 2 with the block's text, the pattern and the rows that warps exchange in shared
    memory: the paper's WsPASM_GPUshared. See `row_shuffle`."""
    overlap = _overlap(pattern, k)
    n = len(text.masks)
    alphabet, letters = np.unique(pattern, return_inverse=True)
    table = text.table(n)
    letters, pattern = text.put(letters.astype(np.int32)), text.put(pattern)
    matches = _Matches(text, alphabet)
    with text.timed():
        matches.find()
        _shuffle_shared[_overlapping_blocks(n, overlap), BLOCK, text.stream](
            text.masks, pattern, letters, matches.x, k, overlap, table
        )
    return table


def _overlap(pattern: Bytes, k: int) -> int:
    """Columns before its own that a block needs. Raises InputError where it cannot have them."""
    overlap = len(pattern) + k
    if overlap >= BLOCK:
        raise InputError(
            f"a pattern of {len(pattern)} letters within k = {k} is too long for the shuffling "
            f"algorithms, whose blocks hold fewer than {BLOCK} letters and differences; use row"
        )
    return overlap


def _overlapping_blocks(n: int, overlap: int) -> int:
    """Blocks that own BLOCK − overlap columns each, and the first one all of its columns."""
    return max(-(-(n - overlap) // (BLOCK - overlap)), 1)


class _Matches:
    """Equation (2): the matrix X, `x`, int32[a, n+1], of an alphabet, uint8[a].

    Its letters take turns in the grid's second dimension. In the paper one thread per letter goes
    along the whole text; here blocks scan it.
    """

    def __init__(self, text: DeviceText, alphabet: Bytes) -> None:
        self._text, self._alphabet = text, text.put(alphabet)
        n = len(text.masks)
        self._grid = -(-n // BLOCK), len(alphabet)
        self._last = text.empty(self._grid[::-1], np.int32)
        self.x = text.empty((len(alphabet), n + 1), np.int32)

    def find(self) -> None:
        """Start the kernels that fill `x`."""
        stream = self._text.stream
        _scan_blocks[self._grid, BLOCK, stream](
            self._text.masks, self._alphabet, self.x, self._last
        )
        _scan_lasts[(1, len(self._alphabet)), BLOCK, stream](self._last)
        _join_scans[self._grid, BLOCK, stream](self._last, self.x)


@cuda.jit(device=True)
def _running_max(values, thread, value):
    """The largest value of the block's threads up to this one; values: int32[2, BLOCK], shared."""
    side = 0
    values[side, thread] = value
    cuda.syncthreads()
    step = 1
    while step < BLOCK:
        if thread >= step:
            value = larger(value, values[side, thread - step])
        side = 1 - side
        values[side, thread] = value
        cuda.syncthreads()
        step *= 2
    return value


@cuda.jit(cache=True)
def _scan_blocks(text, alphabet, x, last):
    """X as far as a block knows it, and the last match in each block, int32[a, blocks]."""
    values = cuda.shared.array((2, BLOCK), int32)
    thread, letter = cuda.threadIdx.x, cuda.blockIdx.y
    j = cuda.blockIdx.x * BLOCK + thread + 1
    here = j <= len(text) and text[j - 1] & alphabet[letter] != 0
    match = _running_max(values, thread, int32(j if here else 0))
    if j <= len(text):
        x[letter, j] = match
    if j == 1:
        x[letter, 0] = 0
    if thread == BLOCK - 1:
        last[letter, cuda.blockIdx.x] = match


@cuda.jit(cache=True)
def _scan_lasts(last):
    """The last match up to the end of each block, in place, by one block a letter."""
    values = cuda.shared.array((2, BLOCK), int32)
    thread, letter = cuda.threadIdx.x, cuda.blockIdx.y
    before = int32(0)
    for first in range(0, last.shape[1], BLOCK):
        at = first + thread
        value = last[letter, at] if at < last.shape[1] else int32(0)
        value = _running_max(values, thread, larger(value, before))
        if at < last.shape[1]:
            last[letter, at] = value
        values[0, thread] = value
        cuda.syncthreads()
        before = values[0, BLOCK - 1]
        cuda.syncthreads()


@cuda.jit(cache=True)
def _join_scans(last, x):
    """Give the last match of the blocks before to the columns that have none in their own."""
    letter = cuda.blockIdx.y
    j = cuda.blockIdx.x * BLOCK + cuda.threadIdx.x + 1
    if cuda.blockIdx.x > 0 and j < x.shape[1] and x[letter, j] == 0:
        x[letter, j] = last[letter, cuda.blockIdx.x - 1]


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


@cuda.jit(cache=True)
def _shuffle(text, pattern, letters, x, k, overlap, rows, table):
    """Algorithm 2; rows: int32[blocks, 2, ENTRIES], what the warps of a block exchange.

    Matches before the block's first column count as none: column 0 of the block stands before it.
    """
    thread = cuda.threadIdx.x
    before = cuda.blockIdx.x * (BLOCK - overlap)
    j = before + thread + 1
    inside = j <= len(text)
    own = rows[cuda.blockIdx.x]
    value = int32(0)
    _store(thread, 0, value, own[0])
    cuda.syncthreads()
    for i in range(1, len(pattern) + 1):
        match = larger(x[letters[i - 1], j] - before, 0) if inside else 0
        same = inside and text[j - 1] & pattern[i - 1] != 0
        value = _shuffled_cell(thread % WARP, thread + 1, same, match, value, own[(i - 1) % 2])
        _store(thread, i, value, own[i % 2])
        cuda.syncthreads()
    if inside and (thread >= overlap or cuda.blockIdx.x == 0):
        table[j - 1] = value if value <= k else TOO_FAR


@cuda.jit(cache=True)
def _shuffle_shared(text, pattern, letters, x, k, overlap, table):
    """Algorithm 2 with the block's text, the pattern and the rows in shared memory."""
    some_text = cuda.shared.array(BLOCK, uint8)
    whole_pattern = cuda.shared.array(BLOCK, uint8)
    indices = cuda.shared.array(BLOCK, int32)
    rows = cuda.shared.array((2, ENTRIES), int32)
    thread = cuda.threadIdx.x
    before = cuda.blockIdx.x * (BLOCK - overlap)
    j = before + thread + 1
    inside = j <= len(text)
    some_text[thread] = text[j - 1] if inside else 0
    if thread < len(pattern):
        whole_pattern[thread], indices[thread] = pattern[thread], letters[thread]
    value = int32(0)
    _store(thread, 0, value, rows[0])
    cuda.syncthreads()
    for i in range(1, len(pattern) + 1):
        match = larger(x[indices[i - 1], j] - before, 0) if inside else 0
        same = some_text[thread] & whole_pattern[i - 1] != 0
        value = _shuffled_cell(thread % WARP, thread + 1, same, match, value, rows[(i - 1) % 2])
        _store(thread, i, value, rows[i % 2])
        cuda.syncthreads()
    if inside and (thread >= overlap or cuda.blockIdx.x == 0):
        table[j - 1] = value if value <= k else TOO_FAR
