"""A search for the hits of the reference, and for those that haplotypes make besides.

A haplotype is searched in windows, each around one of its alleles, the anchor, with letters enough
for every hit over it. Of these hits those are taken whose first allele in the file is the anchor,
so that each is found around one, and that are closer than the reference's at the same pattern end.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from kmatch.arrays import Bools, Table, distinct
from kmatch.engine.ways import try_lookup
from kmatch.errors import InputError, warn
from kmatch.genome import Genome, Genomes
from kmatch.results.batches import HitBatch, no_hits
from kmatch.results.output import open_output
from kmatch.search.algorithms import ENGINE
from kmatch.search.query import Query
from kmatch.search.rules import rules_of
from kmatch.search.search import Search
from kmatch.sequences.files import check_readable
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
from kmatch.variants.files import RecordSites, VariantFiles
from kmatch.variants.hits import TextSearch, extents_of, pattern_ends_of
from kmatch.variants.joining import joined_alleles
from kmatch.variants.lifting import MadeHits, Samples, in_one_order, said_once
from kmatch.variants.made import Alone, MadeHitFinder, PlacedBlock
from kmatch.variants.reference import ReferenceHits, no_distances, with_no_alleles
from kmatch.variants.under import LossFinder, names_under
from kmatch.variants.vcf import Variants
from kmatch.variants.windows import sources_of


class VariantSearch(Search[HitBatch]):
    """The hits of a search, and those that haplotypes make and the reference has not, in one order.

    search: of a Query, in one genome without circular records. Raises InputError for what does not
    go together, at once, and on the way for a VCF that does not fit.
    """

    def __init__(self, search: Search[HitBatch], query: Query, given: Variants) -> None:
        check_fits(search.genomes, query)
        for path in given.paths:
            check_readable(path)
        self._given = given
        self._extents = extents_of(query)
        self._ends = pattern_ends_of(query)

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
        self._losses = LossFinder(query, self._ends)
        self._anchors = AnchorFinder(self._search, self._extents, self._ends, given.every)
        found = filter(len, search.everywhere())
        plain = (with_no_alleles(batch, given, self._ends) for batch in found)
        self._reference = ReferenceHits(plain)

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
        with ExitStack() as stack:
            files = VariantFiles(stack, self._given, genome)
            for found in files.records():
                if not self.regions or found.name in self.regions:
                    record = records.go_to(found.number)
                    yield from self._blocks_of(found, record, files.samples_of(found.reader))
            files.warn_of_left_out()

    def _blocks_of(
        self, found: RecordSites, record: Record, samples: Samples
    ) -> Iterator[PlacedBlock]:
        """Yield the blocks of a record in order; samples: of its file."""
        reader = found.reader
        sites = reader.that_count(joined_alleles(found.sites, record.letters))
        for group in site_groups(sites, self._extents.block_gap):
            part = part_around(group.sites, record.letters, self._extents.block_margin)
            check_reference(group.sites, part, reader.label)
            block = block_of(group.sites, part)
            alone = Alone(group.start, group.end, record.letters)
            yield PlacedBlock(block, found.number, alone, samples)

    def _hits_in(self, placed: PlacedBlock, dense_groups: "DenseGroups") -> HitBatch:
        """Return the hits of both kinds from where a block begins to its last allele."""
        block = placed.block
        end = block.sites.last_end + 1 + self._extents.spread
        of_reference = list(self._reference.before(placed.record_number, end))
        of_haplotypes = self._hits_made_in(placed, of_reference, dense_groups)
        made = said_once(of_haplotypes) if of_haplotypes else no_hits()
        hits = in_one_order(of_reference, made)
        if not len(hits):
            return no_hits()

        # What is told of the alleles under them.
        if self._given.alleles:
            hits = replace(hits, alleles=names_under(block, hits))
        if self._given.losses:
            hits = replace(hits, losses=self._losses.losses(block, hits))
        return hits

    def _hits_made_in(
        self, placed: PlacedBlock, of_reference: list[HitBatch], dense_groups: "DenseGroups"
    ) -> list[MadeHits]:
        """Return the hits that the haplotypes of a block make; of_reference: the reference's."""
        block = placed.block
        extents = self._extents
        distances = no_distances(self._ends, extents.greatest_distance)
        distances = distances.with_hits(of_reference)
        anchors, distances = self._anchors.find(block, distances)

        # Hits in windows of the haplotypes around each anchor.
        flank = extents.flank
        finder = MadeHitFinder(placed, self._search, extents, self._ends, self._given, distances)
        haplotypes = finder.haplotypes(flank)
        sources = sources_of(block, block.part)
        found: list[MadeHits] = []
        for table in haplotypes.around(anchors):
            found += finder.find(table, sources, flank)
            dense_groups.add(block, table, haplotypes.is_dense)
        return found


def check_fits(genomes: Genomes, query: Query) -> None:
    """Raise InputError for genomes and queries that are not searched with variants."""
    if genomes.named or genomes.circular:
        what = "circular records" if genomes.circular else "several genomes"
        raise InputError(f"variants are of one genome with linear records, not of {what}")
    if query.max_unknown is not None:
        raise InputError(
            "variants are searched without max_unknown, as beside them unknown letters match "
            "nothing; leave one of them out"
        )
    if query.report == "loci":
        raise InputError(
            "the report 'loci' has no variants; ask for 'minima' or 'ends', or for "
            "'sites' beside a PAM"
        )


class RecordsInTurn:
    """The records of a genome, one after another."""

    def __init__(self, genome: Genome) -> None:
        self._following = enumerate(genome.records())

    def go_to(self, wanted_number: int) -> Record:
        """Return a later record by its number in the genome."""
        return next(record for number, record in self._following if number == wanted_number)


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
                f"{given.label}: {self._count:,} alleles have more than "
                f"{given.max_haplotypes:,} combinations with those around them; they were searched "
                "alone and with each of these. --dense-groups FILE lists them, and "
                "--max-haplotypes raises the limit"
            )
