"""k-difference primers on a GPU: lower bounds of the shortest lengths, raised by a background.

Bounds only grow, and high ones spare work: a small piece of the background comes first and raises
them for the rest. Each piece is taken down a number of rows. Columns with a lane alive below these
rows are taken again in the end, down twice as many rows with a longer warm-up, together with the
columns to their right that their alignments can reach. The kernel is in
`kmatch.engine.cuda.primer_kernels`.

Units of work say which columns of a background are taken past which tile of starts. They are
int64[n, 3]: a tile, the first of its columns and the one past the last, in multiples of COLUMNS.
Units further left come first, so that others see the bounds that they raise.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs, Words, distinct, order_of, range_join
from kmatch.engine.cpu import primer as on_cpu
from kmatch.engine.cpu.primer import settle
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
from kmatch.engine.geometry import LANES
from kmatch.engine.types import FRESH, UNKNOWN, Starts

HEIGHT = 16  # rows of a strip
BITS = (8, 10, 12, 14)  # of counters, up to those of 10,000 letters
ROWS = 3  # a piece is first taken down ROWS·k + MORE rows
MORE = 64
DEEPEST = 1 << 13  # rows below which the CPU goes on
SEED = 64  # the first piece is this fraction of the background, or as many columns as a warm-up
GROWTH = 7  # each further piece is at most this many times all those before it
LAUNCH_CELLS = 1 << 40  # the most that a multiprocessor computes in a launch
MEMORY_SHARE = 0.5  # of the free device memory that deltas may take
BLOCKS = 6  # on a multiprocessor
WAVES = 8  # units for each block, where there are enough
LEAST = 0.125  # columns of a stretch for each of its warm-up, and the most
MOST = 12
FEWEST = 3  # units for each multiprocessor that are taken down further
NO_LIMIT = 0  # of a start that is of no interest, whose bound is more
NO_BOUND = 1


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
    limits = starts.limits
    bounds = starts.bounds
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
    """Return columns in groups of COLUMNS.

    A group of FRESH (f) is before each record, and UNKNOWN (u) fills its end:

        a c g t a   f   c c     →     f f f f   a c g t   a u u u   f f f f   c c u u

    Letters that match nothing change no result at the end of a record.
    """
    cuts = np.flatnonzero(columns == FRESH)
    parts = [columns[a + 1 : b] for a, b in pairwise([-1, *cuts.tolist(), len(columns)])]
    ends = np.cumsum([COLUMNS + _up(len(part), COLUMNS) for part in parts])
    grouped = np.full(ends[-1], UNKNOWN, np.uint8)
    for end, part in zip(ends.tolist(), parts, strict=True):
        begin = end - _up(len(part), COLUMNS)
        grouped[begin - COLUMNS : begin] = FRESH
        grouped[begin : begin + len(part)] = part
    return grouped


def target_planes(target: Bytes, beyond: int) -> Words:
    """Return the target as planes, a bit a letter, uint64[4, w].

    At least `beyond` zeros follow it.
    """
    words = -(-(target.size + LANES + beyond) // 64) + 2
    planes = np.zeros((4, 8 * words), np.uint8)
    for base, plane in enumerate(planes):
        bits = np.packbits(target & (1 << base) != 0, bitorder="little")
        plane[: bits.size] = bits
    return planes.view("<u8").astype(np.uint64, copy=False)


class Extension:
    """A target and a background on the GPU; cells: that were computed so far."""

    def __init__(self, gpu: Gpu, starts: Starts, letters: Bytes, k: int) -> None:
        self.letters = letters
        self.cells = 0
        self._gpu = gpu
        self._k = k
        self._limits = starts.limits
        self._bounds = starts.bounds
        self._lanes = 64 * WIDTH
        target = starts.masks
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
        """Return the largest limit of an open start, 0 where none is open."""
        return int(self._limits[self._bounds <= self._limits].max(initial=0))

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Yield the columns (begin, end) of the next piece, as long as a start is open."""
        begin = 0
        seed = max(len(self.letters) // SEED, self._warm(self._rows))
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
        rows = self._rows
        last = self._last()
        while len(units) and 2 * rows <= self._deepest and rows < last:
            # An alignment moves right by no more columns than these rows have for their warm-up.
            units = merged(units, self._warm(rows), len(self.letters))
            passed = rows
            rows = _up(min(2 * rows, last), HEIGHT)
            units = cut_units(units, MOST * self._warm(rows), self._fewest)
            units = self.launch(_up(min(last, self._deepest), HEIGHT), rows, passed, units)
        return rows, units

    def launch(self, most_rows: int, rows: int, passed: int, units: Longs) -> Longs:
        """Raise the bounds by units taken down some rows; returns the units alive below them.

        most_rows: the most that this kernel ever takes; passed: see PrimerShape.
        """
        if not len(units):
            return units
        columns = int((units[:, 2] - units[:, 1]).max())
        strips = rows // HEIGHT
        shape = PrimerShape(
            self._plane_words, stretch_of(columns), self._warm(rows), self._k, strips, passed
        )
        blocks = min(len(units), self._resident)
        if strips > 1:
            blocks = self._reserve(blocks, shape)
        bounds = self._copy(self._whole_tiles(self._bounds, NO_BOUND))
        tally = self._copy(np.zeros(2, np.int64))
        reach = self._copy(np.full((len(units), 2), [len(self.letters), 0]))
        kernel = make_extend(HEIGHT, counter_bits(BITS, most_rows, self._k - 1, self._k - 1), WIDTH)
        stream = self._gpu.stream
        kernel[blocks, STRETCHES * WIDTH, stream](
            self._text,
            self._columns,
            self._ends,
            bounds,
            self._copy(units),
            shape,
            self._deltas,
            reach,
            tally,
        )
        counts = tally.copy_to_host(stream=stream)
        raised = bounds.copy_to_host(stream=stream)
        reached = reach.copy_to_host(stream=stream)
        stream.synchronize()
        self._bounds[:] = raised[: len(self._bounds)]
        settle(self._limits, self._bounds)
        self.cells += int(counts[CELLS]) * HEIGHT * self._lanes
        return alive_units(units, reached)

    def _reserve(self, blocks: int, shape: PrimerShape) -> int:
        """Reserve memory for the deltas of blocks; returns for how many there is some."""
        words = border_words(shape.stretch, shape.warm, WIDTH)
        blocks = max(min(blocks, self._memory // words), 1)
        if len(self._deltas) < blocks * words:
            self._deltas = None  # frees what there is
            self._deltas = self._gpu.array(blocks * words)
        return blocks

    def _span(self, columns: int, warm: int) -> int:
        """Return the columns of a unit, of all tiles' columns: many for a warm-up, but few enough
        to keep the GPU busy to the end, as one unit may take many times as long as another."""
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
    """Return a number, rounded up to a multiple of step."""
    return -(-number // step) * step


def alive_units(units: Longs, reached: Longs) -> Longs:
    """Return the units that are alive, of each the columns in which it is.

    reached: int64[n, 2], the first of these columns and the end of the last. A unit that is alive
    in its warm-up alone is left out: these columns are another's.
    """
    alive = units.copy()
    alive[:, 1] = np.maximum(alive[:, 1], reached[:, 0])
    alive[:, 2] = np.minimum(alive[:, 2], reached[:, 1])
    return alive[alive[:, 1] < alive[:, 2]]


def merged(units: Longs, more: int, end: int) -> Longs:
    """Return units with so many more columns to the right, and units that touch made one.

    None ends beyond column `end`. Of one tile, with 2 more columns:

        columns     0 1 2 3 4 5 6 7 8 9
        units       ─ ─   ─         ─
        merged      ─ ─ ─ ─ ─ ─     ─ ─
    """
    tile, first, last = units[order_of(units[:, 0], units[:, 1])].T
    last = np.minimum(last + more, end)
    # Coordinates on one line, on which no tile reaches the next one.
    line = tile * (end + 1)
    furthest = np.maximum.accumulate(last + line)
    begins_anew = np.append(True, (first + line)[1:] > furthest[:-1])
    begin_rows = np.flatnonzero(begins_anew)
    end_rows = np.append(begin_rows[1:], len(units)) - 1
    merged_last = (furthest - line)[end_rows]
    return np.stack([tile[begin_rows], first[begin_rows], merged_last], axis=1)


def cut_units(units: Longs, most: int, fewest: int) -> Longs:
    """Return the same units cut into units of at most `most` columns, the leftmost first.

    most: a multiple of COLUMNS. Units of few columns in all are cut further, into about `fewest`
    units: one takes as long as its columns with their warm-up, on its own as beside others.
    """
    sizes = units[:, 2] - units[:, 1]
    share = int(sizes.sum()) // (fewest * COLUMNS)
    most = min(most, max(share, 1) * COLUMNS)
    counts = -(-sizes // most)
    part_sizes = -(-sizes // (counts * COLUMNS)) * COLUMNS
    rows, numbers = range_join(np.zeros_like(counts), counts)
    tile, first, last = units[rows].T
    part_first = first + numbers * part_sizes[rows]
    part_last = np.minimum(part_first + part_sizes[rows], last)
    parts = np.stack([tile, part_first, part_last], axis=1)
    return parts[order_of(part_first)]
