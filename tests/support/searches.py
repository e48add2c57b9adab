"""Searches by name, with settings that only tests set, and what they find as rows of tuples."""

import io
import warnings
from contextlib import ExitStack, contextmanager
from functools import partial
from unittest.mock import patch

from Bio.Seq import Seq

import kmatch
from kmatch.apps import primer as primers
from kmatch.apps.pcr import PcrOptions, PcrSearch
from kmatch.apps.searches import begin_search
from kmatch.genome import as_genomes
from kmatch.packed.writer import write_packed
from kmatch.results.table import Hits, Primers, Products
from kmatch.search.query import Query, Run
from kmatch.sequences.oligos import load_pairs
from kmatch.sequences.patterns import load_patterns
from support.commands import random_letters

TEXT = random_letters(3_000)
RECORDS = [("one", TEXT[:1_000]), ("two", ""), ("three", TEXT[1_000:])]
GENOME = kmatch.Genome.from_records(RECORDS)
ENDS = (TEXT[10:30], str(Seq(TEXT[280:300]).reverse_complement()))  # a pair with one product
HEADER = "sequence\tstart\tend\tpattern\tdistance\tstrand\tcigar\tmatch\n"  # of hits
SETTINGS = {
    "chunk_length": "search.chunks.LENGTH",
    "words": "search.chunks.WORDS",
    "capacity": "search.scan.CAPACITY",
    "part": "apps.primer.PART",
    "height": "engine.cpu.primer.HEIGHT",
    "block": "engine.cpu.primer.BLOCK",
    "group_starts": "engine.cpu.primer.GROUP_STARTS",
}


def call(function, *arguments, **options):
    """A function for Python, on one thread of the CPU unless options say otherwise."""
    return function(*arguments, **{"device": "cpu", "threads": 1, **options})


def packed(records, **geometry):
    """The Genome of (name, sequence) pairs out of a packed file in memory."""
    handle = io.BytesIO()
    write_packed(kmatch.Genome.from_records(records).parts(), handle, **geometry)
    return kmatch.Genome.of_packed("packed", bytearray(handle.getvalue()))


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


def hooked(problem, genome, patterns, *k, **given):
    """The Hits of `hamming`, `multi`, `edit` or `best`, of which `best` takes no k."""
    panel, genomes = load_patterns(patterns), as_genomes(genome)
    return Hits(batches(problem, genomes, panel, *k, **given), panel, genomes)


def search(records, patterns, k, problem="hamming", **options):
    return hooked(problem, kmatch.Genome.from_records(records), patterns, k, **options)


search_panel, edit = partial(search, problem="multi"), partial(search, problem="edit")


def best(records, patterns, **options):
    """Without its warnings of patterns that match nowhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return search(records, patterns, 0, "best", **options)


def rows(hits):
    columns = (hits.record_number, hits.start, hits.end, hits.pattern_number, hits.distance)
    return list(zip(*(column.tolist() for column in columns), hits.strand.tolist(), strict=True))


def aligned(hits):
    """Hits as the oracle gives them: by numbers, with the CIGARs of the TSV file."""
    hits.to_tsv(table := io.StringIO())
    cigars = [line.split("\t")[6] for line in table.getvalue().splitlines()[1:]]
    return [(*row, cigar) for row, cigar in zip(rows(hits), cigars, strict=True)]


def primer(target, background, k, on_progress=None, **given):
    """The Primers of a target, both as a Genome or as records."""
    target, background = (
        each if isinstance(each, kmatch.Genome) else kmatch.Genome.from_records(each)
        for each in (target, background)
    )
    given = {"device": "cpu"} | given
    with settings(given):
        run, options = _run(given), primers.PrimerOptions(**given)
        found = primers.PrimerSearch(target, background, k, options, run)
        found.progress.tell = on_progress
        return Primers(found, k, options.both_strands)


def primer_rows(found):
    columns = (found.record_number, found.start, found.end, found.strand)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def products(records, given, k, **options):
    """The Products of a call of kmatch.pcr."""
    panel, genome = load_pairs(given), kmatch.Genome.from_records(records)
    sequence = options.get("sequence", False)

    def found():
        with settings(options):
            run, how = _run(options), PcrOptions(**options)
            yield from PcrSearch(panel, as_genomes(genome), k, how, run)

    return Products(found(), panel, sequence)


def product_rows(found):
    """Products as the oracle gives them, hits without their strand and CIGAR."""
    sides = [
        (f"{side}_number", f"{side}_start", f"{side}_end", f"distance_{side}")
        for side in ("forward", "reverse")
    ]
    names = ("record_number", "start", "end", "strand", *sides[0], *sides[1])
    columns = [getattr(found, name).tolist() for name in names]
    return [(*row[:4], row[4:8], row[8:]) for row in zip(*columns, strict=True)]
