"""The common part of the commands that search for patterns."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kmatch import interrupts
from kmatch.cli.advice.exchanged import letters_at_most, warn_of_long_patterns
from kmatch.cli.options import Inputs, Loudness, check_inputs
from kmatch.cli.outputs import Table, check_summary, check_table
from kmatch.cli.terminal.conclusion import Conclusion, counted
from kmatch.cli.terminal.messages import Messages
from kmatch.search.running import Running

if TYPE_CHECKING:
    from kmatch.engine.protocol import Engine
    from kmatch.genomes import Genomes
    from kmatch.sequences.patterns import PatternSet

SMALL = 1 << 22  # bytes of a file that is kept in memory where it is searched twice
Batches = Callable[..., "Iterable[Any]"]  # of HitBatches; called with running


class PatternSearch:
    """A search for patterns: its inputs, its table, how it runs, and its messages.

    rereads: whether it reads the genome twice; narrows: whether records without regions need no
    search. Raises UsageError and InputError for inputs and options that cannot be used.
    """

    of_hits = True  # whether its table may have the formats of hits

    def __init__(
        self,
        inputs: Inputs,
        table: Table,
        running: Running,
        loudness: Loudness,
        *,
        rereads: bool = False,
        narrows: bool = True,
    ) -> None:
        check_summary(table)
        others = {"--summary": table.summary}
        read = (inputs.genome.removeprefix("@"), inputs.patterns, inputs.regions)
        self.table = check_table(table, read, others, self.of_hits)
        self.messages = Messages(*loudness)
        self._conclusion = Conclusion(self.messages)
        self.panel = self.load_panel(inputs)
        from kmatch.search.regions import load_regions, narrow

        self._regions, self._running = load_regions(inputs.regions), running
        reads = Reads(rereads, running.scheduler is None)
        self.genomes = open_genomes(inputs, reads, self.messages.warn)
        if self.genomes.named and any(map(exists, (table.output, table.summary))):
            check_table(table, self.genomes.paths, others, self.of_hits)
        if narrows:
            narrow(self.genomes, self._regions)
        from kmatch.engine.devices import wake

        wake(running.device)  # the search, not imported yet, takes as long

    def load_panel(self, inputs: Inputs) -> "PatternSet":
        """The patterns of a file or of `-p`; warns of names that repeat."""
        return _load_panel(inputs, self.messages)

    def summary(self, found: int) -> str:
        """What was found, for people."""
        hits, patterns = counted(found, "hit"), counted(len(self.panel), "pattern")
        some = int(self._seen.sum())
        part = f"{some:,} of " if 0 < some < len(self.panel) else ""
        return f"{hits} of {part}{patterns}"

    def write(self, batches: Batches, k: int | str | None = None, pam_first: bool = False) -> None:
        """Write the tables of the HitBatches of batches(running=…).

        k: the differences allowed, None if only the hits show them; pam_first: whether a PAM
        stands before the patterns.
        """
        from kmatch.cli.hit_tables import hit_tables
        from kmatch.results.formats.searched import Searched
        from kmatch.search.panels.distances import pattern_distances

        each = None if k is None else pattern_distances(self.panel, k)
        most = None if each is None else int(each.max())
        shares = each if isinstance(k, str) else None
        threads = self._running.threads
        searched = Searched(self.panel, self.genomes, pam_first, k=shares, threads=threads)
        with hit_tables(self.table, searched, most, self.messages.warn) as tables:
            self._seen = tables.seen.patterns
            shown = self.table.is_standard and not self.table.summary_only
            self.drain(batches, *tables.takers, to_terminal=shown, finish=tables.finish)

    def drain(
        self,
        batches: Batches,
        *takers: Callable[[Any], object],
        to_terminal: bool = False,
        finish: Callable[[], None] = lambda: None,
    ) -> None:
        """Hand each batch to all takers, call `finish`, and say how many hits there were.

        to_terminal: whether a taker writes to standard output, where the progress bar may be.
        """
        from kmatch.distributed import run_anywhere
        from kmatch.search.regions import search_inside
        from kmatch.search.scanning.lengths import Heard

        messages, genomes = self.messages, self.genomes
        hits, heard = 0, Heard()
        with (
            messages.announcing_compiling(),
            _compiling_beside(self._running) as help_out,
            messages.progress(genomes.label, in_shards(self._running)) as advance,
        ):

            def hear(engine: "Engine") -> None:
                self._conclusion.hear(engine)
                help_out(engine)

            anywhere = partial(run_anywhere, batches)
            running = self._running._replace(
                aligned=not self.table.summary_only and self.table.form not in (None, "bed"),
                on_progress=advance,
                on_engine=hear,
                on_expected=messages.expected,
                on_spans=heard.hear,
                on_warning=messages.warn,
            )
            found = search_inside(self._regions, genomes, anywhere, running)
            with ending(found):
                for batch in found:
                    interrupts.check()
                    if to_terminal:
                        messages.make_way()
                    for take in takers:
                        take(batch)
                    hits += len(batch)
        finish()
        if self._regions is None:  # or other records may be longer than those heard of
            warn_of_long_patterns(messages, self.panel, heard.longest, genomes.label)
        several = f"{counted(len(genomes), 'genome')}, " if genomes.named else ""
        self._conclusion.say(self.summary(hits), heard.records, heard.letters, several)


def exists(path: str | None) -> bool:
    """Whether an output, if there is one, is there already."""
    return path is not None and os.path.exists(path)


class Reads(NamedTuple):
    """twice: whether a search reads the genome so often; at_once: whether genomes that a list names
    are opened before it begins."""

    twice: bool
    at_once: bool


def open_genomes(inputs: Inputs, reads: Reads, warn: Callable[[str], None]) -> "Genomes":
    """The Genomes of GENOME: one, or those that a list names."""
    from kmatch.genome import Genome
    from kmatch.genomes import Genomes, is_list, read_list

    def keep(path: Any) -> bool:
        # A pipe cannot be read twice, and a small file need not be.
        return reads.twice and (not os.path.isfile(path) or os.path.getsize(path) < SMALL)

    given, circular = inputs.genome, inputs.circular
    if is_list(given):
        listed = read_list(given)
        genomes = Genomes(listed, given, keep=keep, on_warning=warn, check=reads.at_once)
    else:
        genome = Genome(given, keep=keep(given), on_warning=warn)
        genomes = Genomes([genome], named=False)
    if circular is None:
        return genomes
    return genomes.with_circular(circular.split(",") if circular else True)


def _load_panel(inputs: Inputs, messages: Messages) -> "PatternSet":
    """The patterns of a file or of `-p`; warns of names that repeat."""
    check_inputs(inputs)
    from kmatch.sequences.names import listed
    from kmatch.sequences.patterns import load_patterns, read_patterns, repeated_names

    if inputs.patterns:
        panel = read_patterns(inputs.patterns, messages.warn, inputs.column)
    else:
        panel = load_patterns(list(inputs.sequences), messages.warn)
    if names := repeated_names(panel):
        messages.warn(
            f"{listed(names)}: the name stands for more than one pattern; all are searched"
        )
    # Before the search too: with patterns as long as a genome it takes long.
    warn_of_long_patterns(messages, panel, letters_at_most(inputs.genome), inputs.genome)
    return panel


def in_shards(running: Running) -> bool:
    """Whether the progress of a search counts shards."""
    return running.scheduler is not None


@contextmanager
def ending(batches: "Iterable[Any]") -> Iterator[None]:
    """End what gives batches with the block, however that ends: a cluster may be at work for it."""
    try:
        yield
    finally:
        if isinstance(batches, Generator):
            batches.close()


def _compiling_beside(running: Running) -> "AbstractContextManager[Callable[[Engine], None]]":
    """Let other processes compile for a first search, as `compiling_beside` does; none later."""
    from kmatch.jit.folders import nothing_compiled
    from kmatch.published.registry import ENGINE

    context = click.get_current_context()
    if running.scheduler is not None:
        return nullcontext(lambda engine: None)
    if context.params.get("algorithm", ENGINE) != ENGINE or not nothing_compiled():
        return nullcontext(lambda engine: None)
    from kmatch.rehearsal.compiling import compiling_beside

    return compiling_beside(str(context.command.name))
