"""What the commands that search for patterns do alike."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from kmatch import interrupts
from kmatch.cli.exchanged import letters_at_most, warn_of_long_patterns
from kmatch.cli.messages import Messages
from kmatch.cli.options import Inputs, Loudness, check_inputs
from kmatch.cli.outputs import Table, check_table
from kmatch.search.running import Running

if TYPE_CHECKING:
    from kmatch.engine.protocol import Engine
    from kmatch.genomes import Genomes
    from kmatch.sequences.patterns import PatternSet

SMALL = 1 << 22  # bytes of a file that is kept in memory where it is searched twice
Batches = Callable[..., "Iterable[Any]"]  # of HitBatches; called with running


class PatternSearch:
    """A search for patterns: what it reads, the table that it writes, how it runs, what it says.

    others: its outputs besides the table, by option; rereads: whether it reads the genome twice.
    Raises UsageError and InputError where these cannot be used.
    """

    def __init__(
        self,
        inputs: Inputs,
        table: Table,
        running: Running,
        loudness: Loudness,
        *,
        others: Mapping[str, str | None] | None = None,
        rereads: bool = False,
    ) -> None:
        given = inputs.genome.removeprefix("@")
        self.table = check_table(table, (given, inputs.patterns), others)
        self.messages = Messages(*loudness)
        self.panel = self.load_panel(inputs)
        self._running = running
        self.genome = open_genomes(inputs.genome, rereads, self.messages.warn)
        if inputs.circular is not None:
            self.genome.with_circular(inputs.circular.split(",") if inputs.circular else True)
        if self.genome.named:
            check_table(table, self.genome.paths, others)

    def load_panel(self, inputs: Inputs) -> "PatternSet":
        """The patterns of a file or of `-p`; warns of names that repeat."""
        return _load_panel(inputs, self.messages)

    def summary(self, found: int) -> str:
        """What --verbose says in the end."""
        return f"{found:,} hits of {len(self.panel):,} patterns"

    def write(self, batches: Batches) -> None:
        """Write the table of the HitBatches of batches(running=…)."""
        from kmatch.results.files.output import open_output
        from kmatch.results.tables import TableWriter

        with open_output(self.table.output) as handle:
            form = self.table.form or "bed"
            writer = TableWriter(handle, form, self.panel, self.genome.named)
            self.drain(batches, writer.write, to_terminal=self.table.is_standard)

    def drain(
        self,
        batches: Batches,
        *takers: Callable[[Any], object],
        to_terminal: bool = False,
    ) -> None:
        """Hand each batch to all takers, and say how many hits there were.

        to_terminal: whether a taker writes to standard output, where the progress bar may be.
        """
        from kmatch.search.lengths import LongestRecord

        messages, genome = self.messages, self.genome
        hits, longest = 0, LongestRecord()
        with (
            messages.announcing_compiling(),
            _compiling_beside() as help_out,
            messages.progress(genome.label) as advance,
        ):

            def hear(engine: "Engine") -> None:
                messages.device(engine)
                help_out(engine)

            running = self._running._replace(
                on_progress=advance,
                on_engine=hear,
                on_spans=longest.hear,
                on_warning=messages.warn,
            )
            for batch in batches(running=running):
                interrupts.check()
                if to_terminal:
                    messages.make_way()
                for take in takers:
                    take(batch)
                hits += len(batch)
        warn_of_long_patterns(messages, self.panel, longest.letters, genome.label)
        messages.detail(self.summary(hits))


def open_genomes(given: str, rereads: bool, warn: Callable[[str], None]) -> "Genomes":
    """The Genomes of GENOME: one, or those that a list names; rereads: as for PatternSearch."""
    from kmatch.genome import Genome
    from kmatch.genomes import Genomes, is_list, read_list

    def keep(path: Any) -> bool:
        # A pipe cannot be read twice, and a small file need not be.
        return rereads and (not os.path.isfile(path) or os.path.getsize(path) < SMALL)

    if is_list(given):
        return Genomes(read_list(given), given, keep=keep, on_warning=warn)
    genome = Genome(given, keep=keep(given), on_warning=warn)
    return Genomes([genome], named=False)


def _load_panel(inputs: Inputs, messages: Messages) -> "PatternSet":
    """The patterns of a file or of `-p`; warns of names that repeat."""
    check_inputs(inputs)
    from kmatch.sequences.names import listed
    from kmatch.sequences.patterns import load_patterns, read_patterns, repeated_names

    if inputs.patterns:
        panel = read_patterns(inputs.patterns, messages.warn)
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
