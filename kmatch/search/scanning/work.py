"""How much a search has to do, before it begins."""

from kmatch.engine.choice import Work
from kmatch.genome import Genome, Genomes
from kmatch.search.panels.panel import wanted_strands
from kmatch.sequences.patterns import PatternSet


def window_work(genome: Genome | Genomes, patterns: PatternSet, k: int, strand: str) -> Work:
    """The Work of holding patterns, a PatternSet, against every window of a genome."""
    return _work(genome, patterns, k, strand, differences=False)


def difference_work(
    genome: Genome | Genomes, patterns: PatternSet, k: int | None, strand: str
) -> Work:
    """The Work of a search for k differences; k None: for the smallest distance."""
    longest = int(patterns.lengths.max())
    return _work(genome, patterns, longest if k is None else k, strand, differences=True)


def _work(
    genome: Genome | Genomes, patterns: PatternSet, k: int, strand: str, differences: bool
) -> Work:
    queries = len(patterns) * len(wanted_strands(strand))
    length = float(patterns.lengths.mean())
    return Work(genome.expected_letters, queries, length, k, differences)
