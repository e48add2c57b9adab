"""Pairs of primers: from files, from the command line, from Python."""

import os
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs
from kmatch.errors import InputError
from kmatch.sequences.names import clean_names, listed, shown, warn
from kmatch.sequences.patterns import PatternSet, checked_patterns, repeated_names
from kmatch.sequences.readers.panels.primers import ENDINGS, Primers, read_primers

Side = str | Iterable[str]  # a primer, or its alternates
PairsGiven = str | os.PathLike[str] | Mapping[str, tuple[Side, Side]]


class PrimerPairs:
    """Pairs of primers, of which each may have alternates, and primers without a partner.

    primers: PatternSet, by pair, the forward ones of a pair before its reverse ones; pair: int64[P]
    and role: uint8[P], the number of each one's pair and whether it is FORWARD or REVERSE there;
    names: those of the pairs.
    """

    def __init__(self, primers: PatternSet, pair: Longs, role: Bytes, names: list[str]) -> None:
        self.primers, self.pair, self.role, self.names = primers, pair, role, names

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<PrimerPairs: {listed(self.names)}>"

    def product_names(self, forward: Ints, reverse: Ints) -> list[str]:
        """Names of products: that of their pair, or those of both primers where these are no
        partners.

        forward, reverse: the numbers of their primers, int32[n].
        """
        partners = self.pair[forward] == self.pair[reverse]
        partners &= self.role[forward] != self.role[reverse]
        rows = zip(partners.tolist(), forward.tolist(), reverse.tolist(), strict=True)
        pair, of = self.pair.tolist(), self.primers.names
        return [
            self.names[pair[one]] if own else f"{of[one]}+{of[other]}" for own, one, other in rows
        ]

    def check_partners(self) -> None:
        """Raise InputError for a primer that has no partner."""
        sides = np.zeros((len(self), 2), bool)
        sides[self.pair, self.role] = True
        paired = sides[:, 0] & sides[:, 1]
        lonely = np.flatnonzero(~paired[self.pair])
        if len(lonely):
            names = [self.primers.names[number] for number in lonely.tolist()]
            raise InputError(
                f"primers without a partner: {listed(names)}; names of a pair end in {ENDINGS}, or "
                "give pairs 'any', which joins any two"
            )


def load_pairs(
    given: PairsGiven | PrimerPairs, on_warning: Callable[[str], None] = warn
) -> PrimerPairs:
    """The PrimerPairs of primers as a user gives them.

    given: a path, of which `-` is standard input, or a dict, name → (forward, reverse), of which
    each is a sequence or several alternates. on_warning(message) hears of names that could not stay
    as they are and of names that repeat. Raises InputError where there are none, or where a letter
    is outside IUPAC.
    """
    if isinstance(given, PrimerPairs):
        return given
    if isinstance(given, str | os.PathLike):
        return _pairs(read_primers(given), on_warning)
    if not isinstance(given, Mapping):
        raise InputError(f"primers are {given!r}; give a path or a dict, name → (forward, reverse)")
    if not given:
        raise InputError("no primers were given")
    return _pairs(_of_mapping(given), on_warning)


def _of_mapping(given: Mapping[str, tuple[Side, Side]]) -> Primers:
    found = Primers([], [], [], [], list(given), None)
    for number, (name, sides) in enumerate(given.items()):
        if not isinstance(name, str) or not isinstance(sides, tuple | list) or len(sides) != 2:
            raise InputError(f"the primers of {name!r} are {sides!r}; give (forward, reverse)")
        for role, (ending, side) in enumerate(zip("FR", sides, strict=True)):
            for alternate, sequence in enumerate(_alternates(name, side)):
                found.pairs.append(number)
                found.roles.append(role)
                found.names.append(f"{name}_{ending}" + (f"_alt{alternate}" if alternate else ""))
                found.sequences.append(sequence)
    return found


def _alternates(name: str, side: Side) -> list[str]:
    sequences = [side] if isinstance(side, str) or not isinstance(side, Iterable) else list(side)
    for sequence in sequences:
        if not isinstance(sequence, str):
            raise InputError(f"a primer of '{shown(name)}' is {sequence!r}; sequences are str")
    return sequences


def _pairs(found: Primers, on_warning: Callable[[str], None]) -> PrimerPairs:
    panel = checked_patterns(
        found.names, found.sequences, on_warning, found.where, in_columns=False
    )
    pair, role = np.array(found.pairs, np.int64), np.array(found.roles, np.uint8)
    order = np.lexsort((role, pair))
    names, _ = clean_names(found.pair_names)
    pairs = PrimerPairs(panel.take(order), pair[order], role[order], names)
    if repeated := repeated_names(pairs.primers):
        on_warning(
            f"{listed(repeated)}: the name stands for more than one primer; all are searched"
        )
    return pairs
