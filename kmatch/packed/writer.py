"""Writing a packed genome from beginning to end."""

from array import array
from typing import BinaryIO

import numpy as np

from kmatch.arrays import Words
from kmatch.packed.format import INDEX, MAGIC, SPARE, TAIL, VERSION, crc32, header
from kmatch.results.files.handles import NamedHandle
from kmatch.sequences.chunks import ChunkPlan, LetterChunk


class PackedWriter:
    """Writes a packed genome from beginning to end.

    handle: binary; plan: that of the chunks, whose lead is the halo; words: in a row of the planes.
    """

    def __init__(self, handle: BinaryIO | NamedHandle, plan: ChunkPlan, words: int) -> None:
        self._handle, self._plan, self._words = handle, plan, words
        self._chunks: list[tuple[int, int, int, int]] = []
        self._names: list[str] = []
        self._records = array("q")  # the position of each one's first letter, and its letters
        self._end = handle.write(header())

    def add(self, chunk: LetterChunk, planes: Words, rows: int) -> None:
        """Write a chunk as its planes, uint64[4·(rows + halo)·words]."""
        self._chunks.append((self._end, chunk.length, rows, crc32(planes)))
        self._handle.write(planes.data)
        self._end += planes.nbytes
        first, names, begins, lengths = chunk.spans
        records = np.stack([chunk.base + begins, lengths], axis=1).astype(np.int64)
        # Records of an earlier chunk may have grown since.
        self._names[first:] = names
        self._records[2 * first :] = array("q", records.tobytes())

    def finish(self) -> tuple[int, int]:
        """Write the index, which completes the file. Returns the number of (records, letters)."""
        names = [name.encode("utf-8", "surrogateescape") for name in self._names]
        ends = np.cumsum([0, *map(len, names)])[1:]
        records = np.zeros((len(names), 3), "<i8")
        if names:
            records[:, :2], records[:, 2] = np.array(self._records).reshape(-1, 2), ends
        length, halo, gap, _ = self._plan
        sizes = (len(self._chunks), len(names), sum(map(len, names)))
        tail = b"".join(
            (
                bytes(SPARE),
                INDEX.pack(self._words, length, halo, gap, *sizes, 0),
                np.array(self._chunks, "<i8").tobytes(),
                records.tobytes(),
                *names,
            )
        )
        self._handle.write(tail)
        self._handle.write(TAIL.pack(self._end, crc32(tail), VERSION, MAGIC))
        return len(names), int(records[:, 1].sum())
