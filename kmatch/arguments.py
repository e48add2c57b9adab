"""The words that options take, and checks of arguments.

Neither NumPy nor Numba is imported: the command line needs this for `--help`.
"""

import math
import re
from operator import index
from typing import Any, Literal

from kmatch.errors import InputError

STRANDS = ("both", "+", "-")
BACKGROUND_STRANDS = ("both", "+")
PAM_SIDES = ("3p", "5p")
REPORTS = ("minima", "ends", "loci", "sites")
GUIDE_REPORTS = ("sites", "ends")
PAIRINGS = ("own", "any")
APART = ("file", "record")
GAP_READINGS = ("drop", "unknown")
Gaps = Literal["drop", "unknown"]
MOST = 2**31 - 1  # letters, differences or threads that are counted


def check_choice(what: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise InputError unless a value is one of the choices; what: the argument, in words."""
    if not isinstance(value, str) or value not in choices:
        *others, last = choices
        given = f"'{value}'" if isinstance(value, str) else repr(value)
        raise InputError(f"unknown {what} {given}; use {', '.join(others)} or {last}")


def checked_count(name: str, value: Any, least: int = 0) -> int:
    """Return a whole number as int; InputError where it is none, or not from `least` to MOST."""
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
    """Return a share such as `10%` or `12.5%` as numerator and denominator.

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
