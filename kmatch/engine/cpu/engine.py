"""The CPU's kernels as searches call them, run on the number of threads asked for."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kmatch.arrays import Bytes, Longs, Table, Words
from kmatch.engine import ways
from kmatch.engine.codes import CODES_AT_ONCE, Found, HitBuffer, found_in
from kmatch.engine.cpu.beside import STRANDS, pam_planes, plane_of_mask
from kmatch.engine.cpu.primer import extend_primers
from kmatch.engine.cpu.tables import Seeds, Tables
from kmatch.engine.engine import Engine, Scan, UnderWay
from kmatch.engine.geometry import CACHE_LINE, LANES_PER_WORD, SPARE, Layout, Text
from kmatch.engine.queries import DifferenceQuery, QueryArrays
from kmatch.engine.types import Beside, Pams, Starts, View
from kmatch.engine.workers import Kernel, pool, spans, stretches, tiles
from kmatch.jit.entries import entry

scan = entry("kmatch.engine.cpu.hamming:scan", tuple[Longs, Text, QueryArrays, int, HitBuffer])
scan_lookup = entry(
    "kmatch.engine.cpu.lookup:scan_lookup",
    tuple[Longs, View, Pams, Longs, Table, Seeds, Longs, HitBuffer],
)
scan_edit = entry(
    "kmatch.engine.cpu.edit:scan_edit",
    tuple[Longs, Text, DifferenceQuery, int, Longs, Longs, int, HitBuffer],
)

LAYOUT = Layout()

CAPACITY = 1 << 23  # hit codes of a chunk: 64 MB, of which those are touched that there are

GIVEN_UP = Found(np.zeros(0, np.int64), 0, 0.0)

ASKED = 4  # survivors of a filter for a position where it is asked for


class CpuEngine(Engine):
    """An Engine that can look pieces up; reason: why the CPU was chosen."""

    name = device = "cpu"

    def __init__(self, threads: int | None = None, reason: str = "") -> None:
        super().__init__(threads)
        self.layout = LAYOUT.shared_by(self.threads)
        self.capacity = CAPACITY
        self.description = f"cpu, {self.threads} of {self.cores} threads ({reason})"

    def planes(self, size: int) -> Words:
        # The filter takes half as long again where its loads cross cache lines.
        whole = np.empty(size + CACHE_LINE, np.uint64)
        skip = -(whole.ctypes.data // whole.itemsize) % CACHE_LINE
        return whole[skip : skip + size]

    def _united(self, text: Text, masks: Bytes, beside: Beside | None = None) -> Text:
        """Return the same chunk with more planes behind A, C, G and T.

        First come planes of IUPAC letters, of these masks, then planes of the places of PAMs.
        """
        more = len(masks) + (STRANDS if beside else 0)
        if not more:
            return text
        united = self.planes((4 + more) * text.plane_words + SPARE)
        planes = united[:-SPARE].reshape(-1, text.plane_words)
        if beside:
            planes[-STRANDS:] = pam_planes(text, beside)
        planes[:4] = text.planes[: planes[:4].size].reshape(4, -1)
        for number, mask in enumerate(masks.tolist(), start=4):
            planes[number] = plane_of_mask(planes[:4], mask)
        return text._replace(planes=united)

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> Scan:
        united = self._united(text, query.masks)
        return self._start(scan, tiles(text), capacity, united, query, k)

    def start_lookup(
        self, read: Callable[[], View], shown: int, tables: Tables, capacity: int
    ) -> Scan:
        """Start to look up ends within the limits of their queries.

        Ends without a PAM are left out. Ends are kept whose PAM the View does not show.

        read() returns the View with its letters, `shown` of them. One thread reads them and sorts
        what is found, and others help it, while the caller reports other chunks. A chunk is given
        up that has too many candidates (see `Found`).
        """
        items = spans(shown)
        queries = len(tables.strands) * len(tables.seeds.low)
        left = np.array([ways.most_candidates(shown, queries)])

        def found() -> Found:
            view = read()
            buffer = _new_buffer(capacity)
            with self.timed():
                self.workers.run(scan_lookup, items, view, *tables, left, buffer)
            return GIVEN_UP if left[0] < 0 else _found_in(buffer, items)

        if min(self.threads, items) == 1 or self._seconds is not None:
            return UnderWay(found)

        task = pool(self.threads, "kmatch").submit(found)

        def stop() -> None:
            left[0] = -1  # the look-up gives up
            if not task.cancel():
                task.result()

        return UnderWay(task.result, stop)

    def start_edit(
        self,
        text: Text,
        query: DifferenceQuery,
        way: str | None,
        capacity: int,
        owned: int = 0,
        beside: Beside | None = None,
    ) -> Scan:
        queries = len(query.limits)
        parts = stretches(queries, query.reach, text.rows, self.threads)
        budgets = np.zeros(queries, np.int64)
        positions = LANES_PER_WORD * text.words * text.rows
        if way == "filter":
            budgets[:] = ASKED * positions
        elif way is None:
            pays = ways.filter_pays(query.lengths, query.limits)
            budgets[pays] = ways.most_survivors(positions)
        masks = query.reading.masks
        united = self._united(text, masks, beside)
        plane_of = np.full(queries, -1)
        if beside:
            plane_of = 4 + len(masks) + beside.constraints.minus.astype(np.int64)
        arguments = united, query, owned, plane_of, budgets, parts
        return self._start(scan_edit, parts * queries, capacity, *arguments)

    def extend_primers(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object] | None = None,
    ) -> int:
        with self.timed():
            return extend_primers(starts, columns, k, on_progress, threads=self.threads)

    def _start(self, kernel: Kernel, items: int, capacity: int, *arguments: Any) -> Scan:
        buffer = _new_buffer(capacity)
        with self.timed():
            job = self.workers.start(kernel, items, *arguments, buffer)
            if self._seconds is not None:
                job.wait()

        def found() -> Found:
            job.wait()
            return _found_in(buffer, items)

        if len(job.shares) > 1:  # a thread of them sorts too, while the caller reports other chunks
            found = pool(self.threads, "kmatch").submit(found).result
        return UnderWay(found, job.stop)


def _new_buffer(capacity: int) -> HitBuffer:
    """Return an empty HitBuffer for so many codes."""
    return HitBuffer(np.empty(max(capacity, 1), np.int64), np.zeros(3, np.int64))


def _found_in(buffer: HitBuffer, items: int) -> Found:
    """Return the Found of a HitBuffer that is filled; items: of all work."""
    taken, lost, begun = buffer.tally.tolist()
    share = (begun or items) / items

    # Threads take whole blocks; no thread took a last block that is shorter.
    block = min(CODES_AT_ONCE, len(buffer.codes))
    in_blocks = len(buffer.codes) // block * block
    return found_in(buffer.codes[: min(taken, in_blocks)], lost, share)
