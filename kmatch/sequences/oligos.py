"""Oligos as people keep them: pairs of primers, and probes, from files and from Python."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Ints, Longs
from kmatch.errors import InputError, counted, listed, shown, warn
from kmatch.sequences.files import StrPath, label_of, read_lines
from kmatch.sequences.labels import LETTERS, SHORTEST, without_labels
from kmatch.sequences.oligo_tables import COLUMNS, Line, Table, read_table
from kmatch.sequences.patterns import (
    BED_NAME,
    BED_SEQUENCE,
    PatternSet,
    Row,
    Sequenced,
    checked_patterns,
    fasta_records,
    is_bed,
    is_fasta,
    repeated_names,
    text_of,
    where_of,
)
from kmatch.sequences.records import clean_names

FORWARD = 0  # roles of oligos
REVERSE = 1
PROBE = 2
_ROLES = ("forward", "reverse", "probe")  # columns of tables
_NO_PROBE = ("", "-", "na", "nan", "none", ".")
_ENDINGS = {
    "1": FORWARD,
    "F": FORWARD,
    "FWD": FORWARD,
    "FORWARD": FORWARD,
    "LEFT": FORWARD,
    "2": REVERSE,
    "R": REVERSE,
    "REV": REVERSE,
    "REVERSE": REVERSE,
    "RIGHT": REVERSE,
    "P": PROBE,
    "PROBE": PROBE,
}
# A pair, an ending, and what tells alternates apart: a number, or alt and anything.
_NAMED = re.compile(
    r"(.+?)[_\-./ ](?:([12])|(FORWARD|REVERSE|FWD|REV|LEFT|RIGHT|PROBE|[FRP])(?:[_-]?\d+)?)"
    r"(?:_alt\w{0,40})?",
    re.IGNORECASE | re.ASCII,
)
_INOSINE = str.maketrans("Ii", "Nn")
_AMPLICON = re.compile(r"(?<!\d)\d+$")  # its number, at the end of a pair's name

Side = Sequenced | Iterable[Sequenced]  # a primer, or its alternates
PairsGiven = str | os.PathLike[str] | Mapping[str, tuple[Side, Side] | tuple[Side, Side, Side]]


class PrimerPairs:
    """Pairs of primers, each with its alternates and probes, and primers without a partner.

    primers: PatternSet, by pair, the forward ones of a pair before its reverse ones and its probes;
    pair: int64[P], the number of each one's pair; role: uint8[P], whether it is FORWARD, REVERSE or
    PROBE there; names: of the pairs.
    """

    def __init__(self, primers: PatternSet, pair: Longs, role: Bytes, names: list[str]) -> None:
        self.primers = primers
        self.pair = pair
        self.role = role
        self.names = names

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<PrimerPairs: {listed(self.names)}>"

    @property
    def sides(self) -> Bools:
        """Whether a pair has oligos of each role, bool[n, 3]."""
        sides = np.zeros((len(self), len(_ROLES)), bool)
        sides[self.pair, self.role] = True
        return sides

    def product_names(self, forward: Ints, reverse: Ints) -> list[str]:
        """Return the names of products: their pair's, or both primers' where these are no partners.

        forward, reverse: int32[n], the numbers of their primers.
        """
        are_partners = self.pair[forward] == self.pair[reverse]
        are_partners &= self.role[forward] != self.role[reverse]
        pair = self.pair.tolist()
        oligos = self.primers.names
        names = []
        rows = zip(are_partners.tolist(), forward.tolist(), reverse.tolist(), strict=True)
        for is_pair, one, other in rows:
            if is_pair:
                names.append(self.names[pair[one]])
            else:
                names.append(f"{oligos[one]}+{oligos[other]}")
        return names

    def check_partners(self) -> None:
        """Raise InputError for a primer that has no partner."""
        sides = self.sides
        is_paired = sides[:, FORWARD] & sides[:, REVERSE]
        lonely = np.flatnonzero(~is_paired[self.pair])
        if len(lonely):
            names = [self.primers.names[number] for number in lonely.tolist()]
            raise InputError(
                f"primers without a partner: {listed(names)}; names of a pair end in _F and _R, "
                "_1 and _2 or _LEFT and _RIGHT, or give a table of pairs; pcr joins any two with "
                "pairs 'any'"
            )


class PairKey(NamedTuple):
    """A pair: its name, and a number that tells pairs of one name apart, such as a line's."""

    name: str
    number: int = 0


class Oligo(NamedTuple):
    """An oligo as it is given: its pair, its role in that, and its name, letters and line."""

    pair: PairKey
    role: int
    row: Row


def load_pairs(given: PairsGiven | PrimerPairs) -> PrimerPairs:
    """Return the PrimerPairs of oligos as a user gives them.

    given: a path, `-` being standard input; or a dict, name → (forward, reverse) or (forward,
    reverse, probe), each a sequence or several alternates. A SeqRecord is a sequence. A warning
    tells how unclear input was read. Raises InputError where there are no oligos, and for an oligo
    that cannot be read.
    """
    if isinstance(given, PrimerPairs):
        return given
    if isinstance(given, str | os.PathLike):
        return _read(given)
    if not isinstance(given, Mapping):
        raise InputError(f"primers are {given!r}; give a path or a dict, name → (forward, reverse)")
    oligos = list(_of_dict(given))
    if not oligos:
        raise InputError("no primers were given")
    return _pairs(oligos, "", 1)


def _read(path: StrPath) -> PrimerPairs:
    """Return the PrimerPairs of a file: FASTA, BED with sequences, or a table."""
    label = label_of(path)
    lines = read_lines(path, "primers")
    if is_fasta(lines):
        oligos = _of_fasta(lines, label)
    else:
        table = read_table(lines, label)
        oligos = _of_table(table, label)
    if not oligos:
        raise InputError(f"{label}: no primers; {COLUMNS}")
    return _pairs(oligos, label, SHORTEST)


def _pairs(oligos: list[Oligo], label: str, shortest: int) -> PrimerPairs:
    """Return the PrimerPairs of oligos, in the order in which pairs begin.

    label: of their file, if they have one; shortest: letters that an oligo has at least.
    """
    oligos = _cleaned(oligos, label, shortest)
    numbers: dict[PairKey, int] = {}
    for oligo in oligos:
        numbers.setdefault(oligo.pair, len(numbers))
    oligos.sort(key=lambda oligo: (numbers[oligo.pair], oligo.role))
    rows = [oligo.row for oligo in oligos]
    panel = checked_patterns(rows, label, in_columns=False)
    pair = np.array([numbers[oligo.pair] for oligo in oligos], np.int64)
    role = np.array([oligo.role for oligo in oligos], np.uint8)
    names, _ = clean_names([key.name for key in numbers])
    repeated = repeated_names(panel)
    if repeated:
        warn(f"{listed(repeated)}: the name stands for more than one primer; all are searched")
    return PrimerPairs(panel, pair, role, names)


def _cleaned(oligos: list[Oligo], label: str, shortest: int) -> list[Oligo]:
    """Return oligos without labels and blanks, with N for inosine, and warn of the labels.

    Raises InputError for an oligo without letters, with another letter or with too few.
    """
    cleaned = []
    labels: dict[str, None] = {}
    for oligo in oligos:
        sequence, taken_off = without_labels(oligo.row.sequence)
        labels.update(dict.fromkeys(taken_off))
        fault = _fault(sequence, oligo.row.sequence, shortest)
        if fault:
            name = shown(oligo.row.name)
            raise InputError(f"{where_of(label, oligo.row)}oligo '{name}' {fault}")
        row = oligo.row._replace(sequence=sequence.translate(_INOSINE))
        cleaned.append(oligo._replace(row=row))
    if labels:
        start = f"{label}: " if label else ""
        warn(f"{start}labels were taken off the oligos: {listed(list(labels), 20)}")
    return cleaned


def _fault(sequence: str, given: str, shortest: int) -> str:
    """Return the fault in the letters of an oligo, with advice, or nothing."""
    if not sequence:
        labels = f" but labels, '{shown(given)}'" if given.strip() else ""
        return f"has no letters{labels}; give them"
    for position, letter in enumerate(sequence, 1):
        if letter.upper() not in LETTERS:
            where = f"{letter!r} at position {position} of '{shown(sequence)}'"
            return f"has {where}, which is no IUPAC letter; {_advice(letter)}"
    if len(sequence) < shortest:
        return (
            f"has {counted(len(sequence), 'letter')}, '{shown(sequence)}', where oligos have "
            f"{shortest} or more: a column was misread; {COLUMNS}"
        )
    return ""


def _advice(letter: str) -> str:
    """Return advice about a letter that no oligo has."""
    if letter == "-":
        return "leave gaps out; labels stand at the ends, as in FAM-ACGTTGCATT-BHQ1"
    if letter in "()[]{}/+*?.":
        return (
            "write N for any base, R for [AG], and for a modified base its letter; labels are "
            "FAM-, -BHQ1, /FAM/ or (FAM)"
        )
    return "if this is no sequence, name the columns in a header line"


def _of_dict(given: Mapping[Any, Any]) -> Iterator[Oligo]:
    """Yield the oligos of a dict, name → (forward, reverse) or (forward, reverse, probe)."""
    for name, sides in given.items():
        is_pair = isinstance(sides, tuple | list) and len(sides) in (2, 3)
        if not isinstance(name, str) or not is_pair:
            raise InputError(
                f"the primers of {name!r} are {sides!r}; give (forward, reverse), and a probe "
                "behind them if there is one"
            )
        for role, side in enumerate(sides):
            for number, sequence in enumerate(_alternates(side)):
                if not isinstance(sequence, str):
                    raise InputError(
                        f"a primer of '{shown(name)}' is {sequence!r}; sequences are str"
                    )
                ending = f"_alt{number}" if number else ""
                row = Row(_name_of(name, role) + ending, sequence)
                yield Oligo(PairKey(name), role, row)


def _alternates(side: Any) -> list[Any]:
    """Return the sequences of one side of a pair, which is one or several."""
    sequence = text_of(side)
    if isinstance(sequence, str) or not isinstance(sequence, Iterable):
        return [sequence]
    return [text_of(each) for each in sequence]


def _name_of(pair: str, role: int) -> str:
    """Return the name of an oligo that has none but its pair's."""
    ending = "FRP"[role]
    return f"{pair}_{ending}"


def _of_table(table: Table, label: str) -> list[Oligo]:
    """Return the oligos of BED, of names and sequences, or of a pair a line."""
    if table.rows and is_bed(table.rows[0].cells):
        return _of_scheme(table.rows, label)
    if "sequence" not in table.columns:
        return list(_by_line(table, label))
    name = table.columns["name"]
    sequence = table.columns["sequence"]
    rows = [Row(line.cell(name), line.cell(sequence), line.number) for line in table.rows]
    return _by_name(rows, label)


def _by_line(table: Table, label: str) -> Iterator[Oligo]:
    """Yield the oligos of a pair a line. Pairs that share a name stay apart."""
    columns = table.columns
    for count, line in enumerate(table.rows, 1):
        name = f"pair_{count}"
        if "name" in columns:
            name = line.cell(columns["name"])
        if not name:
            raise InputError(f"{label}: line {line.number} has no name; write one")
        key = PairKey(name, line.number)
        for role, what in enumerate(_ROLES):
            sequence = line.cell(columns.get(what))
            if role == PROBE and sequence.lower() in _NO_PROBE:
                continue
            yield Oligo(key, role, Row(_name_of(name, role), sequence, line.number))


def _of_fasta(lines: list[str], label: str) -> list[Oligo]:
    """Return the oligos of FASTA, named by the first word, or by two where the second one has the
    ending."""
    rows = []
    for title, sequence, line in fasta_records(lines, label):
        words = title.split(None, 2)
        name = " ".join(words[:1])
        two_words = " ".join(words[:2])
        if role_of(two_words) and not role_of(name):
            name = two_words
        rows.append(Row(name, sequence, line))
    return _by_name(rows, label)


def role_of(name: str) -> tuple[str, int] | None:
    """Return (pair, role) by an oligo's name, or None where it has no ending."""
    named = _NAMED.fullmatch(name)
    if not named:
        return None
    ending = named[2] or named[3]
    return named[1], _ENDINGS[ending.upper()]


def _by_name(rows: Iterable[Row], label: str) -> list[Oligo]:
    """Return the oligos of rows whose names say which pair they belong to, and warn of alternates.

    An oligo whose name has no ending is a forward primer without a partner.
    """
    oligos = []
    for row in rows:
        if not row.name:
            raise InputError(f"{where_of(label, row)}an oligo has no name; write one")
        pair, role = role_of(row.name) or (row.name, FORWARD)
        oligos.append(Oligo(PairKey(pair), role, row))
    _warn_of_alternates(oligos, label)
    return oligos


def _warn_of_alternates(oligos: list[Oligo], label: str) -> None:
    """Warn of pairs that have oligos of several names for one role."""
    names: defaultdict[tuple[PairKey, int], set[str]] = defaultdict(set)
    for oligo in oligos:
        names[oligo.pair, oligo.role].add(oligo.row.name)
    several = [pair.name for (pair, _), alternates in names.items() if len(alternates) > 1]
    if several:
        pairs = list(dict.fromkeys(several))
        warn(
            f"{label}: names that differ in a number or in alt are alternates of one pair, all of "
            f"which are joined: {listed(pairs)}"
        )


def _of_scheme(rows: list[Line], label: str) -> list[Oligo]:
    """Return the oligos of BED, paired by name, or by the record and the amplicon's number."""
    named = []
    for line in rows:
        if not is_bed(line.cells):
            raise InputError(
                f"{label}: line {line.number} is no BED with the sequence in column 7, as those "
                "above are; complete it"
            )
        named.append(Row(line.cells[BED_NAME], line.cells[BED_SEQUENCE], line.number))
    oligos = _by_name(named, label)
    new_names = _names_by_number(oligos, [line.cells[0] for line in rows])
    if new_names:
        joined = [f"{old} to {new}" for old, new in new_names.items() if old != new]
        warn(f"{label}: pairs joined by record and number of amplicon: {listed(joined)}")
    renamed = []
    for oligo in oligos:
        name = oligo.pair.name
        key = PairKey(new_names.get(name, name))
        renamed.append(oligo._replace(pair=key))
    return renamed


def _names_by_number(oligos: list[Oligo], records: list[str]) -> dict[str, str]:
    """Return new names of the pairs that lack a primer which others of their amplicon have.

        M  abc_1_LEFT_1       abc_1, xyz_1 → abc_1
        M  xyz_1_RIGHT_1
        M  abc_2_LEFT_1       def_2 → abc_2
        M  abc_2_RIGHT_1
        M  def_2_LEFT_2

    records: each oligo's record.
    """
    roles: defaultdict[str, set[int]] = defaultdict(set)
    amplicons: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for oligo, record in zip(oligos, records, strict=True):
        pair = oligo.pair.name
        roles[pair].add(oligo.role)
        number = _AMPLICON.search(pair)
        if number:
            amplicons[record, number[0]][pair] = None
    new_names = {}
    for pairs in amplicons.values():
        whole = [pair for pair in pairs if roles[pair] >= {FORWARD, REVERSE}]
        lonely = [pair for pair in pairs if pair not in whole]
        forward = [pair for pair in lonely if FORWARD in roles[pair]]
        has_reverse = any(REVERSE in roles[pair] for pair in lonely)
        if len(whole) == 1:
            new_names.update(dict.fromkeys(lonely, whole[0]))
        elif forward and has_reverse and not whole:
            new_names.update(dict.fromkeys(lonely, forward[0]))
    return new_names
