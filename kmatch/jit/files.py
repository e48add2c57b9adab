"""Compiled kernels as files: one for each kernel and signature, whole or not believed."""

import hashlib
import os
import pickle
import secrets
from contextlib import suppress
from typing import NamedTuple

MARK = b"kmatch kernel 1\n"
CHECK = 32  # bytes of the digest behind the mark


class DamagedFile(Exception):
    """A file is there and not what was written."""


class KernelFiles(NamedTuple):
    """The files of one kernel: in a folder, with names that begin alike.

    dump: makes bytes of what pickle can load. Numba keeps an index of signatures instead, which
    two processes at once can leave pointing at the wrong one's code.
    """

    folder: str
    name: str
    dump: object

    def load(self, key):
        """What was saved under a key, or None. Raises DamagedFile."""
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

    def save(self, key, data):
        """Save data under a key, in place of what was. Raises OSError, and leaves nothing then."""
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

    def path(self, key):
        """The file of a key: Numba's, of signature, processor, and code of the function."""
        return os.path.join(self.folder, self.file_name(key))

    def file_name(self, key):
        """Its name in the folder."""
        short = hashlib.blake2b(repr(key).encode(), digest_size=12).hexdigest()
        return f"{self.name}.{short}.kernel"


def _check(content):
    return hashlib.blake2b(content, digest_size=CHECK).digest()
