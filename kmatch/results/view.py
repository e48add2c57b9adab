"""Hits for eyes: a paragraph a hit, with its alignment."""

from collections.abc import Iterator
from typing import Any

from kmatch.results.batches import HitBatch
from kmatch.results.lines import Fields, words_of
from kmatch.results.table import Hits, flanks
from kmatch.results.writer import Writer

GAP = "-"
DIFFERENCE, PLAIN = "\x1b[1;31m", "\x1b[0m"
AROUND = 5  # letters of the text on either side
LEAST = 10  # columns of an alignment in a line, even on a narrow screen
_TITLES = ("pattern ", "        ", "text    ")


class ViewWriter(Writer):
    """Writes a paragraph a hit.

    Its first line has the interval, the strand, the pattern's name and the distance. Below them
    stand the pattern, with the letters that its PAM matched, and, in its direction, the text, `|`
    between letters that match, a gap as `-`. A few letters on either side of the text are in lower
    case.
    """

    def __init__(self, handle: Any, table: Hits) -> None:
        self._patterns = [word.upper().replace("U", "T") for word in table.patterns.sequences]
        super().__init__(handle, table)

    def fields(self, batch: HitBatch) -> Fields:
        return [("", words_of("".join(f"{line}\n" for line in each) for each in self._hits(batch)))]

    def _hits(self, batch: HitBatch) -> Iterator[Iterator[str]]:
        """The lines of each hit but the last, which is empty."""
        columns = (batch.record, batch.start, batch.end, batch.minus, batch.pattern, batch.distance)
        words = [texts.words() for texts in batch.aligned]
        hits = zip(*(each.tolist() for each in columns), strict=True)
        around = flanks(batch, self.table, AROUND)
        for each in zip(hits, *words, around, strict=True):
            yield self._lines(batch, *each)

    def _lines(
        self, batch: HitBatch, hit: tuple[int, ...], ops: str, text: str, beside: tuple[str, str]
    ) -> Iterator[str]:
        record, start, end, minus, pattern, distance = hit
        genome = "" if batch.origin.name is None else f"{batch.origin.name} "
        where = f"{genome}{batch.names[record]}:{start}-{end} {'-' if minus else '+'}"
        yield f"{where} {self.table.labels.words[pattern]}, distance {distance}"
        word = self._patterns[pattern]
        size = len(ops) - ops.count("D") - len(word)  # letters of the PAM, which match
        pam = text[:size] if self.table.pam_first else text[len(text) - size :]
        word = pam + word if self.table.pam_first else word + pam
        letters, bases = iter(word), iter(text)
        above = "".join(GAP if op == "D" else next(letters) for op in ops)
        below = "".join(GAP if op == "I" else next(bases) for op in ops)
        before, behind = map(str.lower, beside)
        marks = "".join("|" if op == "=" else " " for op in ops)
        lines = [f"{' ' * len(before)}{line}{' ' * len(behind)}" for line in (above, marks)]
        lines.append(before + below + behind)
        ops = "=" * len(before) + ops + "=" * len(behind)
        width = max(self.table.width - len(_TITLES[0]), LEAST)
        for first in range(0, len(ops), width):
            part = slice(first, first + width)
            for title, line in zip(_TITLES, lines, strict=True):
                coloured = self._coloured(line[part], ops[part]) if title.strip() else line[part]
                yield f"{title}{coloured}".rstrip()

    def _coloured(self, letters: str, ops: str) -> str:
        if not self.table.colour:
            return letters
        return "".join(
            letter if op == "=" else f"{DIFFERENCE}{letter}{PLAIN}"
            for letter, op in zip(letters, ops, strict=True)
        )
