"""How long the longest record of a genome is, heard while it is searched."""

from kmatch.sequences.chunks import Spans


class LongestRecord:
    """`letters`: of the longest record so far, or more than a chunk shows of it."""

    def __init__(self) -> None:
        self.letters = 0

    def hear(self, spans: Spans) -> None:
        """Take the records in a chunk."""
        self.letters = max(self.letters, int(spans.lengths.max(initial=0)))
