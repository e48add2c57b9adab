"""k mismatches by comparing every window with every pattern."""

from typing import Any

from kmatch.engine.codes import Coding
from kmatch.search.mismatches.windows import WindowScans
from kmatch.search.panels.pam import Pam
from kmatch.search.panels.panel import Request, build_panel, exact_ends
from kmatch.search.scanning.chunks import PackedChunk
from kmatch.search.scanning.scan import Scanner
from kmatch.sequences.patterns import pattern_set


class WindowSearch(WindowScans):
    """Compares every window of chunks with every pattern.

    engine: of a device; pam: a Pam that must stand beside every pattern, or
    None.
    """

    def __init__(self, engine: Any, request: Request, pam: Pam | None = None) -> None:
        self._engine, self._request = engine, request
        patterns = pattern_set(request.patterns)
        exact = exact_ends(patterns, request.k, request.ends)
        if pam:
            exact = pam.beside_each(exact, pam.every_letter, len(patterns))
            patterns = pam.join_all(patterns)
        self.panel = build_panel(patterns, request.k, request.strand, exact)
        self._scanner = Scanner(engine, Coding(len(self.panel.lengths), request.k))

    def _start(self, chunk: PackedChunk, capacity: int) -> Any:
        letters = self.panel.letters
        text = chunk.text(letters.masks, self._engine)
        return self._engine.start_scan(text, letters, self._request.k, capacity)
