"""What holds for hits besides k: a PAM beside them, ends that match, and bounds for each kind of
difference."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arguments import PAM_SIDES, check_choice, checked_count
from kmatch.arrays import Longs
from kmatch.engine.queries import DifferenceQuery, difference_query
from kmatch.engine.types import Constraints, kind_states, unit_states
from kmatch.errors import InputError, shown, warn
from kmatch.search.panel import Panel, panel_reading
from kmatch.search.query import Query
from kmatch.sequences.alphabet import IUPAC, complement, encode, letter_masks
from kmatch.sequences.patterns import PatternSet

LONGEST = 64  # letters of a PAM
EXAMPLE = "give its letters, such as NGG"


class Pam:
    """The letters beside each pattern, as `masks`, uint8[p]; leads: whether they stand before it.

    Raises InputError for a letter outside IUPAC.
    """

    def __init__(self, sequence: str, leads: bool) -> None:
        self.sequence, self.leads = sequence, leads
        self.masks = encode(sequence, "PAM")

    def __len__(self) -> int:
        return len(self.masks)

    def join(self, patterns: PatternSet) -> PatternSet:
        """The PatternSet that hits span."""
        before, behind = (self.sequence, "") if self.leads else ("", self.sequence)
        sequences = [f"{before}{sequence}{behind}" for sequence in patterns.sequences]
        return PatternSet(patterns.names, sequences)


def load_pams(given: str | Sequence[str] | None, side: str) -> list[Pam]:
    """The PAMs that a user gives, each once: `NGG`, `NGG,NAG`, or a list of these; none for None.

    Raises InputError for what is no PAM, and for another side than `3p` and `5p`.
    """
    check_choice("side of the PAM", side, PAM_SIDES)
    pams: dict[bytes, Pam] = {}
    for part in [] if given is None else dict.fromkeys(_parts(given)):
        if not part:
            raise InputError(f"the PAM is empty; {EXAMPLE}")
        if len(part) > LONGEST:
            raise InputError(
                f"the PAM {shown(part)} has {len(part)} letters, and kmatch takes {LONGEST}; "
                "give the letters beside a pattern alone"
            )
        pam = Pam(part, side == "5p")
        pams.setdefault(pam.masks.tobytes(), pam)
    return list(pams.values())


def _parts(given: Any) -> list[str]:
    try:
        texts = [given] if isinstance(given, str) else list(given)
        return [part.strip() for text in texts for part in text.split(",")]
    except (TypeError, AttributeError):
        raise InputError(f"the PAM is {given!r}; {EXAMPLE}") from None


def united(pams: Sequence[Pam]) -> Pam:
    """A PAM that matches wherever one of several PAMs of one length does, and elsewhere too."""
    letters = {mask: letter for letter, mask in IUPAC.items() if letter != "U"}
    masks = np.bitwise_or.reduce([pam.masks for pam in pams])
    return Pam("".join(letters[mask] for mask in masks.tolist()), pams[0].leads)


def check_pam(patterns: PatternSet, given: str | Sequence[str] | None, side: str) -> None:
    """Check whether the patterns contain the PAM, or one of the PAMs, that is to be beside them.

    Raises InputError where two or more all do; a single one, which may by chance, is a warning.
    """
    pams = [pam for pam in load_pams(given, side) if not (pam.masks == 15).all()]
    if not pams or not all(any(_holds(each, pam) for pam in pams) for each in patterns.sequences):
        return
    where, ends = ("begin", "begins") if pams[0].leads else ("end", "ends")
    named = " or ".join(pam.sequence for pam in pams)
    what = f"the PAM {named}" if len(pams) == 1 else f"a PAM, {named}"
    if len(patterns) > 1:
        raise InputError(
            f"all {len(patterns):,} patterns {where} with {what}, which would have to "
            "stand there twice; leave it out of the patterns, or search without a PAM"
        )
    name = patterns.names[0]
    warn(f"pattern '{name}' {ends} with {what}; only where it stands there twice is a hit")


def _holds(sequence: str, pam: Pam) -> bool:
    letters = sequence[: len(pam)] if pam.leads else sequence[-len(pam) :]
    return len(sequence) > len(pam) and not (letter_masks([letters]) & ~pam.masks).any()


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


def rules_of(query: Query) -> Rules:
    """The Rules that a Query makes for its alignments."""
    bounds = Bounds(query.max_mismatches, query.max_insertions, query.max_deletions)
    if query.problem in ("hamming", "multi"):
        bounds = Bounds(None, 0, 0)
    return Rules(tuple(load_pams(query.pam, query.pam_side)), query.ends, bounds)


def checked_rules(query: Query, k: int) -> tuple[Rules, int]:
    """The same, and k, or what the bounds for all kinds allow together, where that is less.

    Raises InputError for a bound that is no number, or more than k.
    """
    rules = rules_of(query)
    given = {kind: bound for kind, bound in rules.bounds._asdict().items() if bound is not None}
    for kind, bound in given.items():
        if checked_count(f"max_{kind}", bound) > k:
            raise InputError(
                f"{bound} {kind} are more than the k = {k} differences allowed altogether; "
                f"raise k, or leave the limit on {kind} out"
            )
    bounds = rules.bounds._replace(**{kind: int(bound) for kind, bound in given.items()})
    rules = rules._replace(bounds=bounds)
    return rules, min(k, sum(given.values())) if len(given) == len(rules.bounds) else k


def difference_search(
    panel: Panel, rules: Rules, limits: Longs
) -> tuple[DifferenceQuery, Constraints]:
    """What is searched for differences: the queries of a Panel, each within its limit, int64[Q],
    and what rules ask of them."""
    query = difference_query(panel_reading(panel, rules.leads), limits)
    k = query.k
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
    given = near, far, states, mismatches, panel.minus, rules.leads
    return query, Constraints(letters, sizes, *given)
