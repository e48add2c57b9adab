"""The searches for primers and for what they make: `kmatch pcr` and `kmatch primer`."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import click

from kmatch.arguments import BACKGROUND_STRANDS, PAIRINGS
from kmatch.cli.command import command
from kmatch.cli.messages import Conclusion, Messages, counted
from kmatch.cli.options import (
    Count,
    Inputs,
    Loudness,
    Number,
    NumberRange,
    Table,
    algorithm_option,
    check_table,
    circular_option,
    common_options,
    distance_option,
    regions_option,
    sizes,
)
from kmatch.cli.search import PatternSearch, check_path, ending
from kmatch.search.running import Running

if TYPE_CHECKING:
    from kmatch.results.batches import ProductBatch
    from kmatch.results.tables.primers import PrimerWriter, RegionWriter
    from kmatch.sequences.patterns import PatternSet


class Given(NamedTuple):
    """What products are looked for in, and primers by file or by `-p`."""

    genome: str
    primers: str | None
    sequences: tuple[tuple[str, str], ...]
    regions: str | None = None
    circular: str | None = None


class PcrWanted(NamedTuple):
    """The products to find."""

    k: int | str
    product: tuple[int, int]
    pairs: str
    edit: bool
    exact_3p: int
    sequence: bool


@command(
    short_help="In-silico PCR: the products of pairs of primers.",
    examples=(
        "kmatch pcr genome.fa.gz -p ACCAGGAACTAATCAGACAAG CAAAGACCAATCCTACCATGAG -k 2",
        "kmatch pcr genome.fa.gz pairs.tsv -k 3 --exact-3p 5 -o products.tsv",
    ),
)
@click.argument("genome")
@click.argument("primers", required=False)
@click.option(
    "-p",
    "--pair",
    "sequences",
    nargs=2,
    multiple=True,
    metavar="FORWARD REVERSE",
    show_default="PRIMERS",
    help="A pair of primers, in place of PRIMERS; can be repeated.",
)
@distance_option(
    "Mismatches allowed in a primer, or differences with --edit; N% of its letters.", shares=True
)
@click.option(
    "--product",
    metavar="MIN-MAX",
    callback=sizes,
    default="50-5000",
    help="Letters of a product, primers included.",
)
@click.option(
    "--pairs",
    type=click.Choice(PAIRINGS),
    default="own",
    help="own: join the partners of a pair; any: join any two primers, one with itself too.",
)
@click.option("--edit", is_flag=True, help="Primers bind with insertions and deletions too.")
@click.option(
    "--exact-3p", type=Count(min=0), default=0, help="The last N letters of a primer must match."
)
@click.option("--sequence", is_flag=True, help="End the rows of TSV with the products themselves.")
@regions_option("products")
@algorithm_option("hamming", "edit")
@circular_option
@common_options
def pcr(
    given: Given, wanted: PcrWanted, table: Table, running: Running, loudness: Loudness
) -> None:
    """Find the products that pairs of primers make in GENOME, both ways round.

    A product reaches from a site of one primer on + to a site of its partner on - that faces it.
    """
    search = _PcrSearch(given, wanted, table, running, loudness)
    from kmatch.search.pcr import PcrOptions, pcr_batches

    options = PcrOptions(*wanted[1:])
    search.write_products(partial(pcr_batches, search.genomes, search.pairs, wanted.k, options))


class _PcrSearch(PatternSearch):
    """A search for the products of primers."""

    of_hits = False

    def __init__(
        self, given: Given, wanted: PcrWanted, table: Table, running: Running, loudness: Loudness
    ) -> None:
        self._given, self._wanted = given, wanted
        inputs = Inputs(given.genome, given.primers, (), given.regions, circular=given.circular)
        super().__init__(inputs, table, running, loudness, rereads=wanted.sequence)

    def load_panel(self, inputs: Inputs) -> "PatternSet":
        _check(self._given, self._wanted, self.table)
        from kmatch.search.pcr import PcrOptions, check_pcr
        from kmatch.sequences.primer_pairs import load_pairs

        by_name = {f"pair_{n}": pair for n, pair in enumerate(self._given.sequences, 1)}
        self.pairs = load_pairs(self._given.primers or by_name, self.messages.warn)
        check_pcr(self.pairs, PcrOptions(*self._wanted[1:]), "--exact-3p")
        return self.pairs.primers

    def write_products(self, batches: "Callable[..., Iterable[ProductBatch]]") -> None:
        """Write the table of the ProductBatches of batches(running=…)."""
        from kmatch.results.output import open_output
        from kmatch.results.tables.products import ProductWriter

        with open_output(self.table.output) as handle:
            form = self.table.form or "bed"
            named, with_text = self.genomes.named, self._wanted.sequence
            writer = ProductWriter(handle, form, self.pairs, with_text, named)
            self.drain(batches, writer.write, to_terminal=self.table.is_standard)

    def summary(self, found: int) -> str:
        return f"{counted(found, 'product')} of {counted(len(self.pairs), 'pair')}"


def _check(given: Given, wanted: PcrWanted, table: Table) -> None:
    check_path(given.genome, "GENOME")
    check_path(given.primers, "PRIMERS")
    if bool(given.primers) == bool(given.sequences):
        both = "; several genomes are one @LIST" if given.primers else ""
        raise click.UsageError(f"give the primers as a file or with -p, one of the two{both}")
    if (given.genome.removeprefix("@"), given.primers, given.regions).count("-") > 1:
        names = "GENOME, PRIMERS and --regions" if given.regions else "GENOME and PRIMERS"
        raise click.UsageError(f"only one of {names} can be standard input")
    if wanted.sequence and table.form != "tsv":
        raise click.UsageError("--sequence adds a column to TSV; give --format tsv too")


class PrimerInputs(NamedTuple):
    """What primers are to bind, and what they are not to bind."""

    target: str
    background: str


class PrimerWanted(NamedTuple):
    """The primers to find."""

    k: int
    min_length: int | None
    max_length: int | None
    gc: tuple[float, float] | None
    tm: tuple[float, float] | None
    both_strands: bool
    background_strand: str


@command(
    short_help="Shortest substrings of a target unlike anything in a background.",
    examples=(
        "kmatch primer virus.fa genome.fa.gz -k 4 -o primers.bed",
        "kmatch primer virus.fa genome.fa.gz -k 4 --max-length 25 --gc 0.4 0.6",
    ),
)
@click.argument("target")
@click.argument("background")
@click.option(
    "-k",
    required=True,
    type=Count(min=1),
    help="Differences from the background that a primer has at least.",
)
@click.option(
    "--min-length",
    type=Count(min=1),
    show_default="none",
    help="Letters of a primer at least; shorter ones are lengthened.",
)
@click.option(
    "--max-length", type=Count(min=1), show_default="none", help="Letters of a primer at most."
)
@click.option(
    "--gc",
    type=NumberRange(0, 1),
    nargs=2,
    metavar="MIN MAX",
    show_default="any",
    help="Only primers with this share of G and C, 0 to 1.",
)
@click.option(
    "--tm",
    type=Number(),
    nargs=2,
    metavar="MIN MAX",
    show_default="any",
    help="Only primers with this melting temperature in °C (Biopython's Tm_NN).",
)
@click.option("--both-strands", is_flag=True, help="Find primers of the target's strand - too.")
@click.option(
    "--background-strand",
    type=click.Choice(BACKGROUND_STRANDS),
    default="both",
    help="Strands of the background that primers differ from.",
)
@click.option(
    "--regions",
    metavar="FILE",
    show_default="none",
    help="Also write, as BED, where every position has a primer of allowed length.",
)
@algorithm_option("primer")
@common_options
def primer(
    inputs: PrimerInputs,
    wanted: PrimerWanted,
    table: Table,
    regions: str | None,
    running: Running,
    loudness: Loudness,
) -> None:
    """Find where primers can lie that bind TARGET and nothing in BACKGROUND.

    For each position of TARGET, the shortest substring from there on with at least k differences
    (mismatches, insertions, deletions) from every substring of BACKGROUND.
    """
    if inputs.target == inputs.background == "-":
        raise click.UsageError("only one of TARGET and BACKGROUND can be standard input")
    for name, path in zip(("TARGET", "BACKGROUND"), inputs, strict=True):
        if path.startswith("@") and not os.path.exists(path):
            raise click.UsageError(
                f"{name} is one file, and not a list of files as {path} is elsewhere; join them: "
                "cat *.fa | kmatch primer TARGET - -k N"
            )
    table = check_table(table, inputs, {"--regions": regions})
    messages = Messages(*loudness)
    conclusion = Conclusion(messages)
    from kmatch.distributed import run_anywhere
    from kmatch.genome import Genome
    from kmatch.search.primer import PrimerOptions, primer_batches
    from kmatch.search.scanning.lengths import Heard

    target, background = (Genome(path, keep=False, on_warning=messages.warn) for path in inputs)
    options = PrimerOptions(
        min_length=wanted.min_length,
        max_length=wanted.max_length,
        gc=wanted.gc,
        tm=wanted.tm,
        both_strands=wanted.both_strands,
        background_strand=wanted.background_strand,
    )
    primers, heard = 0, Heard()
    with (
        _writers(wanted, table, regions) as writers,
        messages.progress(inputs.background, running.scheduler is not None) as advance,
    ):
        running = running._replace(
            on_progress=advance,
            on_engine=conclusion.hear,
            on_expected=messages.expected,
            on_spans=heard.hear,
            on_warning=messages.warn,
        )
        search = partial(primer_batches, target, background, wanted.k, options)
        batches = run_anywhere(search, running)
        with ending(batches):
            for batch in batches:
                if table.is_standard:
                    messages.make_way()
                for writer in writers:
                    writer.write(batch)
                primers += len(batch)
    conclusion.say(counted(primers, "primer"), heard.records, heard.letters)


@contextmanager
def _writers(
    wanted: PrimerWanted, table: Table, regions: str | None
) -> "Iterator[list[PrimerWriter | RegionWriter]]":
    """Give the writers of the primers and, where they are asked for, of the regions."""
    from kmatch.results.output import flush_all, open_output
    from kmatch.results.tables.primers import PrimerWriter, RegionWriter

    both = wanted.both_strands
    with ExitStack() as stack:
        handles = [stack.enter_context(open_output(table.output))]
        writers: list[PrimerWriter | RegionWriter] = [
            PrimerWriter(handles[0], table.form or "bed", wanted.k, both)
        ]
        if regions:
            handles.append(stack.enter_context(open_output(regions)))
            writers.append(RegionWriter(handles[1], both))
        yield writers
        flush_all(*handles)
