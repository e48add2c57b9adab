"""How kernels of the CPU cut their work: the widths of vectors, and items of work in a chunk."""

from llvmlite.binding import get_host_cpu_features

from kmatch.arrays import Longs
from kmatch.engine.codes import HitBuffer
from kmatch.engine.geometry import Text

AVX512 = get_host_cpu_features().get("avx512f", False)
WORDS = 8 if AVX512 else 4
WIDE = 2 * WORDS  # two chains of vectors hide each other's latency
LANES = 64 * WORDS  # of a vector

WARM_SHARE = 8  # warm-ups that a stretch of rows is long at least, where the text allows
STRETCH = 2048  # rows that all queries scan before the next: they stay in the L2 cache
TASKS_PER_THREAD = 4


def stretches(queries: int, longest: int, rows: int, threads: int) -> int:
    """How many parts a chunk's rows are cut into: short ones, and enough for all threads.

    longest: the most letters and k of a query together, which is the warm-up of a part.
    """
    wanted = max(-(-TASKS_PER_THREAD * threads // max(queries, 1)), rows // STRETCH)
    return max(min(wanted, rows // (WARM_SHARE * longest)), 1)


TILE = 512  # words of text in a tile, which all queries scan before the next, in the L1 cache


def tiles(text: Text) -> int:
    """Items of work in scanning a chunk for mismatches."""
    return -(-text.rows * text.words // TILE)


PACK_ROWS = 64  # rows packed at a time: one cache line of each lane


def pack_items(words: int, plane_words: int) -> int:
    """Items of work in packing a chunk: PACK_ROWS rows of a word each."""
    return -(-(plane_words // words) // PACK_ROWS) * words


SPAN = 1 << 13  # positions of an item of work


def spans(shown: int) -> int:
    """Items of work in a View of so many letters."""
    return -(-shown // SPAN)


CODES_AT_ONCE = 256  # hit codes in the block that a thread takes


def written(buffer: HitBuffer) -> Longs:
    """The codes in the blocks that threads took, empty ones among them."""
    size = min(CODES_AT_ONCE, len(buffer.codes))
    return buffer.codes[: min(int(buffer.tally[0]), len(buffer.codes) // size * size)]
