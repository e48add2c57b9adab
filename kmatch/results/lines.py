"""Cells of tables, and the lines that they make: words, by number, texts and numbers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bools, Bytes, Longs, Objects, bounds_of, gather
from kmatch.engine.types import CIGAR, MOST_EDITS, NUMBER, Texts
from kmatch.jit.entries import entry
from kmatch.results.batches import Batch

fill_lines = entry(
    "kmatch.results.kernels:fill_lines", tuple[Bools, Longs, Longs, Longs, Bytes, Bytes]
)

WIDEST = {NUMBER: 20, CIGAR: 4 * (2 * MOST_EDITS + 1)}  # characters of an int64, of Edits


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
        return Texts(bounds_of(list(map(len, encoded))), np.frombuffer(b"".join(encoded), np.uint8))

    @cached_property
    def quoted(self) -> "Names":
        """The same with the quotes that CSV wants."""
        return Names(map(_quoted, self.words))


def _quoted(word: str) -> str:
    doubled = word.replace('"', '""')
    return f'"{doubled}"' if any(mark in word for mark in ',"\r\n') else word


class Named(NamedTuple):
    """Cells that are among Names; which: int[n], by number."""

    names: Names
    which: Any


class Spelt(NamedTuple):
    """Cells with a text each; runs: whether its letters are alignment columns, for a CIGAR."""

    texts: Texts
    runs: bool = False


class Edits(NamedTuple):
    """Cells with the CIGAR of an alignment each, as numbers (see KINDS), int64[n]."""

    numbers: Longs


Cells = Named | Spelt | Edits | NDArray[Any]  # an array of numbers
Fields = Sequence[tuple[str, Cells]]  # what stands before each cell of a line, and the cells


def words_of(words: Iterable[str]) -> Named:
    """Cells out of their words."""
    names = Names(words)
    return Named(names, np.arange(len(names.words)))


@dataclass(eq=False)
class Carriers:
    """Samples that may carry alleles.

    names: of all samples, each behind a comma; copies: uint8[w], a bit for each copy, of which two
    in turn are of one sample.
    """

    names: Names
    copies: Bytes


class CarrierNames(Names):
    """No name, and behind it the names of each of some Carriers, comma separated."""

    def __init__(self, carriers: Sequence[Carriers]) -> None:
        self._carriers = carriers

    @cached_property
    def texts(self) -> Texts:
        if not self._carriers:
            return Texts(bounds_of([0]), np.zeros(0, np.uint8))
        begins, letters = self._carriers[0].names.texts
        copies = np.stack([each.copies for each in self._carriers])
        count = 2 * (len(begins) - 1)
        flags = np.unpackbits(copies, axis=1, count=count, bitorder="little").view(np.uint16)
        row, sample = np.nonzero(flags)
        first = np.diff(row, prepend=-1) > 0  # has no comma
        bounds = bounds_of(np.diff(begins)[sample] - first)
        ends = bounds[np.searchsorted(row, np.arange(-1, len(copies)), side="right")]
        return Texts(np.append(0, ends), gather(letters, begins[sample] + first, bounds))

    @property
    def words(self) -> list[str]:
        ends, letters = self.texts
        pairs = pairwise(ends.tolist())
        return [letters[i:j].tobytes().decode("utf-8", "surrogateescape") for i, j in pairs]


def shared(objects: Objects, names: Callable[[list[Any]], Names]) -> Named:
    """Cells of objects, of which many rows have the same one, and most of those of the reference
    none; names(objects): their Names, for none first."""
    some = np.flatnonzero(objects.astype(np.bool_))
    numbers = {each: number for number, each in enumerate(dict.fromkeys(objects[some]), 1)}
    which = np.zeros(len(objects), np.int64)
    which[some] = [*map(numbers.__getitem__, objects[some])]
    return Named(names([*numbers]), which)


def same(word: str, batch: Batch) -> Named:
    """Cells that hold one word."""
    return Named(Names([word]), np.zeros(len(batch), np.int64))


def record_cells(batch: Batch, name: Callable[[str], str] = str) -> Named:
    """The names of records, as `name` writes them."""
    names, which = batch.record_names()
    return Named(Names(map(name, names)), which)


def number_word(number: float, form: str, missing: str = "") -> str:
    """A number in a form such as `.3f`; `missing` where it is none."""
    return format(number, form) if isfinite(number) else missing


def lines_of(fields: Fields) -> memoryview:
    """The lines of cells."""
    texts = [Names(before for before, _ in fields).texts]
    is_runs, begins, values, begin = [], [], [], len(fields)
    size = 0  # bytes that the lines take at the most
    for _, cells in fields:
        is_runs.append(isinstance(cells, Spelt) and cells.runs)
        if not isinstance(cells, Named | Spelt):
            begins.append(CIGAR if isinstance(cells, Edits) else NUMBER)
            values.append(cells.numbers if isinstance(cells, Edits) else cells)
            size += WIDEST[begins[-1]] * len(values[-1])
            continue
        if isinstance(cells, Spelt):
            text, which = cells.texts, np.arange(len(cells.texts.bounds) - 1)
        else:
            text, which = cells.names.texts, cells.which
        begins.append(begin)
        values.append(which)
        texts.append(text)
        begin += len(text.bounds) - 1
        # A run of one column takes two bytes, the most a column can take.
        size += int(np.diff(text.bounds)[which].sum()) * (1 + is_runs[-1])
    rows = len(values[0])
    out = np.empty(size + rows * (len(texts[0].letters) + 1), np.uint8)
    written = fill_lines(
        np.array(is_runs),
        np.array(begins),
        np.concatenate(values).astype(np.int64, copy=False),
        bounds_of(np.concatenate([np.diff(text.bounds) for text in texts])),
        np.concatenate([text.letters for text in texts]),
        out,
    )
    return memoryview(out.data)[:written]


def words_in(cells: Spelt | Edits) -> NDArray[Any]:
    """The word of each cell, object[n]."""
    return np.array(str(lines_of([("", cells)]), "ascii").split("\n")[:-1], object)
