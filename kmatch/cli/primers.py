"""The commands for primers, guides and assays: `kmatch pcr`, `primer`, `guides` and `assay`."""

import os
from collections import deque
from functools import partial

import click

from kmatch.arguments import BACKGROUND_STRANDS, GUIDE_REPORTS, PAIRINGS, PAM_SIDES
from kmatch.cli import options
from kmatch.cli.command import OUTPUT, WHERE, Argument, Given, Option, command, grouped
from kmatch.cli.options import OLIGOS, ONE, PACKED, ZERO, Number
from kmatch.cli.searches import Search, check_inputs, heard
from kmatch.errors import InputError, counted, warn

EXACT_3P = Option("--exact-3p", ZERO, None, "Match a primer's last N letters exactly.", default=0)
SALTS = tuple(
    Option(f"--{name}", Number(), None, text, default=default, group=OUTPUT)
    for name, default, text in (
        ("monovalent", 50, "Assume X mM of Na+ and K+ for melting temperatures."),
        ("magnesium", 1.5, "Assume X mM of Mg2+."),
        ("dntps", 0.6, "Assume X mM of dNTPs, which bind magnesium."),
        ("oligos", 50, "Assume X nM of an oligo and its site together."),
    )
)


@command(
    "Find the products of pairs of primers (in-silico PCR).",
    options.GENOME,
    Argument(
        "primers",
        f"{OLIGOS} A pair with a probe has only products that hold the probe.",
        required=False,
    ),
    Option(
        "-p --pair sequences",
        "FORWARD REVERSE",
        "PRIMERS",
        "Search for this pair of primers, without PRIMERS. Can be repeated.",
        nargs=2,
        multiple=True,
    ),
    options.distance(
        "Allow N mismatches in a primer, or N percent of its letters; with --edit, differences."
    ),
    options.PRODUCT,
    Option(
        "--pairs",
        PAIRINGS,
        None,
        "Join the partners of a pair (own), or any two primers, one with itself too (any).",
    ),
    options.EDIT,
    EXACT_3P,
    options.UNKNOWN,
    Option(
        "--sequence",
        bool,
        None,
        "Write also the letters of each product, as a column of TSV.",
        group=OUTPUT,
    ),
    options.regions("products"),
    options.GAPS,
    options.algorithm("hamming", "edit"),
    options.CIRCULAR,
    *options.RECORDS,
    options.HTML,
    *options.TABLE,
    examples=(
        "kmatch pcr genome.fa.gz -p ACCAGGAACTAATCAGACAAG CAAAGACCAATCCTACCATGAG -k 2",
        "kmatch pcr genome.fa.gz pairs.tsv -k 3 --exact-3p 5 -o products.tsv",
    ),
    differs="pcr joins sites to products. The sites are hits of hamming, or of edit with --edit.",
)
def pcr(given: Given) -> None:
    """Find the products that pairs of primers make in GENOME, in both directions.

    A product reaches from a site of one primer on + to a site of its partner on - that faces it.
    """
    search = Search(given)
    check_inputs(given, "PRIMERS")
    if given.sequence and search.form not in ("tsv", "csv"):
        raise click.UsageError("--sequence adds a column to TSV; give --format tsv too")
    from kmatch.apps.apart import needs_two_readings
    from kmatch.apps.pcr import PcrOptions, PcrSearch
    from kmatch.results.limit import ProductCounts
    from kmatch.results.table import Products
    from kmatch.sequences.oligos import PROBE, load_pairs

    by_name = {f"pair_{n}": pair for n, pair in enumerate(given.sequences, 1)}
    pairs = load_pairs(given.primers or by_name)
    how = given.made(PcrOptions)
    rereads = given.sequence or needs_two_readings(how.exact_3p, pairs.role == PROBE)
    search.open_genomes(rereads, pairs.primers)
    table = Products((), pairs, given.sequence, search.genomes.named)
    search.dress(table)
    if given.sequence and "sequence" not in table.tsv:
        raise click.UsageError("--sequence adds the column product; name it in --columns too")
    counts = ProductCounts(pairs)

    begin = partial(PcrSearch, pairs, search.genomes, given.k, how, regions=search.regions)
    with search.batches(begin) as (found, handles):
        products = search.shown(heard(found, counts.add))
        search.writer(handles[0], table).write_all(products)
    said = f"{counted(search.rows, 'product')} of {counted(len(pairs), 'pair')}"
    search.conclude(said, tables=[table], pairs=counts.facts)
    if not search.rows:
        search.messages.answer(search.begun.why_none())


@command(
    "Find primers that bind a target and nothing in a background.",
    Argument("target", f"The sequences that primers bind. {PACKED}"),
    Argument("background", "The sequences that primers do not bind, in a file of such a format."),
    Option(
        "-k",
        ONE,
        None,
        "Require N differences or more between a primer and every part of BACKGROUND.",
        required=True,
    ),
    Option(
        "--min-length",
        ONE,
        "none",
        "Lengthen primers of fewer than N letters to N letters.",
    ),
    Option("--max-length", ONE, "none", "Look for primers of at most N letters."),
    Option(
        "--gc",
        Number(0, 1),
        "any",
        "Keep primers with this share of G and C, from 0 to 1.",
        nargs=2,
        metavar="MIN MAX",
    ),
    Option(
        "--tm",
        Number(),
        "any",
        "Keep primers with this melting temperature in °C (Biopython's Tm_NN).",
        nargs=2,
        metavar="MIN MAX",
    ),
    *grouped(
        WHERE,
        Option(
            "--both-strands", bool, None, "Find also primers of the reverse complement of TARGET."
        ),
        Option(
            "--background-strand",
            BACKGROUND_STRANDS,
            None,
            "Compare primers with both strands of BACKGROUND, or with + alone.",
        ),
    ),
    options.regions("primers of TARGET"),
    Option(
        "--regions-out",
        "FILE",
        "none",
        "Write also the regions, as BED, in which a primer starts at every position.",
        group=OUTPUT,
    ),
    options.GAPS,
    options.algorithm("primer"),
    *options.RECORDS,
    *options.TABLE,
    examples=(
        "kmatch primer virus.fa genome.fa.gz -k 4 -o primers.bed",
        "kmatch primer virus.fa genome.fa.gz -k 4 --max-length 25 --gc 0.4 0.6",
    ),
    differs="primer finds new primers. hamming, edit and pcr find where known primers bind.",
)
def primer(given: Given) -> None:
    """Find primers that bind TARGET and nothing in BACKGROUND.

    For each position of TARGET, find the shortest substring that starts there and has at least k
    differences (mismatches, insertions, deletions) from every substring of BACKGROUND.
    """
    _explain_regions(given.regions)
    search = Search(given)
    search.label = given.background
    from kmatch.apps.primer import PrimerOptions, PrimerSearch
    from kmatch.genome import Genome
    from kmatch.results.table import Primers
    from kmatch.search.regions import load_regions
    from kmatch.sequences.selection import load_selection

    selection = load_selection(given.records, given.skip_records)
    target = Genome(given.target, keep=False, gaps=given.gaps)
    background = Genome(given.background, keep=False, gaps=given.gaps).only(selection)
    how = given.made(PrimerOptions)
    where = load_regions(given.regions)
    begin = partial(PrimerSearch, target, background, given.k, how, regions=where)
    table = Primers((), given.k, given.both_strands)
    search.dress(table)
    with search.batches(begin, given.regions_out) as (found, handles):
        if given.regions_out:
            found = heard(found, partial(table.write_regions, handles[1]))
        search.writer(handles[0], table).write_all(found)
    search.conclude(counted(search.rows, "primer"))


def _explain_regions(path: str | None) -> None:
    """Say that --regions, which version 1 wrote, is read; raises UsageError where there is no file.

    path: given to --regions, or None.
    """
    if path is None:
        return
    if path != "-" and not os.path.exists(path):
        raise click.UsageError(
            f"--regions {path}: there is no such file, and --regions is read; what primer writes "
            "as BED of regions is --regions-out"
        )
    warn("--regions is read, and narrows TARGET; what primer 1 wrote to it is --regions-out")


@command(
    "Find the guides of a target, and count their sites in a genome.",
    Argument("target", f"The sequences that guides cut; may be GENOME itself. {PACKED}"),
    options.GENOME,
    Option(
        "-k",
        ZERO,
        None,
        "Count sites with at most N mismatches; with bulges, differences.",
        required=True,
    ),
    Option(
        "--pam",
        "SEQ",
        None,
        "Require this PAM beside a guide and its sites. NGG,NAG takes either.",
        default="NGG",
    ),
    Option(
        "--pam-side",
        PAM_SIDES,
        None,
        "Expect the PAM behind the guide (3p: NGG) or before it (5p: TTTV).",
    ),
    options.NUCLEASE,
    Option("--length", ONE, None, "Find guides of N letters.", default=20),
    Option(
        "--max-insertions",
        ZERO,
        None,
        "Allow N letters of the guide that a site lacks (RNA bulges).",
        default=0,
    ),
    Option(
        "--max-deletions",
        ZERO,
        None,
        "Allow N letters of a site that the guide lacks (DNA bulges).",
        default=0,
    ),
    Option(
        "--report",
        GUIDE_REPORTS,
        None,
        "Count each place once, with its best alignment (sites), or every end beside a PAM (ends).",
    ),
    Option(
        "--best",
        ONE,
        "all",
        "Write only the N most specific guides, the best first. Of equal ones guides with fewer "
        "sites come first.",
    ),
    options.regions("guides of TARGET"),
    options.GAPS,
    *options.VARIANTS,
    Option(
        "--score",
        ("cfd", "mit"),
        "cfd",
        "Add the specificity by mit as a column, and the score to --hits. CFD is always there. Can "
        "be repeated.",
        multiple=True,
        group=OUTPUT,
    ),
    Option(
        "--hits",
        "FILE",
        "none",
        "Write also the sites of the guides that are written, as BED, or as TSV or CSV by FILE's "
        "suffix. With --best the genome is searched twice.",
        group=OUTPUT,
    ),
    options.CIRCULAR,
    *options.RECORDS,
    options.FILE,
    Option(
        "--format form",
        options.TABLES,
        "FILE's suffix, otherwise tsv",
        "Output format.",
        group=OUTPUT,
    ),
    *options.MORE,
    options.HTML,
    *options.RUN,
    examples=(
        "kmatch guides virus.fa genome.fa.gz -k 3 --best 10",
        "kmatch guides virus.fa genome.fa.gz -k 4 --max-deletions 1 --hits sites.tsv",
    ),
    differs="guides finds guides in a target and counts their sites. multi and edit find the sites "
    "of guides that you have.",
)
def guides(given: Given) -> None:
    """Find every guide of TARGET, and count its sites in GENOME.

    A guide is a window of A, C, G and T beside a PAM, on either strand. The specificity of a guide
    is 1 / (1 + the sum of CFD of its sites), where the sum leaves one perfect site out. Guides that
    are not SpCas9's have none.
    """
    options.set_nuclease(given)
    options.check_scores(given)
    search = Search(given, default="tsv")
    from kmatch.apps.guides import GuideOptions, GuideSearch
    from kmatch.genome import Genome
    from kmatch.results.guides import VARIED, Guides
    from kmatch.search.regions import load_regions

    table = Guides((), given.k, given.score)
    search.dress(table, VARIED if given.vcf else ())
    form = options.format_by_name(given.hits, option="--hits") or "bed"
    search.aligned = (bool(given.hits) and form != "bed") or bool(given.html)
    search.open_genomes(bool(given.vcf))
    searches_again = given.hits and given.best
    if searches_again and not search.genomes.can_reread:
        raise InputError(
            f"{search.label}: with --best the genome is searched again for --hits, and a pipe "
            "cannot be read twice; give a file"
        )
    target = Genome(given.target, keep=False, gaps=given.gaps)
    how = given.made(GuideOptions)
    where = load_regions(given.regions)
    begin = partial(GuideSearch, target, search.genomes, how, regions=where)
    with search.batches(begin, given.hits) as (found, handles):
        begun = search.begun
        sites = search.shown(found)
        if given.hits or given.html:
            begun.sites.annotate_as(table)
        if given.hits and not searches_again:
            search.writer(handles[1], begun.sites, form).write_all(sites)
        else:
            deque(sites, maxlen=0)
        best = begun.best(table.numbered(begun.guides()))
        if searches_again:
            again = begun.sites_of(best)
            again.table.annotate_as(table)
            search.writer(handles[1], again.table, form).write_all(again.batches)
        table.take([best])
        search.writer(handles[0], table).write_all(table.batches)
    said = f"{counted(len(table), 'guide')} with {counted(search.rows, 'site')}"
    # Guides lie in TARGET, the lengths of whose records nobody has noted.
    search.conclude(said, begun.counts, [table, begun.sites], lengths={})


@command(
    "Find the genomes that primers and probes amplify.",
    Argument("assays", OLIGOS),
    Argument(
        "genomes", f"One or more: {options.GENOME.text}", takes_list=True, nargs=-1, required=True
    ),
    options.distance(
        "Allow N mismatches in an oligo, or N percent of its letters; with --edit, differences."
    ),
    options.PRODUCT,
    options.EDIT,
    EXACT_3P,
    options.EACH,
    options.GAPS,
    *grouped(
        OUTPUT,
        Option(
            "--matrix", "FILE", "none", "Write also a matrix of the differences, assays by genomes."
        ),
        Option(
            "--positions",
            "FILE",
            "none",
            "Write also how many genomes differ at each letter of an oligo.",
        ),
        Option(
            "--targets",
            "FILE",
            "none",
            "Compare with FILE: the genomes that assays should find, one a line.",
            reads=True,
        ),
        options.FILE,
        Option(
            "--format form",
            ("tsv", "csv"),
            "FILE's suffix, otherwise tsv",
            "Write this format.",
        ),
        options.COLUMNS,
        *SALTS,
        options.JSON,
        options.HTML,
    ),
    options.CIRCULAR,
    *options.RECORDS,
    *options.RUN,
    examples=(
        "kmatch assay pairs.tsv genome.fa.gz --each record -k 3",
        "kmatch assay pairs.tsv virus.fa genome.fa.gz -k 2 --matrix matrix.tsv",
    ),
    differs="assay says which genomes are amplified. pcr lists all products.",
)
def assay(given: Given) -> None:
    """Find which assays amplify which genomes, and where oligos and genomes differ.

    An assay amplifies a genome if its primers, each within k, make a product there. A probe has to
    lie inside the product, within k. Of several products, one with the fewest differences counts.
    The answer is unknown if unknown letters, or the end of a record, may hide the product.
    """
    search = Search(given, default="tsv")
    if search.form == "bed":
        raise click.UsageError("assay writes TSV and CSV, as not every row has a place")
    from kmatch.apps.assay import AssayOptions, AssaySearch
    from kmatch.results.assays import Assays
    from kmatch.results.melting import Salts
    from kmatch.sequences.oligos import load_pairs

    pairs = load_pairs(given.assays)
    targets = _target_names(given.targets)
    given.genome = _one_list(given.genomes)
    search.open_genomes(rereads=given.each == "file")
    table = Assays((), pairs, targets)
    search.dress(table)
    how = given.made(AssayOptions)._replace(salts=given.made(Salts))
    begin = partial(AssaySearch, pairs, search.genomes, given.k, how)
    with search.batches(begin, given.matrix, given.positions) as (found, handles):
        rows = search.shown(heard(found, table.count))
        search.writer(handles[0], table).write_all(rows)
        if given.matrix:
            table.to_matrix(handles[1])
        if given.positions:
            table.to_positions(handles[-1])
        table.check_targets()
    facts = table.facts
    amplified = sum(row["amplified"] for row in facts)
    said = f"{amplified:,} of {counted(search.rows, 'row')} amplify"
    search.conclude(said, tables=[table], assays=facts)
    if targets is not None:
        for row in facts:
            name, _, *answers = row.items()
            said = ", ".join(f"{number:,} {what.replace('_', ' ')}" for what, number in answers)
            search.messages.answer(f"{name[1]}: {said}")


def _target_names(path: str | None) -> list[str] | None:
    """Return the names of genomes in the file of --targets, None without one.

    Raises InputError for a file without names.
    """
    from kmatch.sequences.files import label_of, read_names

    if path is None:
        return None
    names = read_names(path, "targets")
    if not names:
        raise InputError(f"{label_of(path)}: no targets; write the name of a genome a line")
    return names


def _one_list(paths: list[str]) -> str | list[str]:
    """Return the paths of genomes, those of @LISTs in their place; one path as it is."""
    from kmatch.sequences.files import is_list, read_list

    if len(paths) == 1:
        return paths[0]
    lists = [read_list(path) if is_list(path) else [path] for path in paths]
    return [path for each in lists for path in each]
