"""The searches for primers and for what they make: `kmatch pcr` and `kmatch primer`."""

import os
from functools import partial
from typing import TYPE_CHECKING

import click

from kmatch.cli.command import OUTPUT, WHERE, Argument, Given, Option, command, grouped
from kmatch.cli.options import (
    CIRCULAR,
    EDIT,
    GENOME,
    NONE,
    OLIGOS,
    ONE,
    PRODUCT,
    READ,
    TABLE,
    Number,
    NumberRange,
    algorithm,
    distance,
    regions,
)
from kmatch.cli.searches import Search, check_inputs
from kmatch.errors import BACKGROUND_STRANDS, PAIRINGS, counted

if TYPE_CHECKING:
    from kmatch.search.query import Run


@command(
    "In-silico PCR: the products of pairs of primers.",
    GENOME,
    Argument(
        "primers",
        f"{OLIGOS} A product holds the probe of its pair, whose name ends in _P or _PROBE.",
        required=False,
    ),
    Option(
        *("-p --pair sequences", "FORWARD REVERSE", "PRIMERS"),
        "A pair of primers, in place of PRIMERS; can be repeated.",
        nargs=2,
        multiple=True,
    ),
    distance("Mismatches allowed in a primer, or differences with --edit; N% of its letters."),
    PRODUCT,
    Option(
        *("--pairs", PAIRINGS, None),
        "own: join the partners of a pair; any: join any two primers, one with itself too.",
    ),
    EDIT,
    Option("--exact-3p", NONE, None, "The last N letters of a primer must match.", default=0),
    Option(
        *("--sequence", bool, None),
        "End the rows of TSV with the products themselves.",
        group=OUTPUT,
    ),
    regions("products"),
    algorithm("hamming", "edit"),
    CIRCULAR,
    *TABLE,
    examples=(
        "kmatch pcr genome.fa.gz -p ACCAGGAACTAATCAGACAAG CAAAGACCAATCCTACCATGAG -k 2",
        "kmatch pcr genome.fa.gz pairs.tsv -k 3 --exact-3p 5 -o products.tsv",
    ),
    differs="pcr joins sites to products: those that hamming finds, or with --edit those of edit.",
)
def pcr(given: Given) -> None:
    """Find the products that pairs of primers make in GENOME, both ways round.

    A product reaches from a site of one primer on + to a site of its partner on - that faces it.
    """
    search = Search(given, {})
    check_inputs(given, "PRIMERS", given.primers)
    if given.sequence and search.form not in ("tsv", "csv"):
        raise click.UsageError("--sequence adds a column to TSV; give --format tsv too")
    from kmatch.results.formats import FORMATS
    from kmatch.results.output import open_output
    from kmatch.results.table import Products
    from kmatch.search.pcr import PcrOptions, PcrSearch, site_query
    from kmatch.search.search import begin_search
    from kmatch.sequences.primer_pairs import load_pairs

    by_name = {f"pair_{n}": pair for n, pair in enumerate(given.sequences, 1)}
    pairs, options = load_pairs(given.primers or by_name), given.made(PcrOptions)
    search.search_for(pairs.primers, rereads=given.sequence)
    table = Products((), pairs, given.sequence, search.genomes.named)
    search.dress(table)

    def begin(run: "Run") -> PcrSearch:
        sites = begin_search(site_query(pairs, given.k, options), search.genomes, run)
        return PcrSearch(sites, pairs, options, search.regions)

    with open_output(given.output) as handle:
        writer = FORMATS[search.form](handle, table)
        with search.batches(begin, search.genomes.label) as found:
            writer.write_all(found)
    search.conclude(f"{counted(search.rows, 'product')} of {counted(len(pairs), 'pair')}")


@command(
    "Shortest substrings of a target unlike anything in a background.",
    Argument("target", f"What primers are to bind: {READ}"),
    Argument("background", "What they are not to bind, in the same formats."),
    Option(
        *("-k", ONE, None),
        "Differences from the background that a primer has at least.",
        required=True,
    ),
    Option(
        *("--min-length", ONE, "none"),
        "Letters of a primer at least; shorter ones are lengthened.",
    ),
    Option("--max-length", ONE, "none", "Letters of a primer at most."),
    Option(
        *("--gc", NumberRange(0, 1), "any"),
        "Only primers with this share of G and C, 0 to 1.",
        nargs=2,
        metavar="MIN MAX",
    ),
    Option(
        *("--tm", Number(), "any"),
        "Only primers with this melting temperature in °C (Biopython's Tm_NN).",
        nargs=2,
        metavar="MIN MAX",
    ),
    *grouped(
        WHERE,
        Option("--both-strands", bool, None, "Find primers of the target's strand - too."),
        Option(
            *("--background-strand", BACKGROUND_STRANDS, None),
            "Strands of the background that primers differ from.",
        ),
    ),
    Option(
        *("--regions", "FILE", "none"),
        "Also write, as BED, where every position has a primer of allowed length.",
        group=OUTPUT,
    ),
    algorithm("primer"),
    *TABLE,
    examples=(
        "kmatch primer virus.fa genome.fa.gz -k 4 -o primers.bed",
        "kmatch primer virus.fa genome.fa.gz -k 4 --max-length 25 --gc 0.4 0.6",
    ),
    differs="primer looks for what a background lacks; hamming, edit and pcr find where known "
    "primers bind.",
)
def primer(given: Given) -> None:
    """Find where primers can lie that bind TARGET and nothing in BACKGROUND.

    For each position of TARGET, the shortest substring from there on with at least k differences
    (mismatches, insertions, deletions) from every substring of BACKGROUND.
    """
    paths = (given.target, given.background)
    for name, path in zip(("TARGET", "BACKGROUND"), paths, strict=True):
        if path.startswith("@") and not os.path.exists(path):
            raise click.UsageError(
                f"{name} is one file, and not a list of files as {path} is elsewhere; join them: "
                "cat *.fa | kmatch primer TARGET - -k N"
            )
    search = Search(given, {"--regions": given.regions})
    from kmatch.genome import Genome
    from kmatch.results.formats import FORMATS
    from kmatch.results.output import open_outputs
    from kmatch.results.table import Primers, Regions
    from kmatch.search.primer import PrimerOptions, PrimerSearch

    target, background = (Genome(path, keep=False) for path in paths)
    options = given.made(PrimerOptions)
    begin = partial(PrimerSearch, target, background, given.k, options)
    table = Primers((), given.k, given.both_strands)
    search.dress(table)
    with open_outputs(given.output, given.regions) as handles:
        writer, regions = FORMATS[search.form](handles[0], table), None
        if given.regions:
            regions = FORMATS["bed"](handles[1], Regions((), given.both_strands))
        with search.batches(begin, given.background) as found:
            for batch in found:
                writer.write(batch)
                if regions:
                    regions.write(batch.in_regions())
            writer.finish()
        if regions:
            regions.finish()
    search.conclude(counted(search.rows, "primer"))
