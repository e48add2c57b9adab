"""Guides of a target, and their sites in a genome: counted, scored and ranked."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.errors import InputError, checked_count
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import GuideBatch, HitBatch
from kmatch.results.columns import HitRows
from kmatch.results.limit import Counts
from kmatch.results.scores import GUIDE, Specificity
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import Pam, has_scores, load_pams, make_scorer, rules_of
from kmatch.search.search import begin_search
from kmatch.sequences.alphabet import complement, encode_text, letter_masks
from kmatch.sequences.circles import Circular
from kmatch.sequences.patterns import PatternSet

_BASES = np.zeros(9, np.uint8)  # the letter of each mask of one base
_BASES[[1, 2, 4, 8]] = np.frombuffer(b"ACGT", np.uint8)


class GuideOptions(NamedTuple):
    """pam, pam_side: what guides stand beside, see `load_pams`; length: their letters; k: the most
    mismatches of a site or, with bulges, differences; max_insertions, max_deletions: bulges of the
    guide and of the site; score: `mit`, where guides have that specificity too; best: how many
    guides there are at the most, None for all.
    """

    k: int
    pam: str | Sequence[str] = "NGG"
    pam_side: str = "3p"
    length: int = GUIDE
    max_insertions: int = 0
    max_deletions: int = 0
    score: Sequence[str] = ()
    best: int | None = None


class GuideSearch:
    """Finds the sites of a target's guides in genomes: iterated once, it gives their HitBatches,
    and then the guides.

    Each guide is searched once, however often it is in the target. Raises InputError where there is
    none, and for options that do not fit.
    """

    def __init__(
        self,
        target: Genome,
        genomes: Genomes,
        options: GuideOptions,
        run: Run = RUN,
        regions: Regions | None = None,
    ) -> None:
        """regions: of the target."""
        k, pam, side, length, *bulges, scores, self._best = options
        self._found = find_guides(target, length, pam, side, regions, genomes.circular)
        self._guides, self._which = np.unique(self._found.guide, return_inverse=True)
        words = [guide.decode() for guide in self._guides.tolist()]
        panel = PatternSet(words, words, letter_masks(words), length * np.arange(len(words) + 1))
        problem, most = ("edit", bulges) if any(bulges) else ("multi", (None, None))
        query = Query(problem, panel, k, "both", 0, 0, pam, side, None, None, *most)
        scored = length == GUIDE and has_scores(rules_of(query))
        if scores and not scored:
            make_scorer(query)  # which says why
        self.scorer = make_scorer(query) if scored else None
        kinds = dict.fromkeys(("cfd", *scores))
        self._specific = {kind: Specificity(kind, self.scorer) for kind in kinds if self.scorer}
        self._counts = Counts(panel, k, self._specific)
        self.rows = HitRows(panel, genomes, side == "5p")
        self._search = begin_search(query, genomes, run._replace(aligned=scored))
        self.progress, self.engine = self._search.progress, self._search.engine

    def __iter__(self) -> Iterator[HitBatch]:
        for batch in self._search:
            self._counts.add(batch)
            yield batch

    def guides(self) -> GuideBatch:
        """The guides, in the order of the target, or the best with the most specific first."""
        found, which = self._found, self._which
        none = np.full(len(self._guides), np.nan)
        specific = {kind: each.values for kind, each in self._specific.items()}
        specificity = specific.get("cfd", none)
        batch = GuideBatch(
            *(found.record, found.start, found.end, found.names),
            minus=found.minus,
            guide=found.guide,
            pam=found.pam,
            counts=self._counts.hits[which],
            specificity=specificity[which],
            specificity_mit=specific.get("mit", none)[which],
        )
        if self._best is None:
            return batch
        keys = [*batch.counts.T[::-1], -np.nan_to_num(batch.specificity, nan=-1.0)]
        return batch.picked(np.lexsort(keys)[: self._best])


class Sites(NamedTuple):
    """n guides beside their PAMs in records of a target, sorted by record, start, end and strand.

    names: of the records by number; record: int64[n]; start, end: int64[n], of guide and PAM on the
    forward strand; minus: uint8[n]; guide, pam: bytes, S[n], as the guide's strand reads them.
    """

    names: dict[int, str]
    record: Longs
    start: Longs
    end: Longs
    minus: Bytes
    guide: Any
    pam: Any


def find_guides(
    target: Genome,
    length: int,
    given: str | Sequence[str],
    side: str,
    regions: Regions | None = None,
    circular: Circular | None = None,
) -> Sites:
    """The guides of `length` letters A, C, G and T beside a PAM, inside regions where there are.

    given, side: PAMs, see `load_pams`; of several that stand beside a guide, the first is its PAM.
    Raises InputError where there is no guide, and for PAMs and regions that cannot be used.
    """
    length, pams = checked_count("length", length), load_pams(given, side)
    if not length:
        raise InputError("guides have 0 letters; give 1 or more")
    names: dict[int, str] = {}
    parts: list[Any] = []
    for number, record in enumerate(target.records()):
        masks = encode_text(np.asarray(record.letters))
        if regions and record.name in regions:
            regions.join({record.name: len(masks)})
        is_circle = circular is not None and circular.has(record.name)
        strands = (_on_strand(masks, length, pams, minus, is_circle) for minus in (0, 1))
        found = [each for strand in strands for each in strand]
        start, end, minus, guide, pam = map(np.concatenate, zip(*found, strict=True))
        rows = np.lexsort((minus, end, start))
        if regions:
            which = np.zeros(len(rows), np.int64)
            rows = rows[regions.hold([record.name], which, start[rows], end[rows])]
        if len(rows):
            names[number] = record.name
            columns = (np.full(len(start), number), start, end, minus, guide, pam)
            parts.append([column[rows] for column in columns])
    if regions:
        regions.check(target.label)
    if not parts:
        where = " inside a region" if regions else ""
        beside = (
            f"{'behind' if pams[0].leads else 'before'} {' or '.join(p.sequence for p in pams)}"
        )
        raise InputError(
            f"{target.label}: there is no guide: no {length} letters A, C, G and T stand {beside}"
            f"{where}"
        )
    return Sites(names, *map(np.concatenate, zip(*parts, strict=True)))


def _on_strand(
    masks: Bytes, length: int, pams: list[Pam], minus: int, is_circle: bool
) -> Iterator[tuple[Any, ...]]:
    """Yield (start, end, minus, guide, pam), arrays of one length, for each PAM on a strand."""
    letters, n = (complement(masks)[::-1] if minus else masks), len(masks)
    taken = np.zeros(n + 1, np.bool_)  # where guides with a PAM of before begin
    for pam in pams:
        size = length + len(pam)
        first, beside = (len(pam), 0) if pam.leads else (0, length)  # of guide and PAM in a window
        text = np.concatenate([letters, letters[: size - 1]]) if is_circle else letters
        begins = _windows(text, length, first, pam.masks, beside) if size <= n else NO_ROWS
        guides = (begins + first) % (n + 1 - is_circle)
        begins = begins[~taken[guides]]
        taken[guides] = True
        start = (n - begins - size) % n if minus else begins
        windows = _BASES[text[begins[:, None] + np.arange(size)]]
        yield (
            *(start, start + size, np.full(len(begins), minus, np.uint8)),
            *(_words(windows[:, first:], length), _words(windows[:, beside:], len(pam))),
        )


NO_ROWS = np.zeros(0, np.int64)


def _windows(text: Bytes, length: int, first: int, pam: Bytes, beside: int) -> Longs:
    """Where windows begin that hold known letters for a guide and the letters of a PAM."""
    size = length + len(pam)
    unknown = np.concatenate([[0], np.cumsum(text == 0, dtype=np.int32)])
    last = len(text) - size + 1
    fits = unknown[first + length :][:last] == unknown[first:][:last]
    for at, mask in enumerate(pam.tolist(), beside):
        fits &= (text[at : at + last] & mask) != 0
    return np.flatnonzero(fits)


def _words(letters: Bytes, size: int) -> Any:
    """The first letters of each row as bytes, S[n]."""
    return np.ascontiguousarray(letters[:, :size]).view(f"S{size}").reshape(-1)
