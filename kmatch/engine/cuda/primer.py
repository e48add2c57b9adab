"""k-difference primers on a GPU: lower bounds of the shortest lengths, raised by a background.

Bounds only grow, and high ones spare work: a small piece of the background comes first and raises
them for the rest. Each piece is taken down a number of rows. Columns with a lane alive below these
rows are taken again, down twice as many rows with a longer warm-up, together with the columns to
their right, in the next piece too, that their alignments can reach. The kernel is in
`kmatch.engine.cuda.primer_tile`.

Units of work say which columns of a background are taken past which tile of starts. They are
int64[n, 3]: a tile, the first of its columns and the one past the last, in multiples of COLUMNS.
Those further left come first, so that others see the bounds that they raise.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs
from kmatch.engine.cpu.primer import target_planes
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.device import Gpu
from kmatch.engine.cuda.driver import DeviceArray
from kmatch.engine.cuda.primer_tile import (
    CELLS,
    STRETCHES,
    WAITING,
    WIDTH,
    Shape,
    border_words,
    make_extend,
    stretch_of,
)
from kmatch.engine.cuda.recurrence import COLUMNS, counter_bits
from kmatch.engine.types import FRESH, UNKNOWN, Starts, part_of

HEIGHT = 16  # rows of a strip
BITS = (6, 8, 10, 12, 14)  # of counters, up to those of 10,000 letters
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
NEVER = -(1 << 40)  # the end of columns where there are none

Deeper = Callable[[Starts, Bytes, int], object]


def extend_primers(
    gpu: Gpu,
    deeper: Deeper,
    starts: Starts,
    columns: Bytes,
    k: int,
    on_progress: Callable[[float], object] | None = None,
) -> int:
    """See `Engine.extend_primers`; deeper(starts, columns, k): the same on the CPU, for starts that
    are alive too far down, whose cells are not counted."""
    limits, bounds = starts.limits, starts.bounds
    if not (bounds <= limits).any():
        return 0
    search = Extension(gpu, starts, group_columns(columns), k)
    for begin, end in search.pieces(bounds):
        rows, alive = search.extend(begin, end, bounds)
        settle(limits, bounds)
        for tile in np.unique(alive[:, 0]).tolist():
            search.leave(deeper, tile, rows, alive[alive[:, 0] == tile, 1:], starts)
            settle(limits, bounds)
        if on_progress:
            on_progress(end / len(search.letters))
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


def settle(limits: Longs, bounds: Longs) -> None:
    """Raise bounds, in place: primers of later starts do not end before those of earlier ones.

    Records need not be separated: no bound ends after the first letter of the next record.
    """
    starts = np.arange(len(bounds))
    ends = np.maximum.accumulate(starts + bounds)
    np.minimum(ends - starts, limits + 1, out=bounds)


class Extension:
    """A target and a background on the GPU; cells: that were computed so far; ends: the limits of
    whole tiles."""

    def __init__(self, gpu: Gpu, starts: Starts, letters: Bytes, k: int) -> None:
        target, self._limits = starts.masks, starts.limits
        self.letters, self.cells = letters, 0
        self._gpu, self._k = gpu, k
        self._lanes = 64 * WIDTH
        self._tiles = -(-len(target) // self._lanes)
        self._first = ROWS * k + MORE
        self._deepest = max(DEEPEST, self._first)
        rest = self._tiles * self._lanes - len(target)
        text = target_planes(target, rest + self._deepest + HEIGHT)
        self._plane_words = text.shape[1]
        self._text = self._copy(text.reshape(-1))
        self._columns = self._copy(letters.view(np.uint32))
        self.ends = self._copy(self._whole_tiles(self._limits, NO_LIMIT))
        self._deltas = driver.empty(1, np.uint64, gpu.stream)
        self._memory = int(driver.memory()[0] * MEMORY_SHARE) // 8  # words
        self._resident = BLOCKS * driver.multiprocessors()
        self._reached: list[Longs] = []  # for every depth, see `further_units`

    def pieces(self, bounds: Longs) -> Iterator[tuple[int, int]]:
        """Yield the columns (begin, end) of the next piece, as long as a start is open."""
        begin, seed = 0, max(len(self.letters) // SEED, self._warm(self._first))
        while begin < len(self.letters) and (bounds <= self._limits).any():
            rows = int(bounds[bounds <= self._limits].sum())
            most = max(LAUNCH_CELLS * driver.multiprocessors() // rows, 1)
            size = _up(min(max(begin * GROWTH, seed), most), COLUMNS)
            end = min(begin + size, len(self.letters))
            yield begin, end
            begin = end

    def extend(self, begin: int, end: int, bounds: Longs) -> tuple[int, Longs]:
        """Raise the bounds by a piece of the columns; returns the rows that it was taken down, and
        the units alive below them."""
        limits = self._whole_tiles(self._limits, NO_LIMIT)
        open_bounds = self._whole_tiles(bounds, NO_BOUND)
        raised = self._copy(open_bounds)
        open_bounds[open_bounds > limits] = 0
        last = int(limits[open_bounds > 0].max())
        by_tile = open_bounds.reshape(self._tiles, self._lanes).max(axis=1)
        tiles = np.flatnonzero(by_tile)
        rows = most_rows = _up(min(self._first, last), HEIGHT)
        warm = self._warm(rows)
        span = self._span((end - begin) * len(tiles), warm)
        fewest = FEWEST * driver.multiprocessors()
        whole = np.stack([tiles, 0 * tiles + begin, 0 * tiles + end], axis=1)
        units = cut_units(whole, span, fewest)
        passed = depth = 0
        while True:
            alive = self.launch(most_rows, rows, passed, units, raised)
            reached = self._reach(depth, alive)
            if 2 * rows > self._deepest or rows >= last:
                break
            warm = self._warm(rows)
            units = further_units(alive, tiles, reached, warm, begin, end)
            units = cut_units(units, span + warm, fewest)
            passed, depth = rows, depth + 1
            most_rows = _up(min(last, self._deepest), HEIGHT)
            rows = _up(min(2 * rows, last), HEIGHT)
        found = raised.copy_to_host(stream=self._gpu.stream)
        self._gpu.stream.synchronize()
        bounds[:] = found[: len(bounds)]
        return rows, alive

    def _reach(self, depth: int, alive: Longs) -> Longs:
        """Note where the units that are alive at a depth end; returns what was noted before."""
        if depth == len(self._reached):
            self._reached.append(np.full(self._tiles, NEVER))
        before = self._reached[depth].copy()
        np.maximum.at(self._reached[depth], alive[:, 0], alive[:, 2])
        return before

    def leave(self, deeper: Deeper, tile: int, rows: int, alive: Longs, starts: Starts) -> None:
        """Let the CPU raise the bounds below the deepest row of one tile.

        alive: int64[n, 2], the columns past which it is alive there. Alignments go on to the right
        as far as the starts' limits allow.
        """
        first, (_, _, limits, bounds) = tile * self._lanes, starts
        own = np.arange(first, min(first + self._lanes, len(bounds)))
        chosen = own[(bounds[own] > rows) & (bounds[own] <= limits[own])]
        if not len(chosen):
            return
        part = part_of(starts, first, int(chosen[-1]) + 1)
        others = np.ones(len(part.bounds), bool)
        others[chosen - first] = False
        part.limits[others], part.bounds[others] = NO_LIMIT, NO_BOUND
        further = int(limits[chosen].max()) - rows + self._k
        begins = np.maximum(alive[:, 0] - self._warm(rows), 0)
        columns = [
            np.append(np.uint8(FRESH), self.letters[begin : end + further])
            for begin, end in zip(begins.tolist(), alive[:, 1].tolist(), strict=True)
        ]
        deeper(part, np.concatenate(columns), self._k)
        bounds[chosen] = np.maximum(bounds[chosen], part.bounds[chosen - first])

    def launch(
        self, most_rows: int, rows: int, passed: int, units: Longs, bounds: DeviceArray
    ) -> Longs:
        """Take units down some rows; returns those that are alive below them.

        most_rows: the most that this kernel ever takes; passed: see Shape.
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
        waiting = driver.empty(len(units), np.int32, stream)
        tally = self._copy(np.zeros(3, np.int64))
        reach = self._copy(np.full((len(units), 2), [-NEVER, NEVER]))
        kernel = make_extend(HEIGHT, counter_bits(most_rows, self._k - 1, self._k - 1), WIDTH)
        kernel[blocks, STRETCHES * WIDTH, stream](
            self._text,
            self._columns,
            self.ends,
            bounds,
            self._copy(units),
            Shape(self._plane_words, stretch, warm, self._k, strips, passed),
            self._deltas,
            waiting,
            reach,
            tally,
        )
        counts = tally.copy_to_host(stream=stream)
        stream.synchronize()
        self.cells += int(counts[CELLS]) * HEIGHT * self._lanes
        if not counts[WAITING]:
            return units[:0]
        numbers = waiting[: counts[WAITING]].copy_to_host(stream=stream)
        reached = reach.copy_to_host(stream=stream)
        stream.synchronize()
        return alive_units(units, np.sort(numbers), reached)

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
        return driver.on_device(array, self._gpu.stream)


def _up(number: int, step: int) -> int:
    """The number, rounded up to a multiple of step."""
    return -(-number // step) * step


def alive_units(units: Longs, numbers: Longs, reached: Longs) -> Longs:
    """The units of some numbers, of each the columns in which it is alive.

    reached: int64[n, 2] of all units, the first of these columns and the end of the last. A unit
    that is alive in its warm-up alone is left out: these columns are another's.
    """
    alive = units[numbers]
    alive[:, 1] = np.maximum(alive[:, 1], reached[numbers, 0])
    alive[:, 2] = np.minimum(alive[:, 2], reached[numbers, 1])
    return alive[alive[:, 1] < alive[:, 2]]


def further_units(
    alive: Longs, tiles: Longs, reached: Longs, warm: int, begin: int, end: int
) -> Longs:
    """The units of columns begin … end−1 to take down further rows, at most twice as many, uncut.

    alive: the units alive below the rows taken before, with a warm-up of `warm` columns; tiles:
    those that are open; reached: int64 of every tile, the end of the last columns before `begin`
    that were alive below these rows, or NEVER. Further down an alignment moves right by no more
    columns than the warm-up has, so as many are added.
    """
    before = reached[tiles]
    before = np.stack([tiles, np.full(len(tiles), begin), before], axis=1)[before + warm > begin]
    units = np.concatenate([alive, before])
    units[:, 2] = np.minimum(units[:, 2] + warm, end)
    return _merged(units, end)


def _merged(units: Longs, end: int) -> Longs:
    """The same units with those that touch made one; none ends after `end`."""
    tile, first, last = (units + units[:, :1] * [0, end + 1, end + 1]).T
    order = np.argsort(first, kind="stable")
    last = np.maximum.accumulate(last[order])
    apart = np.append(True, first[order][1:] > last[:-1])[: len(units)]
    begins = order[apart]
    ends = np.append(np.flatnonzero(apart)[1:], len(units))[: len(begins)] - 1
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
