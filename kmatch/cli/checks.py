"""What may be meant otherwise in a panel of patterns: PAMs, ends, and files that are exchanged."""

import os
from contextlib import suppress

from kmatch.errors import InputError


def check_ends(panel, exact_5p, exact_3p):
    """Raise InputError for a pattern that is shorter than its end that must match."""
    for option, letters in (("--exact-5p", exact_5p), ("--exact-3p", exact_3p)):
        for pattern in panel:
            if letters > len(pattern):
                raise InputError(
                    f"pattern '{pattern.name}' has {len(pattern)} letters: {option} {letters} "
                    "asks for more to match"
                )


def check_pam(talk, panel, sequence, side):
    """Look whether the patterns hold the PAM that is to stand beside them.

    Raises InputError where two or more all do; a single one, which may by chance, is a warning.
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
    talk.warn(
        f"pattern '{panel[0].name}' {ends} with the PAM {sequence}; only where it stands there "
        "twice is a hit"
    )


def _holds(pattern, pam, side):
    size = len(pam)
    if len(pattern) <= size:
        return False
    letters = pattern.masks[:size] if side == "5p" else pattern.masks[-size:]
    return not (letters & ~pam).any()


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
