"""Searches on a Dask cluster: whole records go to workers, and their hits come back in order.

A piece is whole records of one genome; a task searches one for a group of the patterns. Nothing of
Dask is imported before a search asks for it.
"""

import io
import logging
import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain, groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

import kmatch
import kmatch.published.registry  # offers its algorithms to searches
from kmatch.apps.primer import raise_bounds
from kmatch.arguments import Gaps
from kmatch.arrays import Longs
from kmatch.engine.types import part_of
from kmatch.errors import ClusterError, InputError, KmatchError, NameWarning, counted, hearing, warn
from kmatch.genome import Genome, Genomes, as_genomes
from kmatch.jit.folders import digest
from kmatch.packed.writer import write_packed
from kmatch.results.batches import HitBatch, joined, no_hits
from kmatch.search.algorithms import ENGINE, choose_algorithm
from kmatch.search.begin import begin_here
from kmatch.search.best import closest_of, moved
from kmatch.search.query import Query, Run
from kmatch.search.regions import Regions
from kmatch.search.search import Progress, Search
from kmatch.sequences.patterns import PatternSet
from kmatch.sequences.records import Stretch, whole_stretches
from kmatch.sequences.selection import Selection

CONNECT = 10.0  # seconds that a scheduler has to answer
WORKERS = 60.0  # seconds without any worker
TICK = 0.5  # seconds between looks at the cluster
TRIES = 3  # of a task
AHEAD = 2  # tasks in flight for each thread of a worker
SHARES = 4  # tasks for each thread, where there are records or patterns enough
# letters of a piece
LEAST = 1 << 18
MOST = 1 << 24
# Dask gives each of these a level; they say on standard error what errors say too.
LOGS = ("distributed", "distributed.client", "distributed.gc", "tornado.application")
STARTS = 1 << 12  # starts of primers in a group, at least
# Of kmatch and of its sources: workers need the same one.
VERSION = f"{kmatch.__version__} ({digest(kmatch.__version__)[:8]})"
Group = tuple[int, int]  # of patterns, or of starts of primers: the first, and behind the last


def shared_file(genome: Genome) -> tuple[str, int, int, int | None] | None:
    """Return an identity of a Genome's file: absolute path, bytes, time of change in nanoseconds,
    and the checksum of a packed genome's index. None for anything but a regular file."""
    if genome.path == "-" or not os.path.isfile(genome.path):
        return None
    found = os.stat(genome.path)
    checksum = genome.file.checksum if genome.file else None
    path = os.path.abspath(os.fspath(genome.path))
    return path, found.st_size, found.st_mtime_ns, checksum


class Piece(NamedTuple):
    """Whole records of a genome.

    genome: its number among the searched genomes; label: how messages name it; letters: about how
    many; first, last: the numbers of the first record and of the record behind the last, None for
    all of a file; file: the `shared_file` that workers may read, and gaps: how gaps in it are
    taken, as in Genome; records: gives them, to the client alone; content: a packed genome of them,
    where they are sent; selection: takes these records out of the file, None for all.
    """

    genome: int
    label: str
    letters: int
    first: int = 0
    last: int | None = None
    file: tuple[str, int, int, int | None] | None = None
    gaps: Gaps | None = None
    records: Any = None
    content: bytes | None = None
    selection: Selection | None = None

    def opened(self) -> Genome | None:
        """Return the Genome of the records; None where this machine has not got their file."""
        if self.content is not None:
            return Genome.of_packed(self.label, bytearray(self.content))
        assert self.file is not None
        with suppress(OSError, InputError):
            genome = Genome(self.file[0], keep=False, gaps=self.gaps)
            if shared_file(genome) == self.file:
                genome.label = self.label
                genome = genome.only(self.selection)
                packed = genome.file
                if packed is None or self.last == self.first + len(packed.names):
                    return genome  # it is searched as it lies
                parts = packed.stretches(None, self.first, self.last)
                return Genome.of_stretches(self.label, parts)
        return None


def pieces_of(search: Search[Any], size: int) -> Iterator[Piece]:
    """Yield the Pieces of the genomes, of about `size` letters each.

    A longer record is one piece. A record that needs no search is empty.
    """
    genomes = search.genomes
    narrow = search.narrow
    for number in range(len(genomes)):
        genome = genomes.genome(number)
        packed = genome.file
        file = shared_file(genome)
        letters = genome.expected_letters or 0
        if file and not packed and genomes.named and 0 < letters <= size:
            piece = Piece(number, genome.label, letters, file=file, records=genome.parts)
            yield piece._replace(gaps=genome.gaps, selection=genome.selection)
            continue
        parts = genome.parts()
        last = 0
        for held in _cuts(map(narrow.narrowed, parts) if narrow else parts, size):
            letters = sum(len(part.letters) for part in held)
            first, last = last, last + sum(len(part.names) for part in held)
            seen = file if packed else None
            piece = Piece(
                number, genome.label, letters, first, last, seen, records=partial(iter, held)
            )
            yield piece._replace(selection=genome.selection)


def _cuts(parts: Iterable[Stretch], size: int) -> Iterator[list[Stretch]]:
    """Yield records that come together, at least once; empty ones are beside others, if any."""
    held: list[Stretch] = []
    letters = 0
    for part in whole_stretches(parts):
        if letters and len(part.letters) and letters + len(part.letters) > size:
            yield held
            held = []
            letters = 0
        held.append(part)
        letters += len(part.letters)
    yield held


# What workers do


class Answer(NamedTuple):
    """The results of a task: its Progress, warnings of names, names of circular records that are
    missing, the records that regions name, with their letters, the Selection, and the records that
    are circles by their file."""

    found: Any
    progress: Progress
    warnings: list[str]
    missing: list[str]
    lengths: dict[str, int]
    selection: Selection | None
    circles: dict[str, None]


def search_piece(
    job: tuple[str, bytes], piece: Piece, group: Group
) -> "Answer | KmatchError | None":
    """Search a piece for a group of the patterns.

    job: the client's version and, pickled, find(genomes, regions, group), which gives the hits and
    the Progress of the search, and the circular records and regions of genomes. An error that
    another try cannot mend is an answer, too. A worker that has not got the file answers None.
    """
    if job[0] != VERSION:
        return ClusterError(
            f"a worker has kmatch {VERSION}, and this is kmatch {job[0]}: install the same "
            "version there, or stop that worker"
        )
    find, circular, regions = pickle.loads(job[1])
    try:
        with hearing() as heard:
            if (genome := piece.opened()) is None:
                return None
            genomes = Genomes([genome])
            genomes.circular = circular
            found, progress = find(genomes=genomes, regions=regions, group=group)
    except KmatchError as error:
        path = piece.file[0] if piece.file else piece.label
        return type(error)(str(error).replace(path, piece.label, 1))
    names = [str(each) for each in heard if isinstance(each, NameWarning)]
    missing = list(circular.missing if circular else ())
    lengths = regions and regions.lengths
    circles = genome.circles
    return Answer(found, progress, names, missing, lengths or {}, genome.selection, circles)


def find_hits(
    query: Query, run: Run, genomes: Genomes, regions: Regions | None, group: Group
) -> tuple[HitBatch, Progress]:
    """Return the hits of a group of the patterns of a Query."""
    numbers = np.arange(*group)
    search = begin_here(query.take(numbers, query.k), genomes, run, regions)
    batch = joined([no_hits(), *search.everywhere()])
    return replace(batch, pattern=numbers[batch.pattern].astype(np.int32)), search.progress


def find_bounds(
    starts: Any, k: int, options: Any, run: Run, genomes: Genomes, regions: None, group: Group
) -> tuple[Longs, Progress]:
    """Return the bounds of a group of the starts of primers, int64[n], that a background
    requires."""
    engine = choose_algorithm("primer", PatternSet([], []), run)
    begin, end = group
    bounds = raise_bounds(part_of(starts, begin, end), genomes.genome(0), k, options, engine)
    return bounds[: end - begin], Progress()


# What the client does


class ClusterSearch(Search[HitBatch]):
    """The search of a Query on the cluster that its Run names."""

    def __init__(
        self, query: Query, genomes: Genomes, run: Run, regions: Regions | None = None
    ) -> None:
        super().__init__(genomes, run, regions)
        if run.algorithm == ENGINE:  # a group alone misses errors of the whole panel
            begin_here(query, as_genomes(Genome.from_records([])), Run("cpu", 1))
        self._query = query
        self.engine = run.cluster
        self.narrows = not query.whole

    def everywhere(self) -> Iterator[HitBatch]:
        """Yield the hits of one genome after another, as workers find them."""
        return self._closest() if self._query.whole else self._hits()

    def _hits(self) -> Iterator[HitBatch]:
        """Yield the hits of each piece, or a HitBatch without rows, in order."""
        query = self._query
        genomes = self.genomes
        count = len(self._query.patterns)
        for piece, parts in self.engine.answers(self, partial(find_hits, query), count, count):
            batch = joined(parts) if len(parts) == 1 else joined(parts).in_order()
            if piece.last is not None:
                batch = moved(batch, np.arange(piece.first, piece.last))
            name = genomes.names[piece.genome] if genomes.named else None
            yield replace(batch, origin=batch.origin._replace(number=piece.genome, name=name))

    def _closest(self) -> Iterator[HitBatch]:
        """Yield the closest hits in each genome, out of the closest hits in each piece."""
        genomes = self.genomes
        patterns = self._query.patterns
        for number, batches in groupby(self._hits(), lambda batch: batch.origin.number):
            name = genomes.names[number] if genomes.named else None
            yield from closest_of(list(batches), patterns, name)


class Cluster:
    """The workers of a Dask cluster, which search in place of this machine.

    client: a distributed.Client; description: as an engine has it.
    """

    search = ClusterSearch  # as `kmatch.search.begin.begin_here`

    def __init__(self, client: Any) -> None:
        self._client = client
        self._address = str(client.scheduler.address if client.scheduler else client)
        self.description = f"{counted(self._wait_for_workers(), 'worker')} at {self._address}"
        self._sends = False  # whether a worker had not got a file

    def raise_bounds(
        self, starts: Any, background: Genome, k: int, options: Any, run: Run, progress: Progress
    ) -> None:
        """Raise the bounds of Starts in place, to what records of the background ask for."""
        search = Search[Any](as_genomes(background), run)
        search.progress = progress
        count = len(starts.masks)
        find = partial(find_bounds, starts, k, options)
        most = max(count // STARTS, 1)
        for _, found in self.answers(search, find, count, most):
            np.maximum(starts.bounds, np.concatenate(found), out=starts.bounds)

    def answers(
        self, search: Search[Any], find: Callable[..., Any], count: int, most: int
    ) -> Iterator[tuple[Piece, list[Any]]]:
        """Yield each Piece with the results of find(run, genomes, regions, group) for its groups.

        Pieces come in order, and the search hears the notes of tasks. count: of patterns, or of
        starts of primers; most: the greatest number of groups that are made of these.
        """
        shares = SHARES * self._threads
        letters = search.genomes.expected_letters or MOST * shares
        piece_letters = min(max(letters // shares, LEAST), MOST)
        job = self._job(search, find)

        def start(piece: Piece) -> list[Any]:
            group_count = 1
            if search.run.algorithm == ENGINE:
                group_count = max(min(-(-piece.letters // piece_letters), most), 1)
            bounds = (count * np.arange(group_count + 1) // group_count).tolist()
            sent = self._sent(piece)
            return [self._submit(search_piece, job, sent, group) for group in pairwise(bounds)]

        found = self._in_order(pieces_of(search, piece_letters), start)
        for number, (piece, answers) in enumerate(found, 1):
            _take_note(search, number, piece, answers[0])  # as all groups have met the same
            yield piece, [answer.found for answer in answers]

    def _job(self, search: Search[Any], find: Callable[..., Any]) -> Any:
        """Return a task that gives the first argument of `search_piece`.

        As the result of a task it is sent once, and made anew where a worker dies.
        """
        run = search.run
        worker = run._replace(cluster=None, threads=run.threads or 1)
        given = pickle.dumps((partial(find, run=worker), search.genomes.circular, search.regions))
        job = self._submit(tuple, (VERSION, given))
        with suppress(Exception):  # or tasks would go to the worker that has it first
            self._client.replicate([job], callback_timeout=CONNECT)
        return job

    def _sent(self, piece: Piece) -> Any:
        """Return a Piece as workers take it: with its letters where they may lack its file."""
        sent = piece._replace(records=None)
        if not self._sends and piece.file is not None:
            return sent
        handle = io.BytesIO()
        write_packed(piece.records(), handle)
        return self._submit(Piece, *sent._replace(content=handle.getvalue()))

    def _in_order(
        self, pieces: Iterator[Piece], start: Callable[[Piece], list[Any]]
    ) -> Iterator[tuple[Piece, list[Answer]]]:
        """Yield each Piece with the answers of the tasks that `start` begins for it; a window of
        tasks is in flight."""
        waiting: deque[tuple[Piece, list[Any]]] = deque()
        try:
            for piece in chain(pieces, [None]):
                if piece:
                    waiting.append((piece, start(piece)))
                most = AHEAD * self._threads if piece else 0
                while waiting and sum(len(tasks) for _, tasks in waiting) > most:
                    first, tasks = waiting[0]
                    answers = [self._outcome(first, task) for task in tasks]
                    if None in answers:
                        self._sends = True
                        waiting[0] = first, start(first)
                    else:
                        waiting.popleft()
                        yield first, answers
        finally:
            with suppress(Exception):
                self._client.cancel([task for _, tasks in waiting for task in tasks])

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(function, *arguments, pure=False, retries=TRIES - 1)

    def _outcome(self, piece: Piece, future: Any) -> Any:
        """Wait for the result of a task; raises where it failed."""
        while not future.done():
            with suppress(Exception):  # mostly that the time is over
                future.exception(timeout=TICK)
            self._wait_for_workers()
        try:
            found = future.result()
        except Exception as error:
            self._wait_for_workers()  # a scheduler that is gone is another error
            raise ClusterError(
                f"the search of {piece.label} failed {TRIES} times, the last time "
                f"{type(error).__name__}: {error}; where workers die, give them more memory, or "
                "search fewer patterns at a time"
            ) from error
        if isinstance(found, KmatchError):
            raise found
        return found

    def _wait_for_workers(self) -> int:
        """Wait for the first worker; return how many there are, and take note of their threads."""
        try:
            self._client.wait_for_workers(1, timeout=WORKERS)
            threads = self._client.nthreads(callback_timeout=CONNECT)
        except TimeoutError as error:
            raise ClusterError(
                f"the scheduler {self._address} has had no worker for {WORKERS:.0f} s; "
                f"start some with: dask worker {self._address}"
            ) from error
        except Exception as error:
            raise ClusterError(
                f"the scheduler {self._address} is gone; start it and its workers again, and "
                "search once more"
            ) from error
        self._threads = sum(threads.values())
        return len(threads)


def _take_note(search: Search[Any], number: int, piece: Piece, met: Answer) -> None:
    """Have a search hear the notes of a task on a Piece, which is the number-th that came back."""
    genomes = search.genomes
    if piece.last is None:  # other genomes are opened here, and warn here
        for warning in met.warnings:
            warn(warning, NameWarning)
    genomes.genome(piece.genome).circles.update(met.circles)
    if genomes.circular:
        genomes.circular.hear(met.missing)
    if genomes.selection and met.selection:
        genomes.selection.hear(met.selection)
    if search.regions:
        search.regions.join(met.lengths)
    search.progress.join(met.progress)
    if genomes.named:
        search.progress.come_to(piece.genome + 1, len(genomes))
    else:
        search.progress.come_to(number, None)


@contextmanager
def connected(scheduler: Any) -> Iterator[Cluster]:
    """Give the Cluster of a scheduler: of its address, of its file, or of a distributed.Client.

    Raises ClusterError where none answers.
    """
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise ClusterError(
            "a search on a cluster needs Dask, which is not installed; "
            "install it with: pip install 'dask[distributed]'"
        ) from error
    with ExitStack() as stack:
        # Letters are meant to be in messages: Dask need not warn of them.
        silent = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}
        stack.enter_context(dask.config.set(silent))
        if isinstance(scheduler, Client):
            yield Cluster(scheduler)
            return
        where = str(scheduler)
        for name in LOGS:
            log = logging.getLogger(name)
            stack.callback(log.setLevel, log.level)
            log.setLevel(logging.CRITICAL)
        try:
            kind = "address" if "://" in where else "scheduler_file"
            if kind == "scheduler_file":
                open(where).close()  # Dask would wait for it
            client: Any = Client(**{kind: where}, timeout=CONNECT, set_as_default=False)
        except Exception as error:
            why = str(error).strip().rstrip(".") or type(error).__name__
            raise ClusterError(
                f"no Dask scheduler answers at {where} ({why}); start one with dask scheduler, and "
                "give its address, such as tcp://host:8786, its --scheduler-file, or a "
                "distributed.Client"
            ) from error
        yield Cluster(stack.enter_context(client))
