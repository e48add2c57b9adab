"""What writers know of a search besides its hits."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kmatch.arrays import Bytes, Longs
    from kmatch.genome import Genomes
    from kmatch.sequences.patterns import Pattern


class Screen(NamedTuple):
    """width: characters of a line; colour: whether differences have one."""

    width: int
    colour: bool


class Searched(NamedTuple):
    """What was searched.

    patterns; genomes: Genomes; None will do for one and other formats than SAM; pam_first: whether
    a PAM stands before the patterns; ordered: whether hits come in the genome's order; screen: what
    lines for eyes are made for, None for a file; letters(genome, record, start, end): the letters
    of a stretch, uint8, genome and record by number, called in order, None where they cannot be
    had; k: int64[P], the differences of each pattern where these are a share of its letters;
    threads: that may format lines, None for one a core.
    """

    patterns: "Sequence[Pattern]"
    genomes: "Genomes | None" = None
    pam_first: bool = False
    ordered: bool = True
    screen: Screen | None = None
    letters: "Callable[[int, int, int, int], Bytes] | None" = None
    k: "Longs | None" = None
    threads: int | None = None

    @property
    def named(self) -> bool:
        """Whether hits tell their genome, as there are several."""
        return self.genomes is not None and self.genomes.named
