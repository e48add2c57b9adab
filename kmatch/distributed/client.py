"""The client's side of a cluster: shards in flight, and their answers in order."""

import asyncio
import concurrent.futures
import logging
import os
import pickle
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import dask
from distributed import Client, Future
from distributed.scheduler import KilledWorker

from kmatch import __version__
from kmatch.distributed import faults
from kmatch.distributed.shards import Answer, Unseen
from kmatch.distributed.versions import version
from kmatch.distributed.worker import hold, search_shard
from kmatch.errors import ClusterError, KmatchError

CONNECT = 10.0  # seconds that a scheduler has to answer
WORKERS = 60.0  # seconds without any worker
SHARD = 3600.0  # seconds for a shard, once it is the next one
CLOSE = 5.0  # seconds to take leave
TICK = 0.5  # seconds between looks at the cluster
VERSION = "('kmatch.distributed.versions', fromlist=['version']).version()"
AHEAD = 2  # shards in flight for each thread of a worker
AHEAD_UNSENT = 4  # of those that workers read themselves, once one has
FETCHED = 2  # answers that are fetched at a time
SOON = 0.002  # seconds in which shards are made that are sent together
SMALL = 1 << 15  # bytes of a job that goes with each shard

_MET: WeakKeyDictionary[Client, set[str]] = WeakKeyDictionary()  # workers with this version
Fetched = concurrent.futures.Future[Any]
Fill = Callable[[Any], Any]  # gives a shard that needs no file
Submit = Callable[..., list[Future]]  # (shards, failures so far)


@dataclass
class _Task:
    """A shard in flight; fetched: what it gives; failures: how often it failed."""

    shard: Any
    future: Future
    fetched: Fetched | None = None
    failures: int = 0


class Cluster:
    """A running Dask cluster.

    address: of its scheduler, for messages. What waits has a limit, and ends in a ClusterError.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self.address = str(client.scheduler.address if client.scheduler else client)
        self._seen = self._unseen = 0  # answers of workers that have a shard's file, or not
        self._looked, self._threads = -TICK, 0
        self._addresses: set[str] = set()  # of workers, when last looked for

    def describe(self) -> str:
        """The cluster, for people."""
        workers = self._workers()
        plural = "" if len(workers) == 1 else "s"
        return f"{len(workers)} worker{plural} at {self.address}"

    @property
    def threads(self) -> int:
        """How many threads the workers have together, 1 or more; waits for the first worker."""
        now = time.monotonic()
        if now - self._looked >= TICK:
            workers = self._waited_for()
            self._addresses, self._threads = set(workers), sum(workers.values())
            self._looked = time.monotonic()
        return max(self._threads, 1)

    def _check_new_workers(self) -> None:
        """Check versions, unless an earlier search by this Client has met all workers."""
        met = _MET.setdefault(self._client, set())
        if self.threads and not self._addresses <= met:
            self.check_versions()
            met |= self._addresses

    def check_versions(self) -> None:
        """Raise ClusterError for a worker with another kmatch; later ones say it themselves."""
        # Only Python's own functions are sure to be known there, and the versions of old ones.
        if all(found == version() for _, found in self._answers_to(VERSION)):
            return
        for asked, mine in (("('kmatch').__version__", __version__), (VERSION, version())):
            for worker, found in self._answers_to(asked):
                if isinstance(found, BaseException):
                    raise faults.without_kmatch(worker, found, __version__)
                if found != mine:
                    raise faults.other_version(worker, found, mine)

    def _answers_to(self, asked: str) -> list[tuple[str, Any]]:
        """What each worker imports."""
        call = f"__import__{asked}"
        answers = self._client.run(eval, call, on_error="return", nanny=False)
        return sorted(answers.items())

    def answers(
        self, job: Any, shards: Iterable[Any], fill: Fill, search: Any = search_shard
    ) -> Iterator[tuple[Any, Answer]]:
        """Yield (shard, its answer) in order, of which a window is in flight.

        job, shards: Job and Shards, or those for primers; search(job, shard) runs on a worker.
        fill(shard): a shard that needs no file.
        """
        self._check_new_workers()
        name = f"kmatch-{uuid.uuid4().hex[:12]}"
        waiting: deque[_Task] = deque()
        coming = iter(shards)
        held = self._held(job, f"{name}-job")

        def submit(shards: list[Any], failures: int = 0) -> list[Future]:
            keys = [
                f"{name}-{shard.number}-{failures}{'-sent' if shard.sent else ''}"
                for shard in shards
            ]
            with _large_messages():
                return self._client.map(search, [held] * len(shards), shards, key=keys, pure=False)

        try:
            while True:
                ahead = AHEAD_UNSENT if self._seen else AHEAD
                while (free := ahead * self.threads + 1 - len(waiting)) > 0:
                    batch = _at_once(coming, free)
                    if not batch:
                        break
                    if self._unseen and not self._seen:
                        batch = [shard if shard.sent else fill(shard) for shard in batch]
                    waiting.extend(map(_Task, batch, submit(batch)))
                if not waiting:
                    break
                for task in islice(waiting, FETCHED):
                    task.fetched = task.fetched or self._fetched(task.future)
                yield self._answered(waiting[0], submit, fill)
                waiting.popleft()
        finally:
            futures = [task.future for task in waiting]
            self._give_up([*futures, held] if isinstance(held, Future) else futures)

    def _held(self, job: Any, key: str) -> Any:
        """A job as shards take it: itself, or if it is large a Future, which workers hold."""
        if len(pickle.dumps(job)) <= SMALL:
            return job
        with _large_messages():
            held = self._client.submit(hold, job, key=key, pure=False)
        if self.threads > 1:
            # Shards would go to the one that has it first; others get it when they need it, too.
            with suppress(Exception):
                self._client.replicate([held], callback_timeout=CONNECT)
        return held

    def _answered(self, task: _Task, submit: Submit, fill: Fill) -> tuple[Any, Answer]:
        """The answer of a task, which is begun anew where it failed or has to be sent."""
        began = time.monotonic()
        while True:
            found = self._outcome(task, began)
            if isinstance(found, Answer):
                task.fetched = None  # which holds the answer
                self._seen += not task.shard.sent
                return task.shard, found
            if isinstance(found, Unseen):
                self._unseen += 1
                task.shard = fill(task.shard)
            else:
                self._check_scheduler()
                self._count(task, found)
            [task.future] = submit([task.shard], task.failures)
            task.fetched = self._fetched(task.future)

    def _fetched(self, future: Future) -> Fetched:
        """What a task gives, as soon as it is done and here."""
        fetching = self._client.gather(future, asynchronous=True)
        return asyncio.run_coroutine_threadsafe(fetching, self._client.loop.asyncio_loop)

    def _count(self, task: _Task, error: BaseException) -> None:
        """Count a failure; raises where no other try can help."""
        if isinstance(error, KilledWorker):
            raise faults.killed(task.shard, error)
        if isinstance(error, KmatchError) and not isinstance(error, ClusterError):
            raise error
        if isinstance(error, ClusterError) and not error.may_pass:
            raise error
        task.failures += 1
        if task.failures >= faults.TRIES:
            raise faults.failed(task.shard, error)

    def _outcome(self, task: _Task, began: float) -> Any:
        """Wait for what a task gives, or for the error that it or fetching it met."""
        fetched = task.fetched
        assert fetched
        while not wait([fetched], timeout=TICK).done:
            self._check_scheduler()
            self.threads  # noqa: B018 - waits for a worker, for a while
            if time.monotonic() - began > SHARD:
                raise faults.stalled(task.shard, SHARD)
        try:
            return fetched.result()
        except CancelledError:
            return ClusterError(f"it was {task.future.status}")
        except Exception as error:  # its worker may be gone by now
            return error

    def _check_scheduler(self) -> None:
        if self._client.status != "running":
            raise faults.scheduler_gone(self.address)

    def _workers(self) -> dict[str, int]:
        """The threads of each worker, by address."""
        self._check_scheduler()
        try:
            found: dict[str, int] = self._client.sync(
                self._client.scheduler.ncores, callback_timeout=CONNECT
            )
        except Exception as error:
            raise faults.scheduler_gone(self.address) from error
        return found

    def _waited_for(self) -> dict[str, int]:
        """The same, once there is a worker."""
        began = time.monotonic()
        while not (workers := self._workers()):
            if time.monotonic() - began > WORKERS:
                raise faults.no_workers(self.address, WORKERS)
            time.sleep(TICK / 5)
        return workers

    def _give_up(self, futures: list[Future]) -> None:
        """Cancel what is in flight."""
        if self._client.status != "running":
            return
        with suppress(Exception):
            self._client.cancel(futures)


def _at_once(shards: Iterator[Any], most: int) -> list[Any]:
    """The next shards that are made without delay, one at least if there is one."""
    found, began = [], time.monotonic()
    for shard in islice(shards, most):
        found.append(shard)
        if shard.sent or time.monotonic() - began > SOON:
            break
    return found


@contextmanager
def connected(scheduler: Any) -> Iterator[Cluster]:
    """Give the Cluster of a scheduler: its address, its file, or a distributed.Client.

    Raises ClusterError where none answers.
    """
    if isinstance(scheduler, Client):
        if scheduler.asynchronous:
            raise ClusterError("the Client is asynchronous; give one without asynchronous=True")
        if scheduler.status != "running":
            raise ClusterError(f"the Client is {scheduler.status}; give one that is connected")
        yield Cluster(scheduler)
        return
    given = _where(scheduler)
    with _quiet_logs():
        try:
            client = Client(**given, timeout=CONNECT, set_as_default=False)
        except Exception as error:
            raise faults.not_reached(str(scheduler), error) from error
        try:
            yield Cluster(client)
        finally:
            with suppress(Exception):
                client.close(timeout=CLOSE)


def _where(scheduler: Any) -> dict[str, str]:
    """What Client takes for an address or the path of a scheduler file."""
    if not isinstance(scheduler, str | os.PathLike):
        raise ClusterError(
            f"scheduler is {scheduler!r}; give an address such as tcp://host:8786, the path of a "
            "scheduler file, or a distributed.Client"
        )
    if "://" in str(scheduler):
        return {"address": str(scheduler)}
    if not os.path.isfile(scheduler):
        raise ClusterError(
            f"scheduler {scheduler}: no such file; give an address such as tcp://host:8786, or the "
            "file that dask scheduler --scheduler-file writes"
        )
    return {"scheduler_file": os.fspath(scheduler)}


@contextmanager
def _large_messages() -> Iterator[None]:
    """Letters of shards are meant to be in messages: Dask need not warn of them."""
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        yield


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Dask says on standard error what errors say too."""
    log = logging.getLogger("distributed")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)
