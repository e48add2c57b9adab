"""A search that was set up once goes over one genome after another."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from kmatch.genome import Genome
from kmatch.genomes import Genomes
from kmatch.results.hits import HitBatch
from kmatch.search.running import Running
from kmatch.sequences.records import Progress

Search = Callable[[Genome, Running], Iterable[HitBatch]]


def over_genomes(genomes: Genomes, running: Running, search: Search) -> Iterator[HitBatch]:
    """Yield the HitBatches of search(genome, running) for each genome, which they name."""
    if not genomes.named:
        yield from search(genomes.genome(0), running)
        genomes.check_circular()
        return
    sizes = genomes.sizes if running.on_progress else None
    for number, name in enumerate(genomes.names):
        heard = running._replace(on_progress=_progress(running, sizes, number))
        for batch in search(genomes.genome(number), heard):
            origin = batch.origin._replace(number=number, name=name)
            yield replace(batch, origin=origin)
    genomes.check_circular()


def _progress(running: Running, sizes: list[int] | None, number: int) -> Progress | None:
    """What hears of the bytes read of one genome, and tells of those of all."""
    tell = running.on_progress
    if tell is None:
        return None
    if sizes is None:
        return lambda consumed, size: tell(None, None)
    before, total = sum(sizes[:number]), sum(sizes)
    return lambda consumed, size: tell(before + min(consumed or 0, sizes[number]), total)
