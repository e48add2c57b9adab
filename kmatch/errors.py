"""The errors that kmatch raises on purpose, its warnings, and how messages show names and numbers.

Each message names the fault and a way to go on. Neither NumPy nor Numba is imported: the command
line needs this for `--help`.
"""

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

LONGEST_SHOWN = 60  # characters of a name in a message
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


class KmatchError(Exception):
    """An input, an output or the machine failed; the command line ends with status 1."""


class InputError(KmatchError):
    """A file, a record or a pattern cannot be used."""


class DeviceError(KmatchError):
    """The requested device cannot be used."""


class ClusterError(KmatchError):
    """A Dask cluster cannot be used, or failed."""


class OutputError(KmatchError):
    """The results cannot be written."""


class ClosedPipe(OutputError):
    """The reader of the results has gone; the command line ends quietly."""


class KmatchWarning(UserWarning):
    """Something is wrong that does not change the results."""


class NameWarning(KmatchWarning):
    """Names of records could not stay as they are, or do not tell records apart."""


def shown(name: str, longest: int = LONGEST_SHOWN) -> str:
    """Return a name or a note as messages show it: shortened, and without control characters."""
    name = CONTROL.sub("_", name)
    return name if len(name) <= longest else f"{name[:longest]}…"


def counted(number: int, noun: str) -> str:
    """Return a number and the thing it counts, in the plural unless it is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names as messages list them: the first few, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(f"'{shown(name)}'" for name in names[:most]) + more


# Where warnings of this thread go in place of Python's; see `hearing`.
_heard: ContextVar[list[KmatchWarning] | None] = ContextVar("heard", default=None)


def warn(message: str, kind: type[KmatchWarning] = KmatchWarning) -> None:
    """Warn by Python's means, at the line that called kmatch."""
    heard = _heard.get()
    if heard is None:
        warnings.warn(message, kind, stacklevel=_level_of_caller())
    else:
        heard.append(kind(message))


def _level_of_caller() -> int:
    """Return the `stacklevel`, for the function that asks, of the line that called kmatch."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "kmatch":
        level += 1
        frame = frame.f_back
    return level


@contextmanager
def hearing() -> Iterator[list[KmatchWarning]]:
    """Give a list that takes this thread's warnings, which nobody hears, while the block runs."""
    heard: list[KmatchWarning] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


def needed(module: str, asker: str, name: str = "") -> Any:
    """Return a module that not everybody has; asker: needs it, name: as its authors spell it.
    Raises OutputError where it is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise OutputError(
            f"{asker} needs {name or package}; install it with: pip install {package}"
        ) from error
