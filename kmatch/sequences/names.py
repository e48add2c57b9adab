"""Names of records and patterns: where they end, and which characters they may have."""

import re
import warnings
from collections.abc import Callable, Sequence

LONGEST_SHOWN = 60  # characters of a name in a message
OnWarning = Callable[[str], object]  # is called with the text of a warning
_WORD = re.compile("[^ \t\v\f\r\n]+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def first_word(title: str) -> str:
    """The name in a header, up to the first ASCII blank; names may contain other blanks."""
    found = _WORD.search(title)
    return found[0] if found else ""


def clean_names(names: list[str]) -> tuple[list[str], int | None]:
    """Names with `_` for each control character, which would break tables and terminals.

    Returns (names, at): the same list and None where no name holds any; otherwise `at` is the
    index of the first that does.
    """
    if "".join(names).isprintable():  # ten times as fast as the expression
        return names, None
    at = next((i for i, name in enumerate(names) if _CONTROL.search(name)), None)
    return (names if at is None else [_CONTROL.sub("_", name) for name in names]), at


def shown(name: str, longest: int = LONGEST_SHOWN) -> str:
    """A name or a note as messages show it: shortened, and without control characters."""
    name = _CONTROL.sub("_", name)
    return name if len(name) <= longest else f"{name[:longest]}…"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names as messages list them: the first few, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(f"'{shown(name)}'" for name in names[:most]) + more


def warn(message: str) -> None:
    """Warn by Python's means: what `on_warning` does by default."""
    warnings.warn(message, stacklevel=3)
