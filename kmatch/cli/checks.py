"""What may be a mistake in a panel of patterns: a PAM in it, exact ends, exchanged files."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from kmatch.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kmatch.cli.messages import Messages
    from kmatch.sequences.patterns import Pattern, PatternSet


def check_ends(panel: "PatternSet", exact_5p: int, exact_3p: int) -> None:
    """Raise InputError for a pattern that is shorter than its end that must match."""
    for option, letters in (("--exact-5p", exact_5p), ("--exact-3p", exact_3p)):
        for pattern in panel:
            if letters > len(pattern):
                raise InputError(
                    f"pattern '{pattern.name}' has {len(pattern)} letters: {option} {letters} "
                    "asks for more to match"
                )


def check_pam(messages: "Messages", panel: "PatternSet", sequence: str, side: str) -> None:
    """Check that the patterns do not hold the PAM that is to stand beside them.

    Raises InputError where two or more all do; warns of a single one, which may by chance.
    """
    from kmatch.sequences.alphabet import encode

    masks = encode(sequence, sequence, "PAM")
    if not len(masks) or (masks == 15).all() or not all(_holds(p, masks, side) for p in panel):
        return
    where, ends = ("begin", "begins") if side == "5p" else ("end", "ends")
    if len(panel) > 1:
        raise InputError(
            f"all {len(panel):,} patterns {where} with the PAM {sequence}, which would have to "
            "stand there twice; leave it out of the patterns, or leave --pam out"
        )
    messages.warn(
        f"pattern '{panel[0].name}' {ends} with the PAM {sequence}; only where it stands there "
        "twice is a hit"
    )


def _holds(pattern: "Pattern", pam: "NDArray[np.uint8]", side: str) -> bool:
    size = len(pam)
    if len(pattern) <= size:
        return False
    letters = pattern.masks[:size] if side == "5p" else pattern.masks[-size:]
    return not bool((letters & ~pam).any())


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
