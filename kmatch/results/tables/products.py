"""Writing products as BED or TSV."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from kmatch.results.batches import PrimerSites, ProductBatch, sizes_of
from kmatch.results.columns import cigars, words
from kmatch.results.output import Sender
from kmatch.sequences.primer_pairs import PrimerPairs

ROWS = 1 << 14  # formatted at a time
HEADER = (
    "sequence\tstart\tend\tname\tlength\tstrand"
    "\tforward\tforward_start\tforward_end\tdistance_forward\tcigar_forward"
    "\treverse\treverse_start\treverse_end\tdistance_reverse\tcigar_reverse"
)
STRANDS = np.array(["+", "-"], object)


class ProductWriter(Sender):
    """Writes ProductBatches to a text or binary handle; TSV begins with its header line.

    sequence: whether TSV ends with the text of the products; named: whether lines name the genome,
    first in TSV, last in BED.
    """

    def __init__(
        self,
        handle: Any,
        form: str,
        pairs: PrimerPairs,
        sequence: bool = False,
        named: bool = False,
    ) -> None:
        super().__init__(handle)
        self._pairs, self._sequence = pairs, sequence
        self._columns = self._bed if form == "bed" else self._tsv
        if form == "tsv":
            self._send(
                (named * "genome\t" + HEADER + ("\tproduct" if sequence else "") + "\n").encode()
            )

    def write(self, batch: ProductBatch) -> None:
        """Write a ProductBatch."""
        for first in range(0, len(batch), ROWS):
            part = batch.picked(slice(first, first + ROWS))
            lines: Iterable[Any] = zip(*self._columns(part), strict=True)
            if self._columns == self._bed and batch.origin.circles is not None:
                lines = _cut_at_origin(lines, part)
            if (genome := batch.origin.name) is not None:
                last = self._columns == self._bed
                lines = ((*line, genome) if last else (genome, *line) for line in lines)
            text = "".join("\t".join(map(str, line)) + "\n" for line in lines)
            self._send(text.encode("utf-8", "surrogateescape"))

    def _bed(self, batch: ProductBatch) -> Iterator[Any]:
        forward, reverse = batch.forward, batch.reverse
        lengths = self._pairs.primers.lengths
        letters = lengths[forward.primer] + lengths[reverse.primer]
        differences = forward.distance + reverse.distance
        yield from self._interval(batch)
        yield np.rint(1000 * (1 - differences / letters)).astype(np.int64).tolist()
        yield STRANDS[batch.minus]
        yield forward.distance.tolist()
        yield reverse.distance.tolist()

    def _tsv(self, batch: ProductBatch) -> Iterator[Any]:
        yield from self._interval(batch)
        yield (batch.end - batch.start).tolist()
        yield STRANDS[batch.minus]
        yield from self._site(batch.forward)
        yield from self._site(batch.reverse)
        if self._sequence and batch.text:
            yield words(batch.text)

    def _interval(self, batch: ProductBatch) -> Iterator[Any]:
        yield [batch.names[number] for number in batch.record.tolist()]
        yield batch.start.tolist()
        yield batch.end.tolist()
        yield self._pairs.product_names(batch.forward.primer, batch.reverse.primer)

    def _site(self, site: PrimerSites) -> Iterator[Any]:
        names = self._pairs.primers.names
        yield [names[number] for number in site.primer.tolist()]
        yield site.start.tolist()
        yield site.end.tolist()
        yield site.distance.tolist()
        yield cigars(site.columns) if site.columns else []


def _cut_at_origin(lines: Iterable[Any], batch: ProductBatch) -> Iterator[tuple[Any, ...]]:
    """Lines of BED, two for each product that runs over the origin of its record."""
    sizes = sizes_of(batch.record, batch.origin.circles or {}).tolist()
    for (record, start, end, *rest), size in zip(lines, sizes, strict=True):
        yield record, start, min(end, size), *rest
        if end > size:
            yield record, 0, end - size, *rest
