"""A folder of files that are all whole or all absent, written a piece at a time."""

import os
import shutil
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Self

from kmatch import interrupts
from kmatch.engine.workers import cores, pool
from kmatch.errors import InputError, OutputError, shown
from kmatch.results.output import COMPRESSED, Path, complete, compressor, kind_of, writing

LONGEST = 200  # bytes of a name


class Folder:
    """Files of a new or an empty folder, which are there once the block ends well; otherwise
    nothing is left of them.

    names, endings: of the files, one file for each name and ending; `.gz` or `.zst` compresses.
    Raises InputError for names that no files have, OutputError for a folder that cannot be used.
    """

    def __init__(
        self, path: Path, names: Sequence[str], endings: Sequence[str], threads: int | None = None
    ) -> None:
        if not str(path):
            raise OutputError("the name of the folder is empty; give one")
        _check_names(names)
        self._label = str(path)
        self._path = os.path.realpath(path)
        self._is_there = os.path.lexists(path)
        parent = self._path if self._is_there else os.path.dirname(self._path)
        self._partial = os.path.join(parent, f"kmatch-{os.urandom(8).hex()}.partial")
        self._paths = [
            [os.path.join(self._partial, name + ending) for name in names] for ending in endings
        ]
        self._threads = threads or cores()

    def __enter__(self) -> Self:
        advice = "; name a new or an empty folder"
        if not self._is_there:
            advice = f"; make the folder {os.path.dirname(self._label) or '.'} first"
        with writing(self._label, advice):
            if self._is_there and os.listdir(self._path):
                raise OutputError(f"{self._label}: the folder is not empty; name another")
            interrupts.unfinished.add(self._partial)
            os.mkdir(self._partial)
        return self

    def __exit__(self, failed: Any, *more: Any) -> None:
        try:
            if not failed:
                with writing(self._label):
                    self._finish()
        finally:
            shutil.rmtree(self._partial, ignore_errors=True)
            interrupts.unfinished.discard(self._partial)

    def _finish(self) -> None:
        """End the files, and give them their place, files without pieces too."""
        for path in chain.from_iterable(self._paths):
            _append(path, b"", is_last=True)
            complete(path, kind_of(path))
        if not self._is_there:
            os.rename(self._partial, self._path)
            return
        for name in os.listdir(self._partial):
            os.replace(os.path.join(self._partial, name), os.path.join(self._path, name))

    def add(self, ending: int, pieces: Iterable[tuple[int, Any]]) -> None:
        """Add pieces to the files with an ending, by number; pieces: numbers of names, and bytes.

        A file is open only meanwhile, and a piece is compressed by itself.
        """
        tasks = []
        threads = pool(self._threads, "kmatch files")
        for number, piece in pieces:
            tasks.append(threads.submit(_append, self._paths[ending][number], piece))
        with writing(self._label):
            for task in tasks:
                task.result()


def _append(path: str, piece: Any, is_last: bool = False) -> None:
    """Add a piece to a file, compressed as its name says.

    is_last: whether nothing follows, so that the block which ends a BGZF file does.
    """
    kind = kind_of(path)
    with open(path, "ab") as raw:
        if kind not in COMPRESSED:
            raw.write(piece)
            return
        if is_last and kind != "gz":
            return
        packed = compressor(raw, kind)
        packed.write(memoryview(piece))
        if is_last or kind != "gz":
            packed.close()
        else:
            packed.flush()


def _check_names(names: Sequence[str]) -> None:
    """Raise InputError for names that no files have, and for names that differ in case alone."""
    folded: dict[str, str] = {}
    for name in names:
        if "/" in name or name in ("", ".", "..") or len(os.fsencode(name)) > LONGEST:
            raise InputError(
                f"'{shown(name)}' is to name a file, and no file is named so; give it a name of up "
                f"to {LONGEST} bytes without '/'"
            )
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            raise InputError(
                f"'{shown(other)}' and '{shown(name)}' are to name files, and differ in case "
                "alone; rename one of them"
            )
