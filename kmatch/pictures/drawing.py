"""The picture of a table that kmatch wrote."""

from typing import Any

from kmatch.pictures.columns import HitColumns, measured
from kmatch.pictures.hits import draw_hits
from kmatch.pictures.primers import draw_primers
from kmatch.pictures.reading import read_table
from kmatch.sequences.files import StrPath


def draw_table(path: StrPath, records: int | None = None, genome: StrPath | None = None) -> Any:
    """A Figure of the hits, products or primers of a table; `-` is standard input.

    records: how many are drawn by themselves, None for the usual number; genome: where the lengths
    of the records are. Raises InputError for a table that is none of kmatch's.
    """
    columns = read_table(path)
    if genome is not None:
        from kmatch.genome import Genome

        sizes = Genome(genome, keep=False).sizes()
        columns = columns._replace(records=measured(columns.records, sizes))
    if isinstance(columns, HitColumns):
        return draw_hits(columns, records)
    return draw_primers(columns, records)
