"""Searches whose options, Running and Hooks are given by name: for rehearsals and benchmarks."""

from collections.abc import Callable
from typing import Any

from kmatch.genome import Genome, as_genomes
from kmatch.results.hits import Hits
from kmatch.results.primers import Primers
from kmatch.search.best import best_batches
from kmatch.search.edit import edit_batches
from kmatch.search.hamming import hamming_batches
from kmatch.search.multi import multi_batches
from kmatch.search.primer import primer_batches
from kmatch.search.running import by_name
from kmatch.sequences.patterns import Patterns, load_patterns

_BATCHES: dict[str, Callable[..., Any]] = {
    "hamming": hamming_batches,
    "multi": multi_batches,
    "edit": edit_batches,
    "best": best_batches,
}


def hooked(command: str, genome: Any, patterns: Patterns, *k: int, **given: Any) -> Hits:
    """The Hits of `hamming`, `multi`, `edit` or `best`, of which `best` takes no k."""
    panel = load_patterns(patterns)
    genomes = as_genomes(genome)
    return Hits(by_name(_BATCHES[command], genomes, panel, *k, **given), panel, genomes)


def hooked_primer(target: Genome, background: Genome, k: int, **given: Any) -> Primers:
    """The Primers of `primer`."""
    batches = by_name(primer_batches, target, background, k, **given)
    return Primers(batches, k, given.get("both_strands", False))
