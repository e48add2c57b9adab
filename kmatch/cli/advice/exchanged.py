"""Whether the files of the genome and of the patterns may be exchanged."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kmatch.cli.terminal.messages import Messages
    from kmatch.sequences.patterns import PatternSet


def warn_of_long_patterns(
    messages: "Messages", panel: "PatternSet", longest: int, label: str
) -> None:
    """Warn of patterns that are longer than every record.

    longest: letters of the longest record, or more; 0 where that is unknown or no record has any.
    """
    long = [pattern for pattern in panel if len(pattern) > longest]
    if not long or not longest:
        return
    others = f", and {len(long) - 1:,} more," if len(long) > 1 else ""
    verb = "are" if others else "is"
    messages.warn_once(
        "exchanged",
        f"pattern '{long[0].name}' of {len(long[0]):,} letters{others} {verb} longer than every "
        f"record of {label}, at most {longest:,}; are genome and patterns exchanged?",
    )


def letters_at_most(path: str) -> int:
    """A number of letters that no record of a file exceeds, or 0 where none is known at once."""
    if path != "-" and os.path.isfile(path):
        with suppress(OSError), open(path, "rb") as file:
            if file.read(1) == b">":
                return os.path.getsize(path)
    return 0
