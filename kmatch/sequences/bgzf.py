"""BGZF read: gzip in blocks that say how long they are, so that threads inflate it."""

import struct
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

try:
    from isal import isal_zlib as zlib  # comes with xopen on most machines; twice as fast
except ImportError:
    import zlib  # type: ignore[no-redef]

from kmatch.arrays import Longs, bounds_of
from kmatch.sequences.parts import FilePart
from kmatch.sequences.records import Ahead

# Magic, deflate, extra field; time; flags and system; sizes of the field and of its number.
HEADER = struct.Struct("<4B I 2B H 2s H H")
MAGIC = (31, 139, 8, 4)
FIELDS = 6  # bytes of the extra field: its name, its size and the size of the block
NAME = b"BC"  # of the extra field
MOST = 1 << 16  # bytes that a block holds
BLOCKS = 8  # that a thread inflates at once
_GZIP = 31  # has a decompressor read the header of gzip, and check the sum and the size
_Damaged: Any = zlib.error


def block_size(start: bytes) -> int:
    """Return how long the block is that begins so, in bytes; 0 where it is no block of BGZF."""
    if len(start) < HEADER.size:
        return 0
    *magic, _, _, _, fields, name, number_size, last = HEADER.unpack_from(start)
    is_block = (*magic, fields, name, number_size) == (*MAGIC, FIELDS, NAME, 2)
    return last + 1 if is_block else 0


def inflated(file: FilePart, ahead: Ahead, as_gzip: Callable[[], Any]) -> Iterator[bytes]:
    """Yield the bytes that a file holds in BGZF, whose blocks threads inflate ahead.

    file: the whole of it; ahead: how threads are had; as_gzip: returns a handle of what the file
    holds from where it is. The last blocks are read as gzip is, and so is all from a damaged block
    on: that tells what is wrong.
    """
    done = 0
    for size, text in ahead(_calls(file)):
        if text is None:
            break
        done += size
        file.file.seek(done)
        if text:
            yield text
    file.file.seek(done)
    rest = as_gzip()
    while text := rest.read(MOST):
        yield text


def _calls(file: FilePart) -> Iterator[Callable[[], tuple[int, bytes | None]]]:
    """Yield a call that inflates each stretch of BLOCKS blocks behind which another block is."""
    sizes: list[int] = []
    start = stop = 0
    while size := block_size(bytes(file[stop : stop + HEADER.size])):
        if len(sizes) == BLOCKS:
            yield partial(_inflated, file[start:stop], bounds_of(sizes))
            sizes.clear()
            start = stop
        sizes.append(size)
        stop += size


def _inflated(stretch: FilePart, bounds: Longs) -> tuple[int, bytes | None]:
    """Return (bytes of a stretch, what it holds), or (0, None) where a block is damaged."""
    data = bytes(stretch)
    texts = []
    for start, stop in pairwise(bounds.tolist()):
        block = data[start:stop]
        try:
            text = zlib.decompress(block, _GZIP, MOST)
        except _Damaged:
            return 0, None
        # What follows the deflated data would be passed over.
        if len(text) > MOST or len(text) != int.from_bytes(block[-4:], "little"):
            return 0, None
        texts.append(text)
    return len(data), b"".join(texts)
