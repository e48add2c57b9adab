"""Whether the files of the genome and of the patterns may have been exchanged."""

import os
from contextlib import suppress


def warn_of_long_patterns(talk, panel, longest, label):
    """Warn of patterns that fit into no record; longest: letters of the longest record, or more;
    0 where no record has any."""
    long = [pattern for pattern in panel if len(pattern) > longest]
    if not long or not longest:
        return
    others = f", and {len(long) - 1:,} more," if len(long) > 1 else ""
    verb = "are" if others else "is"
    talk.warn_once(
        "exchanged",
        f"pattern '{long[0].name}' of {len(long[0]):,} letters{others} {verb} longer than every "
        f"record of {label}, at most {longest:,}; are genome and patterns exchanged?",
    )


def letters_at_most(path):
    """Letters that no record of a file can have more of, or 0 where that cannot be told at once."""
    if path != "-" and os.path.isfile(path):
        with suppress(OSError), open(path, "rb") as file:
            if file.read(1) == b">":
                return os.path.getsize(path)
    return 0
