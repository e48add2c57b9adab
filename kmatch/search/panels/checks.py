"""Likely mistakes: exact ends longer than a pattern, patterns that contain their PAM."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kmatch.arrays import Bytes
from kmatch.errors import PAM_SIDES, InputError, check_choice, checked_count, shown
from kmatch.search.panels.pam import Pam
from kmatch.search.panels.pams import load_pams
from kmatch.sequences.patterns import Pattern, PatternSet


def check_ends(panel: PatternSet, ends: Mapping[str, int]) -> None:
    """Raise InputError for a pattern that is shorter than one of its ends that must match.

    ends: how many letters of each must, by the names that their options have.
    """
    for option, letters in ends.items():
        if len(short := np.flatnonzero(panel.lengths < checked_count(option, letters))):
            pattern = panel[int(short[0])]
            raise InputError(
                f"pattern '{shown(pattern.name)}' has {len(pattern)} letters: {option} {letters} "
                "asks for more to match"
            )


def check_pam(
    panel: PatternSet,
    given: str | Sequence[str] | None,
    side: str,
    on_warning: Callable[[str], None],
) -> None:
    """Check whether the patterns contain the PAM, or one of the PAMs, that is to be beside them.

    Raises InputError where two or more all do; a single one, which may by chance, is a warning.
    """
    check_choice("side of the PAM", side, PAM_SIDES)
    pams = [pam for pam in load_pams(given, side) if not (pam.masks == 15).all()]
    if not pams or not all(any(_holds(pattern, pam) for pam in pams) for pattern in panel):
        return
    where, ends = ("begin", "begins") if pams[0].leads else ("end", "ends")
    named = " or ".join(pam.sequence for pam in pams)
    what = f"the PAM {named}" if len(pams) == 1 else f"a PAM, {named}"
    if len(panel) > 1:
        raise InputError(
            f"all {len(panel):,} patterns {where} with {what}, which would have to "
            "stand there twice; leave it out of the patterns, or search without a PAM"
        )
    on_warning(
        f"pattern '{panel[0].name}' {ends} with {what}; only where it stands there twice is a hit"
    )


def _holds(pattern: Pattern, pam: Pam) -> bool:
    size = len(pam)
    if len(pattern) <= size:
        return False
    letters: Bytes = pattern.masks[:size] if pam.leads else pattern.masks[-size:]
    return not (letters & ~pam.masks).any()
