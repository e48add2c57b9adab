"""Cells of tables, and the lines that they make: words, by number, texts and numbers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bools, Bytes, Longs, Objects, bounds_of, gather, run_starts
from kmatch.engine.types import CIGAR, MOST_EDITS, NUMBER, Texts
from kmatch.jit.entries import entry
from kmatch.results.batches import Batch

fill_lines = entry(
    "kmatch.results.kernels:fill_lines", tuple[Bools, Longs, Longs, Longs, Bytes, Bytes]
)

# Characters of a number and of the CIGAR of an alignment that is a number, at the most.
WIDEST = {NUMBER: 20, CIGAR: 4 * (2 * MOST_EDITS + 1)}
NO_LETTERS = np.zeros(0, np.uint8)
HEADINGS = {"record": "sequence", "sequence": "product"}


def heading_of(column: str) -> str:
    """Return the heading of a column in TSV, which is its name but for HEADINGS."""
    return HEADINGS.get(column, column)


class Names:
    """Words that many rows share, by number."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = list(words)

    @property
    def words(self) -> list[str]:
        return self._words

    @cached_property
    def texts(self) -> Texts:
        """The words side by side."""
        encoded = [word.encode("utf-8", "surrogateescape") for word in self.words]
        bounds = bounds_of([len(word) for word in encoded])
        return Texts(bounds, np.frombuffer(b"".join(encoded), np.uint8))

    @cached_property
    def quoted(self) -> "Names":
        """The same with the quotes that CSV wants."""
        return Names(map(_quoted, self.words))


def _quoted(word: str) -> str:
    if not any(mark in word for mark in ',"\r\n'):
        return word
    doubled = word.replace('"', '""')
    return f'"{doubled}"'


class Named(NamedTuple):
    """Cells that are among Names; which: int[n], by number."""

    names: Names
    which: Any


class TextCells(NamedTuple):
    """Cells with a text each; runs: whether its letters are alignment columns, for a CIGAR."""

    texts: Texts
    runs: bool = False


class Edits(NamedTuple):
    """Cells with the CIGAR of an alignment each, as numbers (see KINDS), int64[n]."""

    numbers: Longs


Cells = Named | TextCells | Edits | NDArray[Any]  # an array of numbers
Fields = Sequence[tuple[str, Cells]]  # what stands before each cell of a line, and the cells


def words_of(words: Iterable[str]) -> Named:
    """Return cells of their words."""
    names = Names(words)
    return Named(names, np.arange(len(names.words)))


@dataclass(eq=False)
class Carriers:
    """Samples that may carry alleles.

    names: of all samples, each behind a comma; copies: uint8[w], a bit for each copy; two
    copies in turn are of one sample.
    """

    names: Names
    copies: Bytes


class CarrierNames(Names):
    """No name, and behind it the names of each of some Carriers, comma separated."""

    def __init__(self, carriers: Sequence[Carriers]) -> None:
        self._carriers = carriers

    @cached_property
    def texts(self) -> Texts:
        """The words side by side.

        copies of carriers 0, 1   10 00 11 | 00 00 01
        row, sample               (0, 0) (0, 2) | (1, 2)
        names                     ",a" ",b" ",c"
        words                     "" "a,c" "c"
        """
        if not self._carriers:
            return Texts(bounds_of([0]), NO_LETTERS)
        name_bounds, letters = self._carriers[0].names.texts
        sample_count = len(name_bounds) - 1
        # A row for each Carriers, a flag for each copy; and the samples of whose copies one is set.
        copies = np.stack([each.copies for each in self._carriers])
        flags = np.unpackbits(copies, axis=1, count=2 * sample_count, bitorder="little")
        either = flags[:, ::2] | flags[:, 1::2]
        row, sample = np.nonzero(either)

        # The first name of a row goes without its comma.
        skipped = np.zeros(len(row), np.int64)
        skipped[run_starts(row)] = 1
        parts_bounds = bounds_of(np.diff(name_bounds)[sample] - skipped)
        parts = gather(letters, name_bounds[sample] + skipped, parts_bounds)

        # Where the parts of each row begin, and the last ones end, behind the word without letters.
        rows = np.arange(len(copies) + 1)
        word_bounds = parts_bounds[np.searchsorted(row, rows)]
        return Texts(np.append(0, word_bounds), parts)

    @property
    def words(self) -> list[str]:
        bounds, letters = self.texts
        return [
            letters[start:end].tobytes().decode("utf-8", "surrogateescape")
            for start, end in pairwise(bounds.tolist())
        ]


def shared(objects: Objects, names: Callable[[list[Any]], Names]) -> Named:
    """Return cells of objects, where many rows share an object and most have none.

    names(objects): the Names of the objects, each once, behind the name of none.
    """
    filled_rows = np.flatnonzero(objects.astype(np.bool_))
    filled = objects[filled_rows]
    numbers = {each: number for number, each in enumerate(dict.fromkeys(filled), 1)}
    which = np.zeros(len(objects), np.int64)
    which[filled_rows] = [numbers[each] for each in filled]
    return Named(names(list(numbers)), which)


def same(word: str, batch: Batch) -> Named:
    """Return cells that hold one word."""
    return Named(Names([word]), np.zeros(len(batch), np.int64))


def record_cells(batch: Batch, name: Callable[[str], str] = str) -> Named:
    """Return the names of records, as `name` writes them."""
    names, which = batch.record_names()
    return Named(Names(map(name, names)), which)


def number_word(number: float, form: str, missing: str = "") -> str:
    """Return a number in a form such as `.3f`; `missing` where it is none."""
    return format(number, form) if isfinite(number) else missing


class _KernelField(NamedTuple):
    """A field of n lines as the kernel takes it.

    values: integers[n], numbers, or which of the texts each cell is; size: the bytes of all cells,
    or more; kind: NUMBER or CIGAR, of numbers; texts: where values tell these; is_runs: whether
    texts are alignment columns.
    """

    values: Any
    size: int
    kind: int = NUMBER
    texts: Texts | None = None
    is_runs: bool = False


def _kernel_field(cells: Cells) -> _KernelField:
    if isinstance(cells, TextCells):
        rows = np.arange(len(cells.texts.bounds) - 1)
        size = len(cells.texts.letters)
        if cells.runs:
            size *= 2  # a run of one column takes two bytes, the most that a column can take
        return _KernelField(rows, size, texts=cells.texts, is_runs=cells.runs)
    if isinstance(cells, Named):
        texts = cells.names.texts
        sizes = np.diff(texts.bounds)
        return _KernelField(cells.which, int(sizes[cells.which].sum()), texts=texts)
    if isinstance(cells, Edits):
        size = WIDEST[CIGAR] * len(cells.numbers)
        return _KernelField(cells.numbers, size, kind=CIGAR)
    return _KernelField(cells, WIDEST[NUMBER] * len(cells))


def lines_of(fields: Fields) -> memoryview:
    """Return the lines of cells.

    All texts get numbers: first the texts before each cell, then the texts of each field.

        fields   ("", record)  ("\\t", start)  ("\\t", strand)    record: chr1 chr2, strand: + -
        texts    0 ""  1 "\\t"  2 "\\t"  |  3 chr1  4 chr2  |  5 +  6 -
        begins   3  NUMBER  5
    """
    separators = Names(before for before, _ in fields).texts
    kernel_fields = [_kernel_field(cells) for _, cells in fields]
    # The number of the first text of each field.
    texts = [separators]
    begins = []
    text_count = len(fields)
    for field in kernel_fields:
        if field.texts is None:
            begins.append(field.kind)
        else:
            begins.append(text_count)
            texts.append(field.texts)
            text_count += len(field.texts.bounds) - 1
    # A line takes its cells, what stands before these, and one byte for its end.
    line_count = len(kernel_fields[0].values)
    size = line_count * (len(separators.letters) + 1)
    size += sum(field.size for field in kernel_fields)
    lines = np.empty(size, np.uint8)
    values = np.concatenate([field.values for field in kernel_fields])
    text_sizes = np.concatenate([np.diff(each.bounds) for each in texts])
    written = fill_lines(
        np.array([field.is_runs for field in kernel_fields]),
        np.array(begins),
        values.astype(np.int64, copy=False),
        bounds_of(text_sizes),
        np.concatenate([each.letters for each in texts]),
        lines,
    )
    return memoryview(lines.data)[:written]


def words_in(cells: TextCells | Edits) -> NDArray[Any]:
    """Return the word of each cell, object[n]."""
    lines = str(lines_of([("", cells)]), "ascii")
    return np.array(lines.split("\n")[:-1], object)
