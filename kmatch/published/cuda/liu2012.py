"""Liu et al. 2012: k mismatches on CUDA, three algorithms.

None of them stops early: a place takes m comparisons whatever k is. `result` holds the distance
where the paper's holds the place, which the index tells.
"""

from numba import int32, uint8

from kmatch.engine.cuda.driver import cuda

BLOCK_DIM = 256


@cuda.jit(cache=True)
def _thread(text, pattern, k, result):
    """Algorithm 1, Thread-Parallel-Kernel: thread i computes ham(P, T_i) from global memory."""
    i = cuda.grid(1)
    if i < len(result):
        mismatches = 0
        for j in range(len(pattern)):
            if text[i + j] & pattern[j] == 0:
                mismatches += 1
        result[i] = mismatches if mismatches <= k else -1


def thread(text, pattern, k):
    """Algorithm 2, Thread Parallel Algorithm: a thread a place, n − m + 1 of them."""
    places = len(text.masks) - len(pattern) + 1
    letters, result = text.put(pattern), text.table(places)
    with text.timed():
        _thread[-(-places // BLOCK_DIM), BLOCK_DIM, text.stream](text.masks, letters, k, result)
    return result


@cuda.jit(cache=True)
def _block_thread(text, pattern, k, half, result):
    """Algorithm 3, Block-Thread-Parallel-Kernel: thread j of block i computes fb(P[j], T[i+j]).

    half: the smallest power of two that is at least half the block, to begin the sum with.
    """
    num = cuda.shared.array(0, int32)
    i, j = cuda.blockIdx.x, cuda.threadIdx.x
    num[j] = 1 if text[i + j] & pattern[j] == 0 else 0
    cuda.syncthreads()
    while half > 0:
        if j < half and j + half < cuda.blockDim.x:
            num[j] += num[j + half]
        cuda.syncthreads()
        half //= 2
    if j == 0:
        result[i] = num[0] if num[0] <= k else -1


def block_thread(text, pattern, k):
    """Algorithm 4, Block-Thread Parallel Algorithm: a block of m threads a place.

    The threads sum `num` pairwise in shared memory; m is at most the threads of a block, 1024.
    """
    m = len(pattern)
    places = len(text.masks) - m + 1
    letters, result = text.put(pattern), text.table(places)
    half = 1 << (m - 1).bit_length() >> 1
    with text.timed():
        _block_thread[places, m, text.stream, 4 * m](text.masks, letters, k, half, result)
    return result


@cuda.jit(cache=True)
def _opt_block_thread(text, pattern, k, result):
    """Algorithm 5, OPT-Block-Thread-Parallel-Kernel, and steps 2 and 3 of Algorithm 6.

    All threads of block i read P to P′ and T[i·BlockDim …] to T′ in shared memory, BlockDim letters
    at a time (Fig. 7 and 9); thread j computes ham(P′, T′_j).
    """
    shared = cuda.shared.array(0, uint8)
    m, j, dim = len(pattern), cuda.threadIdx.x, cuda.blockDim.x
    first = cuda.blockIdx.x * dim
    for at in range(j, m, dim):
        shared[at] = pattern[at]
    for at in range(j, dim + m - 1, dim):
        if first + at < len(text):
            shared[m + at] = text[first + at]
    cuda.syncthreads()
    if first + j < len(result):
        mismatches = 0
        for at in range(m):
            if shared[m + j + at] & shared[at] == 0:
                mismatches += 1
        result[first + j] = mismatches if mismatches <= k else -1


def opt_block_thread(text, pattern, k, block_dim=BLOCK_DIM):
    """Algorithm 6, OPT-Block-Thread Parallel Algorithm: ⌈(n − m + 1) / BlockDim⌉ blocks.

    Shared memory holds P′ and T′, BlockDim + 2m − 1 bytes.
    """
    m = len(pattern)
    places = len(text.masks) - m + 1
    letters, result = text.put(pattern), text.table(places)
    grid = (-(-places // block_dim), block_dim, text.stream, block_dim + 2 * m - 1)
    with text.timed():
        _opt_block_thread[grid](text.masks, letters, k, result)
    return result
