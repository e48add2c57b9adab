"""Assays, pairs of primers with probes or without, in many genomes: what amplifies, what differs.

Genomes are searched in windows, many small ones together. A window takes three steps. The products
of PCR are searched for, and the closest of each assay in each genome counts. For an assay without
a product the closest site of each of its oligos is searched for. Then oligos are compared with all
these sites.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from kmatch.apps.duplexes import ComparedSites, Comparer, Duplexes, no_duplexes
from kmatch.apps.pcr import PRODUCT, PcrOptions, no_products, products_of, site_query
from kmatch.apps.searches import begin_search
from kmatch.arguments import APART, check_choice
from kmatch.arrays import Bools, Longs, first_of_each, order_of
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import AssayBatch, HitBatch, ProductBatch, joined
from kmatch.results.melting import SALTS, Salts
from kmatch.search.best import WINDOW, Window, closest, records_apart, windows
from kmatch.search.query import RUN, Query, Run
from kmatch.search.search import Search
from kmatch.sequences.oligos import PrimerPairs
from kmatch.sequences.records import Stretch, stretch_of, whole_records

ROLES = 3
NO_PLACE = -1  # in place of a record and its positions


class AssayOptions(NamedTuple):
    """product, edit: as PcrOptions has them; each: whether a genome is a `file` or a `record`;
    salts: what duplexes are in."""

    product: tuple[int, int] = PRODUCT
    edit: bool = False
    each: str = "file"
    salts: Salts = SALTS


OPTIONS = AssayOptions()


class Grid(NamedTuple):
    """The assays in the genomes of a Window, by number.

    A cell is an assay in a genome. It has a slot for each role of an oligo:

                       assay 0     assay 1
                       F  R  P     F  R  P
        genome 0       0  1  2     3  4  5        cells 0 and 1
        genome 1       6  7  8     9 10 11        cells 2 and 3
    """

    window: Window
    pairs: PrimerPairs

    @property
    def cell_count(self) -> int:
        """How many cells there are."""
        return len(self.window.names) * len(self.pairs)

    @property
    def cell_genomes(self) -> Longs:
        """The genome of each cell, int64[cells]."""
        return np.repeat(np.arange(len(self.window.names)), len(self.pairs))

    @property
    def cell_assays(self) -> Longs:
        """The assay of each cell, int64[cells]."""
        return np.tile(np.arange(len(self.pairs)), len(self.window.names))

    def cells(self, sites: HitBatch) -> Longs:
        """Return the cells that sites of oligos are in, int64[n]."""
        genome = self.window.units(sites.record)
        return genome * len(self.pairs) + self.pairs.pair[sites.pattern]

    def slots(self, sites: HitBatch) -> Longs:
        """Return the slots that sites of oligos are in, int64[n]."""
        return self.cells(sites) * ROLES + self.pairs.role[sites.pattern]


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
        self._pairs = pairs
        self._genomes = genomes
        self._options = options
        self._pcr = PcrOptions(options.product, edit=options.edit)
        self._query = site_query(pairs, k, self._pcr)
        self._best = Query("best", pairs.primers)
        self._comparer = Comparer(pairs.primers, options.salts)
        self.engine = begin_search(self._query, genomes, run).engine
        # All windows are searched on the device that was chosen for the whole.
        if run.device == "auto" and run.cluster is None:
            run = run._replace(device=self.engine.name)
        self._run = run._replace(aligned=False)
        self._reading = Search[HitBatch](genomes)
        self.progress = self._reading.progress

    def __iter__(self) -> Iterator[AssayBatch]:
        for window in windows(self._units()):
            yield self._batch(Grid(window, self._pairs))
        self._genomes.check_names()

    def _units(self) -> Iterator[tuple[str, list[Stretch] | Genome]]:
        """Yield the names of genomes, and their records or, of a large one, where these are."""
        for number, name in enumerate(self._genomes.names):
            self.progress.go_to(number)
            genome = self._genomes.genome(number)
            if self._options.each == "record":
                yield from records_apart(self._reading.parts(genome))
            elif (genome.expected_letters or WINDOW) >= WINDOW:
                yield name, genome
            else:
                records = whole_records(self._reading.parts(genome))
                yield name, [stretch_of(*record) for record in records]

    def _batch(self, grid: Grid) -> AssayBatch:
        """Return the rows of the genomes of a Window."""
        products = self._closest_products(grid)
        cells = grid.cells(products.forward)
        record = np.full(grid.cell_count, NO_PLACE)
        start = np.full(grid.cell_count, NO_PLACE)
        end = np.full(grid.cell_count, NO_PLACE)
        record[cells] = products.record
        start[cells] = products.start
        end[cells] = products.end
        amplifies = record != NO_PLACE
        other_sites = self._closest_sites(grid, amplifies)
        duplexes, positions = self._duplexes(grid, _oligo_sites(products), other_sites)
        return AssayBatch(
            record,
            start,
            end,
            {NO_PLACE: ""} | products.names,
            units=grid.window.names,
            genome=grid.cell_genomes,
            assay=grid.cell_assays,
            amplifies=amplifies,
            distance=duplexes.distance.reshape(-1, ROLES),
            distance_3p=duplexes.distance_3p.reshape(-1, ROLES),
            tm=duplexes.tm.reshape(-1, ROLES),
            positions=positions,
        )

    def _closest_products(self, grid: Grid) -> ProductBatch:
        """Return the closest product of each cell that has any."""
        window = grid.window
        sites = begin_search(self._query, window.genomes(self._genomes.circular), self._run)
        if window.unit is None:
            sites.progress.tell = self.progress.hear
        products = products_of(sites.everywhere(), sites.genomes, self._pairs, self._pcr)
        found = [_closest_of_cells(grid, batch) for batch in products]
        if window.unit is None:
            self.progress.join(sites.progress)
        return _closest_of_cells(grid, joined([no_products(), *found]))

    def _closest_sites(self, grid: Grid, amplifies: Bools) -> HitBatch:
        """Return the closest site of each oligo of the cells that do not amplify, one a slot.

        amplifies: bool[cells].
        """
        assay_count = len(self._pairs)
        is_missing = ~amplifies.reshape(-1, assay_count)
        wanted = is_missing[:, self._pairs.pair]
        sites = closest(grid.window, self._best, wanted, self._find)
        slots = grid.slots(sites)
        return sites.picked(first_of_each(order_of(slots, sites.distance), slots))

    def _find(self, window: Window, query: Query) -> Iterable[HitBatch]:
        """Return the hits of a Query in a Window, in edit distance."""
        genomes = window.genomes(self._genomes.circular)
        return begin_search(query._replace(problem="edit"), genomes, self._run).everywhere()

    def _duplexes(
        self, grid: Grid, product_sites: HitBatch, other_sites: HitBatch
    ) -> tuple[Duplexes, Longs]:
        """Return the Duplexes of slots, and what sites of products have at each letter of their
        oligos (see AssayBatch)."""
        in_products = self._compared(grid, product_sites, self._query)
        elsewhere = self._compared(grid, other_sites, self._best)

        duplexes = no_duplexes(grid.cell_count * ROLES)
        duplexes.put(grid.slots(product_sites), self._comparer.duplexes(in_products))
        duplexes.put(grid.slots(other_sites), self._comparer.duplexes(elsewhere))
        return duplexes, self._comparer.letter_counts(in_products)

    def _compared(self, grid: Grid, sites: HitBatch, query: Query) -> ComparedSites:
        """Return the ComparedSites of what a Query has found in a Window."""
        genomes = grid.window.genomes(self._genomes.circular)
        return self._comparer.compare(sites, query, genomes, self._run.threads)


def _closest_of_cells(grid: Grid, products: ProductBatch) -> ProductBatch:
    """Return the product of each cell with the fewest differences in all, the first of these."""
    distance = products.forward.distance + products.reverse.distance
    if products.probe is not None:
        has_probe = products.probe.pattern >= 0
        distance = distance + np.where(has_probe, products.probe.distance, 0)
    cells = grid.cells(products.forward)
    return products.picked(first_of_each(order_of(cells, distance), cells))


def _oligo_sites(products: ProductBatch) -> HitBatch:
    """Return the sites of the primers and probes of products."""
    sites = [products.forward, products.reverse]
    if products.probe is not None:
        has_probe = products.probe.pattern >= 0
        sites.append(products.probe.picked(np.flatnonzero(has_probe)))
    return joined(sites)
