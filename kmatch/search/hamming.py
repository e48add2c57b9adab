"""Every window within k mismatches of a pattern."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kmatch.arguments import checked_count
from kmatch.genome import Genome
from kmatch.genomes import Genomes, as_genomes
from kmatch.published.run import choose_algorithm
from kmatch.results.hits import HitBatch
from kmatch.search.chunks import PackedChunk, fresh_chunks, packed_chunks, plan_chunks
from kmatch.search.circles import window_circles, windows_once
from kmatch.search.mismatches.pam import Pam
from kmatch.search.mismatches.windows import WindowScans
from kmatch.search.panel import Sought, build_panel, check_distance, exact_ends
from kmatch.search.repeats import distinct_patterns, with_copies
from kmatch.search.running import HOOKS, RUNNING, Hooks, Running
from kmatch.search.scanning import Scanner
from kmatch.search.several import over_genomes
from kmatch.search.work import window_work
from kmatch.sequences.patterns import Pattern, pattern_set


class HammingOptions(NamedTuple):
    """strand: `both`, `+` or `-`; exact_5p, exact_3p: first and last letters that must match."""

    strand: str = "both"
    exact_5p: int = 0
    exact_3p: int = 0


OPTIONS = HammingOptions()


def hamming_batches(
    genome: Genome | Genomes,
    patterns: Sequence[Pattern],
    k: int,
    options: HammingOptions = OPTIONS,
    running: Running = RUNNING,
    hooks: Hooks = HOOKS,
) -> Iterator[HitBatch]:
    """Yield the hits as HitBatches, in order, while the genome is read.

    k: 0 ≤ k < m. Raises InputError and DeviceError as `kmatch.hamming` does, at the first batch.
    """
    genomes = as_genomes(genome)
    distinct, copies = distinct_patterns(patterns)
    k = check_distance(distinct, k)
    ends = checked_ends(options.exact_5p, options.exact_3p)
    sought = Sought(distinct, k, options.strand, ends)
    work = window_work(genomes, distinct, k, options.strand)
    engine, run = choose_algorithm("hamming", distinct, running, work)
    search: Any
    if run:
        from kmatch.search.published import PublishedWindows

        search = PublishedWindows(engine, run, sought)
    else:
        search = WindowSearch(engine, sought, hooks.capacity)
    lengths, layout = search.panel.lengths, run.layout if run else engine.layout
    longest = int(lengths.max())
    plan = plan_chunks(longest, k, len(lengths), hooks.chunk_length, layout)

    def batches(each: Genome, running: Running) -> Iterable[HitBatch]:
        if circular := genomes.circular:
            circles = window_circles(circular, longest)
            parts = circles.parts(each.parts(running.on_progress))
            fresh = fresh_chunks(parts, plan, engine, hooks.words, running)
            return with_copies(windows_once(search.run(fresh), circles), copies)
        chunks = packed_chunks(each, plan, engine, hooks.words, running)
        return with_copies(search.run(chunks), copies)

    yield from over_genomes(genomes, running, batches)


def checked_ends(exact_5p: int, exact_3p: int) -> tuple[int, int]:
    """How many letters must match at a pattern's beginning and at its end, as ints.

    Raises InputError for what is no such number.
    """
    return checked_count("exact_5p", exact_5p), checked_count("exact_3p", exact_3p)


class WindowSearch(WindowScans):
    """Every window of chunks held against every pattern.

    engine: of a device; capacity: see Scanner; pam: a Pam that must stand beside every pattern, or
    None.
    """

    def __init__(
        self, engine: Any, sought: Sought, capacity: int | None = None, pam: Pam | None = None
    ) -> None:
        self._engine, self._k = engine, sought.k
        patterns = pattern_set(sought.patterns)
        exact = exact_ends(patterns, sought.k, sought.ends)
        if pam:
            exact = pam.beside_each(exact, pam.every_letter, len(patterns))
            patterns = pam.join_all(patterns)
        self.panel = build_panel(patterns, sought.k, sought.strand, exact)
        self._scanner = Scanner(engine, len(self.panel.lengths) * (sought.k + 1), capacity)

    def _start(self, chunk: PackedChunk, capacity: int) -> Any:
        letters = self.panel.letters
        text = chunk.text(letters.masks, self._engine)
        return self._engine.start_scan(text, letters, self._k, capacity)
