"""k-difference primers on a GPU: lower bounds of the shortest lengths, raised by a background.

Bounds only grow, and high ones spare work: a small piece of the background comes first and raises
them for the rest. Each piece is taken down a number of rows. Columns with a lane alive below these
rows are taken again in the end, down twice as many rows with a longer warm-up, together with the
columns to their right that their alignments can reach. The kernel is in
`kmatch.engine.cuda.primer_kernels`.

Units of work say which columns of a background are taken past which tile of starts. They are
int64[n, 3]: a tile, the first of its columns and the one past the last, in multiples of COLUMNS.
Those further left come first, so that others see the bounds that they raise.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs, distinct
from kmatch.engine.cpu import primer as on_cpu
from kmatch.engine.cpu.primer import settle, target_planes
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.device import Gpu
from kmatch.engine.cuda.driver import DeviceArray
from kmatch.engine.cuda.primer_kernels import (
    CELLS,
    STRETCHES,
    WIDTH,
    PrimerShape,
    border_words,
    make_extend,
    stretch_of,
)
from kmatch.engine.cuda.recurrence import COLUMNS, counter_bits
from kmatch.engine.types import FRESH, UNKNOWN, Starts

HEIGHT = 16  # rows of a strip
BITS = (8, 10, 12, 14)  # of counters, up to those of 10,000 letters
ROWS, MORE = 3, 64  # a piece is first taken down ROWS·k + MORE rows
DEEPEST = 1 << 13  # rows below which the CPU goes on
SEED = 64  # the first piece is this fraction of the background, or as many columns as a warm-up
GROWTH = 7  # each further piece is at most this many times all those before it
LAUNCH_CELLS = 1 << 40  # the most that a multiprocessor computes in a launch
MEMORY_SHARE = 0.5  # of the free device memory that deltas may take
BLOCKS = 6  # on a multiprocessor
WAVES = 8  # units for each block, where there are enough
LEAST, MOST = 0.125, 12  # columns of a stretch for each of its warm-up
FEWEST = 3  # units for each multiprocessor that are taken down further
NO_LIMIT, NO_BOUND = 0, 1  # of a start that is of no interest


def extend_primers(
    gpu: Gpu,
    threads: int,
    starts: Starts,
    columns: Bytes,
    k: int,
    on_progress: Callable[[float], object] | None = None,
) -> int:
    """See `Engine.extend_primers`; threads: of the CPU, which goes on with starts that are alive
    too far down; its cells are not counted."""
    limits, bounds = starts.limits, starts.bounds
    if not (bounds <= limits).any():
        return 0
    search = Extension(gpu, starts, group_columns(columns), k)
    alive = []
    for begin, end in search.pieces():
        alive.append(search.extend(begin, end))
        if on_progress:
            on_progress(end / len(search.letters))
    rows, units = search.extend_further(np.concatenate(alive))
    if len(units):
        deep = (bounds > rows) & (bounds <= limits)
        alone = starts._replace(limits=np.where(deep, limits, NO_LIMIT))
        on_cpu.extend_primers(alone, columns, k, threads=threads)
        settle(limits, bounds)
    return search.cells


def group_columns(columns: Bytes) -> Bytes:
    """Columns in groups of COLUMNS: a group of FRESH before each record, UNKNOWN to fill its end.

    Letters that match nothing change no result at the end of a record.
    """
    cuts = np.flatnonzero(columns == FRESH)
    parts = [columns[a + 1 : b] for a, b in pairwise([-1, *cuts.tolist(), len(columns)])]
    ends = np.cumsum([COLUMNS + _up(len(part), COLUMNS) for part in parts])
    grouped = np.full(ends[-1], UNKNOWN, np.uint8)
    for end, part in zip(ends.tolist(), parts, strict=True):
        at = end - _up(len(part), COLUMNS)
        grouped[at - COLUMNS : at] = FRESH
        grouped[at : at + len(part)] = part
    return grouped


class Extension:
    """A target and a background on the GPU; cells: that were computed so far."""

    def __init__(self, gpu: Gpu, starts: Starts, letters: Bytes, k: int) -> None:
        target, self._limits, self._bounds = starts.masks, starts.limits, starts.bounds
        self.letters, self.cells = letters, 0
        self._gpu, self._k = gpu, k
        self._lanes = 64 * WIDTH
        self._tiles = -(-len(target) // self._lanes)
        first = ROWS * k + MORE
        self._rows = _up(min(first, self._last()), HEIGHT)  # that all pieces are taken down
        self._deepest = max(DEEPEST, first)
        rest = self._tiles * self._lanes - len(target)
        text = target_planes(target, rest + self._deepest + HEIGHT)
        self._plane_words = text.shape[1]
        self._text = self._copy(text.reshape(-1))
        self._columns = self._copy(letters.view(np.uint32))
        self._ends = self._copy(self._whole_tiles(self._limits, NO_LIMIT))
        self._deltas = gpu.array(1)
        self._memory = int(driver.memory()[0] * MEMORY_SHARE) // 8  # words
        self._resident = BLOCKS * driver.multiprocessors()
        self._fewest = FEWEST * driver.multiprocessors()

    def _last(self) -> int:
        """The largest limit of an open start, 0 where none is open."""
        return int(self._limits[self._bounds <= self._limits].max(initial=0))

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Yield the columns (begin, end) of the next piece, as long as a start is open."""
        begin, seed = 0, max(len(self.letters) // SEED, self._warm(self._rows))
        while begin < len(self.letters) and self._last():
            rows = int(self._bounds[self._bounds <= self._limits].sum())
            most = max(LAUNCH_CELLS * driver.multiprocessors() // rows, 1)
            size = _up(min(max(begin * GROWTH, seed), most), COLUMNS)
            end = min(begin + size, len(self.letters))
            yield begin, end
            begin = end

    def extend(self, begin: int, end: int) -> Longs:
        """Raise the bounds by a piece of the columns; returns the units alive below its rows."""
        tiles = distinct(np.flatnonzero(self._bounds <= self._limits) // self._lanes)
        span = self._span((end - begin) * len(tiles), self._warm(self._rows))
        whole = np.stack([tiles, 0 * tiles + begin, 0 * tiles + end], axis=1)
        units = cut_units(whole, span, self._fewest)
        return self.launch(self._rows, self._rows, 0, units)

    def extend_further(self, units: Longs) -> tuple[int, Longs]:
        """Take the units alive below the rows of all pieces further down; returns the rows that
        they were taken down, and the units alive below these."""
        rows, last = self._rows, self._last()
        while len(units) and 2 * rows <= self._deepest and rows < last:
            # An alignment moves right by no more columns than these rows have for their warm-up.
            units = merged(units, self._warm(rows), len(self.letters))
            passed, rows = rows, _up(min(2 * rows, last), HEIGHT)
            units = cut_units(units, MOST * self._warm(rows), self._fewest)
            units = self.launch(_up(min(last, self._deepest), HEIGHT), rows, passed, units)
        return rows, units

    def launch(self, most_rows: int, rows: int, passed: int, units: Longs) -> Longs:
        """Raise the bounds by units taken down some rows; returns those that are alive below them.

        most_rows: the most that this kernel ever takes; passed: see PrimerShape.
        """
        if not len(units):
            return units
        warm, strips = self._warm(rows), rows // HEIGHT
        stretch = stretch_of(int((units[:, 2] - units[:, 1]).max()))
        stream = self._gpu.stream
        blocks = min(len(units), self._resident)
        if strips > 1:
            words = border_words(stretch, warm, WIDTH)
            blocks = max(min(blocks, self._memory // words), 1)
            if len(self._deltas) < blocks * words:
                self._deltas = None
                self._deltas = self._gpu.array(blocks * words)
        bounds = self._copy(self._whole_tiles(self._bounds, NO_BOUND))
        tally = self._copy(np.zeros(2, np.int64))
        reach = self._copy(np.full((len(units), 2), [len(self.letters), 0]))
        kernel = make_extend(HEIGHT, counter_bits(BITS, most_rows, self._k - 1, self._k - 1), WIDTH)
        kernel[blocks, STRETCHES * WIDTH, stream](
            self._text,
            self._columns,
            self._ends,
            bounds,
            self._copy(units),
            PrimerShape(self._plane_words, stretch, warm, self._k, strips, passed),
            self._deltas,
            reach,
            tally,
        )
        counts, raised, reached = (
            array.copy_to_host(stream=stream) for array in (tally, bounds, reach)
        )
        stream.synchronize()
        self._bounds[:] = raised[: len(self._bounds)]
        settle(self._limits, self._bounds)
        self.cells += int(counts[CELLS]) * HEIGHT * self._lanes
        return alive_units(units, reached)

    def _span(self, columns: int, warm: int) -> int:
        """Columns of a unit, of those of all tiles: many for a warm-up, but few enough to keep the
        GPU busy to the end, as one unit may take many times as long as another."""
        share = -(-columns // (STRETCHES * self._resident))
        wanted = max(share // WAVES, min(2 * warm, share), int(warm * LEAST))
        fitting = self._memory // (self._resident * border_words(1, 0, WIDTH)) - warm
        return STRETCHES * _up(max(min(wanted, MOST * warm, fitting), 1), COLUMNS)

    def _warm(self, rows: int) -> int:
        return _up(rows + self._k, COLUMNS)

    def _whole_tiles(self, numbers: Longs, rest: int) -> Ints:
        whole = np.full(self._tiles * self._lanes, rest, np.int32)
        whole[: len(numbers)] = numbers
        return whole

    def _copy(self, array: np.ndarray[Any, Any]) -> DeviceArray:
        return driver.cuda.to_device(array, self._gpu.stream)


def _up(number: int, step: int) -> int:
    """The number, rounded up to a multiple of step."""
    return -(-number // step) * step


def alive_units(units: Longs, reached: Longs) -> Longs:
    """The units that are alive, of each the columns in which it is.

    reached: int64[n, 2], the first of these columns and the end of the last. A unit that is alive
    in its warm-up alone is left out: these columns are another's.
    """
    alive = units.copy()
    alive[:, 1] = np.maximum(alive[:, 1], reached[:, 0])
    alive[:, 2] = np.minimum(alive[:, 2], reached[:, 1])
    return alive[alive[:, 1] < alive[:, 2]]


def merged(units: Longs, more: int, end: int) -> Longs:
    """Units of so many more columns to the right, which none ends beyond, with those that touch
    made one."""
    tile, first, last = units.T
    first, last = first + tile * (end + 1), np.minimum(last + more, end) + tile * (end + 1)
    order = np.argsort(first, kind="stable")
    last = np.maximum.accumulate(last[order])
    apart = np.append(True, first[order][1:] > last[:-1])
    begins = order[apart]
    ends = np.append(np.flatnonzero(apart)[1:], len(units)) - 1
    tile = tile[begins]
    return np.stack([tile, units[begins, 1], last[ends] - tile * (end + 1)], axis=1)


def cut_units(units: Longs, most: int, fewest: int) -> Longs:
    """The same units cut into units of at most `most` columns, a multiple of COLUMNS, in order.

    Those of few columns in all are cut further, into about `fewest` units: one takes as long as its
    columns with their warm-up, on its own as beside others.
    """
    size = units[:, 2] - units[:, 1]
    share = int(size.sum()) // (fewest * COLUMNS)
    most = min(most, max(share, 1) * COLUMNS)
    parts = -(-size // most)
    size = np.repeat(-(-size // (parts * COLUMNS)) * COLUMNS, parts)
    number = np.arange(len(size)) - np.repeat(np.cumsum(parts) - parts, parts)
    tile, first, last = np.repeat(units, parts, axis=0).T
    first = first + number * size
    order = np.argsort(first, kind="stable")
    return np.stack([tile, first, np.minimum(first + size, last)], axis=1)[order]
