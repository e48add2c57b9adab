"""The common part of the commands that search for patterns."""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from kmatch import interrupts
from kmatch.cli.advice.exchanged import letters_at_most, warn_of_long_patterns
from kmatch.cli.options import Inputs, Loudness, check_inputs
from kmatch.cli.outputs import Table, check_summary, check_table
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

    rereads: whether it reads the genome twice. Raises UsageError and InputError for inputs and
    options that cannot be used.
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
    ) -> None:
        check_summary(table)
        others, self._began = {"--summary": table.summary}, time.perf_counter()
        read = (inputs.genome.removeprefix("@"), inputs.patterns, inputs.regions)
        self.table = check_table(table, read, others, self.of_hits)
        self.messages = Messages(*loudness)
        self.panel = self.load_panel(inputs)
        from kmatch.search.regions import load_regions, narrow

        self._regions, self._running = load_regions(inputs.regions), running
        self.genomes = open_genomes(inputs, rereads, self.messages.warn)
        if self.genomes.named:
            check_table(table, self.genomes.paths, others, self.of_hits)
        if not rereads:  # then it is compared with the whole genome at first
            narrow(self.genomes, self._regions)
        from kmatch.engine.devices import wake

        wake(running.device)  # the search, not imported yet, takes as long

    def load_panel(self, inputs: Inputs) -> "PatternSet":
        """The patterns of a file or of `-p`; warns of names that repeat."""
        return _load_panel(inputs, self.messages)

    def summary(self, found: int) -> str:
        """What was found, for people."""
        hits, patterns = counted(found, "hit"), counted(len(self.panel), "pattern")
        return f"{hits} of {int(self._seen.sum()):,} of {patterns}"

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
        searched = Searched(self.panel, self.genomes, pam_first, k=shares)
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
        from kmatch.search.regions import search_inside
        from kmatch.search.scanning.lengths import Heard

        messages, genomes = self.messages, self.genomes
        hits, heard, device = 0, Heard(), ""
        with (
            messages.announcing_compiling(),
            _compiling_beside() as help_out,
            messages.progress(genomes.label) as advance,
        ):

            def hear(engine: "Engine") -> None:
                nonlocal device
                device = engine.description.partition(" (")[0]
                messages.device(engine)
                help_out(engine)

            running = self._running._replace(
                on_progress=advance,
                on_engine=hear,
                on_expected=messages.expected,
                on_spans=heard.hear,
                on_warning=messages.warn,
            )
            for batch in search_inside(self._regions, genomes, batches, running):
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
        searched = f"{several}{counted(heard.records, 'record')}, {counted(heard.letters, 'base')}"
        seconds = time.perf_counter() - self._began
        parts = (f"{self.summary(hits)} in {searched}", device, f"{seconds:.1f} s")
        messages.conclude("; ".join(filter(None, parts)))


def counted(number: int, noun: str) -> str:
    """A number and what it counts, in the plural unless it is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def open_genomes(inputs: Inputs, rereads: bool, warn: Callable[[str], None]) -> "Genomes":
    """The Genomes of GENOME: one, or those that a list names; rereads: as for PatternSearch."""
    from kmatch.genome import Genome
    from kmatch.genomes import Genomes, is_list, read_list

    def keep(path: Any) -> bool:
        # A pipe cannot be read twice, and a small file need not be.
        return rereads and (not os.path.isfile(path) or os.path.getsize(path) < SMALL)

    given, circular = inputs.genome, inputs.circular
    if is_list(given):
        genomes = Genomes(read_list(given), given, keep=keep, on_warning=warn)
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


def _compiling_beside() -> "AbstractContextManager[Callable[[Engine], None]]":
    """Let other processes compile for a first search, as `compiling_beside` does; none later."""
    from kmatch.jit.folders import nothing_compiled
    from kmatch.published.registry import ENGINE

    context = click.get_current_context()
    if context.params.get("algorithm", ENGINE) != ENGINE or not nothing_compiled():
        return nullcontext(lambda engine: None)
    from kmatch.rehearsal.compiling import compiling_beside

    return compiling_beside(str(context.command.name))
