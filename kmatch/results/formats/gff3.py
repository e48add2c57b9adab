"""Hits as GFF3."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.results.batches import HitBatch
from kmatch.results.columns import take_rows
from kmatch.results.formats.lines import gff3_lines
from kmatch.results.output import Sender
from kmatch.results.tables.hits import ROWS, named_at_end, rows_of, side_by_side
from kmatch.results.tables.lines import DIGITS, Names
from kmatch.sequences.patterns import Pattern, pattern_set

HEADER = "##gff-version 3\n"
# Text before a hit's start, number, name, distance and CIGAR.
_WORDS = ("\tkmatch\tnucleotide_match\t", ".\tID=hit", ";Name=", ";distance=", ";cigar=")
# Bytes that GFF3 wants escaped.
_IN_SEQUENCE = re.compile(rb"[^a-zA-Z0-9.:^*$@!+_?|-]")
_IN_VALUE = re.compile(rb"[\x00-\x1f\x7f%;=&,]")


class Gff3Writer(Sender):
    """Writes the header, and HitBatches as a line a hit: a `nucleotide_match`, numbered from 1.

    A circular record has a line of its own before its hits, of which those over the origin end
    behind its last letter.

    patterns: list of Pattern.
    """

    def __init__(self, handle: Any, patterns: Sequence[Pattern]) -> None:
        super().__init__(handle)
        panel = pattern_set(patterns)
        self._labels = side_by_side(map(_escaper(_IN_VALUE), panel.names))
        self._lengths = panel.lengths
        self._words = tuple(np.frombuffer(word.encode(), np.uint8) for word in _WORDS)
        self._number = 1
        self._circles: set[tuple[int, int]] = set()  # those that have their lines
        self._send(HEADER.encode())

    def write(self, batch: HitBatch) -> None:
        """Write a HitBatch."""
        name = batch.origin.name
        genome = None if name is None else _escaper(_IN_VALUE)(name)
        cuts = [0, len(batch)]
        if batch.origin.circles and len(batch):
            cuts[1:1] = (np.flatnonzero(np.diff(batch.record)) + 1).tolist()
        for begin, end in pairwise(cuts):
            if begin < end:
                self._send_circle(batch, int(batch.record[begin]), genome)
            for first in range(begin, end, ROWS):
                lines = self._lines(batch, slice(first, min(first + ROWS, end)))
                self._send(named_at_end(lines, ";genome=", genome))

    def _send_circle(self, batch: HitBatch, record: int, genome: str | None) -> None:
        size = (batch.origin.circles or {}).get(record)
        circle = batch.origin.number, record
        if size is None or circle in self._circles:
            return
        self._circles.add(circle)
        name = _escaper(_IN_SEQUENCE)(batch.names[record])
        line = f"{name}\tkmatch\tregion\t1\t{size}\t.\t+\t.\tIs_circular=true"
        ending = "\n" if genome is None else f";genome={genome}\n"
        self._send((line + ending).encode("utf-8", "surrogateescape"))

    def _lines(self, batch: HitBatch, rows: slice) -> memoryview:
        found, _ = rows_of(batch, rows)
        names = self._names(batch, rows)
        columns = take_rows(batch.aligned, rows)
        size = np.diff(names.ends)[found.record].sum()
        size += np.diff(self._labels.ends)[found.pattern].sum()
        size += len(found.record) * (5 * DIGITS + sum(map(len, self._words)) + 8)
        out = np.empty(int(size) + 2 * len(columns.ops), np.uint8)
        words = (self._number, *self._words)
        written = gff3_lines(found, names, self._labels, self._lengths, columns, words, out)
        self._number += len(found.record)
        return memoryview(out.data)[:written]

    def _names(self, batch: HitBatch, rows: slice) -> Names:
        names, _ = batch.record_names(rows)
        return side_by_side(map(_escaper(_IN_SEQUENCE), names))


def _escaper(unfit: re.Pattern[bytes]) -> Callable[[str], str]:
    """A function that writes the bytes of a name that do not fit as `%` and two digits."""

    def escape(name: str) -> str:
        data = name.encode("utf-8", "surrogateescape")
        return unfit.sub(lambda byte: b"%%%02X" % byte[0][0], data).decode(
            "utf-8", "surrogateescape"
        )

    return escape
