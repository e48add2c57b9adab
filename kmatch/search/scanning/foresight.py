"""How long a search is expected to take, which whoever runs it hears before it begins.

The engine's cost model counts the comparisons. What the host does for each hit comes to that, as if
the text were random.
"""

from collections.abc import Callable, Sequence
from math import exp, lgamma, log, log1p

import numpy as np

from kmatch.arrays import Longs
from kmatch.engine.choice import Work
from kmatch.engine.costs import CPU, FIRST_ROWS
from kmatch.engine.protocol import Engine
from kmatch.published.registry import ENGINE
from kmatch.published.run import Run, choose_algorithm
from kmatch.search.differences.rules import Rules, bounded_states
from kmatch.search.running import Running
from kmatch.sequences.patterns import Pattern

# Seconds of one core: a window that is a hit, an end, a product, a pattern letter with one state of
# bounded alignments, and a cell of a published algorithm on either device.
WINDOW, END, PRODUCT, STATE = 0.2e-6, 1.5e-6, 4e-6, 0.1e-6
PUBLISHED_CELL = {"cpu": 1e-9, "cuda": 1e-12}
MISMATCHES, DIFFERENCES = 3, 5  # ways in which a letter differs, about


def begin_search(
    command: str,
    patterns: Sequence[Pattern],
    running: Running,
    work: Work | None,
    more: Callable[[], float] | None = None,
) -> tuple[Engine, Run | None]:
    """What `choose_algorithm` gives; running.on_expected hears of the seconds that are expected.

    work: None where the cost model knows none; more: gives seconds of one core beside those of the
    model, and is called only if someone hears of them.
    """
    engine, run = choose_algorithm(command, patterns, running, work)
    if not running.on_expected:
        return engine, run
    seconds = (engine.expected or 0) + (more() / engine.threads if more else 0)
    if run and work and work.letters:
        cells = work.letters * work.queries * work.length
        seconds += cells * PUBLISHED_CELL[engine.name] / engine.threads
    if seconds:
        running.on_expected(seconds)
    return engine, run


def window_seconds(work: Work, lengths: Longs, exact: int = 0, share: float = 1) -> float:
    """Seconds for the hits of a search for mismatches; exact: letters that must match; share: of
    positions beside which a PAM stands."""
    return WINDOW * share * _hits(work, lengths, exact, MISMATCHES)


def difference_seconds(work: Work, lengths: Longs, rules: Rules) -> float:
    """Seconds for the hits of a search for differences, with rules that they have to keep to."""
    each = END
    if rules.bind_alignments:
        each += STATE * float(lengths.mean()) * bounded_states(rules, work.k)
    return each * rules.share * _hits(work, lengths, 0, DIFFERENCES)


def product_seconds(letters: int | None, sites: Sequence[float], span: int, joins: int) -> float:
    """Seconds for the products of primers; sites: of each primer, the share of positions where it
    is within k; span: lengths of products; joins: other primers that one is joined to, on average,
    on both strands."""
    mean = sum(sites) / max(len(sites), 1)
    return PRODUCT * (letters or 0) * len(sites) * mean * joins * mean * span


def primer_seconds(pairs: int, k: int, longest: int | None, running: Running) -> float:
    """Seconds of one core for primers; pairs: starts times letters of the background; longest:
    letters of the longest primer, or None."""
    height = min(2 * k + FIRST_ROWS, longest or 2 * k + FIRST_ROWS)
    pair = (CPU.recurrence.column + CPU.recurrence.cell * height) * 1e-9
    if running.algorithm != ENGINE:
        pair = PUBLISHED_CELL["cpu"] * height
    return pairs * pair


def share_within(m: int, k: int, ways: int) -> float:
    """About the share of random positions at which a pattern of m letters is within k."""
    if k >= m:
        return 1
    terms = [
        lgamma(m + 1) - lgamma(d + 1) - lgamma(m - d + 1) + d * log(ways) - m * log(4)
        for d in range(k + 1)
    ]
    most = max(terms)
    return min(exp(min(most, 0) + log1p(sum(exp(term - most) for term in terms) - 1)), 1)


def _hits(work: Work, lengths: Longs, exact: int, ways: int) -> float:
    """How many hits are expected in random letters."""
    sizes, counts = np.unique(lengths, return_counts=True)
    found = 0.0
    for m, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        exactly = min(exact, m)
        found += count * share_within(m - exactly, work.k, ways) / 4**exactly
    return (work.letters or 0) * work.queries / len(lengths) * found
