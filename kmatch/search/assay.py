"""Assays, pairs of primers with probes or without, in many genomes: what amplifies, what differs.

Genomes are searched in windows, many small ones together, for the sites of all oligos; what PCR
makes of these is held against the best product of each assay so far. Where there is none, the
closest site of each of its oligos is looked for.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bools, Floats, Longs, bounds_of, gather
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
SITE = ("oligo", "record", "start", "end", "minus", "distance")  # -1 where there is none


class AssayOptions(NamedTuple):
    """product, edit: as PcrOptions has them; each: whether a genome is a `file` or a `record`;
    salts: what duplexes are in."""

    product: tuple[int, int] = PRODUCT
    edit: bool = False
    each: str = "file"
    salts: Salts = SALTS


OPTIONS = AssayOptions()


def _table(*columns: Any) -> Longs:
    return np.stack(columns, axis=1).astype(np.int64)


def _least(table: Longs) -> Longs:
    """Of the rows with a key, the first column, the first of those with the least in the second."""
    order = np.lexsort((table[:, 1], table[:, 0]))
    return table[order[np.flatnonzero(np.diff(table[order, 0], prepend=-1))]]


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

    def _units(self) -> Iterator[tuple[list[str], list[Stretch] | Genome]]:
        """Yield the names of genomes, and their records or, of a large one, where these are."""
        progress, genomes = self.progress, self._genomes
        for number, name in enumerate(genomes.names):
            progress.go_to(number)
            genome, apart = genomes.genome(number), self._options.each == "record"
            if not apart and (genome.expected_letters or WINDOW) >= WINDOW:
                yield [name], genome
                continue
            records = noted_records(genome.parts(progress.hear), progress)
            if apart:
                yield from ((stretch.names, [stretch]) for stretch in records)
            else:
                yield [name], list(records)

    def _batch(self, window: Window) -> AssayBatch:
        """The rows of the genomes of a Window."""
        units, assays = len(window.names), len(self._pairs)
        place = np.full((units * assays, 3), -1)
        sites = np.full((units * assays, ROLES, len(SITE)), -1)
        products, names = self._products(window)
        key = products[:, 0]
        place[key] = products[:, 2:5]
        sites[key] = products[:, 5:].reshape(-1, ROLES, len(SITE))
        amplifies = place[:, 0] >= 0
        if not amplifies.all():
            self._approach(window, ~amplifies.reshape(units, assays), sites)
        record, start, end = place.T
        distance = sites[:, :, SITE.index("distance")]
        distance_3p, tm, positions = self._compare(window, sites.reshape(-1, len(SITE)), amplifies)
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
            distance=distance,
            distance_3p=distance_3p.reshape(-1, ROLES),
            tm=tm.reshape(-1, ROLES),
            positions=positions,
        )

    def _products(self, window: Window) -> tuple[Longs, dict[int, str]]:
        """The product of each assay and genome that amplifies: its key, differences, record, start
        and end, and the SITE of each oligo; and the names of records."""
        pair, names = self._pairs.pair, dict[int, str]()
        found = [np.zeros((0, 5 + ROLES * len(SITE)), np.int64)]
        sites = begin_search(self._query, window.genomes(self._genomes.circular), self._run)
        if window.unit is None:
            sites.progress.tell = self.progress.hear
        for batch in products_of(sites.everywhere(), sites.genomes, self._pairs, self._pcr):
            key = window.units(batch.record) * len(self._pairs) + pair[batch.forward.primer]
            place = _table(key, np.zeros_like(key), batch.record, batch.start, batch.end)
            rows = [place]
            for each in (batch.forward, batch.reverse, batch.probe or batch.forward):
                own = (each.primer, batch.record, each.start, each.end, each.minus, each.distance)
                rows.append(_table(*own))
            if batch.probe is None:
                rows[-1][:] = -1
            rows[-1][rows[-1][:, 0] < 0] = -1
            place[:, 1] = sum(np.maximum(row[:, -1], 0) for row in rows[1:])
            found.append(_least(np.hstack(rows)))
            names |= batch.names
        if window.unit is None:
            self.progress.join(sites.progress)
        return _least(np.concatenate(found)), names

    def _approach(self, window: Window, missing: Bools, sites: Longs) -> None:
        """Put the closest site of each oligo of the assays that are missing in genomes to sites."""
        pairs, wanted = self._pairs, missing[:, self._pairs.pair]
        hits = closest(window, self._best, wanted, self._find)
        key = window.units(hits.record) * len(pairs) + pairs.pair[hits.pattern]
        place = (hits.pattern, hits.record, hits.start, hits.end, hits.minus, hits.distance)
        rows = _least(_table(ROLES * key + pairs.role[hits.pattern], hits.distance, *place))
        sites[np.divmod(rows[:, 0], ROLES)] = rows[:, 2:]

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
        columns, oligos = hits.aligned, self._pairs.primers
        skipped = bounds_of(np.isin(columns.ops, np.frombuffer(b"ID", np.uint8)))[columns.op_ends]
        rows = np.flatnonzero(np.diff(skipped) == 0)
        bounds = bounds_of(oligos.lengths[hits.pattern[rows]])
        sites = encode_text(gather(columns.text, columns.text_ends[rows], bounds))
        masks = gather(oligos.masks, oligos.begins[hits.pattern[rows]], bounds)
        letters = codes_of(np.where(masks & sites, sites, masks)), codes_of(sites)
        found = np.full(len(hits), np.nan)
        found[rows] = melting_temperatures(*letters, bounds[:-1], bounds[1:], self._options.salts)
        return found

    def _seen(self, hits: HitBatch) -> tuple[Longs, Longs]:
        """The letters of oligos, and which of SEEN the sites have there."""
        ops, columns = hits.aligned.ops, hits.aligned
        row = np.repeat(np.arange(len(hits)), np.diff(columns.op_ends))
        added, skipped = ops == ord("D"), ops == ord("I")
        letters = bounds_of(~added)
        begin = self._pairs.primers.begins[hits.pattern[row]]
        letter = begin + letters[:-1] - letters[columns.op_ends[row]] - added
        text = codes_of(encode_text(np.append(columns.text, np.uint8(0))))
        seen = np.where(skipped, SEEN.index("-"), text[bounds_of(~skipped)[:-1]])
        seen[added] = SEEN.index("+")
        return letter, seen
