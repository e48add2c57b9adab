"""Where a search runs: on a cluster, with variants, or plainly on this machine."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from kmatch.errors import hearing
from kmatch.genome import Genomes
from kmatch.search.begin import begin_here
from kmatch.search.query import RUN, Query, Run
from kmatch.search.regions import Regions
from kmatch.search.rules import rules_of

if TYPE_CHECKING:
    from kmatch.results.limit import Counts
    from kmatch.results.scores import Scorer
    from kmatch.search.sites import Watch


def begin_search(
    query: Query,
    genomes: Genomes,
    run: Run = RUN,
    regions: Regions | None = None,
    scorer: "Scorer | None" = None,
    watch: "Watch | None" = None,
) -> Any:
    """Return the search of a Query in genomes, which is iterated and asked as a Search.

    run: with a `cluster`, that searches; with `variants`, their haplotypes are searched on this
    machine, and the reference where it would be without them; scorer: of hits beside a PAM, which
    are aligned then; watch: of the hits among which sites are, see `SiteSearch`.
    """
    search = _begin_ends(query, genomes, run, regions)
    if query.report == "sites" or scorer is not None:
        from kmatch.search.sites import SiteSearch

        return SiteSearch(search, query, run, scorer, watch)
    return search


def _begin_ends(query: Query, genomes: Genomes, run: Run, regions: Regions | None) -> Any:
    """Return the search of a Query for the hits among which sites are."""
    if run.variants is not None:
        from kmatch.variants.search import VariantSearch

        reference = _begin_ends(query, genomes, run._replace(variants=None), regions)
        return VariantSearch(reference, query, run.variants)
    if run.cluster is not None:
        return run.cluster.search(query, genomes, run, regions)
    return begin_here(query, genomes, run, regions)


def add_sites(
    counts: "Counts",
    query: Query,
    genomes: Genomes,
    run: Run,
    regions: Regions | None,
    scorer: "Scorer",
) -> None:
    """Search for the sites of a Query, whatever it reports, and add their scores to Counts.

    A search of the same genomes and variants came before, and gave all warnings.
    """
    query = query._replace(report="sites")
    if run.variants is not None:
        run = run._replace(variants=run.variants._replace(dense_groups=None))
    search = begin_search(query, genomes, run, regions, scorer)
    with hearing(), closing(iter(search)) as batches:
        for sites in batches:
            counts.add_scores(sites)


def make_scorer(
    query: Query, names: Sequence[str], nuclease: str | None = None, threads: int | None = None
) -> "Scorer":
    """Return the Scorer of the hits of a Query by the scores of these names.

    threads: that may score hits, None for one a core.

    Raises InputError for PAMs that a score is not for, and for another nuclease than its own.
    """
    from kmatch.results.scores import Scorer

    rules = rules_of(query)
    pams = [pam.sequence for pam in rules.pams]
    guides = query.patterns.sequences
    return Scorer(names, guides, pams, rules.leads, rules.bounds, nuclease, threads)


@contextmanager
def on_cluster(run: Run, scheduler: Any) -> Iterator[Run]:
    """Give a Run on the Dask cluster of a scheduler, which is connected while the block runs.

    Without a scheduler it is the same Run.
    """
    if scheduler is None:
        yield run
        return
    from kmatch.cluster import connected

    with connected(scheduler) as cluster:
        yield run._replace(cluster=cluster)
