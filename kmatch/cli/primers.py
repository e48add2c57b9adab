"""The searches of primers, guides and assays: `kmatch pcr`, `primer`, `guides` and `assay`."""

import os
from collections import deque
from functools import partial

import click

from kmatch.arguments import BACKGROUND_STRANDS, PAIRINGS, PAM_SIDES
from kmatch.cli import options
from kmatch.cli.command import OUTPUT, WHERE, Argument, Given, Option, command, grouped
from kmatch.cli.options import NONE, OLIGOS, ONE, READ, Number
from kmatch.cli.searches import Search, check_inputs, heard
from kmatch.errors import counted

SALTS = tuple(
    Option(f"--{name}", Number(), None, text, default=default, group=OUTPUT)
    for name, default, text in (
        ("monovalent", 50, "mM of Na+ and K+ that melting temperatures are for."),
        ("magnesium", 1.5, "mM of Mg2+."),
        ("dntps", 0.6, "mM of dNTPs, which bind magnesium."),
        ("oligos", 50, "nM of an oligo and its site together."),
    )
)


@command(
    "In-silico PCR: the products of pairs of primers.",
    options.GENOME,
    Argument(
        "primers",
        f"{OLIGOS} A product holds the probe of its pair.",
        required=False,
    ),
    Option(
        "-p --pair sequences",
        "FORWARD REVERSE",
        "PRIMERS",
        "A pair of primers, in place of PRIMERS; can be repeated.",
        nargs=2,
        multiple=True,
    ),
    options.distance(
        "Mismatches allowed in a primer, or differences with --edit; N% of its letters."
    ),
    options.PRODUCT,
    Option(
        "--pairs",
        PAIRINGS,
        None,
        "own: join the partners of a pair; any: join any two primers, one with itself too.",
    ),
    options.EDIT,
    Option("--exact-3p", NONE, None, "The last N letters of a primer must match.", default=0),
    options.UNKNOWN,
    Option(
        "--sequence",
        bool,
        None,
        "End the rows of TSV with the products themselves.",
        group=OUTPUT,
    ),
    options.regions("products"),
    options.GAPS,
    options.algorithm("hamming", "edit"),
    options.CIRCULAR,
    *options.TABLE,
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
    search = Search(given)
    check_inputs(given, "PRIMERS")
    if given.sequence and search.form not in ("tsv", "csv"):
        raise click.UsageError("--sequence adds a column to TSV; give --format tsv too")
    from kmatch.apps.pcr import PcrOptions, PcrSearch
    from kmatch.results.table import Products
    from kmatch.sequences.oligos import load_pairs

    by_name = {f"pair_{n}": pair for n, pair in enumerate(given.sequences, 1)}
    pairs = load_pairs(given.primers or by_name)
    how = given.made(PcrOptions)
    search.open_genomes(given.sequence, pairs.primers)
    table = Products((), pairs, given.sequence, search.genomes.named)
    search.dress(table)

    begin = partial(PcrSearch, pairs, search.genomes, given.k, how, regions=search.regions)
    with search.batches(begin) as (found, handles):
        search.writer(handles[0], table).write_all(found)
    search.conclude(f"{counted(search.rows, 'product')} of {counted(len(pairs), 'pair')}")


@command(
    "Shortest substrings of a target unlike anything in a background.",
    Argument("target", f"What primers are to bind: {READ}"),
    Argument("background", "What they are not to bind, in the same formats."),
    Option(
        "-k",
        ONE,
        None,
        "Differences from the background that a primer has at least.",
        required=True,
    ),
    Option(
        "--min-length",
        ONE,
        "none",
        "Letters of a primer at least; shorter ones are lengthened.",
    ),
    Option("--max-length", ONE, "none", "Letters of a primer at most."),
    Option(
        "--gc",
        Number(0, 1),
        "any",
        "Only primers with this share of G and C, 0 to 1.",
        nargs=2,
        metavar="MIN MAX",
    ),
    Option(
        "--tm",
        Number(),
        "any",
        "Only primers with this melting temperature in °C (Biopython's Tm_NN).",
        nargs=2,
        metavar="MIN MAX",
    ),
    *grouped(
        WHERE,
        Option("--both-strands", bool, None, "Find primers of the target's strand - too."),
        Option(
            "--background-strand",
            BACKGROUND_STRANDS,
            None,
            "Strands of the background that primers differ from.",
        ),
    ),
    Option(
        "--regions",
        "FILE",
        "none",
        "Also write, as BED, where every position has a primer of allowed length.",
        group=OUTPUT,
    ),
    options.GAPS,
    options.algorithm("primer"),
    *options.TABLE,
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
    search = Search(given)
    search.label = given.background
    from kmatch.apps.primer import PrimerOptions, PrimerSearch
    from kmatch.genome import Genome
    from kmatch.results.table import Primers

    target, background = (Genome(path, keep=False, gaps=given.gaps) for path in paths)
    how = given.made(PrimerOptions)
    begin = partial(PrimerSearch, target, background, given.k, how)
    table = Primers((), given.k, given.both_strands)
    search.dress(table)
    with search.batches(begin, given.regions) as (found, handles):
        if given.regions:
            found = heard(found, partial(table.write_regions, handles[1]))
        search.writer(handles[0], table).write_all(found)
    search.conclude(counted(search.rows, "primer"))


@command(
    "Guides of a target, and their sites in a genome.",
    Argument("target", f"Where guides are to cut, or GENOME itself. {READ}"),
    options.GENOME,
    Option("-k", NONE, None, "Mismatches of a site; with bulges, differences.", required=True),
    Option(
        "--pam",
        "SEQ",
        None,
        "What stands beside a guide; NGG,NAG for one of several.",
        default="NGG",
    ),
    Option(
        "--pam-side",
        PAM_SIDES,
        None,
        "The PAM follows the guide (3p: NGG) or comes before it (5p: TTTV).",
    ),
    Option("--length", ONE, None, "Letters of a guide.", default=20),
    Option("--max-insertions", NONE, None, "Guide letters that a site may lack.", default=0),
    Option("--max-deletions", NONE, None, "Site letters that a guide may lack.", default=0),
    Option("--best", ONE, "all", "Only the N most specific guides, the best first."),
    options.regions("guides of TARGET"),
    options.GAPS,
    *options.VARIANTS,
    options.SCORE,
    Option(
        "--hits",
        "FILE",
        "none",
        "Also write the sites, as BED or by its suffix TSV or CSV.",
        group=OUTPUT,
    ),
    options.CIRCULAR,
    *options.TABLE,
    examples=(
        "kmatch guides virus.fa genome.fa.gz -k 3 --best 10",
        "kmatch guides virus.fa genome.fa.gz -k 4 --max-deletions 1 --hits sites.tsv",
    ),
    differs="guides finds guides in a target and counts their sites; multi and edit search for "
    "guides that are known.",
)
def guides(given: Given) -> None:
    """Find every guide of TARGET, and how many sites each has in GENOME.

    A guide is a window of A, C, G and T beside a PAM, on either strand. Its specificity is 1 / (1 +
    the sum of CFD of all its sites but one that is perfect).
    """
    search = Search(given, default="tsv")
    from kmatch.apps.guides import GuideOptions, GuideSearch
    from kmatch.genome import Genome
    from kmatch.results.guides import Guides
    from kmatch.search.regions import load_regions

    table = Guides((), given.k, given.score)
    search.dress(table)
    form = options.format_by_name(given.hits, option="--hits") or "bed"
    search.aligned = bool(given.hits) and form != "bed"
    search.open_genomes(bool(given.vcf))
    target = Genome(given.target, keep=False, gaps=given.gaps)
    how = given.made(GuideOptions)
    where = load_regions(given.regions)
    begin = partial(GuideSearch, target, search.genomes, how, regions=where)
    with search.batches(begin, given.hits) as (found, handles):
        if given.hits:
            search.writer(handles[1], search.begun.sites, form).write_all(found)
        else:
            deque(found, maxlen=0)
        table.take([search.begun.guides()])
        search.writer(handles[0], table).write_all(table.batches)
    said = f"{counted(len(table), 'guide')} with {counted(search.rows, 'site')}"
    search.conclude(said, search.begun.counts)


@command(
    "What primers and probes amplify in many genomes.",
    Argument("assays", OLIGOS),
    Argument("genomes", f"One or more: {options.GENOME.text}", nargs=-1, required=True),
    options.distance(
        "Mismatches allowed in an oligo, or differences with --edit; N% of its letters."
    ),
    options.PRODUCT,
    options.EDIT,
    options.EACH,
    options.GAPS,
    *grouped(
        OUTPUT,
        Option("--matrix", "FILE", "none", "Also write the differences, an assay a line."),
        Option("--positions", "FILE", "none", "Also write the genomes that differ by position."),
        Option(
            "--targets",
            "FILE",
            "none",
            "Names of the genomes that are to be found, a line each.",
            reads=True,
        ),
        options.FILE,
        Option(
            "--format form",
            ("tsv", "csv"),
            "what FILE's suffix says, otherwise tsv",
            "Output format.",
        ),
        options.COLUMNS,
        *SALTS,
        options.JSON,
    ),
    options.CIRCULAR,
    *options.RUN,
    examples=(
        "kmatch assay pairs.tsv genome.fa.gz --each record -k 3",
        "kmatch assay pairs.tsv virus.fa genome.fa.gz -k 2 --matrix matrix.tsv",
    ),
    differs="assay says of each genome whether it is found; pcr lists all products.",
)
def assay(given: Given) -> None:
    """Find which assays amplify which genomes, and what differs where.

    An assay amplifies a genome that has a product of its primers, each within k, with its probe,
    if it has one, within k inside. Of several products the one with the fewest differences counts.
    """
    from kmatch.sequences.files import is_list, read_list, read_names

    search = Search(given, default="tsv")
    if search.form == "bed":
        raise click.UsageError("assay writes TSV and CSV, as not every row has a place")
    from kmatch.apps.assay import AssayOptions, AssaySearch
    from kmatch.results.assays import Assays
    from kmatch.results.melting import Salts
    from kmatch.sequences.oligos import load_pairs

    pairs = load_pairs(given.assays)
    targets = None
    if given.targets:
        targets = read_names(given.targets, "targets")
    given.genome = given.genomes[0]
    if len(given.genomes) > 1:
        lists = [read_list(path) if is_list(path) else [path] for path in given.genomes]
        given.genome = [path for each in lists for path in each]
    search.open_genomes(rereads=given.each == "file")
    table = Assays((), pairs, targets)
    search.dress(table)
    how = given.made(AssayOptions)._replace(salts=given.made(Salts))
    begin = partial(AssaySearch, pairs, search.genomes, given.k, how)
    with search.batches(begin, given.matrix, given.positions) as (found, handles):
        search.writer(handles[0], table).write_all(heard(found, table.count))
        if given.matrix:
            table.to_matrix(handles[1])
        if given.positions:
            table.to_positions(handles[-1])
    table.check_targets()
    facts = table.facts
    amplified = sum(row["amplified"] for row in facts)
    search.conclude(f"{amplified:,} of {counted(search.rows, 'row')} amplify", assays=facts)
    if targets is not None:
        for row in facts:
            name, _, *answers = row.items()
            said = ", ".join(f"{number:,} {what.replace('_', ' ')}" for what, number in answers)
            search.messages.answer(f"{name[1]}: {said}")
