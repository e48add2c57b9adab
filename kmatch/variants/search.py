"""A search for the hits of the reference, and for those that haplotypes make besides.

A haplotype is searched in windows, each around one of its alleles, the anchor, with letters enough
for every hit over it. Of these hits those are taken whose first allele in the file is the anchor,
so that each is found around one, and that are closer than the reference's at the same pattern end.
"""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from kmatch.arrays import Bools, Table, distinct
from kmatch.engine.ways import try_lookup
from kmatch.errors import InputError, warn
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import HitBatch
from kmatch.results.lines import Names
from kmatch.results.output import open_output
from kmatch.search.algorithms import ENGINE
from kmatch.search.chunks import NO_LETTERS
from kmatch.search.query import Query
from kmatch.search.rules import rules_of
from kmatch.search.search import Search
from kmatch.sequences.files import check_readable, label_of, open_source
from kmatch.sequences.records import Record
from kmatch.variants.alleles import (
    NONE,
    Block,
    block_of,
    check_reference,
    part_around,
    site_groups,
)
from kmatch.variants.anchors import AnchorFinder
from kmatch.variants.genotypes import COPIES
from kmatch.variants.haplotypes import Haplotypes
from kmatch.variants.hits import TextSearch, extents_of, pattern_ends_of
from kmatch.variants.lifting import (
    batch_of,
    carried,
    closer_hits,
    each_once,
    in_one_order,
    over_anchors_first,
)
from kmatch.variants.reference import (
    ReferenceDistances,
    ReferenceHits,
    no_distances,
    with_no_alleles,
)
from kmatch.variants.vcf import VariantReader, Variants
from kmatch.variants.windows import Windows, sources_of


class PlacedBlock(NamedTuple):
    """A Block, the number of its record in the genome, and the names of samples.

    samples: of all in the VCF that are chosen, each behind a comma.
    """

    block: Block
    record_number: int
    samples: Names


class VariantSearch(Search[HitBatch]):
    """The hits of a search, and those that haplotypes make and the reference has not, in one order.

    search: of a Query, in one genome without circular records. Raises InputError for what does not
    go together, at once, and on the way for a VCF that does not fit.
    """

    def __init__(self, search: Search[HitBatch], query: Query, given: Variants) -> None:
        check_fits(search.genomes, query)
        check_readable(given.vcf)
        self._given = given
        self._extents = extents_of(query)
        self._ends = pattern_ends_of(query)
        self._pattern_lengths = query.patterns.lengths

        # Windows have too few letters for a trial.
        pam_count = len(rules_of(query).pams)
        greatest_distance = self._extents.greatest_distance
        gapless = not self._extents.has_gaps
        is_tried = try_lookup(len(query.patterns), greatest_distance, pam_count, gapless)
        way = "lookup" if is_tried else None
        run = search.run._replace(cluster=None, algorithm=ENGINE, way=way)
        super().__init__(search.genomes, run, search.regions)
        self.engine = search.engine
        self.progress = search.progress

        self._search = TextSearch(query, run)
        self._anchors = AnchorFinder(self._search, self._extents, self._ends)
        found = filter(len, search.everywhere())
        self._reference = ReferenceHits(map(with_no_alleles, found))

    def everywhere(self) -> Iterator[HitBatch]:
        """Yield the hits of both kinds in one order, inside regions and elsewhere."""
        with open_output(self._given.dense_groups or os.devnull) as handle:
            dense_groups = DenseGroups(handle)
            for placed in self._blocks():
                # What blocks have between them is theirs alone, and no hit goes over it.
                part_start = placed.block.part.record_start
                yield from self._reference.before(placed.record_number, part_start)
                yield self._hits_in(placed, dense_groups)
            yield from self._reference.rest()
        dense_groups.warn_of(self._given)

    def _blocks(self) -> Iterator[PlacedBlock]:
        """Yield the blocks of the VCF, in the genome's order."""
        genome = self.genomes.genome(0)
        records = RecordsInTurn(genome)
        margin = self._extents.block_margin
        with open_source(self._given.vcf) as source:
            lengths = dict(zip(genome.names, genome.lengths.tolist(), strict=True))
            reader = VariantReader(source, self._given, lengths)
            samples = Names(f",{name}" for name in reader.samples)
            for sites in site_groups(reader.sites(), self._extents.block_gap):
                name = sites[0].record
                if self.regions and name not in self.regions:
                    continue
                if not records.go_to(name):
                    raise InputError(
                        f"{source.label}: line {sites[0].line_number:,}: '{name}' comes before "
                        "others in the genome; sort both in one order"
                    )
                part = part_around(sites, records.record.letters, margin)
                check_reference(sites, part, source.label)
                yield PlacedBlock(block_of(sites, part), records.number, samples)
            reader.warn_of_left_out()

    def _hits_in(self, placed: PlacedBlock, dense_groups: "DenseGroups") -> HitBatch:
        """Return the hits of both kinds from where a block begins to its last allele."""
        block = placed.block
        extents = self._extents
        end = block.sites.last_end + 1 + extents.spread
        of_reference = list(self._reference.before(placed.record_number, end))
        distances = no_distances(self._ends, extents.greatest_distance)
        distances = distances.with_hits(of_reference)
        anchors, distances = self._anchors.find(block, distances)

        most = self._given.max_haplotypes + COPIES * len(placed.samples.words)
        haplotypes = Haplotypes(block, extents.flank, extents.has_gaps, most)
        sources = sources_of(block, block.part)
        of_haplotypes: list[HitBatch] = []
        for table in haplotypes.around(anchors):
            windows = Windows(block, sources, table, extents.flank)
            of_haplotypes.append(self._hits_of(windows, placed, distances))
            dense_groups.add(block, table, haplotypes.is_dense)
        return in_one_order(of_reference, of_haplotypes)

    def _hits_of(
        self, windows: Windows, placed: PlacedBlock, distances: ReferenceDistances
    ) -> HitBatch:
        """Return the hits of windows that count; distances: of the reference's hits."""
        hits = self._search.hits(windows.letters, windows.bounds)
        found = closer_hits(windows, hits, distances)
        found = over_anchors_first(windows, found)
        found = each_once(windows, found, self._ends, self._pattern_lengths)
        found, copies = carried(placed.block, found)
        return batch_of(placed.block, placed.record_number, found, copies, placed.samples)


def check_fits(genomes: Genomes, query: Query) -> None:
    """Raise InputError for genomes and queries that are not searched with variants."""
    if genomes.named or genomes.circular:
        what = "circular records" if genomes.circular else "several genomes"
        raise InputError(f"variants are of one genome with linear records, not of {what}")
    if query.max_unknown is not None:
        raise InputError("variants are searched without max_unknown; leave one of them out")
    if query.report == "loci":
        raise InputError("the report 'loci' has no variants; ask for 'minima' or 'ends'")


class RecordsInTurn:
    """The records of a genome, one after another: `record` is the one at hand, and its `number`."""

    def __init__(self, genome: Genome) -> None:
        self._following = enumerate(genome.records())
        self.number = -1
        self.record = Record("", NO_LETTERS)

    def go_to(self, name: str) -> bool:
        """Go on to the record of a name; return whether it is at hand or follows."""
        while self.record.name != name:
            following = next(self._following, None)
            if following is None:
                return False
            self.number, self.record = following
        return True


class DenseGroups:
    """A table of the alleles that have too many haplotypes, one a line.

    handle: receives the lines, as bytes.
    """

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._count = 0
        self._write("sequence", "start", "end", "allele", "others")

    def _write(self, *cells: object) -> None:
        line = "\t".join(map(str, cells))
        self._handle.write(line.encode() + b"\n")

    def add(self, block: Block, haplotypes: Table, is_dense: Bools) -> None:
        """Add a line for each anchor that is dense, with all alleles that it was searched with.

        haplotypes: int64[n, D]; is_dense: bool[R].
        """
        anchors = haplotypes[:, 0]
        dense = distinct(anchors[is_dense[anchors]])
        for row in dense.tolist():
            rows = distinct(haplotypes[anchors == row].reshape(-1))
            names = block.names(rows[rows != NONE])
            name = names.pop(row)
            start = block.alleles.start[row]
            end = block.alleles.end[row]
            self._write(block.record, start, end, name, ",".join(names.values()))
        self._count += len(dense)

    def warn_of(self, given: Variants) -> None:
        """Warn of the alleles, if there are any."""
        if self._count:
            warn(
                f"{label_of(given.vcf)}: {self._count:,} alleles have more than "
                f"{given.max_haplotypes:,} combinations with those around them; they were searched "
                "alone and with each of these. --dense-groups FILE lists them, and "
                "--max-haplotypes raises the limit"
            )
