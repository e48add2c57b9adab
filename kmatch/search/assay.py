"""Assays, pairs of primers with probes or without, in many genomes: what amplifies, what differs.

Genomes are searched in windows, many small ones together, for the sites of all oligos; what PCR
makes of these is held against the best product of each assay so far. Where there is none, the
closest site of each of its oligos is looked for.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Ints, Longs, bounds_of, gather
from kmatch.errors import APART, check_choice
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import SEEN, AssayBatch, HitBatch
from kmatch.results.melting import SALTS, Salts, codes_of, melting_temperatures
from kmatch.results.table import Hits
from kmatch.search.alignments import with_alignments
from kmatch.search.best import WINDOW, Window, closest, noted_records, windows
from kmatch.search.pcr import PRODUCT, PcrOptions, products_of, site_query
from kmatch.search.query import RUN, Query, Run
from kmatch.search.search import Progress, begin_search
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.primer_pairs import PrimerPairs
from kmatch.sequences.records import Stretch

ROLES = 3
# The columns of a site, -1 where there is none.
SITE = ("oligo", "record", "start", "end", "minus", "distance")


class AssayOptions(NamedTuple):
    """product, edit: as PcrOptions has them; each: whether a genome is a `file` or a `record`;
    salts: what duplexes are in."""

    product: tuple[int, int] = PRODUCT
    edit: bool = False
    each: str = "file"
    salts: Salts = SALTS


OPTIONS = AssayOptions()


class _Nearest:
    """A table whose rows are -1, or what came for each with the fewest differences, the first of
    these."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = np.full((rows, columns), -1)
        self._keys, self._count = np.full(rows, np.iinfo(np.int64).max), 0

    def add(self, row: Longs, differences: Longs | Ints, columns: list[Any]) -> None:
        """Take columns, an array each, for rows by number."""
        keys = (differences.astype(np.int64) << 40) + np.arange(self._count, self._count + len(row))
        np.minimum.at(self._keys, row, keys)
        kept = np.flatnonzero(self._keys[row] == keys)
        self.rows[row[kept]] = np.stack([column[kept] for column in columns], axis=1)
        self._count += len(row)


def _columns(sites: HitBatch) -> list[Any]:
    """The columns of a SITE."""
    place = sites.pattern, sites.record, sites.start, sites.end
    return [*place, sites.minus, sites.distance]


class AssaySearch:
    """Finds assays in genomes: iterated once, it gives AssayBatches, a row an assay and genome.

    Raises InputError for assays without a pair of primers.
    """

    def __init__(
        self,
        pairs: PrimerPairs,
        genomes: Genomes,
        k: int | str,
        options: AssayOptions = OPTIONS,
        run: Run = RUN,
    ) -> None:
        check_choice("each", options.each, APART)
        self._pairs, self._genomes, self._options = pairs, genomes, options
        self._pcr = PcrOptions(options.product, edit=options.edit)
        self._query = site_query(pairs, k, self._pcr)
        self._best = Query("best", pairs.primers)
        self.engine = begin_search(self._query, genomes, run).engine
        if run.device == "auto" and run.cluster is None:
            run = run._replace(device=self.engine.name)
        self._run, self.progress = run._replace(aligned=False), Progress(genomes)
        oligos = pairs.primers
        self._table = Hits((), oligos)
        codes, begins = codes_of(oligos.masks), oligos.begins
        self._own = melting_temperatures(codes, codes, begins[:-1], begins[1:], options.salts)
        self._plain = ~np.isnan(self._own)  # no letter stands for several bases

    def __iter__(self) -> Iterator[AssayBatch]:
        for window in windows(self._units()):
            yield self._batch(window)
        self._genomes.check_circular()

    def _units(self) -> Iterator[tuple[str, list[Stretch] | Genome]]:
        """Yield the names of genomes, and their records or, of a large one, where these are."""
        progress, genomes = self.progress, self._genomes
        for number, name in enumerate(genomes.names):
            progress.go_to(number)
            genome, apart = genomes.genome(number), self._options.each == "record"
            if not apart and (genome.expected_letters or WINDOW) >= WINDOW:
                yield name, genome
                continue
            records = noted_records(genome.parts(progress.hear), progress)
            if apart:
                yield from ((record.names[0], [record]) for record in records)
            else:
                yield name, list(records)

    def _batch(self, window: Window) -> AssayBatch:
        """The rows of the genomes of a Window."""
        units, assays = len(window.names), len(self._pairs)
        products, names = self._products(window)
        amplifies = products[:, 0] >= 0
        place, sites = np.split(products, [3], axis=1)
        sites = sites.reshape(-1, len(SITE))
        sites[sites[:, 0] < 0] = -1
        if not amplifies.all():
            near = self._approach(window, ~amplifies.reshape(units, assays))
            sites = np.where(np.repeat(amplifies, ROLES)[:, None], sites, near)
        record, start, end = place.T
        distance_3p, tm, positions = self._compare(window, sites, amplifies)
        genome, assay = np.divmod(np.arange(units * assays), assays)
        return AssayBatch(
            record,
            start,
            end,
            {-1: ""} | names,
            units=window.names,
            genome=genome,
            assay=assay,
            amplifies=amplifies,
            distance=sites[:, -1].reshape(-1, ROLES),
            distance_3p=distance_3p.reshape(-1, ROLES),
            tm=tm.reshape(-1, ROLES),
            positions=positions,
        )

    def _products(self, window: Window) -> tuple[Longs, dict[int, str]]:
        """The product of each assay and genome, -1 where none amplifies: record, start and end, and
        the SITE of each oligo; and the names of records."""
        pairs, names = self._pairs, dict[int, str]()
        found = _Nearest(len(window.names) * len(pairs), 3 + ROLES * len(SITE))
        sites = begin_search(self._query, window.genomes(self._genomes.circular), self._run)
        if window.unit is None:
            sites.progress.tell = self.progress.hear
        for batch in products_of(sites.everywhere(), sites.genomes, pairs, self._pcr):
            row = window.units(batch.record) * len(pairs) + pairs.pair[batch.forward.pattern]
            columns: list[Any] = [batch.record, batch.start, batch.end]
            total, none = np.zeros_like(row), replace(batch.forward, pattern=np.full_like(row, -1))
            for each in (batch.forward, batch.reverse, batch.probe or none):
                columns += _columns(each)
                total += np.where(each.pattern < 0, 0, each.distance)
            found.add(row, total, columns)
            names |= batch.names
        if window.unit is None:
            self.progress.join(sites.progress)
        return found.rows, names

    def _approach(self, window: Window, missing: Bools) -> Longs:
        """The SITE of each oligo, by role, of the assays that are missing in genomes."""
        pairs, found = self._pairs, _Nearest(missing.size * ROLES, len(SITE))
        hits = closest(window, self._best, missing[:, pairs.pair], self._find)
        row = window.units(hits.record) * len(pairs) + pairs.pair[hits.pattern]
        row = ROLES * row + pairs.role[hits.pattern]
        found.add(row, hits.distance, _columns(hits))
        return found.rows

    def _find(self, window: Window, query: Query) -> Iterable[HitBatch]:
        genomes = window.genomes(self._genomes.circular)
        return begin_search(query._replace(problem="edit"), genomes, self._run).everywhere()

    def _compare(
        self, window: Window, sites: Longs, amplifies: Bools
    ) -> tuple[Longs, Floats, Longs]:
        """The differences in the last letters and the melting temperatures of sites, and what those
        of products have at each letter of their oligos, as AssayBatches have them."""
        oligo, of_product = sites[:, 0], np.repeat(amplifies, ROLES)
        exact = (oligo >= 0) & (sites[:, -1] == 0) & self._plain[oligo]
        last, tm = np.where(exact, 0, -1), np.where(exact, self._own[oligo], np.nan)
        oligos = self._pairs.primers
        counts = np.bincount(oligo[exact & of_product], minlength=len(oligos))
        codes = codes_of(oligos.masks)
        positions = np.zeros((len(codes), len(SEEN)), np.int64)
        positions[np.arange(len(codes)), codes] = np.repeat(counts, oligos.lengths)
        for query, these in ((self._query, of_product), (self._best, ~of_product)):
            rows = np.flatnonzero((oligo >= 0) & ~exact & these)
            if not len(rows):
                continue
            pattern, record, start, end, minus, distance = sites[rows].T
            kinds = pattern.astype(np.int32), distance.astype(np.int32), minus.astype(np.uint8)
            hits = HitBatch(record, start, end, {}, *kinds)
            genomes = window.genomes(self._genomes.circular)
            (hits,) = with_alignments([hits], query, genomes, self._run.threads)
            last[rows] = Hits.differences_3p.values([hits], self._table)
            tm[rows] = self._temperatures(hits)
            if query is self._query:
                np.add.at(positions, self._seen(hits), 1)
        return last, tm, positions

    def _temperatures(self, hits: HitBatch) -> Floats:
        """Melting temperatures of sites, NaN where letters were skipped. An oligo's letter that
        stands for several bases is the one that fits."""
        (ops, text), oligos = hits.aligned, self._pairs.primers
        rows = np.flatnonzero(ops.counted("I") + ops.counted("D") == 0)
        bounds = bounds_of(oligos.lengths[hits.pattern[rows]])
        sites = encode_text(gather(text.letters, text.ends[rows], bounds))
        masks = gather(oligos.masks, oligos.begins[hits.pattern[rows]], bounds)
        letters = codes_of(np.where(masks & sites, sites, masks)), codes_of(sites)
        found = np.full(len(hits), np.nan)
        found[rows] = melting_temperatures(*letters, bounds[:-1], bounds[1:], self._options.salts)
        return found

    def _seen(self, hits: HitBatch) -> tuple[Longs, Longs]:
        """The letters of oligos, and which of SEEN the sites have there."""
        (ends, ops), (_, text) = hits.aligned
        row = np.repeat(np.arange(len(hits)), np.diff(ends))
        added, skipped = ops == ord("D"), ops == ord("I")
        letters = bounds_of(~added)
        begin = self._pairs.primers.begins[hits.pattern[row]]
        letter = begin + letters[:-1] - letters[ends[row]] - added
        codes = codes_of(encode_text(np.append(text, np.uint8(0))))
        seen = np.where(skipped, SEEN.index("-"), codes[bounds_of(~skipped)[:-1]])
        seen[added] = SEEN.index("+")
        return letter, seen
