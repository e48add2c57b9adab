"""How many hits each pattern has at each distance, as a table and in a report, and the closest."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kmatch import __version__
from kmatch.arguments import checked_count
from kmatch.arrays import Ints, Longs, Table, offsets_in_rows, run_starts
from kmatch.errors import warn
from kmatch.jit.entries import entry
from kmatch.results.batches import HitBatch, ProductBatch, joined, no_hits
from kmatch.results.lines import number_word
from kmatch.results.output import open_output
from kmatch.sequences.oligos import PrimerPairs
from kmatch.sequences.patterns import PatternSet

if TYPE_CHECKING:
    from kmatch.results.scores import Specificity

count_hits = entry("kmatch.results.kernels:count_hits", tuple[Ints, Ints, Table])

SCHEMA_VERSION = 2  # of a report
PACKAGES = ("numpy", "numba", "llvmlite")
FEW = 1 << 16  # hits beyond those kept that may wait until the farther ones are dropped


class Counts:
    """Counts the hits of patterns by distance; `hits` is int64[P, k+1].

    k: the largest distance, None for the hits' largest; scores: by name, the Specificity of the
    patterns, from the scores of their hits.
    """

    def __init__(
        self,
        patterns: PatternSet,
        k: int | None = None,
        scores: "Mapping[str, Specificity] | None" = None,
    ) -> None:
        self.names = patterns.names
        self.scores = scores or {}
        self.hits = np.zeros((len(self.names), (k or 0) + 1), np.int64)

    def add(self, batch: HitBatch) -> None:
        """Count the hits of a HitBatch."""
        if not len(batch):
            return
        missing = int(batch.distance.max()) + 1 - self.hits.shape[1]
        if missing > 0:
            self.hits = np.pad(self.hits, ((0, 0), (0, missing)))
        count_hits(batch.pattern, batch.distance, self.hits)
        self.add_scores(batch)

    def add_scores(self, batch: HitBatch) -> None:
        """Add the scores of a HitBatch's hits to those of their patterns."""
        for specificity in self.scores.values():
            specificity.add(batch)

    def write(self, handle: Any) -> None:
        """Write `pattern d0 … dk total` as TSV to a binary handle, a row a pattern."""
        columns: list[list[Any]] = [["pattern", *self.names]]
        for distance, counts in enumerate(self.hits.T.tolist()):
            columns.append([f"d{distance}", *counts])
        columns.append(["total", *self.hits.sum(axis=1).tolist()])
        for score, specificity in self.scores.items():
            words = [number_word(value, "g") for value in specificity.values.tolist()]
            columns.append([f"specificity_{score}", *words])
        rows = zip(*columns, strict=True)
        lines = ["\t".join(map(str, row)) + "\n" for row in rows]
        handle.write("".join(lines).encode("utf-8", "surrogateescape"))


class ProductCounts:
    """Counts the products of pairs; `products` is int64[pairs]."""

    def __init__(self, pairs: PrimerPairs) -> None:
        self.pairs = pairs
        self.products = np.zeros(len(pairs), np.int64)

    def add(self, batch: ProductBatch) -> None:
        """Count the products of a ProductBatch whose primers are partners."""
        pair = self.pairs.pair
        pairs = pair[batch.forward.pattern]
        is_own = pairs == pair[batch.reverse.pattern]
        self.products += np.bincount(pairs[is_own], minlength=len(self.products))

    @property
    def facts(self) -> list[dict[str, Any]]:
        """Of each pair its name and its products."""
        rows = zip(self.pairs.names, self.products.tolist(), strict=True)
        return [{"pair": name, "products": count} for name, count in rows]


def report_of(counts: Counts | None = None, **facts: Any) -> dict[str, Any]:
    """Return the report of a search: versions, the facts, and hits by pattern and distance.

    counts: of the hits of patterns, where there are any.
    """
    import platform
    from importlib.metadata import version

    versions = {"python": platform.python_version()}
    versions |= {package: version(package) for package in PACKAGES}
    report: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "kmatch": __version__,
        "versions": versions,
        **facts,
    }
    if counts is not None:
        report["patterns"] = _facts_of_patterns(counts)
    return report


def write_report(path: str, command: str, counts: Counts | None = None, **facts: Any) -> None:
    """Write one object: the report of a search, see `report_of`, and a part for MultiQC.

    docs/report.schema.json describes it. command: that found them.
    """
    import json

    from kmatch.results.multiqc import facts_for_multiqc

    report = report_of(counts, **facts)
    totals = None if counts is None else counts.hits.sum(axis=0).tolist()
    report |= facts_for_multiqc(command, path, totals, facts)
    with open_output(path) as handle:
        handle.write(json.dumps(report, indent=1, ensure_ascii=False).encode("utf-8", "replace"))
        handle.write(b"\n")


def _facts_of_patterns(counts: Counts) -> list[dict[str, Any]]:
    """Return the hits of each pattern by distance."""
    patterns = []
    for name, row in zip(counts.names, counts.hits.tolist(), strict=True):
        patterns.append({"pattern": name, "hits": sum(row), "hits_by_distance": row})
    return patterns


def limited(
    batches: Iterable[HitBatch], patterns: PatternSet, most: int | None, each: str = "file"
) -> Iterator[HitBatch]:
    """Yield HitBatches of the `most` closest hits of each pattern in a genome, of all hits for
    None.

    each: `record` for `most` hits a record; each record is whole in a batch. Of equally close hits
    the first are kept. Warns of patterns that have more. Raises InputError for a limit that is no
    whole number from 1 on.
    """
    if most is None:
        yield from batches
        return
    most = checked_count("limit", most, 1)
    hits = np.zeros(len(patterns), np.int64)
    kept = np.zeros(len(patterns), np.int64)
    in_records = each == "record"
    for together in _units(batches, in_records):
        counts = np.zeros(len(patterns), np.int64)
        closest = _closest(together, most, counts, in_records)
        yield closest
        hits += counts
        kept += np.bincount(closest.pattern, minlength=len(patterns))
    _warn_of_more(patterns, hits, kept, most, "record" if in_records else "genome")


def _units(batches: Iterable[HitBatch], in_records: bool) -> Iterator[Iterable[HitBatch]]:
    """Yield the HitBatches whose hits are decided about together: of a genome, or of records."""
    if in_records:
        for batch in batches:
            yield [batch]
        return
    for _, of_genome in groupby(batches, lambda batch: batch.origin.number):
        yield of_genome


def _warn_of_more(patterns: PatternSet, hits: Longs, kept: Longs, most: int, unit: str) -> None:
    """Warn of patterns with more hits than are kept, `most` in each unit.

    hits, kept: int64[P], how many each has.
    """
    more = np.flatnonzero(hits > kept)
    if not len(more):
        return
    number = int(more[np.argmax(hits[more])])
    several = f", at most {most:,} in a {unit}" if kept[number] > most else ""
    sentence = (
        f"pattern '{patterns.names[number]}' has {hits[number]:,} hits, of which the limit keeps "
        f"{kept[number]:,}{several}"
    )
    if len(more) > 1:
        sentence = (
            f"{len(more):,} patterns have more hits than the limit keeps; the most: {sentence}"
        )
    warn(sentence)


def _closest(batches: Iterable[HitBatch], most: int, counts: Longs, in_records: bool) -> HitBatch:
    """Return at most `most` hits of each pattern: the closest, and the first of these.

    counts: int64[P], receives how many there were; in_records: see `_first`. Memory goes by the
    hits that are kept: hits that wait are at most as many again, or FEW.
    """
    parts = [no_hits()]
    kept = 0
    waiting = 0
    for batch in batches:
        counts += np.bincount(batch.pattern, minlength=len(counts))
        parts.append(_first(batch, most, in_records))
        waiting += len(parts[-1])
        if waiting > max(FEW, kept):
            parts = [_first(joined(parts), most, in_records)]
            kept = len(parts[0])
            waiting = 0
    return _first(joined(parts), most, in_records)


def _first(batch: HitBatch, most: int, in_records: bool = False) -> HitBatch:
    """Return the rows that are among the closest of their pattern, the first of these.

    in_records: whether each record has its own.

    pattern     1 0 1 1 0          most = 1
    distance    2 1 0 0 3
    order       1 4 2 3 0          by pattern, then distance, then row
    rank        0 1 0 1 2          in its pattern
    rows        1   2
    """
    keys: list[NDArray[Any]] = [batch.pattern]
    if in_records:
        keys = [batch.record, batch.pattern]
    order = np.lexsort([_narrow(key) for key in (batch.distance, *reversed(keys))])
    run_bounds = np.append(run_starts(*(key[order] for key in keys)), len(order))
    rank = offsets_in_rows(run_bounds)
    rows = np.sort(order[rank < most])
    return batch.picked(rows)


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in as few bits as they need: numbers of 16 bits are sorted by radix, fast."""
    most = int(numbers.max(initial=0))
    return numbers.astype(np.min_scalar_type(most))
