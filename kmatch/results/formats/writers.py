"""The writer of each format."""

from typing import TYPE_CHECKING, Any, Protocol

from kmatch.results.formats.searched import Searched

if TYPE_CHECKING:
    from kmatch.results.batches import HitBatch


class Writer(Protocol):
    """What writes hits."""

    def write(self, batch: "HitBatch") -> None:
        """Write a HitBatch."""

    def finish(self) -> None:
        """Write what still waits, after the last HitBatch."""


def make_writer(form: str, handle: Any, searched: Searched) -> Writer:
    """The Writer of a format, `bed`, `tsv`, `sam`, `gff3` or `view`, to a text or binary handle.

    Raises InputError for a genome of which SAM cannot be written.
    """
    if form == "sam":
        from kmatch.results.formats.sam import SamWriter

        return SamWriter(handle, searched)
    if form == "gff3":
        from kmatch.results.formats.gff3 import Gff3Writer

        return Gff3Writer(handle, searched.patterns)
    if form == "view":
        from kmatch.results.formats.view import ViewWriter

        return ViewWriter(handle, searched)
    from kmatch.results.tables.hits import TableWriter

    return TableWriter(handle, form, searched)
