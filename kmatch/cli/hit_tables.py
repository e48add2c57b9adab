"""The tables that a search for patterns writes: its hits, all or the closest, and their summary."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from kmatch.cli.outputs import Table
from kmatch.results.files.output import flush_all, open_output
from kmatch.results.formats.searched import Searched
from kmatch.results.formats.writers import Writer, make_writer
from kmatch.results.summary import Seen, Summary

if TYPE_CHECKING:
    from kmatch.results.batches import HitBatch
    from kmatch.results.limit import Limit

BESIDE = 100  # letters of a PAM and around a hit, at the most
Taker = Callable[[Any], object]  # of a HitBatch


class HitTables:
    """Tables that are being written: each HitBatch goes to all `takers`, then `finish` is called.

    seen: which patterns have hits, a Seen.
    """

    def __init__(self, searched: Searched) -> None:
        self.seen = Seen(len(searched.patterns))
        self.takers: list[Taker] = [self.seen.add]
        self._searched = searched
        self._last: list[Callable[[], None]] = []

    def add_hits(self, handle: Any, table: Table, warn: Callable[[str], None]) -> None:
        """Write hits to a handle; warn(message) hears of patterns that had more than the limit."""
        form = table.form or "bed"
        writer = make_writer(form, handle, self._searched)
        if table.limit is None:
            self.takers.append(writer.write)
            self._last.append(writer.finish)
            return
        from kmatch.results.limit import Limit

        limit = Limit(self._searched.patterns, table.limit, aligned=form != "bed")
        self.takers.append(lambda batch: _write_each(limit.add(batch), writer))
        self._last.append(lambda: _write_closest(limit, writer, warn))

    def add_summary(self, handle: Any, k: int | None) -> None:
        """Write a summary to a handle."""
        summary = Summary(self._searched.patterns, k)
        self.takers.append(summary.add)
        self._last.append(lambda: summary.write(handle))

    def finish(self) -> None:
        """Write what only the last hit makes certain."""
        for write in self._last:
            write()


def _write_closest(limit: "Limit", writer: Writer, warn: Callable[[str], None]) -> None:
    _write_each(limit.batches(), writer)
    writer.finish()
    if warning := limit.warning():
        warn(warning)


def _write_each(batches: Iterable["HitBatch"], writer: Writer) -> None:
    for batch in batches:
        writer.write(batch)


@contextmanager
def hit_tables(
    table: Table, searched: Searched, k: int | None, warn: Callable[[str], None]
) -> Iterator[HitTables]:
    """Give the HitTables of a search, whose files are whole when the block ends well.

    k: the largest distance, None if only the hits show it; warn(message) hears of patterns that
    had more hits than the limit.
    """
    with ExitStack() as stack:
        if table.form == "view":
            from kmatch.cli.terminal.screens import screen_of

            letters = stack.enter_context(_letters_beside(searched))
            searched = searched._replace(screen=screen_of(table), letters=letters)
        tables = HitTables(searched)
        handles = [stack.enter_context(open_output(table.output))]
        if table.summary_only:
            tables.add_summary(handles[0], k)
        else:
            tables.add_hits(handles[0], table, warn)
        if table.summary:
            handles.append(stack.enter_context(open_output(table.summary)))
            tables.add_summary(handles[1], k)
        yield tables
        flush_all(*handles)


@contextmanager
def _letters_beside(searched: Searched) -> Iterator[Any]:
    """Give a function for `Searched.letters`, which reads genomes beside the search, or None."""
    genomes = searched.genomes
    if genomes is None or not genomes.can_reread:
        yield None
        return
    from kmatch.search.products.texts import GenomeTexts
    from kmatch.sequences.patterns import pattern_set

    # As long as an occurrence, a PAM and letters around them can be.
    texts = GenomeTexts(genomes, 2 * int(pattern_set(searched.patterns).lengths.max()) + BESIDE)
    try:
        yield texts.letters
    finally:
        texts.close()
