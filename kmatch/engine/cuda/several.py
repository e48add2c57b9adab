"""Several GPUs as one engine: whichever is free takes the next chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any
from weakref import finalize

import numpy as np

from kmatch.arrays import Bytes, Longs, Words
from kmatch.engine.choice import SiteWork, Work
from kmatch.engine.cuda.engine import CudaEngine
from kmatch.engine.cuda.gpu.queue import GpuQueue, HandedOut, alone
from kmatch.engine.cuda.primer.target_parts import take_bounds, target_parts
from kmatch.engine.differences import DifferenceQuery
from kmatch.engine.geometry import Text
from kmatch.engine.host.done import Done
from kmatch.engine.host.engine import HostEngine
from kmatch.engine.primers import Starts, WorkDone
from kmatch.engine.protocol import KernelTime
from kmatch.engine.queries import QueryArrays, ReadingArrays

SHARES = (1, 1)  # of a target, a part each for every GPU, as one may take longer than another
PART_STARTS = 1 << 18  # that fill a GPU


class SeveralGpus(HostEngine):
    """An Engine (see `kmatch.engine.protocol`) for several GPUs of one host.

    gpus: the CudaEngine of each; threads: of the CPU, None for all cores; reason: why they were
    chosen; work: see HostEngine. Each GPU has a thread, which takes the next scan when a scan of
    its own is done. Planes are in pinned memory that all GPUs read.
    """

    name = "cuda"

    def __init__(
        self,
        gpus: Sequence[CudaEngine],
        threads: int | None = None,
        reason: str = "",
        work: Work | None = None,
    ) -> None:
        super().__init__(threads, work)
        self._gpus = list(gpus)
        self.queues = len(self._gpus)
        numbers = ",".join(gpu.device.removeprefix("cuda:") for gpu in self._gpus)
        self.device = f"cuda:{numbers}"
        self.description = f"{self.device}, {self._models()}, and {self.threads} CPU threads"
        self.description += f" ({reason})"
        self.capacity = min(gpu.capacity for gpu in self._gpus)
        self.layout = min((gpu.layout for gpu in self._gpus), key=lambda layout: layout.most)
        self._queue = GpuQueue(self._gpus)
        finalize(self, self._queue.close)

    def _models(self) -> str:
        models = [gpu.model for gpu in self._gpus]
        return " and ".join(f"{models.count(model)} {model}" for model in dict.fromkeys(models))

    def time_kernels(self) -> KernelTime:
        return _Slowest([gpu.time_kernels() for gpu in self._gpus])

    def planes(self, size: int) -> Words:
        """In pinned memory of the first GPU, which every GPU reads at full speed."""
        first, *others = self._gpus
        planes = first.planes(size)
        for gpu in others:
            gpu.share(planes)
        return planes

    def keep(self, planes: Words) -> None:
        for gpu in self._gpus:
            gpu.keep(planes)

    def fetch(self, planes: Words) -> None:
        """Nothing to do: which GPU will scan them is not known yet."""

    def pack(self, letters: Bytes, text: Text) -> None:
        with alone():
            self._gpus[0].pack(letters, text)

    def unite(self, text: Text, masks: Bytes) -> Text:
        first, *others = self._gpus
        united = first.unite(text, masks)
        for gpu in others:
            gpu.share_united(united, text, masks)
        return united

    def start_scan(self, text: Text, query: QueryArrays, k: int, capacity: int) -> HandedOut:
        return self._queue.hand_out(
            lambda gpu: gpu.start_scan(text, query, k, capacity), text.plane_words
        )

    def sites_pay(self, work: SiteWork) -> bool:
        """See `CudaEngine.sites_pay`."""
        return False

    def start_edit(
        self, text: Text, query: DifferenceQuery, filtering: bool | None, capacity: int
    ) -> HandedOut:
        return self._queue.hand_out(
            lambda gpu: gpu.start_edit(text, query, filtering, capacity), text.plane_words
        )

    def start_smallest(self, text: Text, reading: ReadingArrays, bounds: Longs) -> HandedOut:
        return self._queue.hand_out(
            lambda gpu: gpu.start_smallest(text, reading, bounds), text.plane_words
        )

    def extend_primers(
        self,
        starts: Starts,
        columns: Bytes,
        k: int,
        on_progress: Callable[[float], object] | None = None,
        sizes: Any = None,
    ) -> WorkDone:
        """See `Engine.extend_primers`; parts of the target go to whichever GPU is free."""
        shares = SHARES if len(starts.bounds) >= PART_STARTS else SHARES[:1]
        parts = target_parts(starts, np.repeat(shares, self.queues).tolist())
        progress = _Shares(on_progress, [len(part.starts.bounds) for part in parts])
        under_way = [
            self._extend(part.starts, columns, k, progress.of(number), sizes)
            for number, part in enumerate(parts)
        ]
        try:
            done = [each.found() for each in under_way]
        finally:
            for each in under_way:
                each.stop()
        take_bounds(starts, parts)
        return WorkDone(*map(sum, zip(*done, strict=True)))

    def _extend(self, starts: Starts, *arguments: Any) -> HandedOut:
        return self._queue.hand_out(
            lambda gpu: Done(gpu.extend_primers(starts, *arguments)), len(starts.bounds)
        )


def open_together(engine: Callable[[int], CudaEngine], many: int) -> list[CudaEngine]:
    """engine(0) … engine(many − 1), at the same time: each waits for its GPU."""

    def opened(number: int) -> CudaEngine:
        with alone():
            return engine(number)

    with ThreadPoolExecutor(many) as pool:
        return list(pool.map(opened, range(many)))


class _Slowest:
    """A KernelTime of several GPUs, which work side by side: the time of the one that took most."""

    def __init__(self, times: list[KernelTime]) -> None:
        self._times = times

    @property
    def rows(self) -> int:
        return max(time.rows for time in self._times)

    @property
    def done(self) -> list[WorkDone]:
        return [done for time in self._times for done in time.done]

    @property
    def seconds(self) -> float:
        return max(time.seconds for time in self._times)


class _Shares:
    """The share of all work that is done, out of the shares of its parts."""

    def __init__(self, report: Callable[[float], object] | None, sizes: list[int]) -> None:
        self._report, self._lock = report, Lock()
        self._weights = np.array(sizes) / max(sum(sizes), 1)
        self._shares = np.zeros(len(sizes))

    def of(self, number: int) -> Callable[[float], object] | None:
        """Takes the share of one part that is done."""
        if self._report is None:
            return None

        def take(share: float) -> None:
            with self._lock:
                self._shares[number] = share
                total = float(self._weights @ self._shares)
            if self._report:
                self._report(total)

        return take
