"""The common part of the commands that search: their inputs, their tables, and how they run."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kmatch import interrupts
from kmatch.cli.messages import Conclusion, Messages, counted
from kmatch.cli.options import Inputs, Loudness, Table, check_summary, check_table
from kmatch.results.output import flush_all, open_output
from kmatch.search.running import Running

if TYPE_CHECKING:
    from kmatch.engine.protocol import Engine
    from kmatch.genome import Genomes
    from kmatch.results.batches import HitBatch
    from kmatch.results.formats.searched import Screen, Searched
    from kmatch.results.formats.writers import Writer
    from kmatch.results.limit import Limit
    from kmatch.sequences.patterns import PatternSet


_SEQUENCE = re.compile(r"[ACGTURYSWKMBDHVN]{4,}", re.IGNORECASE)
_REGION = re.compile(r"(.+):([\d,]{1,13})(?:-|\.\.)([\d,]{1,13})")


def check_sequences(sequences: Iterable[str], argument: str) -> None:
    """Raise UsageError for a sequence that is a path, several of them, or a number.

    argument: the one that takes a file, as `PATTERNS`.
    """
    for text in sequences:
        if _SEQUENCE.fullmatch(text):
            continue
        if "/" in text or ("." in text and os.path.exists(text)):
            raise click.UsageError(f"-p {text} is a path; give the file as {argument}, without -p")
        if all(_SEQUENCE.fullmatch(part) for part in re.split("[,;]", text)):
            raise click.UsageError(f"-p {text} is more than one pattern; repeat -p for each")
        if text.isdecimal():
            raise click.UsageError(f"-p {text} is no sequence; threads are -t N, differences -k N")


def check_path(path: str | None, argument: str) -> None:
    """Raise UsageError for a sequence where a file is meant; argument: where it stands."""
    if path and _SEQUENCE.fullmatch(path) and not os.path.exists(path):
        raise click.UsageError(
            f"{argument} is a file, and there is none named {path}; sequences are given with -p"
        )


def check_regions(path: str | None) -> None:
    """Raise UsageError for a region where a file of them is meant."""
    if path and (found := _REGION.fullmatch(path)) and not os.path.exists(path):
        begin, end = (int(number.replace(",", "") or 0) for number in found.group(2, 3))
        raise click.UsageError(
            f"--regions is a BED file, and there is none named {path}; write one with the line "
            f"{found[1]}, a tab, {max(begin - 1, 0)}, a tab and {end}"
        )


def check_inputs(inputs: Inputs) -> None:
    """Raise UsageError for patterns by file and by `-p`, or neither, or two inputs named `-`."""
    check_sequences(inputs.sequences, "PATTERNS")
    check_path(inputs.genome, "GENOME")
    check_path(inputs.patterns, "PATTERNS")
    check_regions(inputs.regions)
    if bool(inputs.patterns) == bool(inputs.sequences):
        both = "; several genomes are one @LIST" if inputs.patterns else ""
        raise click.UsageError(f"give the patterns as a file or with -p, one of the two{both}")
    if inputs.sequences and inputs.column is not None:
        raise click.UsageError("--column is one of a file of patterns; leave it out beside -p")
    genome = inputs.genome.removeprefix("@")
    if (inputs.patterns, genome, inputs.regions).count("-") > 1:
        names = "GENOME, PATTERNS and --regions" if inputs.regions else "GENOME and PATTERNS"
        raise click.UsageError(f"only one of {names} can be standard input")


def warn_of_long_patterns(
    messages: "Messages", panel: "PatternSet", longest: int, label: str
) -> None:
    """Warn of patterns that are longer than every record.

    longest: letters of the longest record, or more; 0 where that is unknown or no record has any.
    """
    long = [pattern for pattern in panel if len(pattern) > longest]
    if not long or not longest:
        return
    others = f", and {len(long) - 1:,} more," if len(long) > 1 else ""
    verb = "are" if others else "is"
    messages.warn_once(
        "exchanged",
        f"pattern '{long[0].name}' of {len(long[0]):,} letters{others} {verb} longer than every "
        f"record of {label}, at most {longest:,}; are genome and patterns exchanged?",
    )


def letters_at_most(path: str) -> int:
    """A number of letters that no record of a file exceeds, or 0 where none is known at once."""
    if path != "-" and os.path.isfile(path):
        with suppress(OSError), open(path, "rb") as file:
            if file.read(1) == b">":
                return os.path.getsize(path)
    return 0


def screen_of(table: Table) -> "Screen | None":
    """The Screen on which a table is shown, or None where it goes elsewhere."""
    if not table.is_standard or sys.stdout is None or not sys.stdout.isatty():
        return None
    from kmatch.results.formats.searched import Screen

    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Screen(shutil.get_terminal_size().columns, colour)


BESIDE = 100  # letters of a PAM and around a hit, at the most
Taker = Callable[[Any], object]  # of a HitBatch


class HitTables:
    """Tables that are being written: each HitBatch goes to all `takers`, then `finish` is called.

    seen: which patterns have hits, a Seen.
    """

    def __init__(self, searched: "Searched") -> None:
        from kmatch.results.summary import Seen

        self.seen = Seen(len(searched.patterns))
        self.takers: list[Taker] = [self.seen.add]
        self._searched = searched
        self._last: list[Callable[[], None]] = []

    def add_hits(self, handle: Any, table: Table, warn: Callable[[str], None]) -> None:
        """Write hits to a handle; warn(message) hears of patterns that had more than the limit."""
        from kmatch.results.formats.writers import make_writer

        form = table.form or "bed"
        writer = make_writer(form, handle, self._searched)
        if table.limit is None:
            self.takers.append(writer.write)
            self._last.append(writer.finish)
            return
        from kmatch.results.limit import Limit

        limit = Limit(self._searched.patterns, table.limit)
        self.takers.append(lambda batch: _write_each(limit.add(batch), writer))
        self._last.append(lambda: _write_closest(limit, writer, warn))

    def add_summary(self, handle: Any, k: int | None) -> None:
        """Write a summary to a handle."""
        from kmatch.results.summary import Summary

        summary = Summary(self._searched.patterns, k)
        self.takers.append(summary.add)
        self._last.append(lambda: summary.write(handle))

    def finish(self) -> None:
        """Write what only the last hit makes certain."""
        for write in self._last:
            write()


def _write_closest(limit: "Limit", writer: "Writer", warn: Callable[[str], None]) -> None:
    _write_each(limit.batches(), writer)
    writer.finish()
    if warning := limit.warning():
        warn(warning)


def _write_each(batches: Iterable["HitBatch"], writer: "Writer") -> None:
    for batch in batches:
        writer.write(batch)


@contextmanager
def hit_tables(
    table: Table, searched: "Searched", k: int | None, warn: Callable[[str], None]
) -> Iterator[HitTables]:
    """Give the HitTables of a search, whose files are whole when the block ends well.

    k: the largest distance, None if only the hits show it; warn(message) hears of patterns that
    had more hits than the limit.
    """
    with ExitStack() as stack:
        if table.form == "view":
            letters = stack.enter_context(_letters_beside(searched))
            searched = searched._replace(screen=screen_of(table), letters=letters)
        tables = HitTables(searched)
        handles = [stack.enter_context(open_output(table.output))]
        if table.summary_only:
            tables.add_summary(handles[0], k)
        else:
            tables.add_hits(handles[0], table, warn)
        if table.summary:
            handles.append(stack.enter_context(open_output(table.summary)))
            tables.add_summary(handles[1], k)
        yield tables
        flush_all(*handles)


@contextmanager
def _letters_beside(searched: "Searched") -> Iterator[Any]:
    """Give a function for `Searched.letters`, which reads genomes beside the search, or None."""
    genomes = searched.genomes
    if genomes is None or not genomes.can_reread:
        yield None
        return
    from kmatch.search.products.texts import GenomeTexts
    from kmatch.sequences.patterns import pattern_set

    # As long as an occurrence, a PAM and letters around them can be.
    texts = GenomeTexts(genomes, 2 * int(pattern_set(searched.patterns).lengths.max()) + BESIDE)
    try:
        yield texts.letters
    finally:
        texts.close()


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
    from kmatch.genome import Genome, Genomes, is_list, read_list

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
    from kmatch.errors import listed
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
