"""Pairs of primers, with probes or without, from files and from Python."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from kmatch.arrays import Bools, Bytes, Ints, Longs
from kmatch.errors import InputError, counted, listed, shown, warn
from kmatch.sequences.alphabet import IUPAC
from kmatch.sequences.files import StrPath, is_comment, label_of, read_lines
from kmatch.sequences.patterns import (
    PatternSet,
    Row,
    cells_of,
    checked_patterns,
    is_bed,
    repeated_names,
    rows_of,
)
from kmatch.sequences.records import clean_names

FORWARD, REVERSE, PROBE = 0, 1, 2
ENDINGS = "_F and _R, /1 and /2 or _LEFT and _RIGHT"
_ROLES = {"_F": FORWARD, "/1": FORWARD, "_LEFT": FORWARD, "_P": PROBE, "_PROBE": PROBE}
# Alternates are named `_LEFT_alt1`, or `_LEFT_1` as in newer schemes.
_NAME = re.compile(
    r"(.+?)(?:(_[FRP]|/[12])(?:_alt\w*)?|(_LEFT|_RIGHT|_PROBE)(?:_alt\w*|_\d+)?)", re.IGNORECASE
)

Side = str | Iterable[str]  # a primer, or its alternates
# A primer as it is given: its pair, by name and by what tells pairs of a name apart, and its role.
_Primer = tuple[tuple[str, int], int, Row]
PairsGiven = str | os.PathLike[str] | Mapping[str, tuple[Side, Side] | tuple[Side, Side, Side]]


class PrimerPairs:
    """Pairs of primers, each with its alternates and probes, and primers without a partner.

    primers: PatternSet, by pair, the forward ones of a pair before its reverse ones and its probes;
    pair: int64[P] and role: uint8[P], the number of each one's pair and whether it is FORWARD,
    REVERSE or PROBE there; names: those of the pairs.
    """

    def __init__(self, primers: PatternSet, pair: Longs, role: Bytes, names: list[str]) -> None:
        self.primers, self.pair, self.role, self.names = primers, pair, role, names

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<PrimerPairs: {listed(self.names)}>"

    @property
    def sides(self) -> Bools:
        """Whether a pair has oligos of each role, bool[n, 3]."""
        sides = np.zeros((len(self), 3), bool)
        sides[self.pair, self.role] = True
        return sides

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
        sides = self.sides
        paired = sides[:, 0] & sides[:, 1]
        lonely = np.flatnonzero(~paired[self.pair])
        if len(lonely):
            names = [self.primers.names[number] for number in lonely.tolist()]
            raise InputError(
                f"primers without a partner: {listed(names)}; names of a pair end in {ENDINGS}; "
                "pcr joins any two with pairs 'any'"
            )


def load_pairs(given: PairsGiven | PrimerPairs) -> PrimerPairs:
    """The PrimerPairs of primers as a user gives them.

    given: a path, of which `-` is standard input, or a dict, name → (forward, reverse) or (forward,
    reverse, probe), of which each is a sequence or several alternates. Names that could not stay as
    they are and names that repeat give a warning. Raises InputError where there are none, or where
    a letter is outside IUPAC.
    """
    if isinstance(given, PrimerPairs):
        return given
    if isinstance(given, str | os.PathLike):
        return _read(given)
    if not isinstance(given, Mapping):
        raise InputError(f"primers are {given!r}; give a path or a dict, name → (forward, reverse)")
    primers: list[_Primer] = []
    for name, sides in given.items():
        if not isinstance(name, str) or not (
            isinstance(sides, tuple | list) and len(sides) in (2, 3)
        ):
            raise InputError(
                f"the primers of {name!r} are {sides!r}; give (forward, reverse), and a probe "
                "behind them if there is one"
            )
        primers += _of_pair((name, 0), sides)
    if not primers:
        raise InputError("no primers were given")
    return _pairs(primers)


def _pairs(primers: list[_Primer], label: str = "") -> PrimerPairs:
    """The PrimerPairs of primers, in the order in which pairs begin; label: of their file."""
    given, roles, rows = zip(*primers, strict=True)
    panel = checked_patterns(rows, label, in_columns=False)
    numbers = {pair: number for number, pair in enumerate(dict.fromkeys(given))}
    pair = np.array([numbers[each] for each in given], np.int64)
    role = np.array(roles, np.uint8)
    order = np.lexsort((role, pair))
    names, _ = clean_names([name for name, _ in numbers])
    pairs = PrimerPairs(panel.take(order), pair[order], role[order], names)
    if repeated := repeated_names(pairs.primers):
        warn(f"{listed(repeated)}: the name stands for more than one primer; all are searched")
    return pairs


def _of_pair(pair: tuple[str, int], sides: Sequence[Side], line: int = 0) -> Iterator[_Primer]:
    """The primers of a pair, whose sides are alternates."""
    name, _ = pair
    for role, side in enumerate(sides):
        alternates = [side] if isinstance(side, str) or not isinstance(side, Iterable) else side
        for alternate, sequence in enumerate(alternates):
            if not isinstance(sequence, str):
                raise InputError(f"a primer of '{shown(name)}' is {sequence!r}; sequences are str")
            of = f"{name}_{'FRP'[role]}" + (f"_alt{alternate}" if alternate else "")
            yield pair, role, Row(of, sequence, line)


def _read(path: StrPath) -> PrimerPairs:
    """The primers of a file: a pair a line, FASTA, or BED as primer schemes have it."""
    label = label_of(path)
    lines = [  # of which blanks may part columns
        line if "\t" in line or is_comment(line) else "\t".join(line.split())
        for line in read_lines(path, "primers")
    ]
    first = next((cells for _, cells in cells_of(lines)), [""])
    if first[0].startswith(">") or is_bed(first):
        primers = list(_by_name(rows_of(lines, label)))
    else:
        primers = list(_by_line(lines, label))
    if not primers:
        raise InputError(
            f"{label}: no primers; write NAME, a tab, FORWARD, a tab and REVERSE a line, or "
            "give FASTA"
        )
    return _pairs(primers, label)


def role_of(name: str) -> tuple[str, int] | None:
    """(pair, role) by a primer's name, or None."""
    found = _NAME.fullmatch(name)
    return found and (found[1], _ROLES.get((found[2] or found[3]).upper(), REVERSE))


def _by_name(rows: Iterable[Row]) -> Iterator[_Primer]:
    """Primers whose names say which pair they belong to; another name is a pair's own."""
    for row in rows:
        pair, role = role_of(row.name) or (row.name, FORWARD)
        yield (pair, 0), role, row


def _by_line(lines: list[str], label: str) -> Iterator[_Primer]:
    """Primers of a pair a line: its name and two sequences. Pairs that share a name stay apart."""
    for row, (number, fields) in enumerate(cells_of(lines)):
        if row == 0 and _is_header(fields):
            continue
        if len(fields) not in (3, 4):
            raise InputError(
                f"{label}: line {number} has {counted(len(fields), 'column')}; write NAME, a "
                "tab, FORWARD, a tab and REVERSE, and if there is one a tab and PROBE, or BED with "
                "the sequence in column 7"
            )
        sides = fields[1:] if fields[-1] else fields[1:3]  # a probe may be empty
        yield from _of_pair((fields[0], number), sides, number)


def _is_header(fields: list[str]) -> bool:
    """Whether a line names columns: few letters of its words are bases, and some are no codes."""
    words = "".join(fields[1:3]).upper()
    odd = any(letter.isalpha() and letter not in IUPAC for letter in words)
    return len(fields) > 2 and odd and 2 * sum(map(words.count, "ACGT")) <= len(words)
