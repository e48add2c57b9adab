"""What a search needs of its shards: how many letters around them, and how its hits are joined."""

from typing import Any, NamedTuple

from kmatch.errors import PAM_SIDES, REPORTS, check_choice
from kmatch.packed.part import Margins
from kmatch.search.edit import EditOptions
from kmatch.search.multi import MultiOptions
from kmatch.search.panels.distances import pattern_distances
from kmatch.search.panels.pams import load_pams
from kmatch.search.scanning.chunks import round_up
from kmatch.sequences.patterns import PatternSet

MORE = 16  # letters beyond what an alignment takes


class Around(NamedTuple):
    """context: letters that a shard shows on either side of those that it owns; gap: empty
    positions between records."""

    context: int
    gap: int

    @property
    def margins(self) -> Margins:
        """Those of a shard's planes, which serve the chunks that its search plans."""
        return Margins(round_up(self.context, 64), round_up(self.gap, 16))


class Needs(NamedTuple):
    """around: what surrounds the letters that a shard owns; loci: whether the minima of shards are
    to become loci; options: with which shards are searched."""

    around: Around
    loci: bool
    options: Any


def needs_of(patterns: PatternSet, k: int | str, options: Any) -> Needs:
    """The Needs of a search for patterns within k; options: HammingOptions, MultiOptions or
    EditOptions."""
    beside = 0
    if isinstance(options, MultiOptions | EditOptions):
        check_choice("side of the PAM", options.pam_side, PAM_SIDES)
        pams = load_pams(options.pam, options.pam_side)
        beside = max(map(len, pams), default=0)
    most = int(pattern_distances(patterns, k).max())
    around = Around(int(patterns.lengths.max()) + most + beside + MORE, max(most + 1, beside))
    loci = False
    if isinstance(options, EditOptions) and options.report is not None:
        check_choice("report", options.report, REPORTS)
        loci = options.report == "loci"
        options = options._replace(report="minima") if loci else options
    return Needs(around, loci, options)
