"""Searches on a Dask cluster: whole records go to workers, and what they find comes back in order.

A piece is whole records of one genome; a task searches one for a group of the patterns. Nothing of
Dask is imported before a search asks for it.
"""

import io
import logging
import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

import kmatch
from kmatch.arrays import Longs
from kmatch.errors import ClusterError, InputError, KmatchError, NameWarning, hearing, warn
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.packed.writer import write_packed
from kmatch.published.registry import ENGINE, choose_algorithm
from kmatch.results.batches import HitBatch, Origin, joined, no_hits
from kmatch.search.panel import distinct_patterns
from kmatch.search.query import Query, Run
from kmatch.search.regions import Regions
from kmatch.search.search import Progress, Search, begin_search
from kmatch.sequences.patterns import PatternSet
from kmatch.sequences.records import Stretch, whole_stretches

CONNECT = 10.0  # seconds that a scheduler has to answer
WORKERS = 60.0  # seconds without any worker
TICK = 0.5  # seconds between looks at the cluster
TRIES = 3  # of a task
AHEAD = 2  # tasks in flight for each thread of a worker
SHARES = 4  # tasks for each thread, where there are records or patterns enough
LEAST, MOST = 1 << 18, 1 << 24  # letters of a piece
STARTS = 1 << 12  # starts of primers in a group, at least
ROWS = 1 << 16  # hits handed on at a time
OPEN = 8  # packed genomes that a worker keeps mapped
Group = tuple[int, int]  # the number of a group of the patterns, and how many groups there are


def begin_anywhere(query: Query, genomes: Genomes, run: Run, regions: Regions | None = None) -> Any:
    """The search of a Query on the cluster that a Run names, or else here."""
    if run.variants is not None:
        from kmatch.search.variants import VariantSearch

        search = begin_anywhere(query, genomes, run._replace(variants=None), regions)
        return VariantSearch(search, query, run.variants)
    if run.scheduler is None:
        return begin_search(query, genomes, run, regions)
    return ClusterSearch(query, genomes, run, regions)


def primers_anywhere(target: Genome, background: Genome, k: int, options: Any, run: Run) -> Any:
    """The search for primers on the cluster that a Run names, or else here."""
    from kmatch.search.primer import PrimerSearch

    if run.scheduler is None:
        return PrimerSearch(target, background, k, options, run)
    return ClusterPrimerSearch(target, background, k, options, run)


def version() -> str:
    """The version of kmatch, with a digest of its sources: workers need the same one."""
    from kmatch.jit.folders import digest

    return f"{kmatch.__version__} ({digest(kmatch.__version__)[:8]})"


class SharedFile(NamedTuple):
    """What identifies a file: its absolute path, bytes, time of change in nanoseconds, and the
    checksum of a packed genome's index, else None."""

    path: str
    size: int
    changed: int
    checksum: int | None

    def opened(self, label: str) -> Genome | None:
        """The Genome of the file, named by its label; None where this machine has not got it."""
        with suppress(OSError, InputError):
            genome = (_opened if self.checksum is None else _mapped)(self.path, label)
            return genome if shared_file(genome) == self else None
        return None


def shared_file(genome: Genome) -> SharedFile | None:
    """The SharedFile of a Genome; None for what is no regular file."""
    if genome.path == "-" or not os.path.isfile(genome.path):
        return None
    found, checksum = os.stat(genome.path), genome.file.checksum if genome.file else None
    path = os.path.abspath(os.fspath(genome.path))
    return SharedFile(path, found.st_size, found.st_mtime_ns, checksum)


def _opened(path: str, label: str) -> Genome:
    genome = Genome(path, keep=False)
    genome.label = label
    return genome


_mapped = lru_cache(OPEN)(_opened)  # packed genomes stay mapped


class Piece(NamedTuple):
    """Whole records of a genome.

    genome: its number among those searched; label: how messages name it; letters: about how many;
    file: what workers may read; first, last: the number of the first record and that behind the
    last, None for all; content: a packed genome of the records, where they are sent.
    """

    genome: int
    label: str
    letters: int
    file: SharedFile | None
    first: int = 0
    last: int | None = None
    content: bytes | None = None

    def opened(self) -> Genome | None:
        """The Genome of the records; None where this machine has not got their file."""
        if self.content is not None:
            return Genome.of_packed(self.label, bytearray(self.content))
        genome = self.file.opened(self.label) if self.file else None
        if genome is None or self.last is None or genome.file is None:
            return genome
        parts = genome.file.stretches(None, self.first, self.last)
        return Genome.of_stretches(self.label, parts)

    def sent(self, parts: Iterable[Stretch]) -> "Piece":
        """The piece with its records."""
        handle = io.BytesIO()
        write_packed(parts, handle)
        return self._replace(content=handle.getvalue())


def pieces_of(genomes: Genomes, size: int, narrow: Regions | None = None) -> Iterator[Piece]:
    """Yield the Pieces of genomes, of about `size` letters each; a longer record is one.

    narrow: Regions, in whose records alone is searched.
    """
    for number in range(len(genomes)):
        genome = genomes.genome(number)
        packed, file, letters = genome.file, shared_file(genome), genome.expected_letters or 0
        whole = Piece(number, genome.label, letters, file)
        parts: Iterable[tuple[int, int, Any]]
        if file and packed:
            wanted = [narrow is None or name in narrow for name in packed.names]
            each = (packed.sizes * wanted).tolist()
            parts = ((1, letters, None) for letters in each)
        elif file and genomes.named and 0 < letters <= size:
            yield whole
            continue
        else:
            stretches = whole_parts(genome, narrow)
            parts = ((len(part.names), len(part.letters), part) for part in stretches)
        for first, last, letters, held in _cuts(parts, size):
            piece = whole._replace(letters=letters, first=first, last=last)
            if not (file and packed):
                piece = piece._replace(file=None).sent(held)
            elif (first, last) == (0, len(packed.names)):
                piece = piece._replace(last=None)  # it is searched as it lies there
            yield piece


def whole_parts(genome: Genome, narrow: Regions | None) -> Iterator[Stretch]:
    """The whole records of a genome, of which some may have no letters (see `Regions.narrowed`)."""
    parts = genome.parts()
    return whole_stretches(map(narrow.narrowed, parts) if narrow else parts)


def _cuts(
    parts: Iterable[tuple[int, int, Any]], size: int
) -> Iterator[tuple[int, int, int, list[Any]]]:
    """Yield (first, last, letters, parts) of records that come together, at least once.

    parts: (records, letters, part) of each.
    """
    first = last = letters = 0
    held: list[Any] = []
    for records, more, part in parts:
        if held and letters + more > size:
            yield first, last, letters, held
            first, letters, held = last, 0, []
        held.append(part)
        last, letters = last + records, letters + more
    yield first, last, letters, held


# What workers do


class Answer(NamedTuple):
    """What a task found, and met: its Progress, warnings of names, names of circular records that
    there were not, and the records that regions name, with their letters."""

    found: Any
    progress: Progress
    warnings: list[str]
    missing: list[str]
    lengths: dict[str, int]


def search_piece(
    job: tuple[str, bytes], piece: Piece, group: Group
) -> "Answer | KmatchError | None":
    """Search a piece for a group of the patterns.

    job: the client's version and, pickled, find(genomes, regions, group), which gives what is found
    and the Progress of the search, and the circular records and regions of genomes. An error that
    another try cannot mend is an answer, too; None is that of a worker that has not got the file.
    """
    if job[0] != version():
        return ClusterError(
            f"a worker has kmatch {version()}, and this is kmatch {job[0]}: install the same "
            "version there, or stop that worker"
        )
    find, circular, regions = pickle.loads(job[1])
    try:
        with hearing() as heard:
            if (genome := piece.opened()) is None:
                return None
            genomes = Genomes([genome])
            genomes.circular = circular
            found, progress = find(genomes, regions, group)
    except KmatchError as error:
        path = piece.file.path if piece.file else piece.label
        return type(error)(str(error).replace(path, piece.label, 1))
    names = [str(each) for each in heard if isinstance(each, NameWarning)]
    missing, lengths = list(circular.missing if circular else ()), regions and regions.lengths
    return Answer(found, progress, names, missing, lengths or {})


def find_hits(
    query: Query, run: Run, genomes: Genomes, regions: Regions | None, group: Group
) -> tuple[HitBatch, Progress]:
    """The hits of a group of the patterns of a Query."""
    distinct, copies = distinct_patterns(query.patterns)
    begin, end = (len(distinct) * (group[0] + more) // group[1] for more in (0, 1))
    # Copies stay together, as their hits share an order.
    numbers = np.sort(copies.numbers[copies.bounds[begin] : copies.bounds[end]])
    part = query._replace(patterns=query.patterns.take(numbers))
    search = begin_search(part, genomes, run, regions)
    batch = joined([no_hits(), *search.everywhere()])
    return replace(batch, pattern=numbers[batch.pattern]), search.progress


def find_bounds(
    starts: Any, k: int, options: Any, run: Run, genomes: Genomes, regions: None, group: Group
) -> tuple[Longs, Progress]:
    """The bounds of a group of the starts of primers, int64[n], that a background requires."""
    from kmatch.engine.types import part_of
    from kmatch.search.primer import raise_bounds

    begin, end = (len(starts.masks) * (group[0] + more) // group[1] for more in (0, 1))
    part = part_of(starts, begin, end)
    chosen = choose_algorithm("primer", (), run)
    bounds = raise_bounds(part, genomes.genome(0), k, options, chosen)
    return bounds[: end - begin], Progress()


# What the client does


class Cluster:
    """The tasks of a search of genomes on the Dask cluster that a Run names.

    units: the most groups of a piece; description: as an engine has it; progress: of all tasks.
    """

    def __init__(self, run: Run, genomes: Genomes, units: int) -> None:
        self.run = run._replace(scheduler=None, threads=run.threads or 1)  # of a worker
        self._genomes = genomes
        self._units = units if run.algorithm == ENGINE else 1
        self._connected = ExitStack()
        self._client = client = self._connected.enter_context(connected(run.scheduler))
        self._address = str(client.scheduler.address if client.scheduler else client)
        self.progress = Progress()
        workers = self._count_threads()
        self.description = f"{workers} worker{'' if workers == 1 else 's'} at {self._address}"
        self._sends = False  # whether a worker had not got a file

    def answers(
        self, find: Callable[..., Any], regions: Regions | None = None, narrows: bool = False
    ) -> Iterator[tuple[Piece, list[Any]]]:
        """Yield each Piece with what was found for its groups, in order; narrows: whether records
        without regions need no search."""
        genomes = self._genomes
        self._narrow = regions if narrows else None
        with self._connected:
            job = version(), pickle.dumps((find, genomes.circular, regions))
            for number, (piece, answers) in enumerate(self._in_order(job), 1):
                met = answers[0]  # as all groups have met it
                for warning in met.warnings if piece.file and piece.file.checksum is None else ():
                    warn(warning, NameWarning)  # other genomes are opened here
                if genomes.circular:
                    genomes.circular.hear(met.missing)
                if regions:
                    regions.join(met.lengths)
                self.progress.join(met.progress)
                done = (piece.genome + 1, len(genomes)) if genomes.named else (number, None)
                self.progress.reach(*done)
                yield piece, [answer.found for answer in answers]

    def _in_order(self, job: Any) -> Iterator[tuple[Piece, list[Answer]]]:
        """Yield each Piece with the answers of its groups, of which a window is in flight."""
        letters, size = self._genomes.expected_letters, MOST
        if letters is not None:
            size = min(max(letters // (SHARES * self._threads), LEAST), MOST)
        job = self._submit(_given, job)
        with suppress(Exception):  # or tasks would go to the worker that has it first
            self._client.replicate([job], callback_timeout=CONNECT)
        waiting: deque[tuple[Piece, list[Any]]] = deque()

        def next_answers() -> tuple[Piece, list[Answer]]:
            piece, futures = waiting[0]
            answers = [self._outcome(piece, future) for future in futures]
            if None in answers:
                self._sends = True
                waiting[0] = self._start(job, piece, len(futures))
                return next_answers()
            return waiting.popleft()[0], answers

        try:
            for piece in pieces_of(self._genomes, size, self._narrow):
                groups = min(-(-piece.letters // size), self._units)
                waiting.append(self._start(job, piece, max(groups, 1)))
                while sum(len(futures) for _, futures in waiting) > AHEAD * self._threads:
                    yield next_answers()
            while waiting:
                yield next_answers()
        finally:
            with suppress(Exception):
                self._client.cancel([future for _, futures in waiting for future in futures])

    def _start(self, job: Any, piece: Piece, groups: int) -> tuple[Piece, list[Any]]:
        """The piece, with its records where a worker lacked a file, and a future a group."""
        if self._sends and piece.content is None:
            genome = self._genomes.genome(piece.genome)
            if genome.file is not None:
                piece = piece.sent(genome.file.stretches(None, piece.first, piece.last))
            else:
                piece = piece.sent(whole_parts(genome, self._narrow))
        sent: Any = piece
        if groups > 1 and piece.content is not None:
            sent = self._submit(_given, piece)
        return piece, [self._submit(search_piece, job, sent, (n, groups)) for n in range(groups)]

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        import dask

        # Letters are meant to be in messages: Dask need not warn of them.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            return self._client.submit(function, *arguments, pure=False, retries=TRIES - 1)

    def _outcome(self, piece: Piece, future: Any) -> Any:
        """Wait for what a task gives; raises where it failed."""
        from distributed import wait

        while not future.done():
            try:
                wait(future, timeout=TICK)
            except TimeoutError:
                self._count_threads()
        try:
            found = future.result()
        except Exception as error:
            self._count_threads()  # the scheduler may be gone
            raise ClusterError(
                f"the search of {piece.label} failed {TRIES} times, the last time "
                f"{type(error).__name__}: {error}; where workers die, give them more memory, or "
                "search fewer patterns at a time"
            ) from error
        if isinstance(found, KmatchError):
            raise found
        return found

    def _count_threads(self) -> int:
        """Count the threads of all workers, and wait for the first one; returns how many there
        are."""
        began = time.monotonic()
        while True:
            try:
                if self._client.status != "running":
                    raise ConnectionError
                asked = self._client.scheduler.ncores
                workers: dict[str, int] = self._client.sync(asked, callback_timeout=CONNECT)
            except Exception as error:
                raise ClusterError(
                    f"the scheduler {self._address} is gone; start it and its workers again, and "
                    "search once more"
                ) from error
            if workers:
                self._threads = max(sum(workers.values()), 1)
                return len(workers)
            if time.monotonic() - began > WORKERS:
                raise ClusterError(
                    f"the scheduler {self._address} has had no worker for {WORKERS:.0f} s; "
                    f"start some with: dask worker {self._address}"
                )
            time.sleep(TICK / 5)


def _given(value: Any) -> Any:
    """A value as the result of a task: it is sent once, and made anew where a worker dies."""
    return value


@contextmanager
def connected(scheduler: Any) -> Iterator[Any]:
    """Give the distributed.Client of a scheduler: of its address, of its file, or as it is.

    Raises ClusterError where none answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError(
            "a search on a cluster needs Dask, which is not installed; "
            "install it with: pip install 'dask[distributed]'"
        ) from error
    if isinstance(scheduler, Client):
        if scheduler.asynchronous or scheduler.status != "running":
            raise ClusterError("the Client is asynchronous or closed; give one that is neither")
        yield scheduler
        return
    address = "an address such as tcp://host:8786"
    if not isinstance(scheduler, str | os.PathLike):
        raise ClusterError(
            f"scheduler is {scheduler!r}; give {address}, the path of a scheduler file, or a "
            "distributed.Client"
        )
    where = "address" if "://" in str(scheduler) else "scheduler_file"
    if where == "scheduler_file" and not os.path.isfile(scheduler):
        raise ClusterError(
            f"scheduler {scheduler}: no such file; give {address}, or the file that dask scheduler "
            "--scheduler-file writes"
        )
    log = logging.getLogger("distributed")  # which says on standard error what errors say too
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        client: Any = Client(**{where: str(scheduler)}, timeout=CONNECT, set_as_default=False)
    except Exception as error:
        log.setLevel(before)
        why = str(error).strip().rstrip(".") or type(error).__name__
        raise ClusterError(
            f"no Dask scheduler answers at {scheduler} ({why}); start one with: dask scheduler"
        ) from error
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=CONNECT)
        log.setLevel(before)


class ClusterSearch(Search[HitBatch]):
    """The search of a Query on the cluster that its Run names."""

    def __init__(
        self, query: Query, genomes: Genomes, run: Run, regions: Regions | None = None
    ) -> None:
        self.narrows = not query.whole
        super().__init__(genomes, run, regions)
        if run.algorithm == ENGINE:  # a group alone misses errors of the whole panel
            begin_search(query, as_genomes(Genome.from_records([])), Run("cpu", 1))
        self._query = query
        self.engine = Cluster(run, genomes, len(distinct_patterns(query.patterns)[0]))
        self.progress = self.engine.progress

    def everywhere(self) -> Iterator[HitBatch]:
        """Yield the hits of one genome after another, as workers find them."""
        batches = self._hits()
        if self._query.whole:
            batches = _closest(batches, self.genomes, self._query.patterns)
        for batch in batches:
            for first in range(0, len(batch), ROWS):
                yield batch.picked(slice(first, first + ROWS))

    def _find(self, genome: Genome) -> Iterable[HitBatch]:
        raise NotImplementedError

    def _hits(self) -> Iterator[HitBatch]:
        """Yield the hits of each piece, or a HitBatch without rows, in order."""
        genomes = self.genomes
        circles: dict[int, int] = {}  # letters of circular records, by number
        find = partial(find_hits, self._query, self.engine.run)
        for piece, parts in self.engine.answers(find, self.regions, self.narrows):
            batch = joined(parts)
            if len(parts) > 1:  # equal rows are of one group
                keys = (batch.pattern, batch.minus, batch.end, batch.start, batch.record)
                batch = batch.picked(np.lexsort(keys))
            circles = circles if piece.first else {}
            for part in parts:
                lengths = part.origin.circles or {}
                circles.update((piece.first + number, lengths[number]) for number in lengths)
            name = genomes.names[piece.genome] if genomes.named else None
            origin = Origin(piece.genome, name, circles if genomes.circular else None)
            names = {piece.first + number: batch.names[number] for number in batch.names}
            yield replace(batch, record=batch.record + piece.first, names=names, origin=origin)


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

        self._starts = PrimerStarts(target, k, options)
        known = self._starts.known
        self.engine = Cluster(run, as_genomes(background), max(len(known.masks) // STARTS, 1))
        self._find = partial(find_bounds, known, k, options, self.engine.run)
        self.progress = self.engine.progress
        self.progress.add(self._starts.spans)

    def __iter__(self) -> Iterator[Any]:
        bounds = self._starts.known.bounds
        for _, found in self.engine.answers(self._find):
            np.maximum(bounds, np.concatenate(found), out=bounds)
        yield from self._starts.batches()
