"""Query and Run: the question of a search, and the way to run it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kmatch.arguments import checked_count
from kmatch.search.algorithms import ENGINE

if TYPE_CHECKING:
    from kmatch.arrays import Ints, Longs
    from kmatch.sequences.patterns import PatternSet


class Query(NamedTuple):
    """The question of a search in genomes.

    problem: `hamming`, `multi`, `edit` or `best`; k: 0 ≤ k < m for every pattern of m letters, or a
    share of m such as `10%`, or int64[P]; a user gives `best` none; strand: `both`, `+` or `-`;
    exact_5p, exact_3p: first and last letters that must match; pam: IUPAC letters that must stand
    beside a pattern, one PAM or several, after it (pam_side `3p`) or before it (`5p`), or None;
    report: `minima`, `ends`, `loci` or `sites`, None for `ends` beside a PAM and `minima`
    elsewhere; max_…: the most differences of each kind, None where only k bounds it; max_unknown:
    the most unknown letters of a hit, which match whatever they may stand for, None where these
    match nothing; each: whose hits `best` finds the closest of, `file` for a genome's and `record`
    for each record's.
    """

    problem: str
    patterns: "PatternSet"
    k: "int | str | Longs" = 0
    strand: str = "both"
    exact_5p: int = 0
    exact_3p: int = 0
    pam: str | Sequence[str] | None = None
    pam_side: str = "3p"
    report: str | None = None
    max_mismatches: int | None = None
    max_insertions: int | None = None
    max_deletions: int | None = None
    max_unknown: int | None = None
    each: str = "file"

    @property
    def reported(self) -> str:
        """The report, also where none was asked for; sites are found among `ends`."""
        if self.report == "sites":
            return "ends"
        return self.report or ("ends" if self.pam else "minima")

    @property
    def whole(self) -> bool:
        """Whether the whole genome decides about each hit."""
        return self.problem == "best" and self.each == "file"

    def take(self, numbers: "Longs | Ints", k: "int | str | Longs") -> "Query":
        """Return the Query for some patterns, by number.

        k: of all, or of each pattern that there was.
        """
        k = k if isinstance(k, int | str) else k[numbers]
        return self._replace(patterns=self.patterns.take(numbers), k=k)

    @property
    def ends(self) -> tuple[int, int]:
        """How many letters must match at a pattern's beginning and at its end, as ints."""
        first = checked_count("exact_5p", self.exact_5p)
        last = checked_count("exact_3p", self.exact_3p)
        return first, last


class Run(NamedTuple):
    """How a search runs.

    device: see `choose_engine`; threads: of the CPU, None for one a core; algorithm: `bitplane`, or
    the name of a published one (see `kmatch.search.algorithms`); aligned: whether hits come with
    their alignments; way: of `kmatch.engine.ways`, where it serves, None where the search chooses;
    cluster: searches in place of this machine, or None; variants: their haplotypes are searched
    too, or None. `kmatch.apps.searches.begin_search` alone heeds these two.
    """

    device: str = "auto"
    threads: int | None = None
    algorithm: str = ENGINE
    aligned: bool = True
    way: str | None = None
    cluster: Any = None
    variants: Any = None


RUN = Run()
