"""The packed genome: a file of bit planes, names and lengths that is mapped into memory.

Version 1, little-endian, without padding:

- MAGIC, the version as uint32, zeros up to HEADER bytes;
- the planes A, C, G and T of one chunk after another, as `kmatch.engine.geometry` lays them out;
- SPARE zero bytes, which kernels may read;
- the index: int64[8], (words, length, halo, gap, chunks, records, bytes of names, 0); for each
  chunk int64[4], (offset of its planes in the file, positions it owns, rows that a lane owns, the
  CRC-32 of its planes); for each record int64[3], (the position of its first letter, its number
  of letters, where its name ends among the names); the names in UTF-8, one after another;
- the offset of the SPARE zeros before the index, uint64, the CRC-32 from there to here, uint32, the
  version, uint32, and MAGIC.

A row holds `words` words of 64 lanes. Every chunk but the last owns `length` positions and shows
`halo` more. The first chunk begins with `halo` empty positions, and `gap` empty positions separate
records: a position of a record counts from the first of these.
"""

import struct

try:
    from isal.isal_zlib import crc32  # comes with xopen on most machines; four times as fast
except ImportError:
    from zlib import crc32

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


def header() -> bytes:
    """The first HEADER bytes of a packed genome."""
    return (MAGIC + VERSION.to_bytes(4, "little")).ljust(HEADER, b"\0")
