"""Several genomes, searched one after another, and the file that lists them."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kmatch.errors import InputError
from kmatch.genome import SEARCHED, Genome
from kmatch.sequences.circles import Circular
from kmatch.sequences.names import clean_names, shown, warn
from kmatch.sequences.readers.files import check_readable, label_of, open_source, reading

if TYPE_CHECKING:
    from kmatch.search.shards.extents import Extent

LIST = "@"  # before the path of a file that lists genomes
LOOKED = 16  # genomes of which all letters are estimated
Path = str | os.PathLike[str]


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
        on_warning: Callable[[str], None] = warn,
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
    def extent(self) -> "Extent | None":
        """Where a larger genome has the one that is searched, if it is a shard."""
        only = self._given[0]
        return only.extent if isinstance(only, Genome) else None

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


def is_list(path: str) -> bool:
    """Whether a path names a file that lists genomes."""
    return path.startswith(LIST)


@contextmanager
def _named_by(label: str) -> Iterator[None]:
    """Begin errors of a path that a list names with the list."""
    try:
        yield
    except InputError as error:
        if not is_list(label):
            raise
        raise InputError(f"{label}: {error}") from error


def read_list(path: str) -> list[str]:
    """The paths that a list names, one a line, relative to the current folder.

    path: that of the list behind `@`, `-` for standard input. Blank lines and those that begin with
    `#` are skipped. Raises InputError for a list that names none, or standard input.
    """
    with open_source(path.removeprefix(LIST)) as source, reading(source.label):
        lines = [line.strip() for line in source.handle.read().splitlines()]
        names = [os.fsdecode(line) for line in lines if line and not line.startswith(b"#")]
    label = f"{LIST}{source.label}"
    if not names:
        raise InputError(f"{label}: the list names no genome; write the path of one a line")
    if "-" in names:
        raise InputError(f"{label}: a list names files, and '-' is none; give - in place of it")
    if odd := next((name for name in names if name.startswith((">", ";"))), None):
        raise InputError(
            f"{label}: '{odd[:40]}' begins a sequence file; a list has the path of a genome a "
            f"line, and the genome itself is given without the {LIST}"
        )
    return names
