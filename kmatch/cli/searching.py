"""What the commands that search for patterns do alike."""

from contextlib import nullcontext

import click

from kmatch import interrupts
from kmatch.cli.checks import letters_at_most, warn_of_long_patterns
from kmatch.cli.options import check_inputs


def load_panel(talk, genome, given):
    """The patterns of a file or of `-p`; names that repeat are told."""
    check_inputs(genome, given)
    from kmatch.sequences.names import listed
    from kmatch.sequences.patterns import load_patterns, read_patterns, repeated_names

    if given.path:
        panel = read_patterns(given.path, talk.warn)
    else:
        panel = load_patterns(given.sequences, talk.warn)
    if names := repeated_names(panel):
        talk.warn(f"{listed(names)}: the name stands for more than one pattern; all are searched")
    # Before the search too: with patterns as long as a genome it takes long.
    warn_of_long_patterns(talk, panel, letters_at_most(genome), genome)
    return panel


def write_hits(talk, genome, panel, table, search):
    """Write the hits of a search, as `drain` calls it, and tell how many there were."""
    from kmatch.results.files.output import open_output
    from kmatch.results.tables import TableWriter

    with open_output(table.path) as handle:
        writer = TableWriter(handle, table.form, panel)
        drain(talk, genome, panel, search, writer.write, to_terminal=table.to_terminal)


def drain(talk, genome, panel, search, *takers, to_terminal=False):
    """Hand each HitBatch of a search of `genome` to all takers and tell how many hits it had.

    search(on_progress=…, …) takes who hears of it, by the names in Running; to_terminal: whether a
    taker writes to standard output, which may be where progress is drawn.
    """
    from kmatch.search.lengths import LongestRecord

    hits, longest = 0, LongestRecord()
    with talk.compiling(), _compiling_beside() as help_out, talk.progress(genome.label) as advance:

        def tell(engine):
            talk.device(engine)
            help_out(engine)

        hear = {"on_spans": longest.hear, "on_warning": talk.warn}
        for batch in search(on_progress=advance, on_engine=tell, **hear):
            interrupts.check()
            if to_terminal:
                talk.make_way()
            for take in takers:
                take(batch)
            hits += len(batch)
    warn_of_long_patterns(talk, panel, longest.letters, genome.label)
    talk.detail(f"{hits:,} hits of {len(panel):,} patterns")


def _compiling_beside():
    """Other processes that compile for a first search, as `compiling_beside`; later ones none."""
    from kmatch.jit.folders import nothing_compiled
    from kmatch.published.registry import ENGINE

    context = click.get_current_context()
    if context.params["algorithm"] != ENGINE or not nothing_compiled():
        return nullcontext(lambda engine: None)
    from kmatch.rehearsal.compiling import compiling_beside

    return compiling_beside(context.command.name)
