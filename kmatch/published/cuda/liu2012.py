"""Liu et al. 2012: k mismatches on CUDA, three algorithms.

None of them stops early: a position takes m comparisons whatever k is. `result` holds the distance
where the paper's holds the position, which is the index. Indices are unsigned, as Numba would
otherwise check at each access whether to count from the end; loops are `while`, as `for` over
unsigned numbers takes twice as long.
"""

from numba import int32, uint8, uint64

from kmatch.arrays import Bytes
from kmatch.engine.cuda.driver import DeviceArray, cuda, kept
from kmatch.published.cuda import DeviceText

BLOCK_DIM = 256
ZERO, ONE = uint64(0), uint64(1)


@kept()
def each_thread(text, pattern, k, result):
    """Algorithm 1, Thread-Parallel-Kernel: thread i computes ham(P, T_i) from global memory."""
    i = uint64(cuda.grid(1))
    if i < uint64(len(result)):
        m, j, mismatches = uint64(len(pattern)), ZERO, ZERO
        while j < m:
            if text[i + j] & pattern[j] == 0:
                mismatches += ONE
            j += ONE
        result[i] = int32(mismatches) if mismatches <= uint64(k) else int32(-1)


def thread(text: DeviceText, pattern: Bytes, k: int, result: DeviceArray) -> None:
    """Algorithm 2, Thread Parallel Algorithm: a thread a position, n − m + 1 of them."""
    grid = -(-len(result) // BLOCK_DIM), BLOCK_DIM
    text.launch(each_thread, *grid, text.masks, text.put(pattern), k, result)


@kept()
def _block_thread(text, pattern, k, half, result):
    """Algorithm 3, Block-Thread-Parallel-Kernel: thread j of block i computes fb(P[j], T[i+j]).

    half: the smallest power of two that is at least half the block, to begin the sum with.
    """
    num = cuda.shared.array(0, int32)
    i, j = uint64(cuda.blockIdx.x), uint64(cuda.threadIdx.x)
    m, half = uint64(cuda.blockDim.x), uint64(half)
    num[j] = 1 if text[i + j] & pattern[j] == 0 else 0
    cuda.syncthreads()
    while half > ZERO:
        if j < half and j + half < m:
            num[j] += num[j + half]
        cuda.syncthreads()
        half >>= ONE
    if j == ZERO:
        result[i] = num[0] if num[0] <= k else -1


def block_thread(text: DeviceText, pattern: Bytes, k: int, result: DeviceArray) -> None:
    """Algorithm 4, Block-Thread Parallel Algorithm: a block of m threads a position.

    The threads sum `num` pairwise in shared memory; m is at most the threads of a block, 1024.
    """
    m = len(pattern)
    arguments = text.masks, text.put(pattern), k, 1 << (m - 1).bit_length() >> 1, result
    text.launch(_block_thread, len(result), m, *arguments, shared=4 * m)


@kept()
def _opt_block_thread(text, pattern, k, result):
    """Algorithm 5, OPT-Block-Thread-Parallel-Kernel, and steps 2 and 3 of Algorithm 6.

    All threads of block i read P to P′ and T[i·BlockDim …] to T′ in shared memory, BlockDim letters
    at a time (Fig. 7 and 9); thread j computes ham(P′, T′_j).
    """
    shared = cuda.shared.array(0, uint8)
    m, n = uint64(len(pattern)), uint64(len(text))
    j, dim = uint64(cuda.threadIdx.x), uint64(cuda.blockDim.x)
    first = uint64(cuda.blockIdx.x) * dim
    at = j
    while at < m:
        shared[at] = pattern[at]
        at += dim
    at = j
    while at < dim + m - ONE:
        if first + at < n:
            shared[m + at] = text[first + at]
        at += dim
    cuda.syncthreads()
    if first + j < uint64(len(result)):
        at, mismatches = ZERO, ZERO
        while at < m:
            if shared[m + j + at] & shared[at] == 0:
                mismatches += ONE
            at += ONE
        result[first + j] = int32(mismatches) if mismatches <= uint64(k) else int32(-1)


def opt_block_thread(
    text: DeviceText, pattern: Bytes, k: int, result: DeviceArray, block_dim: int = BLOCK_DIM
) -> None:
    """Algorithm 6, OPT-Block-Thread Parallel Algorithm: ⌈(n − m + 1) / BlockDim⌉ blocks.

    Shared memory holds P′ and T′, BlockDim + 2m − 1 bytes.
    """
    blocks = -(-len(result) // block_dim)
    shared = block_dim + 2 * len(pattern) - 1
    arguments = text.masks, text.put(pattern), k, result
    text.launch(_opt_block_thread, blocks, block_dim, *arguments, shared=shared)
