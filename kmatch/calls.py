"""Searches for patterns as Python calls them: where, how, and the table of hits that they give."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from kmatch.apps.searches import begin_search, make_scorer, on_cluster
from kmatch.arguments import check_choice
from kmatch.errors import InputError
from kmatch.genome import Genome, as_genomes
from kmatch.results.limit import limited
from kmatch.results.scores import SCORES
from kmatch.results.table import VARIANTS, Hits
from kmatch.search.alignments import BESIDE, GenomeTexts, with_alignments
from kmatch.search.panel import pattern_distances
from kmatch.search.query import Query, Run
from kmatch.search.regions import RegionsGiven, load_regions
from kmatch.search.rules import beside_pams
from kmatch.sequences.records import Progress
from kmatch.variants.vcf import Variants, load_variants

Path = str | os.PathLike[str]
Searched = Genome | Path | Sequence[Genome | Path]
Strand = Literal["both", "+", "-"]
Report = Literal["minima", "ends", "loci", "sites"]
Side = Literal["3p", "5p"]
Pams = str | Sequence[str]
Globs = str | Sequence[str]
Score = Literal["cfd", "mit"]
Pairing = Literal["own", "any"]
Each = Literal["file", "record"]
Limits = tuple[float, float]
Scheduler = Any  # an address, a scheduler file, or a distributed.Client


def known_scores(given: str | Sequence[str]) -> list[str]:
    """Return the names of scores that are asked for. Raises InputError for others."""
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        check_choice("score", name, tuple(SCORES))
    return names


@dataclass(frozen=True)
class Where:
    """Where patterns are searched for; see `hamming`."""

    genome: Searched
    circular: bool | Sequence[str]
    regions: RegionsGiven | None
    records: Globs | None
    skip_records: Globs | None
    variants: Variants | Path | Sequence[Path] | None = None


@dataclass(frozen=True)
class How:
    """How a search runs; see `hamming`."""

    device: str
    threads: int | None
    algorithm: str
    scheduler: Scheduler | None
    on_progress: Progress | None


def hits_of(
    query: Query,
    where: Where,
    how: How,
    limit: int | None,
    annotate: Path | Sequence[Path] | None,
    score: Score | Sequence[Score] = (),
    nuclease: str | None = None,
) -> Hits:
    """Return the Hits of a search for patterns: with alignments where a column needs them.

    Raises InputError for the side of a PAM without the PAM.
    """
    if query.pam is None and query.pam_side == "5p":
        raise InputError("pam_side has no effect without pam; give pam too")
    patterns = beside_pams(query.patterns, query.pam, query.pam_side)
    query = query._replace(patterns=patterns)
    variants = load_variants(where.variants)
    names = known_scores(score)
    k_each = pattern_distances(patterns, query.k) if isinstance(query.k, str) else None
    run = Run(how.device, how.threads, how.algorithm, variants=variants)
    with on_cluster(run, how.scheduler) as run:
        genomes = as_genomes(where.genome).with_circular(where.circular)
        genomes = genomes.with_records(where.records, where.skip_records)

        # Alignments come with the hits where these cannot be read again, or a column needs them.
        aligned = not genomes.can_reread or bool(names or variants)
        run = run._replace(aligned=aligned)
        align = partial(with_alignments, query=query, genomes=genomes, threads=run.threads)

        # A table without rows, with all its columns.
        pam_first = query.pam_side == "5p"
        hits = Hits((), patterns, genomes, pam_first, k_each, None if aligned else align)
        hits.threads = run.threads
        hits.add_scores(names)
        if annotate is not None:
            hits.annotate(annotate)
        if variants is not None:
            hits.add(VARIANTS)
            hits.has_alleles = variants.alleles
        if genomes.can_reread:
            longest = 2 * int(patterns.lengths.max()) + BESIDE
            hits.letters = GenomeTexts(genomes, longest).letters

        # Its rows.
        scorer = make_scorer(query, names, nuclease, run.threads) if names else None
        search = begin_search(query, genomes, run, load_regions(where.regions), scorer)
        search.progress.tell = how.on_progress
        hits.take(limited(search, patterns, limit, query.each))
    return hits
