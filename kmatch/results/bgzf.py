"""BGZF: gzip in blocks that end where they say, so that tabix and samtools find places in it."""

import struct
from typing import Any

try:
    from isal import isal_zlib as zlib  # comes with xopen on most machines; four times as fast
except ImportError:
    import zlib  # type: ignore[no-redef]

from kmatch.sequences.bgzf import FIELDS, HEADER, MAGIC, NAME

BLOCK = 0xFF00  # bytes that a block holds, as htslib's
LEVEL = 1
RAW = -15  # bits of the window, without a header and a sum of deflate's own
TAIL = struct.Struct("<2I")


class BlockedGzip:
    """Writes BGZF to a binary handle, which stays open when this one is closed."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._waiting = bytearray()  # less than a block

    def write(self, data: memoryview) -> int:
        """Write bytes; returns how many."""
        self._waiting += data
        whole = len(self._waiting) // BLOCK * BLOCK
        for start in range(0, whole, BLOCK):
            self._handle.write(block_of(self._waiting[start : start + BLOCK]))
        del self._waiting[:whole]
        return len(data)

    def flush(self) -> None:
        """Write the bytes that wait for the rest of their block."""
        if self._waiting:
            self._handle.write(block_of(self._waiting))
            self._waiting.clear()
        self._handle.flush()

    def close(self) -> None:
        """Write the bytes that wait, and the empty block that ends a file."""
        self.flush()
        self._handle.write(block_of(b""))


def block_of(data: bytes | bytearray) -> bytes:
    """Return a block of at most BLOCK bytes of data.

    header    31 139 8 4 | 0 | 0 255 | 6 | B C | 2 | bytes of the block, less 1
    then      deflated data | its CRC-32 | its bytes
    """
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, RAW)
    deflated = compressor.compress(data) + compressor.flush()
    size = HEADER.size + len(deflated) + TAIL.size
    header = HEADER.pack(*MAGIC, 0, 0, 255, FIELDS, NAME, 2, size - 1)
    return header + deflated + TAIL.pack(zlib.crc32(data), len(data))
