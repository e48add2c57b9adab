"""Pairs of primers, from files and from Python."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs
from kmatch.errors import InputError, OnWarning, listed, shown, warn
from kmatch.sequences.files import StrPath, open_source, refuse_others
from kmatch.sequences.patterns import (
    BED_NAME,
    BED_SEQUENCE,
    PatternSet,
    checked_patterns,
    fasta_rows,
    is_bed_header,
    repeated_names,
    text_lines,
)
from kmatch.sequences.records import clean_names

FORWARD, REVERSE = 0, 1
ENDINGS = "_F and _R, /1 and /2 or _LEFT and _RIGHT"
# Alternates are named `_LEFT_alt1`, or `_LEFT_1` as in newer schemes.
_ROLE = re.compile(
    r"(?P<pair>.+?)(?:(?:(?P<f>_F|/1)|_R|/2)(?:_alt\w*)?"
    r"|(?:(?P<left>_LEFT)|_RIGHT)(?:_alt\w*|_\d+)?)",
    re.IGNORECASE,
)
# Words above the second and the third column of a table of pairs.
_HEADER = ({"forward", "fwd", "fw", "left", "f"}, {"reverse", "rev", "rv", "right", "r"})

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


class _Builder:
    """Primers as they are read, in lists; where: how messages of primers of a file begin."""

    def __init__(self, where: Callable[[int], str] | None = None) -> None:
        self.pairs: list[int] = []  # the number of each one's pair
        self.roles: list[int] = []
        self.names: list[str] = []
        self.sequences: list[str] = []
        self.pair_names: list[str] = []
        self.where = where
        self._numbers: dict[str, int] = {}

    def add(self, pair: int, role: int, name: str, sequence: str) -> None:
        self.pairs.append(pair)
        self.roles.append(role)
        self.names.append(name)
        self.sequences.append(sequence)

    def add_pair(self, name: str, forward: Iterable[str], reverse: Iterable[str]) -> None:
        """Add a pair, whose sides are alternates; pairs that share a name stay apart."""
        self.pair_names.append(name)
        for role, (ending, side) in enumerate(zip("FR", (forward, reverse), strict=True)):
            for alternate, sequence in enumerate(side):
                of = f"{name}_{ending}" + (f"_alt{alternate}" if alternate else "")
                self.add(len(self.pair_names) - 1, role, of, sequence)

    def add_named(self, name: str, sequence: str) -> None:
        """Add a primer whose name says which pair it belongs to; another name is a pair's own."""
        pair, role = role_of(name) or (name, FORWARD)
        if pair not in self._numbers:
            self._numbers[pair] = len(self.pair_names)
            self.pair_names.append(pair)
        self.add(self._numbers[pair], role, name, sequence)

    def primer_pairs(self, on_warning: OnWarning) -> PrimerPairs:
        panel = checked_patterns(
            self.names, self.sequences, on_warning, self.where, in_columns=False
        )
        pair, role = np.array(self.pairs, np.int64), np.array(self.roles, np.uint8)
        order = np.lexsort((role, pair))
        names, _ = clean_names(self.pair_names)
        pairs = PrimerPairs(panel.take(order), pair[order], role[order], names)
        if repeated := repeated_names(pairs.primers):
            on_warning(
                f"{listed(repeated)}: the name stands for more than one primer; all are searched"
            )
        return pairs


def load_pairs(given: PairsGiven | PrimerPairs, on_warning: OnWarning = warn) -> PrimerPairs:
    """The PrimerPairs of primers as a user gives them.

    given: a path, of which `-` is standard input, or a dict, name → (forward, reverse), of which
    each is a sequence or several alternates. on_warning(message) hears of names that could not stay
    as they are and of names that repeat. Raises InputError where there are none, or where a letter
    is outside IUPAC.
    """
    if isinstance(given, PrimerPairs):
        return given
    if isinstance(given, str | os.PathLike):
        return _read(given).primer_pairs(on_warning)
    if not isinstance(given, Mapping):
        raise InputError(f"primers are {given!r}; give a path or a dict, name → (forward, reverse)")
    if not given:
        raise InputError("no primers were given")
    builder = _Builder()
    for name, sides in given.items():
        if not isinstance(name, str) or not isinstance(sides, tuple | list) or len(sides) != 2:
            raise InputError(f"the primers of {name!r} are {sides!r}; give (forward, reverse)")
        builder.add_pair(name, *(_alternates(name, side) for side in sides))
    return builder.primer_pairs(on_warning)


def _alternates(name: str, side: Side) -> list[str]:
    sequences = [side] if isinstance(side, str) or not isinstance(side, Iterable) else list(side)
    for sequence in sequences:
        if not isinstance(sequence, str):
            raise InputError(f"a primer of '{shown(name)}' is {sequence!r}; sequences are str")
    return sequences


def _read(path: StrPath) -> _Builder:
    """The primers of a file: a pair a line, FASTA, or BED as primer schemes have it."""
    with open_source(path) as source:
        refuse_others(source, "primers")
        builder = _parse(text_lines(source), source.label)
    if not builder.sequences:
        raise InputError(
            f"{source.label}: no primers; write NAME, a tab, FORWARD, a tab and REVERSE a line, or "
            "give FASTA"
        )
    return builder


def role_of(name: str) -> tuple[str, int] | None:
    """(pair, role) by a primer's name, or None."""
    found = _ROLE.fullmatch(name)
    if not found:
        return None
    return found["pair"], FORWARD if found["f"] or found["left"] else REVERSE


def _parse(lines: Iterator[str], label: str) -> _Builder:
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        if line.startswith(">"):
            rest = chain([line], (line for _, line in numbered))
            builder = _Builder(lambda primer: f"{label}: ")
            for name, sequence, _ in fasta_rows(rest, label, number):
                builder.add_named(name, sequence)
            return builder
        if _holds_primers(line):
            return _by_line(chain([(number, line)], numbered), label)
    return _Builder()


def _holds_primers(line: str) -> bool:
    return bool(line.strip()) and not is_bed_header(line)


def _by_line(lines: Iterator[tuple[int, str]], label: str) -> _Builder:
    """The primers of numbered lines."""
    numbers: list[int] = []
    builder = _Builder(lambda primer: f"{label}: line {numbers[primer]}: ")
    for number, line in lines:
        if not _holds_primers(line):
            continue
        where = f"{label}: line {number}"
        fields = [field.strip() for field in line.strip("\r\n").split("\t")]
        if len(fields) == 1:
            fields = line.split()
        if _is_bed(fields):
            if len(fields) <= BED_SEQUENCE:
                raise InputError(
                    f"{where} is BED with {len(fields)} columns; primers have their sequence in "
                    "column 7"
                )
            builder.add_named(fields[BED_NAME], fields[BED_SEQUENCE])
            numbers.append(number)
        elif _is_header(fields) and not numbers:
            continue
        elif len(fields) == 3:
            name, forward, reverse = fields
            builder.add_pair(name, [forward], [reverse])
            numbers += [number, number]
        else:
            raise InputError(
                f"{where} has {len(fields)} column{'' if len(fields) == 1 else 's'}; write NAME, a "
                "tab, FORWARD, a tab and REVERSE, or BED with the sequence in column 7"
            )
    return builder


def _is_header(fields: list[str]) -> bool:
    """Whether a line names columns: its words are no sequences of bases."""
    words = [set(re.split(r"[\W_\d]+", field.lower())) for field in fields[1:3]]
    return len(words) == 2 and all(map(set.intersection, words, _HEADER))


def _is_bed(fields: list[str]) -> bool:
    return len(fields) > 3 and all(map(str.isdecimal, fields[1:3]))
