"""k-difference primers: lower bounds of their lengths, raised until they hold for a background.

Feuser & Moreano 2018 compare every position with the whole background in a matrix of its own. Here
64·WORDS starts share one sweep, and the bounds known so far select the rows that matter. Starts
that are decided take no lane.

The primer of a start does not end behind the primer of the next start, which has fewer letters:

    target      . . A C G T T G C A A T . .
    start r         [----------------)
    start r + 1       [--------------)

So starts are taken in groups, of which the first holds every sixth start, the next the starts to
the left of these, and so on. A start is decided if its primer is known to reach to the end of the
primer of its neighbour to the right. Mostly the columns that raised the bound of this neighbour
raise its own bound too, and they come first. Two of five starts need no sweep of the whole
background then.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmatch.arrays import Bytes, Longs, Table, distinct
from kmatch.engine.geometry import LANES
from kmatch.engine.types import Starts
from kmatch.jit.entries import entry

# Borders and strips of a tile stay in the L2 cache; short strips waste fewer rows, tall ones are
# faster.
HEIGHT = 24  # rows of a strip, a multiple of 8
BLOCK = 256  # columns taken at a time
PARTS = 8  # for each thread, at least, so that none waits long for another
WARM_SHARE = 8  # a stretch of columns is at least this many times as long as its warm-up
STRETCHES = 4  # of columns; behind each, starts that are left are put together again

GROUPS = 6  # of starts, at most
GROUP_STARTS = 16 * LANES  # that a group has at least
WINDOW_SHARE = 4  # for each group, columns are this many times the windows of a tile

TICK = 0.1  # seconds between reports of progress


# What a thread and its caller tell each other of a part (see `extend_tile`).
DONE, STOP, CELLS = range(3)


class StartTile(NamedTuple):
    """A tile of starts, and how it is cut.

    target: uint8, letters as sets of bases; positions: int64[LANES], the lanes' starts; bounds,
    limits: int64[LANES], as in Starts, limits 0 in lanes without a start; places: int64[LANES], of
    each bound the column that its last raise is due to, or up to BLOCK columns before it; height:
    rows of a strip, a multiple of GROUP; block: columns of a block.
    """

    target: Bytes
    positions: Longs
    bounds: Longs
    limits: Longs
    places: Longs
    k: int
    height: int
    block: int


extend_tile = entry(
    "kmatch.engine.cpu.primer_kernels:extend_tile", tuple[StartTile, Bytes, Table, Longs]
)


class Part(NamedTuple):
    """A part of the work: starts of a tile, and the columns that they are compared with.

    positions: int64[≤ LANES], the starts, sorted; windows: int64[w, 2], the first column of each
    window and the one behind it.
    """

    positions: Longs
    windows: Table

    @property
    def column_count(self) -> int:
        return int((self.windows[:, 1] - self.windows[:, 0]).sum())


def extend_primers(
    starts: Starts,
    columns: Bytes,
    k: int,
    on_progress: Callable[[float], object] | None = None,
    *,
    threads: int,
) -> int:
    """Raise lower bounds of the shortest lengths with k differences from all of a background.

    See `Engine.extend_primers`.
    """
    settle(starts.limits, starts.bounds)
    with ThreadPoolExecutor(threads) as pool:
        extension = Extension(starts, columns, k, pool, threads, on_progress)
        extension.run()
    return extension.cells


class Extension:
    """The starts of a target, whose bounds a background raises; cells: computed so far."""

    def __init__(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        pool: ThreadPoolExecutor,
        threads: int,
        on_progress: Callable[[float], object] | None,
    ) -> None:
        self.cells = 0
        self._starts = starts
        self._columns = columns
        self._k = k
        self._pool = pool
        self._threads = threads
        self._on_progress = on_progress
        self._warm = int(starts.limits.max(initial=0)) + k
        # Columns that raised a bound last, −1 for none; the last one is of no start.
        self._places = np.full(len(starts.bounds) + 1, -1)

        # A group fills enough tiles, and the windows of a tile are few columns.
        open_count = int(np.count_nonzero(starts.bounds <= starts.limits))
        window_columns = LANES * (self._warm + BLOCK)
        most_groups = min(
            GROUPS,
            open_count // GROUP_STARTS,
            len(columns) // (WINDOW_SHARE * window_columns),
        )
        self._group_count = max(most_groups, 1)

    def run(self) -> None:
        """Raise all bounds."""
        done = 0
        for group in reversed(range(self._group_count)):
            limits = self._limits(group)
            tell = partial(self._tell, done, 0)
            self._extend(limits, self._parts_near_neighbours(limits), tell)
            for begin, end in self._stretches(0, len(self._columns), STRETCHES):
                tell = partial(self._tell, done, end - begin)
                self._extend(limits, self._parts(limits, begin, end), tell)
                done += end - begin
        self._tell(done, 0, 1.0)

    def _tell(self, done: int, columns: int, share: float) -> None:
        """Tell of the work: so many columns are done, of all groups, and a share of some more."""
        total = max(self._group_count * len(self._columns), 1)
        if self._on_progress:
            self._on_progress((done + share * columns) / total)

    def _limits(self, group: int) -> Longs:
        """Return the limits of a group's starts, and 0 for other starts.

        The primer of a start is decided once it is as long as the primer of the next start allows:

            letters         A C G T T G
            start r + 1       [-----)        the primer has 3 letters
            start r         [-------)        the primer has at most 4: it need not be longer than 3
        """
        _, _, limits, bounds = self._starts
        is_taken = np.arange(len(limits)) % self._group_count == group
        group_limits = np.where(is_taken, limits, 0)
        if group < self._group_count - 1:
            left = np.flatnonzero(bounds[1:] <= limits[1:])
            group_limits[left] = np.minimum(group_limits[left], bounds[left + 1])
        return group_limits

    def _tiles(self, limits: Longs) -> list[Longs]:
        """Return the positions of starts that are open within limits, LANES at a time."""
        positions = np.flatnonzero(self._starts.bounds <= limits)
        return [positions[first : first + LANES] for first in range(0, len(positions), LANES)]

    def _parts_near_neighbours(self, limits: Longs) -> list[Part]:
        """Return Parts with the columns that raised the bounds of the starts next to a tile's."""
        parts = []
        for positions in self._tiles(limits):
            places = self._places[positions + 1]
            places = distinct(places[places >= 0])
            begins = np.maximum(places - self._warm, 0)
            ends = np.minimum(places + BLOCK, len(self._columns))
            if len(places):
                parts.append(Part(positions, np.column_stack([begins, ends])))
        return parts

    def _parts(self, limits: Longs, begin: int, end: int) -> list[Part]:
        """Return Parts with the columns begin … end − 1, a tile's parts behind one another.

        Columns are cut into stretches, enough of them for all threads. Each begins with a warm-up,
        so that values are exact in the columns of its own.
        """
        tiles = self._tiles(limits)
        wanted = -(-PARTS * self._threads // max(len(tiles), 1))
        windows = [
            np.array([[max(first - self._warm, 0), last]])
            for first, last in self._stretches(begin, end, wanted)
        ]
        return [Part(positions, window) for positions in tiles for window in windows]

    def _stretches(self, begin: int, end: int, most: int) -> list[tuple[int, int]]:
        """Return stretches of the columns begin … end − 1, none shorter than warm-ups allow."""
        count = max(min(most, (end - begin) // (WARM_SHARE * self._warm)), 1)
        cuts = [begin + (end - begin) * number // count for number in range(count + 1)]
        return list(pairwise(cuts))

    def _extend(self, limits: Longs, parts: list[Part], tell: Callable[[float], object]) -> None:
        """Take Parts, within limits, and tell of the share of their columns that is done."""
        total = max(sum(part.column_count for part in parts), 1)
        watches = np.zeros((len(parts), 3), np.int64)

        def extend(number: int) -> StartTile:
            """Extend a part by its number; returns the tile of its starts."""
            positions, windows = parts[number]
            tile = self._tile(positions, limits)
            extend_tile(tile, self._columns, windows, watches[number])
            watches[number, DONE] = parts[number].column_count
            return tile

        try:
            for done in _in_turn(self._pool, extend, len(parts), 2 * self._threads):
                for number, tile in done:
                    self._raise_bounds(parts[number].positions, tile)
                tell(watches[:, DONE].sum() / total)
        except BaseException:
            watches[:, STOP] = 1
            raise
        self.cells += int(watches[:, CELLS].sum())

    def _tile(self, positions: Longs, limits: Longs) -> StartTile:
        """Return the StartTile of starts."""
        return StartTile(
            target=self._starts.masks,
            positions=_padded(positions),
            bounds=_padded(self._starts.bounds[positions]),
            limits=_padded(limits[positions]),
            places=_padded(self._places[positions]),
            k=self._k,
            height=HEIGHT,
            block=BLOCK,
        )

    def _raise_bounds(self, positions: Longs, tile: StartTile) -> None:
        """Raise the bounds of starts to the bounds of their tile, and of later starts."""
        _, _, limits, bounds = self._starts
        tile_bounds = tile.bounds[: len(positions)]
        is_raised = tile_bounds > bounds[positions]
        raised = positions[is_raised]
        bounds[raised] = tile_bounds[is_raised]
        self._places[raised] = tile.places[: len(positions)][is_raised]

        # Primers of starts up to the end of the last primer may be known to end later now.
        reached = slice(positions[0], positions[-1] + 1 + bounds[positions].max())
        settle(limits[reached], bounds[reached])


def _in_turn(
    pool: ThreadPoolExecutor, work: Callable[[int], StartTile], count: int, most: int
) -> Iterator[list[tuple[int, StartTile]]]:
    """Do so much work, and yield finished items, (number, result) each, at least once a TICK.

    Few items are under way at a time, from left to right: the bounds that one raises save the next
    ones work.
    """
    numbers = iter(range(count))
    under_way: dict[Future[StartTile], int] = {}
    while True:
        for number in islice(numbers, most - len(under_way)):
            under_way[pool.submit(work, number)] = number
        if not under_way:
            return
        done, _ = wait(under_way, TICK, FIRST_COMPLETED)
        yield [(under_way.pop(task), task.result()) for task in done]


def settle(limits: Longs, bounds: Longs) -> None:
    """Raise bounds, in place: primers of later starts do not end before earlier primers.

    Records need not be separated: no bound ends after the first letter of the next record.
    """
    starts = np.arange(len(bounds))
    ends = np.maximum.accumulate(starts + bounds)
    np.maximum(bounds, np.minimum(ends - starts, limits + 1), out=bounds)


def _padded(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of LANES items, zeros behind the given ones."""
    full = np.zeros(LANES, array.dtype)
    full[: array.size] = array
    return full
