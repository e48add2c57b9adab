"""Checks of a 2bit file: all that its counts and offsets say must be inside it."""

import mmap
import struct
from typing import BinaryIO

import numpy as np

from kmatch.errors import InputError
from kmatch.sequences.names import shown

SIGNATURE = 0x1A412743
HEADER = 16  # bytes
_SMALLEST_ENTRY = 5  # of the index, in bytes


def check_twobit(handle: BinaryIO, label: str) -> None:
    """Raise InputError unless all records of a 2bit file are whole.

    handle: of a file on disk, of which only the counts and offsets are read.
    """
    with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
        file = _File(data, label)
        for number, (name, offset) in enumerate(file.index(), 1):
            file.check_record(f"record {number}, '{shown(name)}',", offset)


class _File:
    def __init__(self, data: mmap.mmap, label: str) -> None:
        self._data, self._label = data, label
        little = int.from_bytes(data[:4], "little") == SIGNATURE
        self._word = struct.Struct("<I" if little else ">I")
        self._words = "<u4" if little else ">u4"

    def _damaged(self, what: str) -> InputError:
        return InputError(
            f"{self._label}: the 2bit file is cut or damaged: {what}; copy or download it again"
        )

    def _read(self, at: int, what: str) -> int:
        if at + self._word.size > len(self._data):
            raise self._damaged(f"{what} ends beyond it")
        return int(self._word.unpack_from(self._data, at)[0])

    def index(self) -> list[tuple[str, int]]:
        """The name of each record, and where it begins."""
        if version := self._read(4, "its header"):
            raise InputError(
                f"{self._label}: 2bit of version {version}, which kmatch does not read; "
                "convert it with twoBitToFa"
            )
        count, at = self._read(8, "its header"), HEADER
        if at + count * _SMALLEST_ENTRY > len(self._data):
            raise self._damaged(f"its index of {count:,} records ends beyond it")
        entries = []
        for number in range(1, count + 1):
            begin = at + 1
            at = begin + self._data[at] if at < len(self._data) else at
            if begin == at:
                raise InputError(
                    f"{self._label}: record {number} of the 2bit file has no name; "
                    "write the file again with one"
                )
            name = self._data[begin:at].decode("utf-8", "replace")
            entries.append((name, self._read(at, "its index")))
            at += self._word.size
        if any(offset < at for _, offset in entries):
            raise self._damaged("its index points into itself")
        return entries

    def check_record(self, what: str, at: int) -> None:
        letters = self._read(at, what)
        at += self._word.size
        for _ in ("unknown", "masked"):
            blocks = self._read(at, what)
            at += self._word.size
            if at + 2 * self._word.size * blocks > len(self._data):
                raise self._damaged(f"{what} with {blocks:,} blocks ends beyond it")
            starts, sizes = (
                np.frombuffer(self._data[at : at + 2 * self._word.size * blocks], self._words)
                .reshape(2, blocks)
                .astype(np.int64)
            )
            if (starts + sizes).max(initial=0) > letters:
                raise self._damaged(f"{what} has blocks beyond its {letters:,} letters")
            at += 2 * self._word.size * blocks
        self._read(at, what)
        if at + self._word.size + -(-letters // 4) > len(self._data):
            raise self._damaged(f"{what} ends beyond it")
