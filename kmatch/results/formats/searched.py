"""What writers know of a search besides its hits, and the writer of a format."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from kmatch.arrays import Bytes
    from kmatch.genome import Genome
    from kmatch.results.formats.view import Screen
    from kmatch.results.hits import HitBatch
    from kmatch.sequences.patterns import Pattern


class Searched(NamedTuple):
    """What was searched.

    patterns; genome: a Genome; None will do for other formats than SAM; pam_first: whether a PAM
    stands before the patterns; ordered: whether hits come in the genome's order; screen: what
    lines for eyes are made for, None for a file; letters(record, start, end): the genome's letters
    of a stretch, uint8, called in order, None where they cannot be had.
    """

    patterns: "Sequence[Pattern]"
    genome: "Genome | None" = None
    pam_first: bool = False
    ordered: bool = True
    screen: "Screen | None" = None
    letters: "Callable[[int, int, int], Bytes] | None" = None


class Writer(Protocol):
    """What writes hits."""

    def write(self, batch: "HitBatch") -> None:
        """Write a HitBatch."""


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
    from kmatch.results.tables import TableWriter

    return TableWriter(handle, form, searched.patterns)
