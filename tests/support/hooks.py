"""Searches by name: what they look for, how they run, and settings that only tests set."""

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from kmatch.genome import as_genomes
from kmatch.results.table import Hits, Primers
from kmatch.search import primer
from kmatch.search.pcr import PcrOptions, PcrSearch, site_query
from kmatch.search.query import Query, Run
from kmatch.search.search import begin_search
from kmatch.sequences.patterns import load_patterns

SETTINGS = {
    "chunk_length": "search.chunks.LENGTH",
    "words": "search.chunks.WORDS",
    "capacity": "search.scan.CAPACITY",
    "held": "search.best.HELD",
    "sample": "search.best.SAMPLE",
    "part": "search.primer.PART",
    "height": "engine.cpu.primer.HEIGHT",
    "block": "engine.cpu.primer.BLOCK",
}


@contextmanager
def settings(given):
    """Take the settings out of options by name, and have them for a while."""
    with ExitStack() as stack:
        for name in SETTINGS.keys() & given.keys():
            value = given.pop(name)
            if value is not None:
                stack.enter_context(patch(f"kmatch.{SETTINGS[name]}", value))
        yield


def _run(given):
    """The Run of options by name, which are taken out."""
    return Run(**{name: given.pop(name) for name in Run._fields if name in given})


def batches(problem, genome, patterns, k=0, **given):
    """The batches of `hamming`, `multi`, `edit` or `best`."""
    with settings(given):
        run, regions = _run(given), given.pop("regions", None)
        query = Query(problem, patterns, k, **given)
        yield from begin_search(query, as_genomes(genome), run, regions)


def pcr_batches(genome, primers, k, /, **given):
    with settings(given):
        run, options = _run(given), PcrOptions(**given)
        sites = begin_search(site_query(primers, k, options), as_genomes(genome), run)
        yield from PcrSearch(sites, primers, options)


def hooked(problem, genome, patterns, *k, **given):
    """The Hits of `hamming`, `multi`, `edit` or `best`, of which `best` takes no k."""
    panel, genomes = load_patterns(patterns), as_genomes(genome)
    return Hits(batches(problem, genomes, panel, *k, **given), panel, genomes)


def hooked_primer(target, genome, k, on_progress=None, **given):
    """The Primers of `primer`."""
    with settings(given):
        run, options = _run(given), primer.PrimerOptions(**given)
        search = primer.PrimerSearch(target, genome, k, options, run)
        search.progress.tell = on_progress
        return Primers(search, k, options.both_strands)
