"""Searches on a Dask cluster: whole records go to workers, and what they find comes back in order.

A task is whole records of one genome, or whole genomes of a list, under a group of the patterns.
Nothing of Dask is imported before a search asks for it.
"""

import logging
import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

import kmatch
from kmatch.arrays import Bytes, Longs, bounds_of
from kmatch.engine.types import LETTERS
from kmatch.errors import ClusterError, InputError, KmatchError, NameWarning, hearing, warn
from kmatch.genome import COMPRESSION, Genome, Genomes, as_genomes
from kmatch.jit.folders import digest
from kmatch.packed.writer import MAGIC, TAIL
from kmatch.published.registry import ENGINE, choose_algorithm
from kmatch.results.batches import HitBatch, Origin, joined, no_hits
from kmatch.search.panel import distinct_patterns
from kmatch.search.query import Query, Run
from kmatch.search.regions import Regions
from kmatch.search.search import Progress, Search, begin_search
from kmatch.sequences.alphabet import encode_text
from kmatch.sequences.patterns import PatternSet
from kmatch.sequences.records import Stretch, gathered, stretch_of

CONNECT = 10.0  # seconds that a scheduler has to answer
WORKERS = 60.0  # seconds without any worker
TICK = 0.5  # seconds between looks at the cluster
TRIES = 3  # of a task
AHEAD = 2  # tasks in flight for each thread of a worker
SHARES = 4  # tasks for each thread, where there are records or patterns enough
LEAST, MOST = 1 << 18, 1 << 24  # letters of a task
STARTS = 1 << 12  # starts of primers in a group, at least
SMALL = 1 << 15  # bytes of a job that goes with each task
ROWS = 1 << 16  # hits handed on at a time
OPEN = 8  # packed genomes that a worker keeps mapped
COMPRESSED = (".gz", ".bgz", ".bz2", ".xz", ".zst")
MISSING = (
    "a search on a cluster needs Dask, which is not installed; "
    "install it with: pip install 'dask[distributed]'"
)
Group = tuple[int, int]  # the number of a group of the patterns, and how many groups there are


def begin_anywhere(
    query: Query, genomes: Genomes, run: Run, regions: Regions | None = None
) -> Search[HitBatch]:
    """The search of a Query on the cluster that a Run names, or else here."""
    if run.scheduler is None:
        return begin_search(query, genomes, run, regions)
    _check_dask()
    return ClusterSearch(query, genomes, run, regions)


def primers_anywhere(target: Genome, background: Genome, k: int, options: Any, run: Run) -> "Any":
    """The search for primers on the cluster that a Run names, or else here."""
    from kmatch.search.primer import PrimerSearch

    if run.scheduler is None:
        return PrimerSearch(target, background, k, options, run)
    _check_dask()
    return ClusterPrimerSearch(target, background, k, options, run)


def _check_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise ClusterError(MISSING) from error


def version() -> str:
    """The version of kmatch, with a digest of its sources: workers need the same one."""
    return f"{kmatch.__version__} ({digest(kmatch.__version__)[:8]})"


class SharedFile(NamedTuple):
    """What identifies a file: its absolute path, bytes, time of change in nanoseconds, and the
    checksum of a packed genome's index, else None."""

    path: str
    size: int
    changed: int
    checksum: int | None

    def is_here(self) -> bool:
        """Whether this machine has the same file."""
        return shared_file(self.path) == self

    @property
    def letters(self) -> int:
        """About how many letters it has, by its size and its name."""
        return self.size * (COMPRESSION if self.path.endswith(COMPRESSED) else 1)


def shared_file(path: Any) -> SharedFile | None:
    """The SharedFile of a path; None for what is no regular file that can be read."""
    with suppress(OSError, ValueError):
        path = os.path.abspath(os.fspath(path))
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as handle:
            found = os.fstat(handle.fileno())
            checksum = None
            if handle.read(len(MAGIC)) == MAGIC and found.st_size > TAIL.size:
                handle.seek(-TAIL.size, os.SEEK_END)
                checksum = TAIL.unpack(handle.read(TAIL.size))[1]
        return SharedFile(path, found.st_size, found.st_mtime_ns, checksum)
    return None


class Content(NamedTuple):
    """Records that are sent: their names, the letters of each, int64[r], and all letters as masks
    of four bits, two to a byte."""

    names: list[str]
    lengths: Longs
    packed: Bytes


def content_of(stretches: Iterable[Stretch]) -> Content:
    """The Content of whole Stretches."""
    names: list[str] = []
    lengths, letters = [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)]
    for part in stretches:
        names += part.names
        lengths.append(part.lengths)
        letters.append(np.asarray(part.letters))
    size = sum(map(len, letters))
    masks = encode_text(np.concatenate([*letters, np.full(size % 2, ord("N"), np.uint8)]))
    packed: Bytes = masks[::2] << np.uint8(4) | masks[1::2]
    return Content(names, np.concatenate(lengths), packed)


def stretches_of(content: Content) -> Iterator[Stretch]:
    """Yield the Stretches of a Content, whose letters are A, C, G, T and N."""
    bounds = bounds_of(content.lengths).tolist()
    letters = LETTERS[np.stack([content.packed >> 4, content.packed & 15], axis=1).reshape(-1)]
    parts = zip(content.names, bounds, bounds[1:], strict=False)
    return gathered(stretch_of(name, letters[begin:end]) for name, begin, end in parts)


class Piece(NamedTuple):
    """Whole records of a genome.

    genome: its number among those searched; label: how messages name it; first, last: the number of
    the first record and that behind the last, None for all; file: what workers may read, of a
    packed genome where `last` is a number; content: the records, where they are sent.
    """

    genome: int
    label: str
    first: int = 0
    last: int | None = None
    file: SharedFile | None = None
    content: Content | None = None


class Task(NamedTuple):
    """Pieces that are searched one after another, once for each of the groups of the patterns.

    Of several pieces each is a whole genome.
    """

    pieces: list[Piece]
    groups: int

    def __str__(self) -> str:
        labels = [self.pieces[0].label, self.pieces[-1].label]
        return f"the search of {' to '.join(dict.fromkeys(labels))}"


class Job(NamedTuple):
    """What all tasks of a search have in common.

    find(genomes, job, group): gives what is found, and the Progress of the search; view, circular:
    of the Genomes; regions: that are searched; run: how.
    """

    find: Callable[..., tuple[Any, Progress]]
    view: Callable[[Genome], Genome]
    regions: Any
    circular: Any
    run: Run


class Answer(NamedTuple):
    """What a task found, and met: its Progress, warnings, names of circular records that there were
    not, and the records that regions name, with their letters."""

    found: Any
    progress: Progress
    warnings: list[str]
    missing: set[str]
    met: set[str]
    lengths: dict[str, int]


class Unseen(NamedTuple):
    """The answer of a worker that has not got the file of a task."""


# What workers do


def search_task(
    told: tuple[str, bytes], pieces: list[Piece], group: Group
) -> Answer | Unseen | KmatchError:
    """Search the pieces of a task for a group of the patterns; told: the client's version and a
    pickled Job. An error that another try cannot mend is an answer, too."""
    if told[0] != version():
        return ClusterError(
            f"worker {_address()} has kmatch {version()}, and this is kmatch {told[0]}: install "
            "the same version there, or stop that worker"
        )
    if not all(piece.content or (piece.file and piece.file.is_here()) for piece in pieces):
        return Unseen()
    job: Job = pickle.loads(told[1])
    try:
        genomes = Genomes([_opened(piece) for piece in pieces])
        genomes.view, genomes.circular = job.view, job.circular
        with hearing() as heard:
            found, progress = job.find(genomes, job, group)
    except KmatchError as error:
        return _labelled(error, pieces)
    warnings = [str(each) for each in heard if isinstance(each, NameWarning)]
    missing = set(job.circular.missing) if job.circular else set()
    regions = job.regions
    met, lengths = (regions.met, regions.lengths) if regions else (set(), {})
    return Answer(found, progress, warnings, missing, met, lengths)


def _address() -> str:
    """The address of this worker, for messages."""
    with suppress(ImportError, ValueError):
        from distributed import get_worker

        return str(get_worker().address)
    return "this machine"


def _opened(piece: Piece) -> Genome:
    if piece.content:
        return Genome.of_stretches(piece.label, stretches_of(piece.content))
    assert piece.file
    if piece.last is None:
        genome = Genome(piece.file.path, keep=False)
        genome.label = piece.label
        return genome
    file = _mapped(piece.file, piece.label).file
    assert file
    return Genome.of_stretches(piece.label, file.stretches(None, piece.first, piece.last))


@lru_cache(OPEN)
def _mapped(file: SharedFile, label: str) -> Genome:
    """The Genome of a packed file, which stays mapped; the client warned of its names."""
    genome = Genome(file.path, keep=False)
    genome.label = label
    return genome


def _labelled(error: KmatchError, pieces: list[Piece]) -> KmatchError:
    """An error that names files as the client does."""
    said = str(error)
    for piece in pieces:
        if piece.file and said.startswith(f"{piece.file.path}:"):
            return InputError(piece.label + said.removeprefix(piece.file.path))
    return error


def find_hits(
    query: Query, genomes: Genomes, job: Job, group: Group
) -> tuple[dict[int, HitBatch], Progress]:
    """The hits of a group of the patterns of a Query, by the number of their genome."""
    distinct, copies = distinct_patterns(query.patterns)
    begin, end = (len(distinct) * (group[0] + more) // group[1] for more in (0, 1))
    # Copies stay together, as their hits share an order.
    numbers = np.sort(copies.numbers[copies.bounds[begin] : copies.bounds[end]])
    part = query._replace(patterns=query.patterns.take(numbers))
    search = begin_search(part, genomes, job.run)
    search.regions = job.regions  # of which it meets the records
    found = {}
    hits = filter(len, search.everywhere())
    for number, of_one in groupby(hits, lambda batch: batch.origin.number):
        batch = joined(list(of_one))
        found[number] = replace(batch, pattern=numbers[batch.pattern])
    return found, search.progress


def find_bounds(
    starts: Any, k: int, options: Any, genomes: Genomes, job: Job, group: Group
) -> tuple[Longs, Progress]:
    """The bounds of a group of the starts of primers, int64[n], that a background requires."""
    from kmatch.engine.types import part_of
    from kmatch.search.primer import raise_bounds

    begin, end = (len(starts.masks) * (group[0] + more) // group[1] for more in (0, 1))
    part = part_of(starts, begin, end)
    chosen = choose_algorithm("primer", (), job.run)
    bounds = raise_bounds(part, genomes.genome(0), k, options, chosen)
    return bounds[: end - begin], Progress()


# What the client does


class Cluster:
    """A running Dask cluster; client: a distributed.Client of it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.address = str(client.scheduler.address if client.scheduler else client)
        self._sends = False  # whether a worker had not got a file
        self._looked, self._threads = -TICK, 0

    def describe(self) -> str:
        """The cluster, for people."""
        workers = len(self._workers())
        return f"{workers} worker{'' if workers == 1 else 's'} at {self.address}"

    @property
    def threads(self) -> int:
        """How many threads the workers have together, 1 or more; waits for the first worker."""
        if time.monotonic() - self._looked >= TICK:
            began = time.monotonic()
            while not (workers := self._workers()):
                if time.monotonic() - began > WORKERS:
                    raise ClusterError(
                        f"the scheduler {self.address} has had no worker for {WORKERS:.0f} s; "
                        f"start some with: dask worker {self.address}"
                    )
                time.sleep(TICK / 5)
            self._threads, self._looked = sum(workers.values()), time.monotonic()
        return max(self._threads, 1)

    def _workers(self) -> dict[str, int]:
        """The threads of each worker, by address."""
        try:
            if self._client.status != "running":
                raise ConnectionError
            asked = self._client.scheduler.ncores
            found: dict[str, int] = self._client.sync(asked, callback_timeout=CONNECT)
        except Exception as error:
            raise ClusterError(
                f"the scheduler {self.address} is gone; start it and its workers again, and "
                "search once more"
            ) from error
        return found

    def answers(
        self, job: Job, tasks: Iterable[Task], fill: Callable[[Task], Task]
    ) -> Iterator[tuple[Task, list[Answer]]]:
        """Yield (task, the answer of each group) in order, of which a window is in flight.

        fill(task): one that needs no file.
        """
        told: Any = (version(), pickle.dumps(job))
        if len(told[1]) > SMALL and self.threads:
            told = self._submit(_given, told)
            with suppress(Exception):  # or tasks would go to the worker that has it first
                self._client.replicate([told], callback_timeout=CONNECT)
        waiting: deque[tuple[Task, list[Any]]] = deque()

        def start(task: Task) -> tuple[Task, list[Any]]:
            task = fill(task) if self._sends else task
            pieces: Any = task.pieces
            if task.groups > 1 and pieces[0].content:
                pieces = self._submit(_given, pieces)
            groups = [(number, task.groups) for number in range(task.groups)]
            return task, [self._submit(search_task, told, pieces, group) for group in groups]

        def next_answer() -> tuple[Task, list[Answer]]:
            task, futures = waiting[0]
            found = [self._outcome(task, future) for future in futures]
            if any(isinstance(answer, Unseen) for answer in found):
                self._sends = True
                waiting[0] = start(task)
                return next_answer()
            waiting.popleft()
            return task, found

        try:
            for task in tasks:
                waiting.append(start(task))
                while sum(len(futures) for _, futures in waiting) > AHEAD * self.threads:
                    yield next_answer()
            while waiting:
                yield next_answer()
        finally:
            with suppress(Exception):
                self._client.cancel([future for _, futures in waiting for future in futures])

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        import dask

        # Letters are meant to be in messages: Dask need not warn of them.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            return self._client.submit(function, *arguments, pure=False, retries=TRIES - 1)

    def _outcome(self, task: Task, future: Any) -> Any:
        """Wait for what a task gives; raises where it failed."""
        from distributed import wait
        from distributed.scheduler import KilledWorker

        while not future.done():
            with suppress(TimeoutError):
                wait(future, timeout=TICK)
            self.threads  # noqa: B018 - waits for a worker, for a while
        try:
            found = future.result()
        except KilledWorker as error:
            raise ClusterError(
                f"{task} ended one worker after another, the last of them "
                f"{error.last_worker.address}; give workers more memory, or search fewer patterns "
                "at a time"
            ) from error
        except Exception as error:
            self._workers()  # the scheduler may be gone
            raise ClusterError(
                f"{task} failed {TRIES} times, the last time {type(error).__name__}: {error}"
            ) from error
        if isinstance(found, KmatchError):
            raise found
        return found


def _given(value: Any) -> Any:
    """A value as the result of a task: it is sent once, and made anew where a worker dies."""
    return value


@contextmanager
def connected(scheduler: Any) -> Iterator[Cluster]:
    """Give the Cluster of a scheduler: its address, its file, or a distributed.Client.

    Raises ClusterError where none answers.
    """
    from distributed import Client

    if isinstance(scheduler, Client):
        if scheduler.asynchronous:
            raise ClusterError("the Client is asynchronous; give one without asynchronous=True")
        if scheduler.status != "running":
            raise ClusterError(f"the Client is {scheduler.status}; give one that is connected")
        yield Cluster(scheduler)
        return
    given = _where(scheduler)
    log = logging.getLogger("distributed")  # which says on standard error what errors say too
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        try:
            client = Client(**given, timeout=CONNECT, set_as_default=False)
        except Exception as error:
            why = str(error).strip().rstrip(".") or type(error).__name__
            raise ClusterError(
                f"no Dask scheduler answers at {scheduler} ({why}); start one with: dask scheduler"
            ) from error
        try:
            yield Cluster(client)
        finally:
            with suppress(Exception):
                client.close(timeout=CONNECT)
    finally:
        log.setLevel(before)


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


def tasks_of(genomes: Genomes, size: int, units: int) -> Iterator[Task]:
    """Yield the Tasks of genomes, of about `size` letters each; units: the most groups of one."""
    held: list[Piece] = []
    letters = 0
    for piece, more in _pieces(genomes, size):
        if held and (letters + more > size or piece.last is not None):
            yield Task(held, 1)
            held, letters = [], 0
        if piece.last is not None or more > size:
            yield Task([piece], max(min(-(-more // size), units), 1))
            continue
        held.append(piece)
        letters += more
    if held:
        yield Task(held, 1)


def _pieces(genomes: Genomes, size: int) -> Iterator[tuple[Piece, int]]:
    """Yield Pieces and how many letters they have, about."""
    for number in range(len(genomes)):
        genome = genomes.genome(number)
        piece = Piece(number, genome.label)
        file = None if genome.path == "-" else shared_file(genome.path)
        if file and file.checksum is not None and genome.file is not None:
            names, lengths = genome.file.names, genome.file.sizes
            if genome.named is not None:
                wanted = np.fromiter(map(genome.named.__contains__, names), np.bool_, len(names))
                lengths = np.where(wanted, lengths, 0)
            if len(names) < 2 or lengths.sum() <= size:
                yield piece._replace(file=file), int(lengths.sum())
                continue
            for first, last, letters in _cuts(lengths.tolist(), size):
                yield piece._replace(first=first, last=last, file=file), letters
        elif file and genomes.named and file.letters <= size:
            yield piece._replace(file=file), file.letters
        else:
            yield from _sent(piece, genome, size)


def _cuts(lengths: Sequence[int], size: int) -> Iterator[tuple[int, int, int]]:
    """Yield (first, last, letters) of records that come together."""
    first = letters = 0
    for number, length in enumerate(lengths):
        if number > first and letters + length > size:
            yield first, number, letters
            first, letters = number, 0
        letters += length
    yield first, len(lengths), letters


def _sent(piece: Piece, genome: Genome, size: int) -> Iterator[tuple[Piece, int]]:
    """The same of a genome that is read here, of records that come together."""
    held: list[Stretch] = []
    first = last = letters = 0

    def together() -> tuple[Piece, int]:
        return piece._replace(first=first, last=last, content=content_of(held)), letters

    for part in genome.whole_parts():
        if held and letters + len(part.letters) > size:
            yield together()
            first, held, letters = last, [], 0
        held.append(part)
        last, letters = last + len(part.names), letters + len(part.letters)
    yield together()


def filled(genomes: Genomes, task: Task) -> Task:
    """A task with its records, for workers that do not see their files."""
    pieces = []
    for piece in task.pieces:
        if piece.content is None:
            genome = genomes.genome(piece.genome)
            parts = genome.whole_parts()
            if piece.last is not None and genome.file is not None:
                parts = genome.file.stretches(None, piece.first, piece.last)
            piece = piece._replace(content=content_of(parts))
        pieces.append(piece)
    return task._replace(pieces=pieces)


class Spread:
    """The tasks of a search of genomes on a cluster; units: the most groups of a task."""

    def __init__(self, run: Run, genomes: Genomes, regions: Regions | None, units: int) -> None:
        self._run, self._genomes, self._regions = run, genomes, regions
        self._units = units if run.algorithm == ENGINE else 1
        self._opened = ExitStack()
        self._cluster = self._opened.enter_context(connected(run.scheduler))
        self.engine = Workers(self._cluster.describe())
        self.progress = Progress()
        self._told: set[str] = set()  # warnings

    def answers(self, find: Callable[..., Any]) -> Iterator[tuple[Task, list[Answer]]]:
        """Yield each Task with the answers of its groups, in order."""
        with self._opened:
            yield from self._answers(find)

    def _answers(self, find: Callable[..., Any]) -> Iterator[tuple[Task, list[Answer]]]:
        genomes, run = self._genomes, self._run._replace(scheduler=None)
        circular = genomes.circular.of_part() if genomes.circular else None
        run = run._replace(threads=run.threads or 1)
        job = Job(find, genomes.view, self._regions, circular, run)
        letters, size = genomes.expected_letters, MOST
        if letters is not None:
            size = min(max(letters // (SHARES * self._cluster.threads), LEAST), MOST)
        tasks = tasks_of(genomes, size, self._units)
        found = self._cluster.answers(job, tasks, partial(filled, genomes))
        for number, (task, answers) in enumerate(found, 1):
            for answer in answers:
                self._hear(answer)
            self.progress.join(answers[0].progress)
            done = (task.pieces[-1].genome + 1, len(genomes))
            self.progress.reach(*(done if genomes.named else (number, None)))
            yield task, answers
        genomes.check_circular()

    def _hear(self, answer: Answer) -> None:
        for warning in answer.warnings:
            if warning not in self._told:
                self._told.add(warning)
                warn(warning)
        if self._genomes.circular:
            self._genomes.circular.hear(answer.missing)
        if self._regions:
            self._regions.join(answer.met, answer.lengths)


class Workers(NamedTuple):
    """What a search runs on, in place of an engine."""

    description: str


class ClusterSearch(Search[HitBatch]):
    """The search of a Query on the cluster that its Run names."""

    def __init__(
        self, query: Query, genomes: Genomes, run: Run, regions: Regions | None = None
    ) -> None:
        self.narrows = query.problem != "best"
        super().__init__(genomes, run, regions)
        if run.algorithm == ENGINE:  # a group alone misses errors of the whole panel
            begin_search(query, as_genomes(Genome.from_records([])), Run("cpu", 1))
        self._query = query
        units = len(distinct_patterns(query.patterns)[0])
        self._spread = Spread(run, genomes, regions, units)
        self.engine, self.progress = self._spread.engine, self._spread.progress

    def everywhere(self) -> Iterator[HitBatch]:
        """Yield the hits of one genome after another, as workers find them."""
        batches = self._hits()
        if self._query.problem == "best":
            batches = _closest(batches, self.genomes, self._query.patterns)
        for batch in batches:
            for first in range(0, len(batch), ROWS):
                yield batch.picked(slice(first, first + ROWS))

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        raise NotImplementedError

    def _hits(self) -> Iterator[HitBatch]:
        """Yield the hits of each piece, or a HitBatch without rows, in order."""
        circles: dict[int, int] = {}  # letters of circular records, by number
        genomes = self.genomes
        self._spread._regions = self.regions
        for task, answers in self._spread.answers(partial(find_hits, self._query)):
            for number, piece in enumerate(task.pieces):
                parts = [part for each in answers if (part := each.found.get(number))]
                batch = _merged(parts)
                circles = circles if piece.first else {}
                for part in parts:
                    of_piece = part.origin.circles or {}
                    circles.update((piece.first + each, of_piece[each]) for each in of_piece)
                known = circles if genomes.circular else None
                name = genomes.names[piece.genome] if genomes.named else None
                names = {piece.first + each: batch.names[each] for each in batch.names}
                origin = Origin(piece.genome, name, known)
                record = batch.record + piece.first
                yield replace(batch, record=record, names=names, origin=origin)


def _merged(parts: list[HitBatch]) -> HitBatch:
    """The hits of groups of patterns in one order, in arrays that kernels may take."""
    batch = joined([no_hits(), *parts])
    order = np.arange(len(batch))
    if len(parts) > 1:  # equal rows are of one group
        keys = (batch.pattern, batch.minus, batch.end, batch.start, batch.record)
        order = np.lexsort(keys)
    return batch.picked(order)


def _closest(
    batches: Iterable[HitBatch], genomes: Genomes, patterns: PatternSet
) -> Iterator[HitBatch]:
    """The hits at the smallest distance of their pattern in a genome, out of those in pieces."""
    for number, of_one in groupby(batches, lambda batch: batch.origin.number):
        least = patterns.lengths.copy()
        held = []
        for batch in of_one:
            np.minimum.at(least, batch.pattern, batch.distance)
            held.append(batch.picked(np.flatnonzero(batch.distance == least[batch.pattern])))
        where = f" in {genomes.names[number]}" if genomes.named else ""
        for missing in np.flatnonzero(least == patterns.lengths).tolist():
            warn(f"pattern '{patterns.names[missing]}' matches nowhere{where}")
        for batch in held:
            yield batch.picked(np.flatnonzero(batch.distance == least[batch.pattern]))


class ClusterPrimerSearch:
    """As a PrimerSearch: workers raise the bounds of starts by records of the background."""

    def __init__(self, target: Genome, background: Genome, k: int, options: Any, run: Run) -> None:
        from kmatch.search.primer import PrimerStarts

        self._k, self._options = k, options
        self._starts = PrimerStarts(target, k, options)
        units = max(len(self._starts.known.masks) // STARTS, 1)
        self._spread = Spread(run, as_genomes(background), None, units)
        self.engine, self.progress = self._spread.engine, self._spread.progress
        self.progress.add(self._starts.spans)

    def __iter__(self) -> Iterator[Any]:
        known = self._starts.known
        find = partial(find_bounds, known, self._k, self._options)
        for _, answers in self._spread.answers(find):
            found = np.concatenate([each.found for each in answers])
            np.maximum(known.bounds, found, known.bounds)
        yield from self._starts.batches()
