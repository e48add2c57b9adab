"""Hits for eyes: the pattern above the text, differences in colour."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from kmatch.results.batches import HitBatch
from kmatch.results.columns import take_rows
from kmatch.results.formats.searched import Screen, Searched
from kmatch.results.output import Sender
from kmatch.sequences.patterns import pattern_set

ROWS = 1 << 10  # aligned at a time
GAP = "-"
DIFFERENCE, PLAIN = "\x1b[1;31m", "\x1b[0m"
AROUND = 5  # letters of the text on either side
COMPLEMENT = str.maketrans("acgturyswkmbdhvn", "tgcaayrswmkvhdbn")
LEAST = 10  # columns of an alignment in a line, even on a narrow screen
_TITLES = ("pattern ", "        ", "text    ")


FILE = Screen(80, False)


class ViewWriter(Sender):
    """Writes HitBatches as a paragraph a hit.

    Its first line has the interval, the strand, the pattern's name and the distance. Below them
    stand the pattern and, in its direction, the text, `|` between letters that match, a gap as `-`.
    A few letters on either side of the text are in lower case.
    """

    def __init__(self, handle: Any, searched: Searched) -> None:
        super().__init__(handle)
        panel = pattern_set(searched.patterns)
        self._names = panel.names
        self._patterns = [letters.upper().replace("U", "T") for letters in panel.sequences]
        self._pam_first = searched.pam_first
        self._screen = searched.screen or FILE
        self._letters_of = searched.letters

    def write(self, batch: HitBatch) -> None:
        """Write a HitBatch."""
        for first in range(0, len(batch), ROWS):
            lines = self._lines(batch, slice(first, first + ROWS))
            self._send("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))

    def _lines(self, batch: HitBatch, rows: slice) -> Iterator[str]:
        names, which = batch.record_names(rows)
        numbers = batch.record[rows].tolist()
        columns = take_rows(batch.aligned, rows)
        ops, text = columns.ops.tobytes().decode(), columns.text.tobytes().decode()
        intervals = (which, *(getattr(batch, name)[rows] for name in ("start", "end", "minus")))
        kinds = (batch.pattern[rows], batch.distance[rows])
        parts = (pairwise(columns.op_ends.tolist()), pairwise(columns.text_ends.tolist()))
        values = (*(column.tolist() for column in (*intervals, *kinds)), *parts)
        genome = "" if batch.origin.name is None else f"{batch.origin.name} "
        for number, row in zip(numbers, zip(*values, strict=True), strict=True):
            record, start, end, minus, pattern, distance, op, letters = row
            where = f"{genome}{names[record]}:{start}-{end} {'-' if minus else '+'}"
            yield f"{where} {self._names[pattern]}, distance {distance}"
            aligned = ops[slice(*op)], self._patterns[pattern], text[slice(*letters)]
            around = self._around((batch.origin.number, number), start, end, minus)
            yield from self._alignment(aligned, around)
            yield ""

    def _around(self, record: tuple[int, int], start: int, end: int, minus: int) -> tuple[str, str]:
        """Letters before and behind a hit, as the pattern reads them.

        record: the numbers of the genome and of the record.
        """
        if self._letters_of is None:
            return "", ""
        first = max(start - AROUND, 0)
        letters = self._letters_of(*record, first, end + AROUND).tobytes().decode("latin-1").lower()
        before, behind = letters[: start - first], letters[end - first :]
        if minus:
            before, behind = (part[::-1].translate(COMPLEMENT) for part in (behind, before))
        return before, behind

    def _alignment(self, aligned: tuple[str, str, str], around: tuple[str, str]) -> Iterator[str]:
        before, behind = around
        above, below = laid_out(*aligned, self._pam_first)
        ops = "=" * len(before) + aligned[0] + "=" * len(behind)
        marks = "".join("|" if op == "=" else " " for op in aligned[0])
        lines = [f"{' ' * len(before)}{line}{' ' * len(behind)}" for line in (above, marks)]
        lines.append(before + below + behind)
        width = max(self._screen.width - len(_TITLES[0]), LEAST)
        for first in range(0, len(ops), width):
            part = slice(first, first + width)
            for title, line in zip(_TITLES, lines, strict=True):
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
