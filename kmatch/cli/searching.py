"""What the commands that search for patterns do alike."""

from contextlib import nullcontext

import click

from kmatch.cli.options import check_inputs, format_of


def load_panel(talk, genome, path, sequences):
    """The patterns of a file or of `-p`; names that repeat are told."""
    check_inputs(genome, path, sequences)
    from kmatch.sequences.names import listed
    from kmatch.sequences.patterns import load_patterns, repeated_names

    panel = load_patterns(path or list(sequences), talk.warn)
    if names := repeated_names(panel):
        talk.warn(f"{listed(names)}: the name stands for more than one pattern; all are searched")
    return panel


def write_hits(talk, label, panel, output, form, search):
    """Write the HitBatches of search(on_progress=…, on_engine=…) and tell how many they held."""
    from kmatch.output.files import open_output
    from kmatch.output.tables import TableWriter

    with open_output(output) as handle:
        writer = TableWriter(handle, format_of(form, output), panel)
        drain(talk, label, panel, search, writer.write)


def drain(talk, label, panel, search, *takers):
    """Hand each HitBatch of a search to all takers and tell how many hits there were."""
    hits = 0
    with talk.compiling(), _compiling_beside() as help_out, talk.progress(label) as advance:

        def tell(engine):
            talk.detail(f"device: {engine.description}")
            help_out(engine)

        for batch in search(on_progress=advance, on_engine=tell):
            for take in takers:
                take(batch)
            hits += len(batch)
    talk.detail(f"{hits:,} hits of {len(panel):,} patterns")


def _compiling_beside():
    """Other processes that compile for a first search, as `compiling_beside`; later ones none."""
    from kmatch.jit.folders import nothing_compiled
    from kmatch.published.registry import ENGINE

    context = click.get_current_context()
    if context.params["algorithm"] != ENGINE or not nothing_compiled():
        return nullcontext(lambda engine: None)
    from kmatch.search.compiling import compiling_beside

    return compiling_beside(context.command.name)
