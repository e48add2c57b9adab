"""`kmatch pcr`."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import click

from kmatch.arguments import PAIRINGS
from kmatch.cli.advice.given import check_path
from kmatch.cli.command import command
from kmatch.cli.numbers import Count, sizes
from kmatch.cli.options import (
    Inputs,
    Loudness,
    algorithm_option,
    circular_option,
    common_options,
    distance_option,
    regions_option,
)
from kmatch.cli.outputs import Table
from kmatch.cli.pattern_search import PatternSearch
from kmatch.cli.terminal.conclusion import counted
from kmatch.search.running import Running

if TYPE_CHECKING:
    from kmatch.results.batches import ProductBatch
    from kmatch.sequences.patterns import PatternSet


class Given(NamedTuple):
    """What products are looked for in, and primers by file or by `-p`."""

    genome: str
    primers: str | None
    sequences: tuple[tuple[str, str], ...]
    regions: str | None = None
    circular: str | None = None


class Wanted(NamedTuple):
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
def pcr(given: Given, wanted: Wanted, table: Table, running: Running, loudness: Loudness) -> None:
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
        self, given: Given, wanted: Wanted, table: Table, running: Running, loudness: Loudness
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
        from kmatch.results.files.output import open_output
        from kmatch.results.tables.products import ProductWriter

        with open_output(self.table.output) as handle:
            form = self.table.form or "bed"
            named, with_text = self.genomes.named, self._wanted.sequence
            writer = ProductWriter(handle, form, self.pairs, with_text, named)
            self.drain(batches, writer.write, to_terminal=self.table.is_standard)

    def summary(self, found: int) -> str:
        return f"{counted(found, 'product')} of {counted(len(self.pairs), 'pair')}"


def _check(given: Given, wanted: Wanted, table: Table) -> None:
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
