"""The genomes that are searched, one or several, and the file that lists them."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from mmap import mmap
from threading import RLock
from typing import Any, Self
from zlib import crc32

import numpy as np

from kmatch.arguments import GAP_READINGS, Gaps, check_choice
from kmatch.arrays import Bytes, Longs, Words
from kmatch.errors import InputError, NameWarning, counted, listed, shown, warn
from kmatch.jit.entries import entry
from kmatch.packed.reader import PackedFile, open_packed, parts_of_pipe
from kmatch.packed.writer import MAGIC as PACKED
from kmatch.sequences.alphabet import check_letters, reading_of, without_gaps
from kmatch.sequences.circles import Circular
from kmatch.sequences.files import (
    HEAD,
    MAGIC,
    check_readable,
    is_list,
    label_of,
    read_list,
    size_of,
)
from kmatch.sequences.others import read_parts
from kmatch.sequences.patterns import text_of
from kmatch.sequences.records import (
    Ahead,
    Progress,
    Record,
    RecordNames,
    Stretch,
    clean_names,
    gathered,
    in_turn,
    stretch_of,
    whole_records,
)
from kmatch.sequences.selection import Selection, load_selection

FORMATS = [(PACKED, parts_of_pipe)]  # beside those of files of sequences
COMPRESSION = 4  # letters a byte of a compressed file
LOOKED = 16  # genomes of which all letters are estimated
SMALL = 1 << 27  # bytes of a file that is kept in memory where it is read again
Path = str | os.PathLike[str]
first_repeated = entry("kmatch.engine.cpu.reading:first_repeated", tuple[Bytes, Longs, Words])
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

    gaps: how `-` and `.` in FASTA and GenBank are taken. With `drop` they are left out, and
    positions count in the sequence without them. With `unknown` they are unknown letters, as N is.
    By default they are an error, since an alignment is seldom meant, and since `.` may also stand
    for the letter above it.

    Raises InputError for a file that cannot be opened, and, when it is read, for one that cannot be
    used. Names that could not stay as they are give a warning then.

        genome = kmatch.Genome("genome.fa.gz")
        small = kmatch.Genome.from_records([("chr1", "ACGTTGCA")])
    """

    selection: Selection | None = None  # of the records of a file, None for all

    def __init__(self, path: Path, *, keep: bool = True, gaps: Gaps | None = None) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"a genome is {shown(repr(path))}; {SEARCHED}")
        if isinstance(path, str) and _ACGT.fullmatch(path) and not os.path.exists(path):
            raise InputError(f"there is no file '{shown(path)}'; {SEARCHED}")
        check_readable(path)
        self._begin(path, label_of(path), keep, gaps)

    def _begin(self, path: Any, label: str, keep: bool, gaps: Gaps | None = None) -> None:
        if gaps is not None:
            check_choice("gaps", gaps, GAP_READINGS)
        self.path, self.label, self.keep = path, label, keep
        self.gaps = gaps
        self.circles: dict[str, None] = {}  # records that are circles by the file, once it is read
        self._kept: list[Stretch] | None = None
        self._lock = RLock()  # held while what is kept is read

    @classmethod
    def from_records(cls, records: Iterable[Any], *, gaps: Gaps | None = None) -> Self:
        """Return a Genome of (name, sequence) pairs, or of Biopython's SeqRecords, named by their
        ids.

        Sequences are str, bytes, uint8 arrays of ASCII or Seqs of Biopython's. gaps: as for a file.
        Raises InputError for other sequences, and for letters that stand for no nucleotide.
        """
        genome = cls.__new__(cls)
        genome._begin("", "records in memory", True, gaps)
        reading = reading_of(gaps)
        parts = []
        for number, record in enumerate(records, 1):
            if hasattr(record, "seq"):
                record = record.id, record.seq
            if not (isinstance(record, tuple | list) and len(record) == 2):
                raise InputError(
                    f"record {number} is {shown(repr(record))}; give pairs, (name, sequence)"
                )
            name, sequence = record
            if not isinstance(name, str):
                raise InputError(f"the name of record {number} is {name!r}; give a str")
            letters = _letters(name, text_of(sequence))
            check_letters((genome.label, number, name), letters, reading)
            parts.append(stretch_of(name, without_gaps(letters, gaps)))
        genome._kept = list(genome._cleaned(gathered(parts)))
        return genome

    @classmethod
    def of_stretches(cls, label: str, stretches: Iterable[Stretch]) -> Self:
        """Return a Genome of Stretches of whole records, whose names are clean."""
        genome = cls.__new__(cls)
        genome._begin("", label, True)  # which is no path
        genome._kept = list(stretches)
        return genome

    @classmethod
    def of_packed(cls, label: str, data: bytearray) -> Self:
        """Return a Genome of the contents of a packed file."""
        genome = cls.of_stretches(label, [])
        genome._kept, vars(genome)["file"] = None, PackedFile(data, label)
        return genome

    def __len__(self) -> int:
        """Return the number of records; like `names`, it reads the file first."""
        return len(self.sizes[0])

    def __bool__(self) -> bool:
        return True  # without reading

    def __repr__(self) -> str:
        held = vars(self)
        if not ("sizes" in held or held.get("file") or self._kept is not None):
            return f"<Genome {self.label!r}, not read yet>"
        names, lengths = self.sizes
        first = ", ".join(map(shown, names[:NAMED]))
        more = f" ({first}{', …' if len(names) > NAMED else ''})" if names else ""
        records = counted(len(names), "record")
        return f"<Genome {self.label!r}: {records}{more}, {int(lengths.sum()):,} letters>"

    @property
    def names(self) -> list[str]:
        """Names of the records, in order; reads the file first."""
        return list(self.sizes[0])

    @property
    def lengths(self) -> Longs:
        """Letters of each record, int64[n]; reads the file first."""
        return self.sizes[1]

    def anew(self) -> "Genome":
        """Return the Genome of the same file, not opened yet; of all else itself."""
        if not os.path.isfile(self.path):
            return self
        genome = Genome.__new__(Genome)
        genome._begin(self.path, self.label, self.keep, self.gaps)
        genome.circles = self.circles
        return genome

    def only(self, selection: Selection | None) -> "Genome":
        """Return the Genome of the records that a Selection takes; itself for None."""
        return self if selection is None else _SelectedGenome(self, selection)

    @property
    def whole(self) -> "Genome":
        """The Genome of all records."""
        return self

    @property
    def can_reread(self) -> bool:
        """Whether the records can be read, and then searched."""
        return self.keep or os.path.isfile(self.path)

    @property
    def has_sizes(self) -> bool:
        """Whether names and lengths of the records are known without reading."""
        return self._kept is not None or self.file is not None

    @cached_property
    def sizes(self) -> tuple[RecordNames, Longs]:
        """Names and letters of the records; reads the file first.

        Raises InputError for a pipe that is not kept, as it could not be searched then.
        """
        if self.file:
            return self.file.names, self.file.sizes
        if not self.can_reread:
            raise InputError(
                f"{self.label}: the lengths of all records come before the first hit, and a "
                "pipe cannot be read twice; give a file"
            )
        return _names_and_lengths(self.parts())

    def __getstate__(self) -> dict[str, Any]:
        """Return the parts that another process needs; it opens a file itself."""
        state = {name: value for name, value in vars(self).items() if name not in ("_lock", "file")}
        if os.path.isfile(self.path):
            state["_kept"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock())

    @cached_property
    def head(self) -> bytes:
        """The first bytes of a file, at most HEAD; none of a pipe, which would lose them, and of a
        file that cannot be opened, which reading records reports."""
        if size_of(self.path):
            with suppress(OSError), open(self.path, "rb", buffering=0) as handle:
                return handle.read(HEAD)
        return b""

    @cached_property
    def file(self) -> PackedFile | None:
        """The packed genome that the path is, or None. Raises InputError where it is damaged."""
        is_packed = self._kept is None and self.head.startswith(PACKED)
        file = open_packed(self.path, self.label) if is_packed else None
        if file is not None:
            names = Stretch(file.names, file.sizes, np.zeros(0, np.uint8))
            [cleaned] = self._cleaned([names])
            file.names = cleaned.names
        return file

    @property
    def expected_letters(self) -> int | None:
        """About how many letters there are, estimated without reading them; None if unknown.

        A compressed file is taken to hold four letters a byte.
        """
        if self._kept is not None:
            return sum(len(part.letters) for part in self._kept)
        if self.file is not None:
            return sum(self.file.lengths)
        size = size_of(self.path)
        if not (size and self.head):
            return None
        if self.head.startswith(b"@"):
            return size // 2 or None  # the other half of FASTQ are qualities
        return size * (COMPRESSION if self.head.startswith(tuple(MAGIC.values())) else 1)

    def letters(self, record: str | int, start: int = 0, end: int | None = None) -> str:
        """Return the letters of a record, by name or number, from start to end, in upper case, T
        for U.

        Raises InputError where there is no such record, and where it has no such letters.
        """
        for number, each in enumerate(self.records()):
            if record in (number, each.name):
                size = len(each.letters)
                if not 0 <= start <= (size if end is None else end) <= size:
                    raise InputError(
                        f"'{shown(each.name)}' of {self.label} has {size:,} letters, and none from "
                        f"{start:,} to {size if end is None else end:,}"
                    )
                return each.letters[start:end].tobytes().decode("latin-1").upper().replace("U", "T")
        raise InputError(f"{self.label} has no record {record!r}")

    def records(self, on_progress: Progress | None = None) -> Iterator[Record]:
        """Iterate over the Records; `on_progress(consumed, size)` hears of bytes read."""
        return whole_records(self.parts(on_progress))

    def parts(
        self, on_progress: Progress | None = None, ahead: Ahead = in_turn
    ) -> Iterator[Stretch]:
        """Return the records as Stretches: short ones come together, long ones in parts.

        ahead: how a file is read (see `Workers.ahead`).
        """
        if self.file is not None:
            return self.file.stretches(on_progress)
        if self._kept is not None:
            return iter(self._kept)
        if not self.keep:
            return self._cleaned(self._read(on_progress, ahead))
        with self._lock:
            if self._kept is None:
                self._kept = list(self._cleaned(self._read(on_progress, ahead)))
            return iter(self._kept)

    def warn_of_circles(self) -> None:
        """Warn of records that were read and are circles by the file, once they are packed."""
        if self.circles:
            warn(
                f"{self.label}: circular by the file: {listed(list(self.circles))}; the packed "
                "genome does not say so, and is searched as linear without --circular (in Python: "
                "circular=)"
            )

    def _read(self, on_progress: Progress | None, ahead: Ahead) -> Iterator[Stretch]:
        """Return the Stretches of the file as they are read."""
        return read_parts(self.path, FORMATS, on_progress, ahead, self.gaps, self.circles)

    def _cleaned(self, parts: Iterable[Stretch]) -> Iterator[Stretch]:
        """Yield the Stretches, whose names have no control characters.

        Warns of names that had any, of a name that records share, and of a file without letters.
        """
        number = 0  # of records so far
        has_letters = False
        is_plain = True  # what was not warned of
        names_apart = _NamesApart(self.label)
        for part in parts:
            names = part.names
            if not names.are_plain:
                cleaned, control = clean_names(list(names))
                names = RecordNames.of(cleaned)
                if control is not None and is_plain:
                    is_plain = False
                    warn(
                        f"{self.label}: the name of record {number + control + 1} holds control "
                        "characters; '_' stands for each, there and in other records' names",
                        NameWarning,
                    )
            fresh = names[part.goes_on :]
            names_apart.add(fresh)
            number += len(fresh)
            has_letters = has_letters or bool(part.lengths.any())
            yield part._replace(names=names)
        if self.path and number and not has_letters:
            warn(f"{self.label}: no record has a letter; are they in the headers?")


class _NamesApart:
    """Warns of a name that records of a genome share, once; of the first COMPARED records."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._count = 0  # of names so far
        self._first: RecordNames | None = None  # of a single record, which shares it with none
        self._seen: Words | None = None  # hashes of all names so far, once there are two
        self._is_done = False

    def add(self, names: RecordNames) -> None:
        """Compare names with each other and with all before."""
        names = names[: max(COMPARED - self._count, 0)]
        if self._is_done or not len(names):
            return
        self._count += len(names)
        if self._count == 1:
            self._first = names
            return
        if self._seen is None:
            # Zeros, of memory that takes room where it is touched.
            self._seen = np.frombuffer(mmap(-1, 16 * COMPARED), np.uint64)
        if self._first is not None:
            names = RecordNames.joined([self._first, names])
            self._first = None
        repeated = first_repeated(names.letters, names.bounds, self._seen)
        if repeated >= 0:
            self._is_done = True
            warn(
                f"{self._label}: two records or more are named '{shown(names[repeated])}'"
                "; rows do not tell them apart",
                NameWarning,
            )


class _SelectedGenome(Genome):
    """The records of a Genome that a Selection takes, numbered as if there were no others."""

    def __init__(self, whole: Genome, selection: Selection) -> None:
        self._begin(whole.path, whole.label, whole.keep, whole.gaps)
        self.circles = whole.circles
        self.selection: Selection = selection
        self._whole = whole

    @property
    def whole(self) -> Genome:
        return self._whole

    @property
    def has_sizes(self) -> bool:
        return self._whole.has_sizes

    @cached_property
    def file(self) -> PackedFile | None:
        file = self._whole.file
        return file and file.only(self.selection.meet(file.names))

    @property
    def expected_letters(self) -> int | None:
        if self.has_sizes:
            return int(self.lengths.sum())
        return self._whole.expected_letters  # or fewer

    def parts(
        self, on_progress: Progress | None = None, ahead: Ahead = in_turn
    ) -> Iterator[Stretch]:
        if self.file is not None:
            return self.file.stretches(on_progress)
        return self.selection.narrowed(self._whole.parts(on_progress, ahead))


def as_genome(
    given: Genome | Path, rereads: bool | None = None, gaps: Gaps | None = None
) -> Genome:
    """Return a Genome as it is, or the Genome of a path.

    rereads: whether a pipe or a small file stays in memory, to be read again; None for any file;
    gaps: of a path, as Genome takes it.
    """
    if isinstance(given, Genome):
        return given
    genome = Genome(given, gaps=gaps)
    if rereads is not None:
        genome.keep = rereads and (size_of(given) or 0) < SMALL
    return genome


def _names_and_lengths(parts: Iterable[Stretch]) -> tuple[RecordNames, Longs]:
    names: list[RecordNames] = []
    lengths: list[int] = []
    for part in parts:
        first, *_ = sizes = part.lengths.tolist()
        if part.goes_on:
            lengths[-1] += first
        names.append(part.names[part.goes_on :])
        lengths += sizes[part.goes_on :]
    return RecordNames.joined(names), np.array(lengths, np.int64)


def _letters(name: str, sequence: Any) -> Bytes:
    if isinstance(sequence, str):
        sequence = sequence.encode("latin-1", "replace")
    if isinstance(sequence, bytes | bytearray | memoryview):
        return np.frombuffer(sequence, np.uint8)
    letters = np.asarray(sequence)
    if letters.dtype != np.uint8 or letters.ndim != 1:
        raise InputError(f"record '{name}': the sequence must be str, bytes or a uint8 array")
    return letters


class Genomes:
    """Genomes that a search goes through, each as if alone, in their order.

    given: one or a list of several, as Genomes or paths, which are read when their turn comes; or
    `@` and the path of a file that names one a line. Hits of a list tell their genome by its name,
    which `named` says. rereads: whether pipes and small files stay in memory, to be read again;
    gaps: of paths, as Genome takes it. Raises InputError for a path that cannot be opened, and for
    an empty list.
    """

    def __init__(
        self,
        given: Genome | Path | Sequence[Genome | Path],
        rereads: bool = True,
        gaps: Gaps | None = None,
    ) -> None:
        self.circular: Circular | None = None
        self.selection: Selection | None = None
        self._is_warned = False  # of records that are circles
        several: Any = given
        self.label = given if isinstance(given, str) and is_list(given) else ""
        if self.label:
            several = read_list(self.label)
        self.named = isinstance(several, list | tuple)
        if not self.named:
            several = [as_genome(several, rereads, gaps)]
        if not several:
            raise InputError("there is no genome to search; give one or more")
        try:
            self._genomes = [as_genome(each, rereads, gaps) for each in several]
        except InputError as error:
            raise InputError(f"{self.label}: {error}" if self.label else str(error)) from error
        self._opened = [not isinstance(each, Genome) for each in several]  # by their paths, here
        counts = Counter(str(each) for each in several if not isinstance(each, Genome))
        repeated = [path for path, count in counts.items() if count > 1]
        if repeated:
            warn(
                f"{listed(repeated)}: the genome is given more than once, and searched as often",
                NameWarning,
            )
        labels = [each.label for each in self._genomes]
        self.label = self.label or ", ".join(labels)
        self.names = clean_names(labels)[0]

    def __len__(self) -> int:
        return len(self._genomes)

    def with_circular(self, names: bool | Sequence[str]) -> "Genomes":
        """Take the records with these names for circular, all with True; return itself.

        With False nothing changes.
        """
        listed = isinstance(names, Collection) and not isinstance(names, str | bytes)
        if not (isinstance(names, bool) or (listed and all(isinstance(n, str) for n in names))):
            raise InputError(f"circular is {names!r}; give True, or a list of names of records")
        if names is not False:
            self.circular = Circular(None if names is True else names)
        return self

    def with_records(self, records: Any, skip_records: Any) -> "Genomes":
        """Search the records alone whose names fit globs and no glob to skip; return itself.

        records, skip_records: see `load_selection`.
        """
        self.selection = load_selection(records, skip_records)
        return self

    def check_names(self) -> None:
        """Raise InputError for a circular record, and for a glob, that was in no genome, and where
        globs leave no record.

        Warns of records that are circles by their files, and were searched as if they were not.
        """
        circular = self.circular
        if circular:
            circular.check(self.selection)
        if self.selection:
            self.selection.check()
        circles = dict.fromkeys(name for genome in self._genomes for name in genome.circles)
        if self.selection:
            circles = dict.fromkeys(filter(self.selection.takes, circles))
        linear = [name for name in circles if not (circular and circular.has(name))]
        if linear and not self._is_warned:
            self._is_warned = True
            warn(
                f"{self.label}: circular by the file, and searched as linear: {listed(linear)}; "
                "hits over the origin need --circular (in Python: circular=)"
            )

    def genome(self, number: int) -> Genome:
        """One of the genomes; a file is opened anew, so that none stays open."""
        genome = self._genomes[number]
        if self._opened[number]:
            genome = genome.anew()
        return genome.only(self.selection)

    @property
    def identity(self) -> Any:
        """Return an identity of the genomes: paths, and for records in memory names and letters."""
        held = (each for each in self._genomes if not each.path)
        records = (record for each in held for record in each.records())
        sums = [(record.name, crc32(record.letters[:].tobytes())) for record in records]
        return self.label, sums, self.selection and self.selection.globs

    @cached_property
    def expected_letters(self) -> int | None:
        """About how many letters there are; None where that is unknown of a genome.

        Of many genomes some are looked at: each is opened for it, and again when it is searched.
        """
        letters, looked = 0, range(0, len(self), -(-len(self) // LOOKED))
        for number in looked:
            expected = self.genome(number).expected_letters
            if expected is None:
                return None
            letters += expected
        return letters * len(self) // len(looked)

    @property
    def can_reread(self) -> bool:
        """Whether the records of each can be read, and then searched."""
        return all(each.can_reread for each in self._genomes)

    @property
    def paths(self) -> list[str]:
        """The paths of all that have one."""
        return [os.fspath(each.path) for each in self._genomes if each.path]


def as_genomes(
    genomes: Genome | Genomes | Path | Sequence[Genome | Path],
    rereads: bool = True,
    gaps: Gaps | None = None,
) -> Genomes:
    """Return Genomes as they are, or Genomes of anything that the type Genomes allows."""
    return genomes if isinstance(genomes, Genomes) else Genomes(genomes, rereads, gaps)
