"""Rules for hits besides k: a PAM beside them, ends that match, bounds for kinds of differences."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arguments import PAM_SIDES, check_choice, checked_count
from kmatch.arrays import Bytes, Longs
from kmatch.engine.queries import DifferenceQuery, difference_query
from kmatch.engine.types import Constraints, Pams, kind_states, unit_states
from kmatch.errors import InputError, shown, warn
from kmatch.search.panel import Panel, panel_reading
from kmatch.search.query import Query
from kmatch.sequences.alphabet import IUPAC, complement, encode, letter_masks
from kmatch.sequences.patterns import PatternSet

LONGEST = 64  # letters of a PAM
EXAMPLE = "give its letters, such as NGG"


class Pam:
    """A PAM.

    sequence: its letters, IUPAC; masks: uint8[p], the same; leads: whether they stand before the
    pattern.

    Raises InputError for a letter outside IUPAC.
    """

    def __init__(self, sequence: str, leads: bool) -> None:
        self.sequence = sequence
        self.leads = leads
        self.masks = encode(sequence, "PAM")

    def __len__(self) -> int:
        return len(self.masks)

    @property
    def outwards(self) -> Bytes:
        """The masks from the pattern on, uint8[p]."""
        return self.masks[::-1] if self.leads else self.masks

    def join(self, patterns: PatternSet) -> PatternSet:
        """Return the PatternSet that hits span."""
        sequences: list[str] = []
        for sequence in patterns.sequences:
            joined = f"{self.sequence}{sequence}" if self.leads else f"{sequence}{self.sequence}"
            sequences.append(joined)
        return PatternSet(patterns.names, sequences)

    def begins_or_ends(self, sequence: str) -> bool:
        """Return whether a pattern has more letters than the PAM, and the PAM on its side."""
        count = len(self)
        if len(sequence) <= count:
            return False
        letters = sequence[:count] if self.leads else sequence[-count:]
        outside = letter_masks([letters]) & ~self.masks
        return not outside.any()


def load_pams(given: str | Sequence[str] | None, side: str) -> list[Pam]:
    """Return the PAMs that a user gives, each once.

    given: `NGG`, `NGG,NAG`, or a list of these; None for no PAM; side: `3p` or `5p`.

    Raises InputError for a wrong PAM or side.
    """
    check_choice("side of the PAM", side, PAM_SIDES)
    if given is None:
        return []

    pams: dict[bytes, Pam] = {}
    for part in dict.fromkeys(_parts(given)):
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
    """Return the letters of each PAM that a user gives. Raises InputError for anything but text."""
    try:
        texts = [given] if isinstance(given, str) else list(given)
        return [part.strip() for text in texts for part in text.split(",")]
    except (TypeError, AttributeError):
        raise InputError(f"the PAM is {given!r}; {EXAMPLE}") from None


def joint_pam(pams: Sequence[Pam]) -> Pam:
    """Return a PAM that matches wherever one of several PAMs does, and elsewhere too.

    pams: of one length, on one side.

        joint_pam([AAG, CAT])  ->  MAK
    """
    letters = {mask: letter for letter, mask in IUPAC.items() if letter != "U"}
    masks = np.bitwise_or.reduce([pam.masks for pam in pams])
    sequence = "".join(letters[mask] for mask in masks.tolist())
    return Pam(sequence, pams[0].leads)


def beside_pams(patterns: PatternSet, given: str | Sequence[str] | None, side: str) -> PatternSet:
    """Return the patterns that are to be beside a PAM, without the N that stand for it.

    given, side: as for `load_pams`. Warns where N are left out, and of patterns that all contain a
    PAM, which would have to stand there a second time.
    """
    pams = load_pams(given, side)
    if not pams:
        return patterns
    patterns = _without_unknown(patterns, pams)
    _warn_of_pams_inside(patterns, pams)
    return patterns


def _without_unknown(patterns: PatternSet, pams: Sequence[Pam]) -> PatternSet:
    """Return patterns without N for each letter of the longest PAM, if all of them have these.

        PAM NGG, 3p     GATTACANNN  CTTGNNN  ->  GATTACA  CTTG
        PAM TTTV, 5p    NNNNGATTACA          ->  GATTACA

    A pattern that names itself is named by the letters left. One of N alone is no guide, and
    patterns beside it stay as they are. Warns where only some patterns have these N.
    """
    leads = pams[0].leads
    longest = max(pams, key=len)
    count = len(longest)
    unknown = "N" * count
    names: list[str] = []
    guides: list[str] = []
    for name, sequence in zip(patterns.names, patterns.sequences, strict=True):
        if leads:
            outside = sequence[:count]
            guide = sequence[count:]
        else:
            outside = sequence[-count:]
            guide = sequence[:-count]
        if outside.upper() == unknown and guide.strip("Nn"):
            guides.append(guide)
            names.append(guide if name == sequence else name)

    _, said, searched = _in_words(patterns, leads)
    letters = f"{unknown}, an N for each letter of the PAM {longest.sequence}"
    if len(guides) == len(patterns):
        warn(f"{said} {letters}; {searched} searched without these")
        return PatternSet(names, guides)
    if guides:
        verb = "begin" if leads else "end"
        warn(
            f"{len(guides):,} of {len(patterns):,} patterns {verb} with {letters}; as others do "
            "not, all are searched as they stand, with the PAM beside these N; take the N off, or "
            "the other patterns out"
        )
    return patterns


def _warn_of_pams_inside(patterns: PatternSet, pams: Sequence[Pam]) -> None:
    """Warn of patterns that all contain a PAM, which by chance they may; one of N says nothing."""
    pams = [pam for pam in pams if not (pam.masks == 15).all()]
    for sequence in patterns.sequences:
        if not any(pam.begins_or_ends(sequence) for pam in pams):
            return

    where, said, _ = _in_words(patterns, pams[0].leads)
    named = " or ".join(pam.sequence for pam in pams)
    what = f"the PAM {named}" if len(pams) == 1 else f"a PAM, {named}"
    warn(
        f"{said} {what}; only where it stands there twice is a hit, so leave out of the patterns "
        f"what is the PAM's at their {where}"
    )


def _in_words(patterns: PatternSet, leads: bool) -> tuple[str, str, str]:
    """Return words about the side of patterns where PAMs are: the side, and two parts of sentences.

    ("end", "all 2 patterns end with", "they are")
    """
    side = "beginning" if leads else "end"
    verb = "begin" if leads else "end"
    if len(patterns) > 1:
        return side, f"all {len(patterns):,} patterns {verb} with", "they are"
    return side, f"pattern '{shown(patterns.names[0])}' {verb}s with", "it is"


class Bounds(NamedTuple):
    """The most of each kind of difference, None where only k bounds it."""

    mismatches: int | None = None
    insertions: int | None = None
    deletions: int | None = None


class Rules(NamedTuple):
    """Rules for hits besides k.

    pams: one of them stands beside each hit, all on one side; or none; ends: letters that match at
    a pattern's beginning and at its end; bounds: Bounds.
    """

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
        """Whether an alignment within k may break the rules."""
        return any(self.ends) or self.bounds != Bounds()


def rules_of(query: Query) -> Rules:
    """Return the Rules that a Query makes for its alignments."""
    bounds = Bounds(query.max_mismatches, query.max_insertions, query.max_deletions)
    if query.problem in ("hamming", "multi"):
        bounds = Bounds(None, 0, 0)
    return Rules(tuple(load_pams(query.pam, query.pam_side)), query.ends, bounds)


def checked_rules(query: Query, k: int) -> tuple[Rules, int]:
    """Return the Rules of a Query and k, or the sum of all three bounds where that is less.

    Raises InputError for a bound that is no number, or more than k.
    """
    rules = rules_of(query)
    given: dict[str, int] = {}
    for kind, bound in rules.bounds._asdict().items():
        if bound is None:
            continue
        if checked_count(f"max_{kind}", bound) > k:
            raise InputError(
                f"{bound} {kind} are more than the k = {k} differences allowed altogether; "
                f"raise k, or leave the limit on {kind} out"
            )
        given[kind] = int(bound)

    rules = rules._replace(bounds=rules.bounds._replace(**given))
    if len(given) == len(rules.bounds):
        k = min(k, sum(given.values()))
    return rules, k


class Sought(NamedTuple):
    """The queries and rules of a search, the same in every genome.

    panel: the pattern and the strand of each query; rules: for hits besides k; query: the letters
    of the queries, and the limit of each; constraints: the rules as kernels take them;
    most_unknown: the most unknown letters of a hit, None where they match nothing.
    """

    panel: Panel
    rules: Rules
    query: DifferenceQuery
    constraints: Constraints
    most_unknown: int | None = None

    @property
    def is_bound(self) -> bool:
        """Whether rules decide which ends within k are hits."""
        return bool(self.rules.pams) or self.rules.bind_alignments

    @property
    def longest(self) -> int:
        """Letters of the longest pattern and of its PAM."""
        return int(self.panel.lengths.max()) + self.rules.reach

    @property
    def by_states(self) -> "Sought":
        """The same, with the distance of every end computed again, even where k alone bounds it."""
        states = self.constraints.states._replace(apart=True)
        return self._replace(constraints=self.constraints._replace(states=states))

    @property
    def longest_hit(self) -> int:
        """Letters of a hit, at the most."""
        return self.longest + self.query.k


def sought_of(panel: Panel, rules: Rules, limits: Longs) -> Sought:
    """Return the queries and rules of a search.

    panel: of all patterns on each strand; limits: int64[Q], the k of each query.
    """
    query = difference_query(panel_reading(panel, rules.leads), limits)

    # Letters that match at the end that is read last, and at the other one.
    near, far = rules.ends if rules.leads else rules.ends[::-1]

    # What only k bounds has no bound of its own.
    bounds = [query.k if bound is None else bound for bound in rules.bounds]
    mismatches, insertions, deletions = bounds
    is_bounded = rules.bounds != Bounds()
    states = kind_states(query.k, insertions, deletions) if is_bounded else unit_states(query.k)

    constraints = Constraints(
        pams=_pam_letters(rules),
        sizes=np.array([len(pam) for pam in rules.pams], np.int64),
        near=near,
        far=far,
        states=states,
        mismatches=min(mismatches, query.k),
        minus=panel.minus,
        leads=rules.leads,
    )
    return Sought(panel, rules, query, constraints)


def _pam_letters(rules: Rules) -> Pams:
    """Return the letters of each PAM from the pattern on, uint8[2, PAMs, reach].

    The first index is the strand, as on which the letters stand in the genome's forward one.

        PAM NGG behind a pattern      strand +   pattern N G G
                                      strand -         C C N nrettap
    """
    letters = np.zeros((2, len(rules.pams), rules.reach), np.uint8)
    for number, pam in enumerate(rules.pams):
        letters[0, number, : len(pam)] = pam.outwards
        letters[1, number, : len(pam)] = complement(pam.outwards)
    return letters
