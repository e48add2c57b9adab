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

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kmatch.arrays import Bytes, Ints, Longs
from kmatch.engine.cpu.primer import target_planes
from kmatch.engine.cuda import driver
from kmatch.engine.cuda.device import Gpu
from kmatch.engine.cuda.driver import DeviceArray
from kmatch.engine.cuda.primer_tile import (
    AGAIN,
    STRETCHES,
    SWEPT,
    WAITING,
    WIDTH,
    Outcome,
    Shape,
    border_words,
    make_extend,
    stretch_of,
)
from kmatch.engine.cuda.recurrence import COLUMNS, counter_bits
from kmatch.engine.types import FRESH, UNKNOWN, Starts

MEMORY_SHARE = 0.5  # of the free device memory that deltas may take
GROWTH = 7  # each further piece is at most this many times all those before it
NO_LIMIT, NO_BOUND = 0, 1  # of a start that is of no interest
NEVER = -(1 << 40)  # the end of columns where there are none


class Sizes(NamedTuple):
    """How the work is cut.

    width: words of a tile; height: rows of a strip; rows, more: a piece is first taken down
    rows·k + more rows; deepest: rows below which the CPU goes on; stretch, floor: the most and the
    fewest columns of a stretch for each of the warm-up; columns: that a stretch may have however
    short the warm-up is; blocks: on a multiprocessor; waves: units of work for each block, where
    there are enough; fewest: units for each multiprocessor that are taken down further; cells: the
    most that a multiprocessor computes in a launch; seed: the first piece is this fraction of the
    background; taper: the last units of a launch shrink to one in so many of the others' columns.
    """

    width: int = WIDTH
    height: int = 16
    rows: int = 3
    more: int = 64
    deepest: int = 1 << 13
    stretch: int = 12
    columns: int = 1 << 10
    blocks: int = 6
    waves: int = 8
    cells: int = 1 << 40
    seed: int = 64
    fewest: int = 3
    floor: float = 0.125
    taper: int = 4


SIZES = Sizes()


class Alive(NamedTuple):
    """Columns begin … end−1 past which a tile is alive at row `rows`, where values are exact."""

    tile: int
    begin: int
    end: int
    rows: int


Deeper = Callable[[Starts, Bytes, int], object]


def extend_primers(
    gpu: Gpu,
    deeper: Deeper,
    starts: Starts,
    columns: Bytes,
    k: int,
    on_progress: Callable[[float], object] | None = None,
    sizes: Sizes | None = None,
) -> int:
    """Raise the bounds of primers' lengths to what a background requires.

    starts, columns, k, on_progress: see `Engine.extend_primers`; deeper(starts, columns, k): the
    same on the CPU, for starts that are alive too far down; sizes: SIZES where there are none.
    Returns the cells that were computed, without the CPU's.
    """
    limits, bounds = starts.limits, starts.bounds
    if not (bounds <= limits).any():
        return 0
    search = Extension(gpu, starts, group_columns(columns), k, sizes or SIZES)
    for begin, end in search.pieces(bounds):
        alive = search.extend(begin, end, bounds)
        settle(limits, bounds)
        for tile in sorted({part.tile for part in alive}):
            parts = [part for part in alive if part.tile == tile]
            search.leave(deeper, parts, starts)
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
    """A target and a background on the GPU; cells: that were computed so far."""

    def __init__(self, gpu: Gpu, starts: Starts, letters: Bytes, k: int, sizes: Sizes) -> None:
        target, limits = starts.masks, starts.limits
        self.letters, self.cells = letters, 0
        self._gpu, self._k, self._sizes, self._limits = gpu, k, sizes, limits
        self._lanes = 64 * sizes.width
        self._tiles = -(-len(target) // self._lanes)
        self._first = sizes.rows * k + sizes.more
        self._deepest = max(sizes.deepest, self._first)
        rest = self._tiles * self._lanes - len(target)
        text = target_planes(target, rest + self._deepest + sizes.height)
        self._plane_words = text.shape[1]
        self._text = self._copy(text.reshape(-1))
        self._columns = self._copy(letters.view(np.uint32))
        self._ends = self._copy(self._whole_tiles(limits, NO_LIMIT))
        self._deltas = driver.empty(1, np.uint64, gpu.stream)
        self._memory = int(driver.memory()[0] * MEMORY_SHARE)
        self._resident = sizes.blocks * driver.multiprocessors()
        self._reached: list[Longs] = []  # for every depth, see `further_units`

    def pieces(self, bounds: Longs) -> Iterator[tuple[int, int]]:
        """Yield the columns (begin, end) of the next piece, as long as a start is open."""
        begin, seed = 0, max(len(self.letters) // self._sizes.seed, self._warm(self._first))
        while begin < len(self.letters) and (bounds <= self._limits).any():
            rows = int(bounds[bounds <= self._limits].sum())
            most = max(self._sizes.cells * driver.multiprocessors() // rows, 1)
            size = _up(min(max(begin * GROWTH, seed), most), COLUMNS)
            end = min(begin + size, len(self.letters))
            yield begin, end
            begin = end

    def extend(self, begin: int, end: int, bounds: Longs) -> list[Alive]:
        """Raise the bounds by a piece of the columns; returns what is alive too far down."""
        limits = self._whole_tiles(self._limits, NO_LIMIT)
        open_bounds = self._whole_tiles(bounds, NO_BOUND)
        raised = self._copy(open_bounds)
        open_bounds[open_bounds > limits] = 0
        last = int(limits[open_bounds > 0].max())
        by_tile = open_bounds.reshape(self._tiles, self._lanes).max(axis=1)
        tiles = np.flatnonzero(by_tile)
        height = self._sizes.height
        rows = _up(min(self._first, last), height)
        most_rows = rows
        span = self._span(end - begin, len(tiles), rows)
        units = self._all_units(tiles, begin, end, span, rows)
        passed = depth = 0
        while True:
            alive = self._launch(height, most_rows, rows, passed, units, raised)
            reached = self._reach(depth, alive)
            if 2 * rows > self._deepest or rows >= last:
                break
            warm = self._warm(rows)
            units = further_units(alive, tiles, reached, warm, begin, end)
            units = cut_units(units, span + warm, self._sizes.fewest * driver.multiprocessors())
            passed, depth = rows, depth + 1
            most_rows = _up(min(last, self._deepest), height)
            rows = _up(min(2 * rows, last), height)
        found = raised.copy_to_host(stream=self._gpu.stream)
        self._gpu.stream.synchronize()
        bounds[:] = found[: len(bounds)]
        return [
            Alive(tile, max(first - self._warm(rows), 0), last, rows)
            for tile, first, last in alive.tolist()
        ]

    def _reach(self, depth: int, alive: Longs) -> Longs:
        """Note where the units that are alive at a depth end; returns what was noted before."""
        if depth == len(self._reached):
            self._reached.append(np.full(self._tiles, NEVER))
        before = self._reached[depth].copy()
        np.maximum.at(self._reached[depth], alive[:, 0], alive[:, 2])
        return before

    def leave(self, deeper: Deeper, parts: list[Alive], starts: Starts) -> None:
        """Let the CPU raise the bounds below the deepest row of one tile.

        Alignments that are alive there go on to the right as far as the starts' limits allow.
        """
        first, rows = parts[0].tile * self._lanes, parts[0].rows
        bounds, lanes = starts.bounds, slice(first, first + self._lanes)
        chosen = np.flatnonzero((bounds[lanes] > rows) & (bounds[lanes] <= self._limits[lanes]))
        if not len(chosen):
            return
        chosen += first
        limits = self._limits[chosen]
        last = int((chosen + limits).max())
        further = int(limits.max()) - rows + self._k
        columns = [
            np.append(np.uint8(FRESH), self.letters[part.begin : part.end + further])
            for part in parts
        ]
        part_limits = np.full(last - first, NO_LIMIT, np.int64)
        part_bounds = np.full(last - first, NO_BOUND, np.int64)
        part_limits[chosen - first] = limits
        part_bounds[chosen - first] = bounds[chosen]
        records = np.unique(np.clip(starts.begins, first, last)) - first
        part = Starts(starts.masks[first:last], records, part_limits, part_bounds)
        deeper(part, np.concatenate(columns), self._k)
        bounds[chosen] = np.maximum(bounds[chosen], part_bounds[chosen - first])

    def _launch(
        self,
        height: int,
        most_rows: int,
        rows: int,
        passed: int,
        units: Longs,
        bounds: DeviceArray,
    ) -> Longs:
        """Take units down some rows; returns those that are alive below them."""
        if not len(units):
            return units
        warm, strips = self._warm(rows), rows // height
        stretch = stretch_of(int((units[:, 2] - units[:, 1]).max()))
        stream, width = self._gpu.stream, self._sizes.width
        blocks = min(len(units), self._resident)
        if strips > 1:
            words = border_words(stretch, warm, width)
            blocks = max(min(blocks, self._memory // (8 * words)), 1)
            if len(self._deltas) < blocks * words:
                self._deltas = None
                self._deltas = self._gpu.array(blocks * words)
        waiting = driver.empty(len(units), np.int32, stream)
        tally = self._copy(np.zeros(5, np.int64))
        reach = self._copy(np.tile(np.array([NEVER, -NEVER])[::-1], (len(units), 1)))
        kernel = make_extend(height, counter_bits(most_rows, self._k - 1, self._k - 1), width)
        kernel[blocks, STRETCHES * width, stream](
            self._text,
            self._columns,
            self._ends,
            bounds,
            self._copy(units),
            Shape(self._plane_words, stretch, warm, self._k, strips, passed),
            self._deltas,
            Outcome(waiting, reach, tally),
        )
        counts = tally.copy_to_host(stream=stream)
        stream.synchronize()
        self.cells += int(counts[[SWEPT, AGAIN]].sum()) * height * self._lanes
        if not counts[WAITING]:
            return units[:0]
        numbers = waiting[: counts[WAITING]].copy_to_host(stream=stream)
        reached = reach.copy_to_host(stream=stream)
        stream.synchronize()
        return alive_units(units, np.sort(numbers), reached)

    def _span(self, columns: int, tiles: int, rows: int) -> int:
        """Columns of a unit: many for a warm-up, but few enough to keep the GPU busy to the end, as
        one unit may take many times as long as another."""
        sizes, warm = self._sizes, self._warm(rows)
        share = -(-columns * tiles // (STRETCHES * self._resident))
        wanted = max(share // sizes.waves, min(2 * warm, share), int(warm * sizes.floor))
        fitting = self._memory // (8 * self._resident * border_words(1, 0, sizes.width)) - warm
        most = max(sizes.stretch * warm, sizes.columns)
        return STRETCHES * _up(max(min(wanted, most, fitting), 1), COLUMNS)

    def _all_units(self, tiles: Longs, begin: int, end: int, span: int, rows: int) -> Longs:
        """The units of a piece; those of two waves and more shrink in the last two."""
        least = _up(max(span // self._sizes.taper, 2 * self._warm(rows)), COLUMNS)
        if (end - begin) * len(tiles) < 2 * span * self._resident:
            least = span
        return all_units(tiles, begin, end, span, least, 2 * self._resident / len(tiles))

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


def all_units(tiles: Longs, begin: int, end: int, span: int, least: int, parts: float) -> Longs:
    """The units of some tiles and the columns begin … end−1, at most `span` of them each.

    Towards the end they shrink, lest some multiprocessors wait for the last ones of others: a unit
    has one of `parts` parts of the columns left, or `least` if that is more.
    """
    bounds = [begin]
    while bounds[-1] < end:
        left = end - bounds[-1]
        share = -(-left // max(int(parts * COLUMNS), 1)) * COLUMNS
        bounds.append(bounds[-1] + min(span, max(share, least), left))
    firsts, ends = np.array(bounds[:-1]), np.array(bounds[1:])
    columns = np.repeat(firsts, len(tiles)), np.repeat(ends, len(tiles))
    return np.stack([np.tile(tiles, len(firsts)), *columns], axis=1)


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


class TargetPart(NamedTuple):
    """The starts begin … end−1 of a target; starts: these, and letters that their primers reach."""

    begin: int
    end: int
    starts: Starts


def target_parts(starts: Starts, many: int) -> list[TargetPart]:
    """Cut a target into so many parts of about equal size, fewer where it is short."""
    cuts = np.unique(np.arange(many + 1) * len(starts.bounds) // many)
    return [_part(starts, begin, end) for begin, end in pairwise(cuts.tolist())]


def _part(starts: Starts, begin: int, end: int) -> TargetPart:
    limits, bounds = starts.limits[begin:end], starts.bounds[begin:end]
    reach = max(int((np.arange(begin, end) + limits).max()), end)
    closed = reach - end  # starts of other parts, whose letters alone are wanted
    begins = np.unique(np.clip(starts.begins, begin, reach)) - begin
    part = Starts(
        starts.masks[begin:reach],
        begins,
        np.append(limits, np.full(closed, NO_LIMIT)),
        np.append(bounds, np.full(closed, NO_BOUND)),
    )
    return TargetPart(begin, end, part)


def take_bounds(starts: Starts, parts: Sequence[TargetPart]) -> None:
    """Raise the bounds of a target to those of its parts."""
    for begin, end, part in parts:
        starts.bounds[begin:end] = part.bounds[: end - begin]
    settle(starts.limits, starts.bounds)
