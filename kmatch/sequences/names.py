"""Names of records and patterns: where they end, and what may stand in them."""

import re
import warnings

LONGEST_SHOWN = 60  # characters of a name in a message
_WORD = re.compile("[^ \t\v\f\r\n]+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def first_word(title):
    """The name in a header: up to the first ASCII blank, as other blanks may stand in names."""
    found = _WORD.search(title)
    return found[0] if found else ""


def clean_names(names):
    """Names with `_` for each control character, which would break tables and terminals.

    Returns (names, at): the same list and None where no name holds any; otherwise `at` is the
    place of the first that does.
    """
    if "".join(names).isprintable():  # ten times as fast as looking for what is not
        return names, None
    at = next((i for i, name in enumerate(names) if _CONTROL.search(name)), None)
    return (names if at is None else [_CONTROL.sub("_", name) for name in names]), at


def shown(name, longest=LONGEST_SHOWN):
    """A name or a note as messages show it: cut if it is long, and without control characters."""
    name = _CONTROL.sub("_", name)
    return name if len(name) <= longest else f"{name[:longest]}…"


def listed(names, most=5):
    """Some names as messages show them: the first ones, and how many there are besides."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(f"'{shown(name)}'" for name in names[:most]) + more


def warn(message):
    """Warn in Python, where nobody else was named to hear of it."""
    warnings.warn(message, stacklevel=3)
