"""Assays, pairs of primers with probes or without, in many genomes: what amplifies, what differs.

Genomes are searched in windows, many small ones together, for the sites of all oligos; what PCR
makes of these is held against the best product of each assay so far. Where there is none, the
closest site of each of its oligos is looked for.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from kmatch.apps.pcr import PRODUCT, PcrOptions, products_of, site_query
from kmatch.apps.searches import begin_search
from kmatch.arguments import APART, check_choice
from kmatch.arrays import Floats, Ints, Longs, bounds_of, gather
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import SEEN, AssayBatch, HitBatch, ProductBatch, joined, no_hits
from kmatch.results.melting import SALTS, Salts, codes_of, melting_temperatures
from kmatch.results.table import Hits
from kmatch.search.alignments import with_alignments
from kmatch.search.best import WINDOW, Window, closest, records_apart, windows
from kmatch.search.query import RUN, Query, Run
from kmatch.search.search import Search
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.oligos import PrimerPairs
from kmatch.sequences.records import Stretch, stretch_of, whole_records

ROLES = 3


class AssayOptions(NamedTuple):
    """product, edit: as PcrOptions has them; each: whether a genome is a `file` or a `record`;
    salts: what duplexes are in."""

    product: tuple[int, int] = PRODUCT
    edit: bool = False
    each: str = "file"
    salts: Salts = SALTS


OPTIONS = AssayOptions()


def _first_of_each(number: Longs, differences: Longs | Ints) -> Longs:
    """Of the rows that have a number in common the one with the fewest differences, the first of
    these."""
    order = np.lexsort((differences, number))
    return order[np.flatnonzero(np.diff(number[order], prepend=-1))]


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
        self._run, self._reading = run._replace(aligned=False), Search[HitBatch](genomes)
        self.progress = self._reading.progress
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
        genomes = self._genomes
        for number, name in enumerate(genomes.names):
            self.progress.go_to(number)
            genome, apart = genomes.genome(number), self._options.each == "record"
            if not apart and (genome.expected_letters or WINDOW) >= WINDOW:
                yield name, genome
                continue
            parts = self._reading.parts(genome)
            if apart:
                yield from records_apart(parts)
            else:
                yield name, [stretch_of(*record) for record in whole_records(parts)]

    def _batch(self, window: Window) -> AssayBatch:
        """The rows of the genomes of a Window."""
        units, assays, names = len(window.names), len(self._pairs), {-1: ""}
        place, sites = np.full((3, units * assays), -1), no_hits()
        if found := self._products(window):
            products = self._nearest(window, joined(found))
            names |= products.names
            row = self._slots(window, products.forward) // ROLES
            place[:, row] = products.record, products.start, products.end
            sites = joined([products.forward, products.reverse])
            if probe := products.probe:
                sites = joined([sites, probe.picked(np.flatnonzero(probe.pattern >= 0))])
        amplifies = place[0] >= 0
        missing = ~amplifies.reshape(units, assays)
        near = closest(window, self._best, missing[:, self._pairs.pair], self._find)
        near = near.picked(_first_of_each(self._slots(window, near), near.distance))
        distance, distance_3p, tm, positions = self._compare(window, sites, near)
        genome, assay = np.divmod(np.arange(units * assays), assays)
        record, start, end = place
        return AssayBatch(
            record,
            start,
            end,
            names,
            units=window.names,
            genome=genome,
            assay=assay,
            amplifies=amplifies,
            distance=distance.reshape(-1, ROLES),
            distance_3p=distance_3p.reshape(-1, ROLES),
            tm=tm.reshape(-1, ROLES),
            positions=positions,
        )

    def _slots(self, window: Window, sites: HitBatch) -> Longs:
        """What sites are of, by number: a genome, an assay and the role of an oligo."""
        pairs = self._pairs
        row = window.units(sites.record) * len(pairs) + pairs.pair[sites.pattern]
        return ROLES * row + pairs.role[sites.pattern]

    def _products(self, window: Window) -> list[ProductBatch]:
        """The closest products of assays in genomes, out of each batch of products."""
        sites = begin_search(self._query, window.genomes(self._genomes.circular), self._run)
        if window.unit is None:
            sites.progress.tell = self.progress.hear
        products = products_of(sites.everywhere(), sites.genomes, self._pairs, self._pcr)
        found = [self._nearest(window, batch) for batch in products]
        if window.unit is None:
            self.progress.join(sites.progress)
        return found

    def _nearest(self, window: Window, products: ProductBatch) -> ProductBatch:
        """The closest product of each assay and genome."""
        total = products.forward.distance + products.reverse.distance
        if probe := products.probe:
            total += np.where(probe.pattern < 0, 0, probe.distance)
        return products.picked(_first_of_each(self._slots(window, products.forward), total))

    def _find(self, window: Window, query: Query) -> Iterable[HitBatch]:
        genomes = window.genomes(self._genomes.circular)
        return begin_search(query._replace(problem="edit"), genomes, self._run).everywhere()

    def _compare(
        self, window: Window, of_products: HitBatch, near: HitBatch
    ) -> tuple[Longs, Longs, Floats, Longs]:
        """The differences of sites, in all and in their last letters, and melting temperatures, by
        slot; and what sites of products have at each letter of their oligos (see AssayBatch)."""
        oligos, slots = self._pairs.primers, ROLES * len(window.names) * len(self._pairs)
        (distance, last), tm = np.full((2, slots), -1), np.full(slots, np.nan)
        codes = codes_of(oligos.masks)
        positions = np.zeros((len(codes), len(SEEN)), np.int64)
        for query, sites in ((self._query, of_products), (self._best, near)):
            slot, oligo = self._slots(window, sites), sites.pattern
            exact = (sites.distance == 0) & self._plain[oligo]
            distance[slot], last[slot], tm[slot] = sites.distance, 0, self._own[oligo]
            if sites is of_products:
                counts = np.bincount(oligo[exact], minlength=len(oligos))
                positions[np.arange(len(codes)), codes] = np.repeat(counts, oligos.lengths)
            rows = np.flatnonzero(~exact)
            if not len(rows):
                continue
            genomes = window.genomes(self._genomes.circular)
            (hits,) = with_alignments([sites.picked(rows)], query, genomes, self._run.threads)
            last[slot[rows]] = Hits.differences_3p.values([hits], self._table)
            tm[slot[rows]] = self._temperatures(hits)
            if sites is of_products:
                np.add.at(positions, self._seen(hits), 1)
        return distance, last, tm, positions

    def _temperatures(self, hits: HitBatch) -> Floats:
        """Melting temperatures of sites, NaN where letters were skipped. An oligo's letter that
        stands for several bases is the one that fits."""
        (ops, text), oligos = hits.aligned, self._pairs.primers
        rows = np.flatnonzero(ops.counted("I") + ops.counted("D") == 0)
        bounds = bounds_of(oligos.lengths[hits.pattern[rows]])
        sites = encode_text(gather(text.letters, text.bounds[rows], bounds))
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
