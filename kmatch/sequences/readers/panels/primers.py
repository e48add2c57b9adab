"""Files of primer pairs: a pair a line, FASTA, or BED as primer schemes have it."""

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

from kmatch.errors import InputError
from kmatch.sequences.readers.files import StrPath, open_source, reading
from kmatch.sequences.readers.formats import refuse_others
from kmatch.sequences.readers.panels.patterns import fasta_pairs, text_lines
from kmatch.sequences.readers.panels.tables import BED_NAME, BED_SEQUENCE, is_bed_header

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


class Primers(NamedTuple):
    """The primers of a file, in its order, as lists.

    pairs: the number of each one's pair, from 0; roles: FORWARD or REVERSE; names, sequences: str;
    pair_names: those of the pairs. where(number): the file and the line of a primer, as an error
    begins.
    """

    pairs: list[int]
    roles: list[int]
    names: list[str]
    sequences: list[str]
    pair_names: list[str]
    where: Callable[[int], str] | None


def read_primers(path: StrPath) -> Primers:
    """The Primers of a file, or of standard input (`-`). Raises InputError for one without any."""
    with open_source(path) as source, reading(source.label):
        refuse_others(source, "primers")
        primers = _parse(text_lines(source), source.label)
    if not primers.sequences:
        raise InputError(
            f"{source.label}: no primers; write NAME, a tab, FORWARD, a tab and REVERSE a line, or "
            "give FASTA"
        )
    return primers


def role_of(name: str) -> tuple[str, int] | None:
    """(pair, role) by a primer's name, or None."""
    found = _ROLE.fullmatch(name)
    if not found:
        return None
    return found["pair"], FORWARD if found["f"] or found["left"] else REVERSE


def _parse(lines: Iterator[str], label: str) -> Primers:
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        if line.startswith(">"):
            return _of_fasta(chain([line], (line for _, line in numbered)), label, number)
        if _holds_primers(line):
            return _by_line(chain([(number, line)], numbered), label)
    return _Builder().primers(None)


def _holds_primers(line: str) -> bool:
    return bool(line.strip()) and not is_bed_header(line)


class _Builder:
    """Primers as they are read."""

    def __init__(self) -> None:
        self._found = Primers([], [], [], [], [], None)
        self._numbers: dict[str, int] = {}

    def add(self, pair: int, role: int, name: str, sequence: str) -> None:
        pairs, roles, names, sequences, _, _ = self._found
        pairs.append(pair)
        roles.append(role)
        names.append(name)
        sequences.append(sequence)

    def add_pair(self, name: str, forward: str, reverse: str) -> None:
        """Add the two primers of a line; pairs that share a name stay apart."""
        number = len(self._found.pair_names)
        self._found.pair_names.append(name)
        self.add(number, FORWARD, f"{name}_F", forward)
        self.add(number, REVERSE, f"{name}_R", reverse)

    def add_named(self, name: str, sequence: str) -> None:
        """Add a primer whose name says which pair it belongs to; another name is a pair's own."""
        pair, role = role_of(name) or (name, FORWARD)
        if pair not in self._numbers:
            self._numbers[pair] = len(self._found.pair_names)
            self._found.pair_names.append(pair)
        self.add(self._numbers[pair], role, name, sequence)

    def primers(self, where: Callable[[int], str] | None) -> Primers:
        return self._found._replace(where=where)


def _of_fasta(lines: Iterator[str], label: str, first: int) -> Primers:
    found, builder = fasta_pairs(lines, label, first), _Builder()
    for name, sequence in zip(found.names, found.sequences, strict=True):
        builder.add_named(name, sequence)
    return builder.primers(found.where)


def _by_line(lines: Iterator[tuple[int, str]], label: str) -> Primers:
    """The Primers of numbered lines."""
    builder, numbers = _Builder(), []
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
            builder.add_pair(*fields)
            numbers += [number, number]
        else:
            raise InputError(
                f"{where} has {len(fields)} column{'' if len(fields) == 1 else 's'}; write NAME, a "
                "tab, FORWARD, a tab and REVERSE, or BED with the sequence in column 7"
            )
    return builder.primers(lambda primer: f"{label}: line {numbers[primer]}: ")


def _is_header(fields: list[str]) -> bool:
    """Whether a line names columns: its words are no sequences of bases."""
    words = [set(re.split(r"[\W_\d]+", field.lower())) for field in fields[1:3]]
    return len(words) == 2 and all(map(set.intersection, words, _HEADER))


def _is_bed(fields: list[str]) -> bool:
    return len(fields) > 3 and all(map(str.isdecimal, fields[1:3]))
