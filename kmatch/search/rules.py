"""Rules for hits beside k: a PAM, exact ends, and bounds for each kind of difference."""

from typing import NamedTuple

import numpy as np

from kmatch.engine.types import Constraints, kind_states, unit_states
from kmatch.errors import InputError, checked_count
from kmatch.search.pam import Pam, load_pams
from kmatch.search.panel import ReadingPanel
from kmatch.search.query import Query
from kmatch.sequences.alphabet import complement


class Bounds(NamedTuple):
    """The most of each kind of difference, None where only k bounds it."""

    mismatches: int | None = None
    insertions: int | None = None
    deletions: int | None = None


class Rules(NamedTuple):
    """pams: one of them stands beside each hit, all on one side; or none; ends: letters that match
    at a pattern's beginning and at its end; bounds: Bounds."""

    pams: tuple[Pam, ...] = ()
    ends: tuple[int, int] = (0, 0)
    bounds: Bounds = Bounds()

    @property
    def leads(self) -> bool:
        """Whether hits are anchored at the pattern's beginning, beside their PAM."""
        return bool(self.pams) and self.pams[0].leads

    @property
    def unequal(self) -> bool:
        """Whether PAMs have several lengths."""
        return len({len(pam) for pam in self.pams}) > 1

    @property
    def reach(self) -> int:
        """Letters of the longest PAM."""
        return max(map(len, self.pams), default=0)

    @property
    def bind_alignments(self) -> bool:
        """Whether an alignment within k may break them."""
        return any(self.ends) or self.bounds != Bounds()


NO_RULES = Rules()


def rules_of(query: Query) -> Rules:
    """The Rules that a Query makes for its alignments."""
    bounds = Bounds(query.max_mismatches, query.max_insertions, query.max_deletions)
    if query.problem in ("hamming", "multi"):
        bounds = Bounds(None, 0, 0)
    ends = checked_count("exact_5p", query.exact_5p), checked_count("exact_3p", query.exact_3p)
    return Rules(tuple(load_pams(query.pam, query.pam_side)), ends, bounds)


def checked_bounds(k: int, bounds: Bounds) -> Bounds:
    """The Bounds as ints; InputError for what is no number, or more than k."""
    names = ("max_mismatches", "max_insertions", "max_deletions")
    checked = []
    for name, bound in zip(names, bounds, strict=True):
        if bound is not None and checked_count(name, bound) > k:
            kind = name.partition("_")[2]
            raise InputError(
                f"{bound} {kind} are more than the k = {k} differences allowed altogether; "
                f"raise k, or leave the limit on {kind} out"
            )
        checked.append(None if bound is None else int(bound))
    return Bounds(*checked)


def smallest_k(k: int, bounds: Bounds) -> int:
    """k, or what the bounds for all kinds allow together, where that is less."""
    given = [bound for bound in bounds if bound is not None]
    return min(k, sum(given)) if len(given) == len(bounds) else k


def make_constraints(rules: Rules, panel: ReadingPanel, k: int) -> Constraints:
    """The Constraints of the queries of a panel, searched within k."""
    sizes = np.array([len(pam) for pam in rules.pams], np.int64)
    letters = np.zeros((2, len(sizes), rules.reach), np.uint8)
    for number, pam in enumerate(rules.pams):
        outwards = pam.masks[::-1] if rules.leads else pam.masks
        letters[0, number, : len(pam)] = outwards
        letters[1, number, : len(pam)] = complement(outwards)
    near, far = rules.ends if rules.leads else rules.ends[::-1]
    mismatches, insertions, deletions = (k if most is None else most for most in rules.bounds)
    bounded = rules.bounds != Bounds()
    states = kind_states(k, insertions, deletions) if bounded else unit_states(k)
    mismatches = min(mismatches, k)
    return Constraints(letters, sizes, near, far, states, mismatches, panel.minus, rules.leads)
