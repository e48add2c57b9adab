"""What the commands that search have in common: inputs, outputs, and how a search runs."""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from kmatch.cli.command import Given
from kmatch.cli.messages import Messages, counted
from kmatch.cli.options import check_outputs, format_of
from kmatch.errors import warn
from kmatch.search.query import Run

if TYPE_CHECKING:
    from kmatch.engine.engine import Engine
    from kmatch.search.regions import Regions
    from kmatch.sequences.patterns import PatternSet

_SEQUENCE = re.compile(r"[ACGTURYSWKMBDHVN]{4,}", re.IGNORECASE)
_REGION = re.compile(r".+:[\d,]+(-|\.\.)[\d,]+")


class Search:
    """A search of a command: how it runs, and what it says.

    inputs: paths that it reads; second: the second output, by its option; formats: those of its
    table. form: the one it has; is_standard: whether its rows go to standard output, where the
    progress bar may be; aligned: whether they need alignments; rows: how many there were so far.
    Raises UsageError for outputs that cannot be used.
    """

    def __init__(
        self,
        given: Given,
        inputs: Iterable[str | None],
        second: dict[str, str | None],
        of_hits: bool = False,
    ) -> None:
        self.given, self.messages = given, Messages(given.quiet, given.verbose)
        self.form = format_of(given.output, given.form, of_hits)
        self._outputs = {"-o": given.output or "-", **second}
        check_outputs(inputs, self._outputs)
        self.is_standard = given.output in (None, "-")
        self.aligned, self.rows = False, 0
        self._began, self._device = time.perf_counter(), ""
        self._panel: PatternSet | None = None
        self.genomes: Any = None
        self.regions: Regions | None = None

    def search_for(self, panel: "PatternSet", rereads: bool = False) -> None:
        """Open GENOME, in which a panel is looked for, and --regions.

        rereads: whether the search reads the genome twice.
        """
        from kmatch.engine.devices import wake
        from kmatch.genome import as_genomes
        from kmatch.search.regions import load_regions

        self._panel = panel
        self.regions = load_regions(self.given.regions)
        circular, here = self.given.circular, self.given.scheduler is None
        # A cluster's workers open genomes when their turn comes.
        self.genomes = as_genomes(self.given.genome, rereads, check=here).with_circular(
            circular is not None and (circular.split(",") if circular else True)
        )
        if self.genomes.named and any(map(os.path.exists, filter(None, self._outputs.values()))):
            check_outputs(self.genomes.paths, self._outputs)
        wake(self.given.device)  # the search, not imported yet, takes as long

    @property
    def run(self) -> Run:
        """How it runs."""
        return self.given.made(Run)._replace(aligned=self.aligned)

    @contextmanager
    def batches(self, begin: Callable[[], Any], label: str) -> Iterator[Iterator[Any]]:
        """Give the batches of the search begin(), with messages and progress; it ends with the
        block.

        label: of the genome whose reading is the progress.
        """
        messages, given = self.messages, self.given
        with (
            messages.announcing_compiling(),
            _compiling_beside(given) as help_out,
            messages.progress(label, given.scheduler is not None) as advance,
        ):
            search = begin()
            self.progress, described = search.progress, search.engine.description
            self._device = f" on {described.partition(' (')[0].partition(', ')[0]}"
            messages.detail(f"device: {described}")
            help_out(search.engine)
            search.progress.tell = advance
            found = iter(search)
            try:
                yield self._each(found)
            finally:  # a cluster may be at work for it
                found.close()

    def _each(self, found: Iterable[Any]) -> Iterator[Any]:
        for batch in found:
            if self.is_standard:
                self.messages.make_way()
            self.rows += len(batch)
            yield batch

    def conclude(self, found: str) -> None:
        """Say what was found, in how much, how fast and on which device, and warn of patterns that
        are longer than every record."""
        progress, several = self.progress, ""
        if self._panel is not None:
            long = [pattern for pattern in self._panel if len(pattern) > progress.longest]
            # Of regions only records with any are met, and there may be longer ones.
            if long and progress.longest and self.regions is None:
                others = f", and {len(long) - 1:,} more, are" if len(long) > 1 else " is"
                warn(
                    f"pattern '{long[0].name}' of {len(long[0]):,} letters{others} longer than "
                    f"every record of {self.genomes.label}, at most {progress.longest:,}; are "
                    "genome and patterns exchanged?"
                )
            if self.genomes.named:
                several = f"{counted(len(self.genomes), 'genome')}, "
        records, letters = counted(progress.records, "record"), f"{progress.letters:,} bp"
        seconds = time.perf_counter() - self._began
        searched = f"{several}{records}, {letters} in {seconds:.1f} s{self._device}"
        self.messages.conclude(f"{found}; {searched}")


def _compiling_beside(given: Given) -> "AbstractContextManager[Callable[[Engine], None]]":
    """Let other processes compile for a first search, as `compiling_beside` does; none later."""
    from kmatch.jit.folders import nothing_compiled
    from kmatch.published.registry import ENGINE

    if given.scheduler is not None or given.algorithm != ENGINE or not nothing_compiled():
        return nullcontext(lambda engine: None)
    from kmatch.jit.rehearsal import compiling_beside

    return compiling_beside(str(click.get_current_context().command.name))


def check_inputs(given: Given, argument: str, path: str | None) -> None:
    """Raise UsageError for what is searched for by file and by `-p`, or neither, for two inputs
    named `-`, and for what is no file where one is meant.

    argument: the one that takes the file at `path`, as `PATTERNS`.
    """
    for name, file in (("GENOME", given.genome), (argument, path)):
        if file and _SEQUENCE.fullmatch(file) and not os.path.exists(file):
            raise click.UsageError(
                f"{name} is a file, and there is none named {file}; sequences are given with -p"
            )
    regions = given.regions
    if regions and _REGION.fullmatch(regions) and not os.path.exists(regions):
        raise click.UsageError(
            f"--regions is a BED file, and there is none named {regions}; a line of it is the "
            "record's name, a tab, the start, counted from 0, a tab and the end"
        )
    if bool(path) == bool(given.sequences):
        several = "; several genomes are one @LIST" if path else ""
        what = argument.lower()
        raise click.UsageError(f"give the {what} as a file or with -p, one of the two{several}")
    if (path, given.genome.removeprefix("@"), regions).count("-") > 1:
        names = f"GENOME, {argument} and --regions" if regions else f"GENOME and {argument}"
        raise click.UsageError(f"only one of {names} can be standard input")


def check_sequences(sequences: Iterable[str]) -> None:
    """Raise UsageError for a sequence that is a path, several of them, or a number."""
    for text in sequences:
        if _SEQUENCE.fullmatch(text):
            continue
        if "/" in text or ("." in text and os.path.exists(text)):
            raise click.UsageError(f"-p {text} is a path; give the file as PATTERNS, without -p")
        if all(_SEQUENCE.fullmatch(part) for part in re.split("[,;]", text)):
            raise click.UsageError(f"-p {text} is more than one pattern; repeat -p for each")
        if text.isdecimal():
            raise click.UsageError(f"-p {text} is no sequence; threads are -t N, differences -k N")
