"""What the commands that search have in common: inputs, tables, and how a search runs."""

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from kmatch.cli.command import Given
from kmatch.cli.messages import Messages, counted
from kmatch.cli.options import check_outputs, format_of
from kmatch.errors import listed, warn
from kmatch.search.query import Query, Run

if TYPE_CHECKING:
    from kmatch.engine.engine import Engine
    from kmatch.genome import Genomes
    from kmatch.results.batches import HitBatch
    from kmatch.results.columns import Screen
    from kmatch.results.limit import Counts
    from kmatch.sequences.patterns import PatternSet

BESIDE = 100  # letters of a PAM and around a hit, at the most
_SEQUENCE = re.compile(r"[ACGTURYSWKMBDHVN]{4,}", re.IGNORECASE)
_REGION = re.compile(r".+:[\d,]+(-|\.\.)[\d,]+")


class Search:
    """A search of a command: how it runs, and what it says.

    is_standard: whether its rows go to standard output, where the progress bar may be; aligned:
    whether they need alignments; rows: how many there were so far.
    """

    def __init__(self, given: Given) -> None:
        self.given, self.messages = given, Messages(given.quiet, given.verbose)
        self.is_standard = given.output in (None, "-")
        self.form, self.aligned, self.rows = "bed", False, 0
        self._began, self._device = time.perf_counter(), ""

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

    def conclude(self, found: str, genomes: str = "") -> None:
        """Say what was found, in how much, how fast and on which device."""
        progress = self.progress
        records, letters = counted(progress.records, "record"), f"{progress.letters:,} bp"
        seconds = time.perf_counter() - self._began
        searched = f"{genomes}{records}, {letters} in {seconds:.1f} s{self._device}"
        self.messages.conclude(f"{found}; {searched}")


class PatternSearch(Search):
    """A search of genomes for patterns.

    of_hits: whether its table may have the formats of hits; rereads: whether it reads the genome
    twice. Raises UsageError and InputError for inputs and options that cannot be used.
    """

    of_hits = True

    def __init__(self, given: Given, *, rereads: bool = False) -> None:
        super().__init__(given)
        self.form = format_of(given.output, given.form, self.of_hits)
        self.aligned = self.form != "bed" and not given.get("summary_only")
        patterns = given.get("patterns", given.get("primers"))
        self._check_outputs([given.genome.removeprefix("@"), patterns, given.regions])
        self.panel = self.load_panel()
        from kmatch.genome import as_genomes
        from kmatch.search.regions import load_regions

        self.regions = load_regions(given.regions)
        circular, here = given.circular, given.scheduler is None
        # A cluster's workers open genomes when their turn comes.
        self.genomes = as_genomes(given.genome, rereads, check=here).with_circular(
            circular is not None and (circular.split(",") if circular else True)
        )
        if self.genomes.named and any(map(_exists, (given.output, given.get("summary")))):
            self._check_outputs(self.genomes.paths)
        from kmatch.engine.devices import wake

        wake(given.device)  # the search, not imported yet, takes as long

    def load_panel(self) -> "PatternSet":
        """What is searched for."""
        raise NotImplementedError

    def _check_outputs(self, inputs: Iterable[str | None]) -> None:
        outputs = {"-o": self.given.output or "-", "--summary": self.given.get("summary")}
        check_outputs(inputs, outputs)

    @contextmanager
    def found(self, begin: Callable[[], Any]) -> Iterator[Iterator[Any]]:
        """Give the batches of the search begin(); what it said comes at the block's end."""
        warned = self._warn_of_long_patterns(_letters_at_most(self.given.genome))
        with self.batches(begin, self.genomes.label) as found:
            yield found
        if self.regions is None and not warned:  # or there may be longer records than those met
            self._warn_of_long_patterns(self.progress.longest)

    def conclude(self, found: str, genomes: str = "") -> None:
        several = f"{counted(len(self.genomes), 'genome')}, " if self.genomes.named else ""
        super().conclude(found, several)

    def _warn_of_long_patterns(self, longest: int) -> bool:
        """Warn of patterns that are longer than every record; whether there are any.

        longest: letters of the longest record, or more; 0 where that is unknown.
        """
        long = [pattern for pattern in self.panel if len(pattern) > longest]
        if not long or not longest:
            return False
        others = f", and {len(long) - 1:,} more, are" if len(long) > 1 else " is"
        warn(
            f"pattern '{long[0].name}' of {len(long[0]):,} letters{others} longer than every "
            f"record of {self.genomes.label}, at most {longest:,}; are genome and patterns "
            "exchanged?"
        )
        return True


class HitSearch(PatternSearch):
    """A search for hits, all or the closest, of which a summary may be written."""

    def __init__(self, given: Given, **more: bool) -> None:
        _check_summary(given)
        super().__init__(given, **more)
        from kmatch.search.rules import check_ends, check_pam

        ends = {"--exact-5p": given.exact_5p, "--exact-3p": given.exact_3p}
        check_ends(self.panel, ends)
        self._pam_side = given.get("pam_side", "3p")
        check_pam(self.panel, given.get("pam"), self._pam_side)

    def load_panel(self) -> "PatternSet":
        """The patterns of a file or of `-p`; warns of names that repeat."""
        given = self.given
        check_sequences(given.sequences)
        check_inputs(given, "PATTERNS", given.patterns)
        if given.sequences and given.column is not None:
            raise click.UsageError("--column is one of a file of patterns; leave it out beside -p")
        from kmatch.sequences.patterns import load_patterns, read_patterns, repeated_names

        if given.patterns:
            panel = read_patterns(given.patterns, given.column)
        else:
            panel = load_patterns(list(given.sequences))
        if repeated := repeated_names(panel):
            warn(f"{listed(repeated)}: the name stands for more than one pattern; all are searched")
        return panel

    def write(self, problem: str) -> None:
        """Write the tables of a problem's hits: files are whole or absent."""
        from kmatch.cluster import begin_anywhere
        from kmatch.results.columns import HitRows
        from kmatch.results.formats import FORMATS
        from kmatch.results.limit import Counts, limited
        from kmatch.results.output import flush_all, open_output
        from kmatch.search.panel import pattern_distances

        given, k = self.given, self.given.get("k")
        each = None if k is None else pattern_distances(self.panel, k)
        counts = Counts(self.panel, None if each is None else int(each.max()))
        shares = each if isinstance(k, str) else None
        rows = HitRows(self.panel, self.genomes, self._pam_side == "5p", shares)
        rows.threads = given.threads
        with ExitStack() as stack:
            handles = [stack.enter_context(open_output(given.output))]
            writer = None
            if not given.summary_only:
                if self.form == "view":
                    rows.screen = self._screen()
                    rows.letters = stack.enter_context(_letters_beside(self.genomes, self.panel))
                writer = FORMATS[self.form](handles[0], rows)
            if given.summary:
                handles.append(stack.enter_context(open_output(given.summary)))
            query = Query(problem, self.panel, **given.values(Query._fields[2:]))
            begin = partial(begin_anywhere, query, self.genomes, self.run, self.regions)
            with self.found(begin) as found:
                for batch in limited(_counted(found, counts), self.panel, given.limit):
                    if writer:
                        writer.write(batch)
                if writer:
                    writer.finish()
            if given.summary or given.summary_only:
                counts.write(handles[-1])
            flush_all(*handles)
        some = int(counts.hits.any(axis=1).sum())
        part = f"{some:,} of " if 0 < some < len(self.panel) else ""
        self.conclude(f"{counted(self.rows, 'hit')} of {part}{counted(len(self.panel), 'pattern')}")

    def _screen(self) -> "Screen | None":
        """The Screen on which the table is shown, or None where it goes elsewhere."""
        if not self.is_standard or sys.stdout is None or not sys.stdout.isatty():
            return None
        from kmatch.results.columns import Screen

        colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return Screen(shutil.get_terminal_size().columns, colour)


def _counted(batches: "Iterable[HitBatch]", counts: "Counts") -> "Iterator[HitBatch]":
    """The batches, whose hits are counted."""
    for batch in batches:
        counts.add(batch)
        yield batch


@contextmanager
def _letters_beside(genomes: "Genomes", panel: "PatternSet") -> Iterator[Any]:
    """Give a function for `Searched.letters`, which reads genomes beside the search, or None."""
    if not genomes.can_reread:
        yield None
        return
    from kmatch.search.alignments import GenomeTexts

    # As long as an occurrence, a PAM and letters around them can be.
    texts = GenomeTexts(genomes, 2 * int(panel.lengths.max()) + BESIDE)
    try:
        yield texts.letters
    finally:
        texts.close()


def _compiling_beside(given: Given) -> "AbstractContextManager[Callable[[Engine], None]]":
    """Let other processes compile for a first search, as `compiling_beside` does; none later."""
    from kmatch.jit.folders import nothing_compiled
    from kmatch.published.registry import ENGINE

    if given.scheduler is not None or given.algorithm != ENGINE or not nothing_compiled():
        return nullcontext(lambda engine: None)
    from kmatch.jit.rehearsal import compiling_beside

    return compiling_beside(str(click.get_current_context().command.name))


def _letters_at_most(path: str) -> int:
    """A number of letters that no record of a file exceeds, or 0 where none is known at once."""
    if path != "-" and os.path.isfile(path):
        with suppress(OSError), open(path, "rb") as file:
            if file.read(1) == b">":
                return os.path.getsize(path)
    return 0


def _exists(path: str | None) -> bool:
    return path is not None and os.path.exists(path)


def _check_summary(given: Given) -> None:
    """Raise UsageError for options that --summary-only leaves no use."""
    others = {"--summary": given.summary, "--format": given.form, "--limit": given.limit}
    for option, value in others.items():
        if given.summary_only and value:
            raise click.UsageError(
                f"--summary-only writes one table, to standard output or -o; leave {option} out"
            )


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
