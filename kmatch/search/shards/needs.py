"""What a search needs of its shards: how many letters around them, and how its hits are joined."""

from typing import Any, NamedTuple

from kmatch.arguments import PAM_SIDES, REPORTS, check_choice
from kmatch.search.edit import EditOptions
from kmatch.search.multi import MultiOptions
from kmatch.search.panels.distances import pattern_distances
from kmatch.search.panels.pams import load_pams
from kmatch.sequences.patterns import PatternSet

MORE = 16  # letters beyond what an alignment takes


class Needs(NamedTuple):
    """context: letters around those that a shard owns; loci: whether the minima of shards are to
    become loci; options: with which shards are searched."""

    context: int
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
    context = int(patterns.lengths.max()) + most + beside + MORE
    loci = False
    if isinstance(options, EditOptions) and options.report is not None:
        check_choice("report", options.report, REPORTS)
        loci = options.report == "loci"
        options = options._replace(report="minima") if loci else options
    return Needs(context, loci, options)
