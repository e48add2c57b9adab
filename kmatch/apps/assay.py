"""Assays, pairs of primers with probes or without, in many genomes: amplified or not, and
differences.

Genomes are searched in windows, many small ones together. A window takes four steps. The products
of PCR are searched for, and the closest of each assay in each genome counts. Where there is none,
a second look at unknown letters and at the ends of records says whether they may hide one. The
closest site of each oligo that is in no product is searched for. Then oligos are compared with all
these sites.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kmatch.apps.apart import begin_apart, queries_apart
from kmatch.apps.duplexes import ComparedSites, Comparer, Duplexes, no_duplexes
from kmatch.apps.masked import (
    MaskedSites,
    SiteRuns,
    known_runs,
    masked_products,
    no_runs,
)
from kmatch.apps.pcr import (
    PRODUCT,
    PcrOptions,
    joins_of,
    no_products,
    products_of,
    site_query,
)
from kmatch.apps.reasons import ROLES, SiteTally
from kmatch.apps.searches import begin_search
from kmatch.arguments import APART, check_choice
from kmatch.arrays import Bools, Longs, distinct, first_of_each, order_of
from kmatch.errors import counted, shown, warn
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import (
    NO,
    ROLE_BITS,
    UNKNOWN,
    YES,
    AssayBatch,
    HitBatch,
    ProductBatch,
    joined,
    no_hits,
)
from kmatch.results.melting import SALTS, Salts
from kmatch.search.best import WINDOW, Window, closest, records_apart, windows
from kmatch.search.query import RUN, Query, Run
from kmatch.search.search import Search
from kmatch.sequences.oligos import PROBE, PrimerPairs
from kmatch.sequences.records import Stretch, stretches_apart

LARGE = 1_000_000  # letters of a genome in whose gaps anything may be
# Sets of masked oligos, as bits, from the best to the worst: fewest oligos, then the first ones.
MASKED_ORDER = np.array([1, 2, 4, 3, 5, 6, 7])
MASKED_RANK = np.append(0, np.argsort(MASKED_ORDER))  # by bits, of which there are some
NO_PLACE = -1  # in place of a record and its positions


class AssayOptions(NamedTuple):
    """product, edit, exact_3p: as PcrOptions has them; each: whether a genome is a `file` or a
    `record`; salts: of the solution of duplexes."""

    product: tuple[int, int] = PRODUCT
    edit: bool = False
    exact_3p: int = 0
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

    def run_cells(self, runs: SiteRuns) -> Longs:
        """Return the cells that SiteRuns are in, int64[n]."""
        unit = self.window.units(runs.record)
        return unit * len(self.pairs) + self.pairs.pair[runs.oligo]

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
        self._pcr = PcrOptions(options.product, edit=options.edit, exact_3p=options.exact_3p)
        self._query = site_query(pairs, k, self._pcr)
        self._joins = joins_of(pairs, self._pcr)
        self._best = Query("best", pairs.primers)
        self._comparer = Comparer(pairs.primers, options.salts)
        self._is_probe = pairs.role == PROBE
        self.engine = begin_apart(self._query, self._is_probe, genomes, run).engine
        # All windows are searched on the device that was chosen for the whole.
        if run.device == "auto" and run.cluster is None:
            run = run._replace(device=self.engine.name)
        self._run = run._replace(aligned=False)
        self._masked = MaskedSites(self._query, self._is_probe, self._run)
        self._genome_of_name: dict[str, int] = {}  # the first, where records are units
        self._is_repeated = False  # whether a name of a record is one in another genome
        self._all_masked = 0  # rows for which nothing but masked letters decide
        self._reading = Search[HitBatch](genomes)
        self.progress = self._reading.progress

    def __iter__(self) -> Iterator[AssayBatch]:
        for window in windows(self._units()):
            yield self._batch(Grid(window, self._pairs))
        self._genomes.check_names()
        if self._all_masked:
            warn(
                f"nothing but masked letters decide for {counted(self._all_masked, 'row')}, which "
                "are unknown; a narrower range of products leaves fewer"
            )

    def _units(self) -> Iterator[tuple[str, list[Stretch] | Genome]]:
        """Yield the names of genomes, and their records or, of a large one, where these are."""
        for number, name in enumerate(self._genomes.names):
            self.progress.go_to(number)
            genome = self._genomes.genome(number)
            if self._options.each == "record":
                yield from self._records(genome, number)
            elif (genome.expected_letters or WINDOW) >= WINDOW:
                yield name, genome
            else:
                yield name, list(stretches_apart(self._reading.parts(genome)))

    def _records(self, genome: Genome, number: int) -> Iterator[tuple[str, list[Stretch]]]:
        """Yield the records of a genome as units; warn of a name that another genome has, too.

        number: of the genome.
        """
        for name, stretches in records_apart(self._reading.parts(genome)):
            is_other = self._genome_of_name.setdefault(name, number) != number
            if is_other and not self._is_repeated:
                self._is_repeated = True
                warn(
                    f"two genomes or more have a record named '{shown(name)}'; rows do not tell "
                    "them apart"
                )
            yield name, stretches

    def _batch(self, grid: Grid) -> AssayBatch:
        """Return the rows of the genomes of a Window."""
        products, tally, sites = self._closest_products(grid)
        cells = grid.cells(products.forward)
        record = np.full(grid.cell_count, NO_PLACE)
        start = np.full(grid.cell_count, NO_PLACE)
        end = np.full(grid.cell_count, NO_PLACE)
        record[cells] = products.record
        start[cells] = products.start
        end[cells] = products.end
        amplifies = record != NO_PLACE

        answer, reason = self._answers(grid, amplifies, tally, sites)
        product_sites = _oligo_sites(products)
        other_sites = self._closest_sites(grid, product_sites)
        duplexes, positions = self._duplexes(grid, product_sites, other_sites)
        return AssayBatch(
            record,
            start,
            end,
            {NO_PLACE: ""} | products.names,
            units=grid.window.names,
            genome=grid.cell_genomes,
            assay=grid.cell_assays,
            answer=answer,
            reason=reason,
            distance=duplexes.distance.reshape(-1, ROLES),
            distance_3p=duplexes.distance_3p.reshape(-1, ROLES),
            tm=duplexes.tm.reshape(-1, ROLES),
            positions=positions,
        )

    def _closest_products(self, grid: Grid) -> tuple[ProductBatch, SiteTally, list[HitBatch]]:
        """Return the closest product of each cell that has any, the tally of the sites, and the
        sites."""
        window = grid.window
        genomes = window.genomes(self._genomes.circular)
        sites = begin_apart(self._query, self._is_probe, genomes, self._run)
        if window.unit is None:
            sites.progress.tell = self.progress.hear
        tally = SiteTally(self._pairs, self._joins, len(window.names), window.units)
        kept: list[HitBatch] = []
        batches = _kept_in(kept, sites.everywhere())
        products = products_of(batches, sites.genomes, self._pairs, self._pcr, tally)
        found = [_closest_of_cells(grid, batch) for batch in products]
        if window.unit is None:
            self.progress.join(sites.progress)
        return _closest_of_cells(grid, joined([no_products(), *found])), tally, kept

    def _answers(
        self, grid: Grid, amplifies: Bools, tally: SiteTally, sites: list[HitBatch]
    ) -> tuple[Longs, Longs]:
        """Return whether each cell amplifies, and why not, or which oligos may be masked there,
        int64[cells] each.

        amplifies: bool[cells], whether there is a product; sites: of all oligos.
        """
        answer = np.where(amplifies, YES, NO)
        reason = np.where(amplifies, 0, tally.reasons())
        masked, unit_letters = self._masked_sites(grid, ~amplifies)
        if not len(masked):
            return answer, reason

        # What products there may be with the known sites of these cells.
        has_masked = np.zeros(grid.cell_count, np.bool_)
        has_masked[grid.run_cells(masked)] = True
        known = known_runs(joined([no_hits(), *sites]))
        known = known.take(has_masked[grid.run_cells(known)])
        all_bits = self._oligo_bits(grid)
        is_large = unit_letters > LARGE
        bits = self._fewest_masked(grid, masked.followed_by(known), all_bits, is_large)
        self._all_masked += int((bits == all_bits).sum())
        is_unknown = bits > 0
        answer[is_unknown] = UNKNOWN
        reason[is_unknown] = bits[is_unknown]
        return answer, reason

    def _oligo_bits(self, grid: Grid) -> Longs:
        """Return the oligos that the assay of each cell has, in ROLE_BITS, int64[cells]."""
        bits: Longs = (self._pairs.sides @ ROLE_BITS)[grid.cell_assays]
        return bits

    def _fewest_masked(self, grid: Grid, runs: SiteRuns, all_bits: Longs, is_large: Bools) -> Longs:
        """Return the oligos of each cell that are masked in a product that there may be, in
        ROLE_BITS, int64[cells], 0 where there is none.

        all_bits: int64[cells], the oligos of the cell's assay; is_large: bool[units], genomes in
        which a product whose oligos are all masked does not count.
        """
        role_bits = ROLE_BITS[self._pairs.role]
        no_rank = len(MASKED_ORDER)
        rank = np.full(grid.cell_count, no_rank)
        for products in masked_products(runs, self._joins, role_bits, self._options.product):
            unit = grid.window.units(products.record)
            cells = unit * len(self._pairs) + self._pairs.pair[products.oligo]

            # Products with masked oligos that count.
            is_all_masked = products.masked == all_bits[cells]
            counts = (products.masked > 0) & ~(is_all_masked & is_large[unit])
            rows = np.flatnonzero(counts)

            # The best of each cell so far.
            np.minimum.at(rank, cells[rows], MASKED_RANK[products.masked[rows]])
        return np.append(MASKED_ORDER, 0)[rank]

    def _masked_sites(self, grid: Grid, is_open: Bools) -> tuple[SiteRuns, Longs]:
        """Return the masked SiteRuns of the cells that are open, and the letters of each unit."""
        unit_letters = np.zeros(len(grid.window.names), np.int64)
        cells = np.flatnonzero(is_open)
        units = distinct(grid.cell_genomes[cells])
        is_asked = np.isin(self._pairs.pair, grid.cell_assays[cells])
        oligos = np.flatnonzero(is_asked)
        if not len(units):
            return no_runs(), unit_letters
        part, numbers = grid.window.part(units)
        runs, sizes = self._masked.runs(part.genome.parts(), self._genomes.circular, oligos)
        record = np.arange(len(sizes)) if numbers is None else numbers
        np.add.at(unit_letters, grid.window.units(record), sizes)
        runs = replace(runs, record=record[runs.record])
        return runs.take(is_open[grid.run_cells(runs)]), unit_letters

    def _closest_sites(self, grid: Grid, product_sites: HitBatch) -> HitBatch:
        """Return the closest site of each oligo in each genome in which it is in no product."""
        units = grid.window.units(product_sites.record)
        wanted = np.ones((len(grid.window.names), len(self._pairs.primers)), np.bool_)
        wanted[units, product_sites.pattern] = False
        sites = closest(grid.window, self._best, wanted, self._find)
        units = grid.window.units(sites.record)
        rows = first_of_each(order_of(units, sites.pattern), units, sites.pattern)
        return sites.picked(np.sort(rows))

    def _find(self, window: Window, query: Query) -> Iterable[HitBatch]:
        """Return the hits of a Query in a Window, in edit distance."""
        genomes = window.genomes(self._genomes.circular)
        return begin_search(query._replace(problem="edit"), genomes, self._run).everywhere()

    def _duplexes(
        self, grid: Grid, product_sites: HitBatch, other_sites: HitBatch
    ) -> tuple[Duplexes, Longs]:
        """Return the Duplexes of slots, and the letters of genomes at each letter of the oligos
        (see AssayBatch)."""
        in_products: list[ComparedSites] = []
        for oligos, query in queries_apart(self._query, self._is_probe):
            rows = np.flatnonzero(np.isin(product_sites.pattern, oligos))
            query = query._replace(patterns=self._query.patterns)
            in_products.append(self._compared(grid, product_sites.picked(rows), query))
        elsewhere = self._compared(grid, other_sites, self._best)

        # A slot has the site in its product, or else the closest of its oligos.
        duplexes = no_duplexes(grid.cell_count * ROLES)
        slots = grid.slots(other_sites)
        rows = first_of_each(order_of(slots, other_sites.distance), slots)
        duplexes.put(slots[rows], self._comparer.duplexes(elsewhere).take(rows))
        for compared in in_products:
            duplexes.put(grid.slots(compared.sites), self._comparer.duplexes(compared))

        # Of sites elsewhere those count that are more alike than not.
        is_near = 2 * other_sites.distance <= self._pairs.primers.lengths[other_sites.pattern]
        counts = self._comparer.letter_counts(elsewhere, is_near)
        for compared in in_products:
            is_counted = np.ones(len(compared.sites), np.bool_)
            counts += self._comparer.letter_counts(compared, is_counted)
        return duplexes, counts

    def _compared(self, grid: Grid, sites: HitBatch, query: Query) -> ComparedSites:
        """Return the ComparedSites of the hits of a Query in a Window."""
        genomes = grid.window.genomes(self._genomes.circular)
        return self._comparer.compare(sites, query, genomes, self._run.threads)


def _kept_in(kept: list[HitBatch], batches: Iterable[HitBatch]) -> Iterator[HitBatch]:
    """Yield HitBatches, and add them to a list."""
    for batch in batches:
        kept.append(batch)
        yield batch


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
