"""Hits for eyes: the pattern above the text, differences in colour."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from kmatch.results.files.sending import Sender
from kmatch.results.formats.searched import Searched
from kmatch.results.hits import HitBatch
from kmatch.sequences.patterns import pattern_set

ROWS = 1 << 10  # aligned at a time
GAP = "-"
DIFFERENCE, PLAIN = "\x1b[1;31m", "\x1b[0m"
LEAST = 10  # columns of an alignment in a line, on however narrow a screen
_TITLES = ("pattern ", "        ", "text    ")


class Screen(NamedTuple):
    """width: characters of a line; colour: whether differences have one."""

    width: int
    colour: bool


FILE = Screen(80, False)


class ViewWriter(Sender):
    """Writes HitBatches as a paragraph a hit.

    Its first line has the place, the strand, the pattern's name and the distance. Below them stand
    the pattern and, in its direction, the text, `|` between letters that match, a gap as `-`.
    """

    def __init__(self, handle: Any, searched: Searched) -> None:
        super().__init__(handle)
        panel = pattern_set(searched.patterns)
        self._names = panel.names
        self._letters = [letters.upper().replace("U", "T") for letters in panel.sequences]
        self._pam_first = searched.pam_first
        self._screen = searched.screen or FILE

    def write(self, batch: HitBatch) -> None:
        """Write a HitBatch."""
        for first in range(0, len(batch), ROWS):
            lines = self._lines(batch, slice(first, first + ROWS))
            self._send("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))

    def _lines(self, batch: HitBatch, rows: slice) -> Iterator[str]:
        names, which = batch.record_names(rows)
        columns = batch.align(rows)
        ops, text = columns.ops.tobytes().decode(), columns.text.tobytes().decode()
        places = (which, *(getattr(batch, name)[rows] for name in ("start", "end", "minus")))
        kinds = (batch.pattern[rows], batch.distance[rows])
        parts = (pairwise(columns.op_ends.tolist()), pairwise(columns.text_ends.tolist()))
        values = (*(column.tolist() for column in (*places, *kinds)), *parts)
        for record, start, end, minus, pattern, distance, op, letters in zip(*values, strict=True):
            strand = "-" if minus else "+"
            place = f"{names[record]}:{start}-{end} {strand}"
            yield f"{place} {self._names[pattern]}, distance {distance}"
            yield from self._alignment(
                ops[slice(*op)], self._letters[pattern], text[slice(*letters)]
            )
            yield ""

    def _alignment(self, ops: str, pattern: str, text: str) -> Iterator[str]:
        above, below = laid_out(ops, pattern, text, self._pam_first)
        marks = "".join("|" if op == "=" else " " for op in ops)
        width = max(self._screen.width - len(_TITLES[0]), LEAST)
        for first in range(0, len(ops), width):
            part = slice(first, first + width)
            for title, line in zip(_TITLES, (above, marks, below), strict=True):
                coloured = self._coloured(line[part], ops[part]) if title.strip() else line[part]
                yield f"{title}{coloured}".rstrip()

    def _coloured(self, letters: str, ops: str) -> str:
        if not self._screen.colour:
            return letters
        return "".join(
            letter if op == "=" else f"{DIFFERENCE}{letter}{PLAIN}"
            for letter, op in zip(letters, ops, strict=True)
        )


def laid_out(ops: str, pattern: str, text: str, pam_first: bool) -> tuple[str, str]:
    """The two lines of an alignment, one above the other; gaps are `-`.

    Letters of a PAM are those of the text that they matched.
    """
    beside = len(ops) - ops.count("D") - len(pattern)
    number, above, below = -beside if pam_first else 0, "", ""
    texts = iter(text)
    for op in ops:
        letter = GAP if op == "I" else next(texts)
        below += letter
        if op == "D":
            above += GAP
            continue
        above += pattern[number] if 0 <= number < len(pattern) else letter
        number += 1
    return above, below
