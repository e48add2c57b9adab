"""The errors that kmatch raises on purpose, and checks of arguments that raise them.

Each message says what is wrong and what to do. Neither NumPy nor Numba is imported: the command
line needs this for `--help`.
"""

import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from operator import index
from typing import Any

STRANDS = ("both", "+", "-")
BACKGROUND_STRANDS = ("both", "+")
PAM_SIDES = ("3p", "5p")
REPORTS = ("minima", "ends", "loci")
PAIRINGS = ("own", "any")
APART = ("file", "record")
MOST = 2**31 - 1  # letters, differences or threads that are counted
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
    """A name or a note as messages show it: shortened, and without control characters."""
    name = CONTROL.sub("_", name)
    return name if len(name) <= longest else f"{name[:longest]}…"


def counted(number: int, noun: str) -> str:
    """A number and what it counts, in the plural unless it is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names as messages list them: the first few, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(f"'{shown(name)}'" for name in names[:most]) + more


# Where warnings of this thread go in place of Python's; see `hearing`.
_heard: ContextVar[list[KmatchWarning] | None] = ContextVar("heard", default=None)


def warn(message: str, kind: type[KmatchWarning] = KmatchWarning) -> None:
    """Warn by Python's means."""
    heard = _heard.get()
    if heard is None:
        warnings.warn(message, kind, stacklevel=3)
    else:
        heard.append(kind(message))


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
    """A module that not everybody has; asker: what needs it, name: as its authors spell it. Raises
    OutputError where it is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise OutputError(
            f"{asker} needs {name or package}; install it with: pip install {package}"
        ) from error


def check_choice(what: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise InputError unless a value is one of the choices; what: the argument, in words."""
    if not isinstance(value, str) or value not in choices:
        *others, last = choices
        given = f"'{value}'" if isinstance(value, str) else repr(value)
        raise InputError(f"unknown {what} {given}; use {', '.join(others)} or {last}")


def checked_count(name: str, value: Any, least: int = 0) -> int:
    """A whole number as int; InputError where it is none, or not from `least` to MOST."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = index(value)
    except TypeError:
        raise InputError(f"{name} is {value!r}; give a whole number") from None
    if number < least:
        raise InputError(f"{name} is {number}; it must be {least} or more")
    if number > MOST:
        raise InputError(f"{name} is {number}, more than kmatch counts to, {MOST}")
    return number


def checked_share(name: str, text: str) -> tuple[int, int]:
    """A share such as `10%` or `12.5%` as numerator and denominator.

    Raises InputError where the text is none, or not less than 100%.
    """
    found = re.fullmatch(r"(\d{1,3})(?:\.(\d{1,4}))?%", text, re.ASCII)
    if not found:
        raise InputError(
            f"{name} is '{text}'; give a whole number, or a share of a pattern's length such as 10%"
        )
    whole, part = found[1], found[2] or ""
    share = int(whole + part), 100 * 10 ** len(part)
    if share[0] >= share[1]:
        raise InputError(f"{name} is {text}; less than 100% leaves letters that must match")
    return share


def check_threads(threads: Any) -> None:
    """Raise InputError unless threads is None or 1 or more."""
    if threads is not None:
        checked_count("threads", threads, 1)


def check_limits(what: str, limits: Any) -> None:
    """Raise InputError unless limits is None or (least, most), finite numbers in order."""
    if limits is None:
        return
    try:
        least, most = limits
        sound = least <= most and math.isfinite(most - least)
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise InputError(f"{what} is {limits!r}; give two numbers, the least and the most")
