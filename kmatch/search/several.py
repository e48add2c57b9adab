"""A search that was set up once goes over one genome after another."""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from itertools import accumulate

from kmatch.genome import Genome, Genomes
from kmatch.results.batches import HitBatch
from kmatch.search.circles import circular_chunks, window_circles, windows_once
from kmatch.search.panels.repeats import Copies, with_copies
from kmatch.search.running import Running
from kmatch.search.scanning.chunks import Chunking, PackedChunk
from kmatch.search.scanning.dense import hits_ahead
from kmatch.sequences.chunks import Spans
from kmatch.sequences.records import Progress

Search = Callable[[Genome, Running], Iterable[HitBatch]]


def find_windows(
    genomes: Genomes,
    search: Callable[[Iterable[PackedChunk]], Generator[HitBatch]],
    chunking: Chunking,
    longest: int,
    copies: Copies,
    running: Running,
) -> Iterator[HitBatch]:
    """Yield the HitBatches of search(chunks), whose windows have up to `longest` letters."""

    threads = chunking.engine.threads

    def find(genome: Genome, running: Running) -> Iterable[HitBatch]:
        if genomes.circular is None:
            batches = hits_ahead(search(chunking.chunks(genome, running)), threads)
            return with_copies(batches, copies)
        circles = window_circles(genomes.circular, longest)
        chunks = circular_chunks(chunking, genome, circles, running)
        batches = hits_ahead(search(chunks), threads)
        return with_copies(windows_once(batches, circles), copies)

    return over_genomes(genomes, running, find)


def over_genomes(genomes: Genomes, running: Running, search: Search) -> Iterator[HitBatch]:
    """Yield the HitBatches of search(genome, running) for each genome, which they name."""
    if not genomes.named:
        yield from search(genomes.genome(0), running)
        genomes.check_circular()
        return
    progress = _Progress(running.on_progress, genomes)
    counted = Counted(running.on_spans)
    for number, name in enumerate(genomes.names):
        heard = running._replace(on_progress=progress.of(number))
        if running.on_spans:
            heard = heard._replace(on_spans=counted.hear)
        for batch in search(genomes.genome(number), heard):
            origin = batch.origin._replace(number=number, name=name)
            yield replace(batch, origin=origin)
        counted.go_on()
    genomes.check_circular()


class Counted:
    """Tells of the records in chunks, numbered over all genomes."""

    def __init__(self, tell: Callable[[Spans], None] | None) -> None:
        self._tell = tell
        self._before = self._seen = 0  # records of the genomes before, and with this one

    def hear(self, spans: Spans) -> None:
        """Take the records in a chunk of the genome that is searched."""
        spans = spans._replace(first=self._before + spans.first)
        self._seen = max(self._seen, spans.first + len(spans.lengths))
        if self._tell:
            self._tell(spans)

    def go_on(self) -> None:
        """Go on to the next genome."""
        self._before = self._seen


class _Progress:
    """Tells of the bytes read of all genomes; tell: the Progress that hears of them, or None."""

    def __init__(self, tell: Progress | None, genomes: Genomes) -> None:
        self._tell = tell
        sizes = genomes.sizes if tell else None
        # Where each genome begins in all of their bytes, and how many there are.
        self._begins = None if sizes is None else list(accumulate(sizes, initial=0))

    def of(self, number: int) -> Progress | None:
        """The Progress that hears of one genome."""
        tell, begins = self._tell, self._begins
        if tell is None:
            return None
        if begins is None:
            return lambda consumed, size: tell(None, None)
        before, end, total = begins[number], begins[number + 1], begins[-1]
        return lambda consumed, size: tell(min(before + (consumed or 0), end), total)
