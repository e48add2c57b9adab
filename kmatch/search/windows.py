"""k mismatches: windows of chunks that are near to a pattern, anywhere or beside a PAM."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Bytes, Longs, Rows, bounds_of, distinct, run_starts
from kmatch.engine.codes import Coding, Found, found_in
from kmatch.engine.engine import Scan, UnderWay
from kmatch.engine.queries import QueryArrays
from kmatch.engine.types import Columns, Ends, Texts, View, unit_states
from kmatch.engine.ways import work_of
from kmatch.engine.workers import ALONE, slabs
from kmatch.genome import Genome, Genomes
from kmatch.jit.entries import entry
from kmatch.results.batches import HitBatch, hit_batch, sizes_of
from kmatch.search.algorithms import choose_algorithm
from kmatch.search.chunks import NO_LETTERS, Chunking, PackedChunk, plan_chunks
from kmatch.search.panel import (
    build_panel,
    checked_distances,
    checked_unknown,
    each_strand,
    panel_letters,
)
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import Rules, joint_pam, rules_of, sought_of
from kmatch.search.scan import Scanner, code_batches, rows_at_once
from kmatch.search.search import Search
from kmatch.search.tracing import distances_within_rules
from kmatch.search.trial import Scans
from kmatch.sequences.circles import Circles
from kmatch.sequences.patterns import PatternSet

read_windows = entry(
    "kmatch.engine.letters:read_windows",
    tuple[Longs, View, Longs, Bytes, Longs, tuple[Bytes, Longs, Bytes], Bytes],
)


class QueryGroup(NamedTuple):
    """The queries of a panel that are searched within the same k.

    queries: int64[n], their numbers in the panel; k: of all; letters: theirs, as kernels take them.
    """

    queries: Longs
    k: int
    letters: QueryArrays


@dataclass(frozen=True, eq=False, repr=False)
class Windows(Rows):
    """n windows of a chunk that are within k, sorted by position, then by query.

    position: int64[n], of the first letter in the chunk; query: int64[n], in the panel; distance:
    int64[n]; span: int64[n], the record, counted from the first one of the chunk.
    """

    position: Longs
    query: Longs
    distance: Longs
    span: Longs


class WindowSearch(Search[HitBatch]):
    """The search of a Query `hamming` or `multi`.

    The PAMs of a search have one length, and so have the patterns of `multi`.

    A window spans a pattern and its PAM, which has to match like letters of the pattern. Of several
    PAMs the letters of all together are scanned for, and windows that have none are left out.
    """

    def __init__(
        self, query: Query, genomes: Genomes, run: Run = RUN, regions: Regions | None = None
    ) -> None:
        super().__init__(genomes, run, regions)
        patterns = query.patterns
        distances = checked_distances(query)
        rules = rules_of(query)
        work = work_of(genomes.expected_letters, patterns.lengths, query.strand)
        self.engine = choose_algorithm(query.problem, patterns, run, work)

        # What look-ups look for: patterns without their PAM.
        panel = each_strand(patterns, query.strand)
        self._sought = sought_of(panel, rules, distances[panel.pattern])
        letters = self.expected_letters
        self._scans = Scans(self.engine, self._sought, run.way, letters, gapless=True)

        # What scans look for: windows, and how many letters have to match at either end.
        windows, self._ends = _with_pam(query, rules)
        self._panel = build_panel(windows, query.strand)
        self._limits = distances[self._panel.pattern]
        self._coding = Coding(len(self._limits), self._sought.query.k)

        # How chunks are cut and scanned.
        layout = self.engine.layout
        plan = plan_chunks(self._sought.longest, self._sought.query.k, layout)
        self._most_unknown = checked_unknown(query, distances)
        self._chunking = Chunking(plan, self.engine, layout.words, most_unknown=self._most_unknown)
        self._scanner = Scanner(self.engine)

    @cached_property
    def _groups(self) -> list[QueryGroup]:
        """The queries within each k."""
        groups: list[QueryGroup] = []
        for k in distinct(self._limits).tolist():
            queries = np.flatnonzero(self._limits == k)
            letters = panel_letters(self._panel.take(queries), k, self._ends)
            groups.append(QueryGroup(queries, k, letters))
        return groups

    def _start_scan(self, chunk: PackedChunk, engine: Any, capacity: int) -> Scan:
        """Start the scan of a chunk, of several for queries within several k."""
        scans: list[Scan] = []
        for group in self._groups:
            scans.append(engine.start_scan(chunk.packed(engine), group.letters, group.k, capacity))
        if len(scans) == 1:
            return scans[0]
        return UnderWay(lambda: self._found(scans), lambda: [scan.stop() for scan in scans])

    def _found(self, scans: list[Scan]) -> Found:
        """Return what scans of all groups found, as one scan would have."""
        found = [scan.found() for scan in scans]
        codes: list[Longs] = []
        for group, part in zip(self._groups, found, strict=True):
            coding = Coding(len(group.queries), group.k)
            position, query, distance = coding.decode(part.codes)
            codes.append(self._coding.encode(position, group.queries[query], distance))
        lost = sum(part.lost for part in found)
        share = min(part.share for part in found)
        return found_in(np.concatenate(codes), lost, share)

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        return self.hits_in(genome, aligned=self.run.aligned)

    def hits_in(
        self, genome: Genome, report: str = "ends", aligned: bool = False, united: bool = False
    ) -> Iterable[HitBatch]:
        """Return the HitBatches of one genome, some without rows.

        report: means nothing here, as windows are all reported; aligned: whether hits come with
        their alignments; united: whether the genome may have letters for sets of bases (see SET).
        """
        chunking = self._chunking._replace(united=united)
        circular = self.genomes.circular
        if circular is None:
            return self._in_chunks(self.chunks(chunking, genome), aligned)

        circles = Circles(circular, self._sought.longest - 1)
        batches = self._in_chunks(self.chunks(chunking, genome, circles), aligned)
        return _windows_once(batches, circles)

    def _in_chunks(self, chunks: Iterable[PackedChunk], aligned: bool) -> Iterator[HitBatch]:
        """Yield the HitBatches of an iterable of PackedChunks, some without rows."""
        return self.engine.workers.ahead(self._items(chunks, aligned))

    def _items(
        self, chunks: Iterable[PackedChunk], aligned: bool
    ) -> Iterator[Callable[[], HitBatch]]:
        """Yield what makes the hits of some codes, for each of the chunks in turn."""
        most = rows_at_once(self._panel.lengths, aligned)
        start = self._scans.starting(self._start_scan)
        for chunk, codes in self._scanner.scan(chunks, start):
            if self._most_unknown:
                codes = self._each_once(codes)
            view = chunk.view()
            for batch in code_batches(codes, most):
                yield partial(self._hits, batch, chunk, view, aligned)
            chunk.letters = NO_LETTERS

    def _each_once(self, codes: Longs) -> Longs:
        """Return the first of the codes of each window, which has its smallest distance.

        A look-up finds a window with letters of several bases once for each of these.
        """
        return codes[run_starts(codes // (self._coding.k + 1))]

    def _windows(self, codes: Longs, chunk: PackedChunk, view: View) -> Windows:
        """Return the windows that a chunk's sorted codes are, in records and beside a PAM."""
        position, query, distance = self._coding.decode(codes)
        span, is_in_record = chunk.records(position, self._panel.lengths[query])
        windows = Windows(position, query, distance, span)

        # Windows that begin behind the chunk belong to the next one.
        is_kept = is_in_record & (position < chunk.length)
        if not is_kept.all():
            windows = windows.take(np.flatnonzero(is_kept))
        if self._most_unknown is not None:
            window_end = windows.position + self._panel.lengths[windows.query]
            counts = chunk.unknown.counts(windows.position, window_end)
            windows = windows.take(np.flatnonzero(counts <= self._most_unknown))
        if len(self._sought.rules.pams) > 1:
            windows = windows.take(np.flatnonzero(self._have_pam(windows, view)))
        return windows

    def _have_pam(self, windows: Windows, view: View) -> Bools:
        """Return which windows have one of several PAMs, bool[n].

        window    [A A C G T A|N G G]   read forward, a PAM of `reach` letters behind
        limit      ^         ^          and the anchor, the last letter of the pattern
        """
        constraints = self._sought.constraints
        query = self._sought.query
        pam_length = self._sought.rules.reach
        last = windows.position + self._sought.longest - 1

        is_backward = query.reading.backward[windows.query] != 0
        anchor = np.where(is_backward, windows.position + pam_length, last - pam_length)
        limit = np.where(is_backward, last, windows.position)
        ends = Ends(anchor, windows.query, windows.distance, limit)

        # Letters of the pattern have been compared already. With one length, queries of both panels
        # are in one order.
        free = constraints._replace(near=0, far=0, states=unit_states(query.k))
        sought = self._sought._replace(constraints=free)
        return distances_within_rules(ALONE, view, sought, ends) >= 0

    def _hits(self, codes: Longs, chunk: PackedChunk, view: View, aligned: bool) -> HitBatch:
        """Return the hits that a chunk's sorted codes are; view: of the chunk."""
        windows = self._windows(codes, chunk, view)
        panel = self._panel
        length = panel.lengths[windows.query]
        start = windows.position - chunk.spans.begins[windows.span]
        columns = None
        if aligned and len(start):
            columns = self._columns(windows, length, view)
        return hit_batch(
            chunk.spans,
            (windows.span, start, start + length),
            (
                panel.pattern[windows.query],
                windows.distance.astype(np.int32),
                panel.minus[windows.query],
            ),
            columns,
        )

    def _columns(self, windows: Windows, length: Longs, view: View) -> Columns:
        """Return the alignments of windows, whose lengths are int64[n]."""
        panel = self._panel
        bounds = bounds_of(length)
        ops = np.empty(bounds[-1], np.uint8)
        text = np.empty(bounds[-1], np.uint8)
        pattern_begins = panel.patterns.begins[panel.pattern[windows.query]]
        ALONE.run(
            read_windows,
            slabs(len(length)),
            view,
            windows.position,
            panel.minus[windows.query],
            bounds,
            (panel.patterns.masks, pattern_begins, ops),
            text,
        )
        return Columns(Texts(bounds, ops), Texts(bounds, text))


def _with_pam(query: Query, rules: Rules) -> tuple[PatternSet, tuple[int, int]]:
    """Return the patterns with what all PAMs together match, and letters that match at either end.

    pattern ACGTA, PAMs AGG and CGG, first 2 letters exact  ->  ACGTAMGG, (2, 3)
    """
    if not rules.pams:
        return query.patterns, query.ends
    pam = joint_pam(rules.pams)
    first, last = query.ends
    ends = (first + len(pam), last) if pam.leads else (first, last + len(pam))
    return pam.join(query.patterns), ends


def _windows_once(batches: Iterable[HitBatch], circles: Circles) -> Iterator[HitBatch]:
    """Yield the hits whose windows begin in the letters of a record, and are no longer than it.

    letters     0 1 2 3 4 0 1     a record of 5 letters, and the first two again
    windows     [===)   [===)     of 3 letters
    the same              [===)   as the first one, which begins behind the record
    """
    from kmatch.search.turns import on_circles

    for batch in batches:
        size = sizes_of(batch.record, circles.lengths)
        is_kept = (batch.start < size) & (batch.end - batch.start <= size)
        batch = on_circles(batch, circles)
        yield batch if is_kept.all() else batch.picked(np.flatnonzero(is_kept))
