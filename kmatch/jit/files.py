"""Compiled kernels as files: one for each kernel and signature, used only if it is whole."""

import hashlib
import os
import pickle
import secrets
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, NamedTuple

MARK = b"kmatch kernel 1\n"
CHECK = 32  # bytes of the digest that follows the mark


class DamagedFile(Exception):
    """A file differs from what was written."""


class KernelFiles(NamedTuple):
    """The files of one kernel, in one folder; their names begin with `name`.

    dump: makes bytes that pickle can load. There is no index of signatures as Numba writes it: two
    processes that write at once can leave one that points at the wrong code.
    """

    folder: str
    name: str
    dump: Callable[[object], bytes]

    def load(self, key: Hashable) -> Any:
        """The data saved under a key, or None. Raises DamagedFile."""
        path = self.path(key)
        try:
            with open(path, "rb") as handle:
                content = handle.read()
        except OSError:
            return None
        begin = len(MARK) + CHECK
        kept = memoryview(content)[begin:]
        if content[:begin] != MARK + _check(kept):
            raise DamagedFile(path)
        try:
            found, data = pickle.loads(kept)
        except Exception as error:  # pickle's failures are of many classes
            raise DamagedFile(path) from error
        return data if found == key else None

    def save(self, key: Hashable, data: object) -> None:
        """Save data under a key, in place of any older data. An OSError leaves no file behind."""
        kept = self.dump((key, data))
        path = self.path(key)
        part = f"{path}.{secrets.token_hex(8)}.part"
        try:
            with open(part, "xb") as handle:
                handle.write(MARK + _check(kept))
                handle.write(kept)
            os.replace(part, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(part)
            raise

    def path(self, key: Hashable) -> str:
        """The file of a key, which Numba makes of signature, processor and the function's code."""
        return os.path.join(self.folder, self.file_name(key))

    def file_name(self, key: Hashable) -> str:
        """The file's name in the folder."""
        short = hashlib.blake2b(repr(key).encode(), digest_size=12).hexdigest()
        return f"{self.name}.{short}.kernel"


def _check(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECK).digest()
