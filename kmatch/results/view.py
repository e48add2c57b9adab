"""Hits for eyes: a paragraph a hit, with its alignment."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from kmatch.results.batches import HitBatch
from kmatch.results.columns import HitRows, Screen, flanks, listed
from kmatch.results.writer import Fields, Writer

GAP = "-"
DIFFERENCE, PLAIN = "\x1b[1;31m", "\x1b[0m"
AROUND = 5  # letters of the text on either side
LEAST = 10  # columns of an alignment in a line, even on a narrow screen
FILE = Screen(80, False)
_TITLES = ("pattern ", "        ", "text    ")


class ViewWriter(Writer):
    """Writes a paragraph a hit.

    Its first line has the interval, the strand, the pattern's name and the distance. Below them
    stand the pattern and, in its direction, the text, `|` between letters that match, a gap as `-`.
    A few letters on either side of the text are in lower case.
    """

    def __init__(self, handle: Any, rows: HitRows) -> None:
        self._patterns = [word.upper().replace("U", "T") for word in rows.panel.sequences]
        self._screen = rows.screen or FILE
        super().__init__(handle, rows)

    def fields(self, batch: HitBatch) -> Fields:
        return [("", listed("".join(f"{line}\n" for line in each) for each in self._hits(batch)))]

    def _hits(self, batch: HitBatch) -> Iterator[Iterator[str]]:
        """The lines of each hit but the last, which is empty."""
        op_ends, ops, text_ends, text = batch.aligned
        letters, bases = ops.tobytes().decode(), text.tobytes().decode()
        columns = (batch.record, batch.start, batch.end, batch.minus, batch.pattern, batch.distance)
        parts = (pairwise(op_ends.tolist()), pairwise(text_ends.tolist()))
        hits = zip(*(each.tolist() for each in columns), *parts, strict=True)
        for (*hit, op, base), beside in zip(hits, flanks(batch, self.rows, AROUND), strict=True):
            yield self._lines(batch, hit, letters[slice(*op)], bases[slice(*base)], beside)

    def _lines(
        self, batch: HitBatch, hit: list[int], ops: str, text: str, beside: tuple[str, str]
    ) -> Iterator[str]:
        record, start, end, minus, pattern, distance = hit
        genome = "" if batch.origin.name is None else f"{batch.origin.name} "
        where = f"{genome}{batch.names[record]}:{start}-{end} {'-' if minus else '+'}"
        yield f"{where} {self.rows.labels.words[pattern]}, distance {distance}"
        above, below = laid_out(ops, self._patterns[pattern], text, self.rows.pam_first)
        before, behind = map(str.lower, beside)
        marks = "".join("|" if op == "=" else " " for op in ops)
        lines = [f"{' ' * len(before)}{line}{' ' * len(behind)}" for line in (above, marks)]
        lines.append(before + below + behind)
        ops = "=" * len(before) + ops + "=" * len(behind)
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
