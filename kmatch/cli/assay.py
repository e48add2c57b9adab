"""Assays in many genomes: `kmatch assay`."""

from functools import partial

import click

from kmatch.cli.command import OUTPUT, Argument, Given, Option, command, grouped
from kmatch.cli.options import (
    CIRCULAR,
    COLUMNS,
    EACH,
    EDIT,
    FILE,
    GENOME,
    JSON,
    OLIGOS,
    PRODUCT,
    RUN,
    Number,
    distance,
)
from kmatch.cli.searches import Search
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
    "What primers and probes amplify in many genomes.",
    Argument("assays", f"{OLIGOS} Probes' names end in _P or _PROBE."),
    Argument("genomes", f"One or more: {GENOME.text}", nargs=-1, required=True),
    distance("Mismatches allowed in an oligo, or differences with --edit; N% of its letters."),
    PRODUCT,
    EDIT,
    EACH,
    *grouped(
        OUTPUT,
        Option("--matrix", "FILE", "none", "Also write the differences, an assay a line."),
        Option("--positions", "FILE", "none", "Also write the genomes that differ by position."),
        Option(
            "--targets", "FILE", "none", "Names of the genomes that are to be found, a line each."
        ),
        FILE,
        Option(
            *("--format form", ("tsv", "csv"), "what FILE's suffix says, otherwise tsv"),
            "Output format.",
        ),
        COLUMNS,
        *SALTS,
        JSON,
    ),
    CIRCULAR,
    *RUN,
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

    given.annotate = None
    second = {"--matrix": given.matrix, "--positions": given.positions}
    search = Search(given, second, default="tsv")
    if search.form == "bed":
        raise click.UsageError("assay writes TSV and CSV, as not every row has a place")
    from kmatch.results.assays import Assays
    from kmatch.results.formats import FORMATS
    from kmatch.results.melting import Salts
    from kmatch.results.output import open_outputs
    from kmatch.search.assay import AssayOptions, AssaySearch
    from kmatch.sequences.primer_pairs import load_pairs

    pairs, targets = load_pairs(given.assays), None
    if given.targets:
        targets = read_names(given.targets, "targets")
    given.genome = given.genomes[0]
    if len(given.genomes) > 1:
        lists = [read_list(path) if is_list(path) else [path] for path in given.genomes]
        given.genome = [path for each in lists for path in each]
    search.open_genomes(rereads=given.each == "file")
    table = Assays((), pairs, targets)
    search.dress(table)
    options = given.made(AssayOptions)._replace(salts=given.made(Salts))
    begin = partial(AssaySearch, pairs, search.genomes, given.k, options)
    with open_outputs(given.output, *second.values()) as handles:
        with search.batches(begin, search.genomes.label) as found:
            writer = FORMATS[search.form](handles[0], table)
            for batch in found:
                writer.write(batch)
                table.count(batch)
            writer.finish()
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
