"""The genomes that are searched, one or several, and the file that lists them."""

import os
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import Any, Self

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.errors import InputError, OnWarning, shown, warn
from kmatch.packed.reader import PackedFile, open_packed, parts_of_pipe
from kmatch.packed.writer import MAGIC as PACKED
from kmatch.sequences.alphabet import check_letters
from kmatch.sequences.circles import Circular
from kmatch.sequences.fasta import read_index
from kmatch.sequences.files import HEAD, MAGIC, check_readable, is_list, label_of, read_list
from kmatch.sequences.others import read_parts
from kmatch.sequences.records import (
    Progress,
    Record,
    Stretch,
    clean_names,
    gathered,
    stretch_of,
    whole_records,
    whole_stretches,
)

COMPRESSION = 4  # letters a byte of a compressed file
LOOKED = 16  # genomes of which all letters are estimated
Path = str | os.PathLike[str]
NAMED = 4  # records that a repr names
COMPARED = 1 << 20  # records whose names are compared: reads may be many more
SEARCHED = (
    "give a path or a Genome; Genome.from_records([(name, sequence)]) makes one of sequences in "
    "memory"
)
_ACGT = re.compile("[ACGTUN]{8,}", re.IGNORECASE)


class Genome:
    """Sequences to search: a file, standard input, or records already in memory.

    path: str or PathLike, of FASTA, FASTQ, 2bit or GenBank, compressed or not, or a packed genome;
    `-` is standard input. With keep=True (the default) the sequences stay in memory, 1 byte a base
    and half a byte more once packed, and a Genome can be searched many times; with keep=False every
    search reads the file anew, record by record. A packed genome is mapped into memory and searched
    there, however often. Threads may share a Genome.

    on_warning(message) hears, once, of names that could not stay as they are; by default that is a
    UserWarning. Raises InputError for a file that cannot be opened, and, when it is read, for one
    that cannot be used.

        genome = kmatch.Genome("genome.fa.gz")
        small = kmatch.Genome.from_records([("chr1", "ACGTTGCA")])
    """

    named: Container[str] | None = None  # the records that are searched; None for all

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        keep: bool = True,
        on_warning: OnWarning = warn,
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"a genome is {shown(repr(path))}; {SEARCHED}")
        if isinstance(path, str) and _ACGT.fullmatch(path) and not os.path.exists(path):
            raise InputError(f"there is no file '{shown(path)}'; {SEARCHED}")
        check_readable(path)
        self._begin(path, keep, on_warning)

    @classmethod
    def unopened(
        cls,
        path: str | os.PathLike[str],
        keep: bool = True,
        on_warning: OnWarning = warn,
    ) -> Self:
        """A Genome of a path that is opened when it is read, and may turn out not to be there."""
        genome = cls.__new__(cls)
        genome._begin(path, keep, on_warning)
        return genome

    def _begin(self, path: Any, keep: bool, on_warning: OnWarning) -> None:
        self.label = label_of(path)
        self.keep = keep
        self._path = path
        self._on_warning = on_warning
        self._kept: list[Stretch] | None = None
        self._warned = self._warned_of_repeated = False  # of names
        self._lock = RLock()  # held while what is kept is read

    @classmethod
    def from_records(cls, records: Iterable[tuple[str, Any]]) -> Self:
        """A Genome of (name, sequence) pairs; sequences are str, bytes or uint8 arrays of ASCII.

        Raises InputError for other sequences, and for letters that stand for no nucleotide.
        """
        genome = cls.__new__(cls)
        genome._begin("records in memory", True, warn)
        names, letters = [], []
        if not isinstance(records, Iterable) or isinstance(records, Mapping):
            raise InputError(
                f"records are {shown(repr(records))}; give pairs, (name, sequence), as items() of "
                "a dict does"
            )
        for number, record in enumerate(records, 1):
            if not isinstance(record, tuple | list) or len(record) != 2:
                raise InputError(
                    f"record {number} is {shown(repr(record))}; give pairs, (name, sequence)"
                )
            name, sequence = record
            if not isinstance(name, str):
                raise InputError(f"the name of record {number} is {name!r}; give a str")
            names.append(name)
            letters.append(_letters(name, sequence))
            check_letters((genome.label, number, name), letters[-1])
        names = genome._cleaned(names)
        genome._warn_of_repeated(names, set())
        genome._kept = list(gathered(map(stretch_of, names, letters)))
        return genome

    @classmethod
    def of_stretches(cls, label: str, stretches: Iterable[Stretch]) -> Self:
        """A Genome of Stretches of whole records, whose names are clean."""
        genome = cls.__new__(cls)
        genome._begin("records in memory", True, warn)
        genome.label, genome._kept = label, list(stretches)
        return genome

    def __len__(self) -> int:
        """The number of records; like `names`, it reads the file first."""
        return len(self.names)

    def __bool__(self) -> bool:
        return True  # without reading

    def __repr__(self) -> str:
        known = self._known
        if known is None:
            return f"<Genome {self.label!r}, not read yet>"
        names, lengths = known
        records = f"{len(names):,} record{'' if len(names) == 1 else 's'}"
        first = ", ".join(shown(name) for name in names[:NAMED])
        more = f" ({first}{', …' if len(names) > NAMED else ''})" if names else ""
        return f"<Genome {self.label!r}: {records}{more}, {int(lengths.sum()):,} letters>"

    @property
    def names(self) -> list[str]:
        """Names of the records, in order; reads the file first."""
        return self._listed[0]

    @property
    def lengths(self) -> Longs:
        """Letters of each record, int64[n]; reads the file first."""
        return self._listed[1]

    @property
    def path(self) -> Any:
        """The path that it was given."""
        return self._path

    @property
    def can_reread(self) -> bool:
        """Whether the records can be read, and then searched."""
        return self.keep or self.file is not None or os.path.isfile(self._path)

    def sizes(self) -> tuple[list[str], Longs]:
        """Names and letters of the records before a search: of an index `.fai` where there is one,
        which may leave out records without letters.

        Raises InputError for a pipe, which would have to be read twice.
        """
        if self.file is None and self._known is None:
            if not self.can_reread:
                raise InputError(
                    f"{self.label}: the lengths of all records come before the first hit, and a "
                    "pipe cannot be read twice; give a file"
                )
            index = read_index(self._path)
            if index is not None:
                return clean_names(index[0])[0], index[1]
        return self._listed

    @cached_property
    def _listed(self) -> tuple[list[str], Longs]:
        known = self._known
        return known if known is not None else _names_and_lengths(self.parts())

    @property
    def _known(self) -> tuple[list[str], Longs] | None:
        """Names and lengths, as far as they are known without reading."""
        if "_listed" in vars(self):
            return self._listed
        if self._kept is not None:
            return _names_and_lengths(self._kept)
        file = vars(self).get("file")
        return None if file is None else (file.names, file.sizes)

    def __getstate__(self) -> dict[str, Any]:
        """The parts that another process needs; it opens a file itself."""
        state = {name: value for name, value in vars(self).items() if name not in ("_lock", "file")}
        if os.path.isfile(self._path):
            state["_kept"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock())

    @cached_property
    def file(self) -> PackedFile | None:
        """The packed genome that the path is, or None. Raises InputError where it is damaged."""
        with self._lock:
            if "file" in vars(self):  # another thread has opened it meanwhile
                return vars(self)["file"]
            file = open_packed(self._path, self.label) if self._kept is None else None
            if file is not None:
                file.names = self._cleaned(file.names)
                self._warn_of_repeated(file.names, set())
            vars(self)["file"] = file
            return file

    @property
    def expected_letters(self) -> int | None:
        """About how many letters there are, estimated without reading them; None if unknown.

        A compressed file is taken to hold four letters a byte.
        """
        if self._kept is not None:
            return sum(len(part.letters) for part in self._kept)
        size, start = 0, PACKED  # of standard input, and of one that is open already
        if vars(self).get("file") is None and os.path.isfile(self._path):
            try:
                size = os.path.getsize(self._path)
                with open(self._path, "rb") as handle:
                    start = handle.read(HEAD)
            except OSError:
                return None
        if start.startswith(PACKED) and self.file is not None:
            return sum(self.file.lengths)
        compressed = any(start.startswith(magic) for magic in MAGIC.values())
        if start.startswith(b"@"):
            return size // 2 or None  # the other half of FASTQ are qualities
        return (size * COMPRESSION if compressed else size) or None

    def records(self, on_progress: Progress | None = None) -> Iterator[Record]:
        """Iterate over the Records; `on_progress(consumed, size)` hears of bytes read."""
        if self.file is not None:
            return self.file.records(on_progress)
        return whole_records(self.parts(on_progress))

    def parts(self, on_progress: Progress | None = None) -> Iterator[Stretch]:
        """The same as Stretches: short ones come together, long ones in parts."""
        if self.file is not None:
            return self.file.stretches(on_progress)
        if self._kept is not None:
            return iter(self._kept)
        if not self.keep:
            return self._parts(on_progress)
        with self._lock:
            if self._kept is None:
                self._kept = list(self._parts(on_progress))
            return iter(self._kept)

    def whole_parts(self, on_progress: Progress | None = None) -> Iterator[Stretch]:
        """The same Stretches, but with all parts of a long record joined."""
        parts = self.parts(on_progress)
        return parts if self.file is not None else whole_stretches(parts)

    def _parts(self, on_progress: Progress | None) -> Iterator[Stretch]:
        number, parts = 0, read_parts(self._path, [(PACKED, parts_of_pipe)])
        seen: set[str] = set()
        for part, consumed, size in parts:
            if on_progress:
                on_progress(consumed, size)
            part = part._replace(names=self._cleaned(part.names, number))
            self._warn_of_repeated(part.names[part.goes_on :], seen)
            yield part
            number += len(part.names) - part.goes_on

    def _warn_of_repeated(self, names: list[str], seen: set[str]) -> None:
        """Warn, once, of a name that records share; seen: the names before, which grows here."""
        if self._warned_of_repeated or len(seen) >= COMPARED:
            return
        fresh = set(names)
        if len(fresh) == len(names) and fresh.isdisjoint(seen):
            seen |= fresh
            return
        for name in names:
            if name in seen:
                break
            seen.add(name)
        self._warned_of_repeated = True
        self._on_warning(
            f"{self.label}: two records or more are named '{shown(name)}'; rows do not tell them "
            "apart"
        )

    def _cleaned(self, names: list[str], number: int = 0) -> list[str]:
        """Names without control characters; number: of records before these."""
        names, control = clean_names(names)
        if control is not None and not self._warned:
            self._warned = True
            self._on_warning(
                f"{self.label}: the name of record {number + control + 1} holds control "
                "characters; '_' stands for each, there and in other records' names"
            )
        return names


def as_genome(genome: Genome | str | os.PathLike[str]) -> Genome:
    """A Genome as it is, or the Genome of a path."""
    return genome if isinstance(genome, Genome) else Genome(genome)


def _names_and_lengths(parts: Iterable[Stretch]) -> tuple[list[str], Longs]:
    names: list[str] = []
    lengths: list[int] = []
    for part in parts:
        first, *_ = sizes = part.lengths.tolist()
        if part.goes_on:
            lengths[-1] += first
        names += part.names[part.goes_on :]
        lengths += sizes[part.goes_on :]
    return names, np.array(lengths, np.int64)


def _letters(name: str, sequence: Any) -> Bytes:
    if isinstance(sequence, str):
        sequence = sequence.encode("latin-1", "replace")
    if isinstance(sequence, bytes | bytearray | memoryview):
        return np.frombuffer(sequence, np.uint8)
    letters = np.asarray(sequence)
    if letters.dtype != np.uint8 or letters.ndim != 1:
        raise InputError(f"record '{name}': the sequence must be str, bytes or a uint8 array")
    return letters


def keeps(path: Path) -> bool:
    """The sequences of every path stay in memory."""
    return True


class Genomes:
    """Genomes that a search goes through, each as if alone, in their order.

    given: Genomes, or paths, which are opened when their turn comes; named: whether hits tell their
    genome by its name; keep(path): whether the sequences of a path stay in memory while it is
    searched. Raises InputError for a path that cannot be opened: now, or with check=False when its
    turn comes.
    """

    def __init__(
        self,
        given: Sequence[Genome | Path],
        label: str = "",
        *,
        named: bool = True,
        keep: Callable[[Path], bool] = keeps,
        on_warning: OnWarning = warn,
        check: bool = True,
    ) -> None:
        self.circular: Circular | None = None
        self.view: Callable[[Genome], Genome] = _as_it_is  # how each is searched
        self.regions: Any = None  # the Regions that hits lie in, where only their records are read
        self._given = list(given)
        self._keep, self._on_warning = keep, on_warning
        self.named = named
        for each in given:
            if not isinstance(each, Genome | str | os.PathLike):
                raise InputError(f"a genome is {shown(repr(each))}; {SEARCHED}")
        labels = [each.label if isinstance(each, Genome) else label_of(each) for each in given]
        self.label = label or ", ".join(labels)
        self.names = clean_names(labels)[0]
        for each in self._given if check else ():
            if not isinstance(each, Genome):
                with _named_by(self.label):
                    check_readable(each)

    def __len__(self) -> int:
        return len(self._given)

    def __iter__(self) -> Iterator[Genome]:
        return map(self.genome, range(len(self)))

    def with_circular(self, names: bool | Sequence[str]) -> "Genomes":
        """The same, whose records with these names are circular; True: all, False: none."""
        listed = isinstance(names, Collection) and not isinstance(names, str | bytes)
        if not (isinstance(names, bool) or (listed and all(isinstance(n, str) for n in names))):
            raise InputError(f"circular is {names!r}; give True, or a list of names of records")
        if names is not False:
            self.circular = Circular(None if names is True else names)
        return self

    def check_circular(self) -> None:
        """Raise InputError for a circular record that was in no genome."""
        if self.circular:
            self.circular.check()

    def genome(self, number: int) -> Genome:
        """One of the genomes; a file is opened anew, so that none stays open."""
        given = self._given[number]
        if isinstance(given, Genome):
            return self.view(given)
        genome = self._unopened(number, given)
        if not os.path.isfile(given):  # a pipe cannot be opened twice
            self._given[number] = genome
        return self.view(genome)

    def _unopened(self, number: int, path: Path) -> Genome:
        return Genome.unopened(path, self._keep(path), self._on_warning)

    @property
    def expected_letters(self) -> int | None:
        """About how many letters there are; None where that is unknown of a genome.

        Of many genomes some are looked at.
        """
        looked = range(0, len(self), -(-len(self) // LOOKED))
        expected = [self.genome(number).expected_letters for number in looked]
        known = [letters for letters in expected if letters is not None]
        if len(known) < len(expected):
            return None
        return sum(known) * len(self) // len(known)

    @property
    def can_reread(self) -> bool:
        """Whether the records of each can be read, and then searched."""
        return all(
            each.can_reread
            if isinstance(each, Genome)
            else os.path.isfile(each) or self._keep(each)
            for each in self._given
        )

    @property
    def paths(self) -> list[str]:
        """The paths of those that are files."""
        return [os.fspath(each) for each in self._given if not isinstance(each, Genome)]

    @property
    def sizes(self) -> list[int] | None:
        """Bytes of each file; None where one has no size."""
        if any(isinstance(each, Genome) or not os.path.isfile(each) for each in self._given):
            return None
        return [os.path.getsize(each) for each in self._given if not isinstance(each, Genome)]


def _as_it_is(genome: Genome) -> Genome:
    return genome


def as_genomes(
    genomes: Genome | Genomes | Path | Sequence[Genome | Path],
    check: bool = True,
    keep: Callable[[Path], bool] = keeps,
) -> Genomes:
    """Genomes of one, of several, or of a list that is named with `@` before its path.

    check: whether those of a list are opened at once, keep: which stay in memory, as for Genomes.
    """
    if isinstance(genomes, Genomes):
        return genomes
    if isinstance(genomes, str) and is_list(genomes):
        return Genomes(read_list(genomes), genomes, keep=keep, check=check)
    if not isinstance(genomes, list | tuple):
        path: Path = genomes  # type: ignore[assignment]
        one = genomes if isinstance(genomes, Genome) else Genome(path, keep=keep(path))
        return Genomes([one], named=False)
    if not genomes:
        raise InputError("there is no genome to search; give one or more")
    return Genomes(genomes, keep=keep, check=check)


@contextmanager
def _named_by(label: str) -> Iterator[None]:
    """Begin errors of a path that a list names with the list."""
    try:
        yield
    except InputError as error:
        if not is_list(label):
            raise
        raise InputError(f"{label}: {error}") from error
