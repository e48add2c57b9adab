"""Writing a packed genome, front to back."""

from array import array

import numpy as np

from kmatch.packed.format import INDEX, MAGIC, SPARE, TAIL, VERSION, crc32, header


class PackedWriter:
    """Writes a packed genome, front to back, to a binary handle.

    plan: the ChunkPlan of its chunks, whose lead is its halo; words: in a row of their planes.
    """

    def __init__(self, handle, plan, words):
        self._handle, self._plan, self._words = handle, plan, words
        self._chunks, self._names, self._places = [], [], array("q")
        self._end = handle.write(header())

    def add(self, chunk, planes, rows):
        """Write a LetterChunk as its planes, uint64[4·(rows + halo)·words]."""
        self._chunks.append((self._end, chunk.length, rows, crc32(planes)))
        self._handle.write(planes)
        self._end += planes.nbytes
        first, names, begins, lengths = chunk.spans
        places = np.stack([chunk.base + begins, lengths], axis=1).astype(np.int64)
        # Of records that were there before, more letters may be known now.
        self._names[first:] = names
        self._places[2 * first :] = array("q", places.tobytes())

    def finish(self):
        """Write the index; the file is whole then. Returns (records, letters) in it."""
        names = [name.encode("utf-8", "surrogateescape") for name in self._names]
        ends = np.cumsum([0, *map(len, names)])[1:]
        records = np.zeros((len(names), 3), "<i8")
        if names:
            records[:, :2], records[:, 2] = np.array(self._places).reshape(-1, 2), ends
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
