"""The packed genome: a file of bit planes, names and lengths that is mapped into memory.

Version 1, little-endian, without padding:

- MAGIC, the version as uint32, zeros up to HEADER bytes;
- the planes A, C, G and T of one chunk after another, as `kmatch.engine.geometry` lays them out;
- SPARE zero bytes, which kernels may read;
- the index: int64[8], (words, length, halo, gap, chunks, records, bytes of names, 0); for each
  chunk int64[4], (where its planes begin, positions it owns, rows that a lane owns, the CRC-32 of
  its planes); for each record int64[3], (the place of its first letter, its letters, where its
  name ends among the names); the names in UTF-8, one after another;
- where the zeros before the index begin, uint64, the CRC-32 of all that comes after them up to
  here, uint32, the version, uint32, and MAGIC.

A row holds `words` words of 64 lanes. Every chunk but the last owns `length` positions and shows
`halo` more; the first one begins with `halo` empty positions, and `gap` of them part records. A
place is a position of the genome laid out so.
"""

import struct

try:
    from isal.isal_zlib import (
        crc32 as crc32,  # comes with xopen on most machines, four times as fast
    )
except ImportError:
    from zlib import crc32 as crc32

__all__ = [
    "HEADER",
    "INDEX",
    "LANES_PER_WORD",
    "MAGIC",
    "SPARE",
    "TAIL",
    "VERSION",
    "crc32",
    "header",
]

MAGIC = b"\x89KMATCH\r\n\x1a\n\0"  # how a packed genome begins
VERSION = 1
HEADER = 64
SPARE = 512  # bytes
LANES_PER_WORD = 64
TAIL = struct.Struct(f"<QII{len(MAGIC)}s")
INDEX = struct.Struct("<8q")


def header():
    """The first bytes of a packed genome, HEADER of them."""
    return (MAGIC + VERSION.to_bytes(4, "little")).ljust(HEADER, b"\0")
