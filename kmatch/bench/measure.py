"""A case searched by the engine and by published algorithms: hits, times, and rows of figures."""

import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import numpy as np

import kmatch
from kmatch.arrays import Bytes, Longs
from kmatch.engine.devices import choose_engine
from kmatch.engine.engine import Engine
from kmatch.errors import DeviceError, InputError
from kmatch.genome import as_genomes
from kmatch.published.registry import ENGINE, PUBLISHED, Algorithm
from kmatch.published.run import Run as Published
from kmatch.results.table import Hits, Primers
from kmatch.search.primer import PrimerOptions, PrimerSearch
from kmatch.search.query import Query, Run
from kmatch.search.search import begin_search
from kmatch.sequences.alphabet import encode, encode_text
from kmatch.sequences.patterns import load_patterns

SEED = 1
NEAR = 1 << 14  # patterns come from the first letters, so that a shorter text holds them too
TRIES = 100
REPEAT = 3
GROWTH = 32  # of a text from one trial to the next, at most
SMALLEST = 1 << 14  # letters for the slowest algorithm
TABLE = 1 << 30  # cells of a published algorithm's table, at most


class Case(NamedTuple):
    """A search: a text, ASCII letters, for patterns within k.

    command: of kmatch; background: letters of the background where the text is a target of primers.
    """

    command: str
    letters: Bytes
    patterns: list[str]
    k: int
    background: Bytes | None = None

    def head(self, size: int) -> Self:
        """The same search in the first letters of the text."""
        return self._replace(letters=self.letters[:size])

    @property
    def pairs(self) -> int:
        """Letters of text × patterns; for primers, × letters of background."""
        others = len(self.patterns) if self.background is None else len(self.background)
        return len(self.letters) * others

    @property
    def cells(self) -> int:
        """Letters of text × letters of all patterns; 0 for primers, whose matrices end early."""
        return len(self.letters) * sum(map(len, self.patterns))


def make_case(command: str, letters: Bytes, length: int, count: int, k: int) -> Case:
    """The Case of a command for patterns cut from the letters with k changes."""
    return Case(command, letters, cut_patterns(letters, length, count, k), k)


def random_letters(count: int, seed: int = SEED) -> Bytes:
    """Independent letters A, C, G and T, each as often as the others."""
    codes = np.random.default_rng(seed).integers(0, 4, count, np.uint8)
    letters: Bytes = np.frombuffer(b"ACGT", np.uint8)[codes]
    return letters


def read_letters(path: str, count: int | None = None) -> Bytes:
    """The first `count` letters of a genome file, or all of them, with an N after each record."""
    parts: list[Bytes] = []
    length = 0
    for record in kmatch.Genome(path, keep=False).records():
        parts += [np.asarray(record.letters), np.frombuffer(b"N", np.uint8)]
        length += len(record.letters) + 1
        if count is not None and length >= count:
            break
    letters = np.concatenate(parts)[:count]
    if not encode_text(letters).any():
        raise InputError(f"{path}: no letter is A, C, G or T; give another genome")
    return letters


def cut_patterns(
    letters: Bytes, length: int, count: int, changes: int, seed: int = SEED
) -> list[str]:
    """Patterns cut from the beginning of a text, with `changes` letters of each drawn anew.

    Raises InputError where the text is shorter than a pattern.
    """
    random = np.random.default_rng(seed)
    last = min(len(letters), NEAR) - length
    if last < 0:
        raise InputError(f"a text of {len(letters)} letters is too short for patterns of {length}")
    patterns: list[str] = []
    for _ in range(count):
        for _ in range(TRIES):  # for a window without N
            at = random.integers(0, last + 1)
            pattern = letters[at : at + length].copy()
            if encode_text(pattern).all():
                break
        else:
            pattern = random_letters(length, seed)
        changed = random.choice(length, min(changes, length), replace=False)
        pattern[changed] = random_letters(len(changed), seed + len(patterns) + 1)
        patterns.append(pattern.tobytes().decode("ascii").upper())
    return patterns


class Answer(NamedTuple):
    """Hits as sorted keys, equal for equal hits, and the seconds of a search.

    kernel: of the kernels alone; call: of the whole call.
    """

    keys: Longs
    kernel: float
    call: float


Columns = tuple[Longs, ...]  # start, length; pattern, distance; or pattern, position, distance


def by_engine(case: Case, device: str, threads: int | None = None) -> Answer:
    """The engine's Answer: `call` packs the text, `kernel` finds it packed."""
    genome = kmatch.Genome.from_records([("text", case.letters)])
    began = time.perf_counter()
    columns = _engine_columns(case, _found(case, _search(case, genome, device, threads)))
    call = time.perf_counter() - began
    search = _search(case, genome, device, threads)
    kernels = search.engine.time_kernels()
    _found(case, search)
    return Answer(_keys(case, columns), kernels.seconds, call)


def _search(case: Case, genome: kmatch.Genome, device: str, threads: int | None) -> Any:
    """The search of a case, to be iterated."""
    how = Run(device, threads, aligned=False)
    if case.background is not None:
        background = kmatch.Genome.from_records([("background", case.background)])
        options = PrimerOptions(background_strand="+")
        return PrimerSearch(genome, background, case.k, options, how)
    report = "ends" if case.command == "edit" else None
    query = Query(case.command, load_patterns(case.patterns), case.k, "+", report=report)
    return begin_search(query, as_genomes(genome), how)


def _found(case: Case, search: Any) -> Any:
    """The Hits or Primers of a search."""
    if case.background is not None:
        return Primers(search, case.k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return Hits(search, load_patterns(case.patterns))


def _engine_columns(case: Case, hits: Any) -> Columns:
    """What the published algorithms return, too, as arrays; made when it is first used."""
    if case.background is not None:
        return hits.start, hits.length
    if case.command == "best":
        return hits.pattern_number, hits.distance
    position = hits.end - 1 if case.command == "edit" else hits.start
    return hits.pattern_number, position, hits.distance


def by_published(case: Case, engine: Engine, algorithm: Algorithm) -> Answer:
    """The Answer of a published algorithm: `call` goes from masks to hits, both on the host."""
    run = Published(engine, algorithm)
    masks = encode_text(case.letters)
    patterns = [encode(pattern, pattern) for pattern in case.patterns]
    began = time.perf_counter()
    text = run.text(masks)
    columns = _published_columns(case, run, text, patterns)
    call = time.perf_counter() - began
    return Answer(_keys(case, columns), text.seconds, call)


def _published_columns(case: Case, run: Published, text: Any, patterns: list[Bytes]) -> Columns:
    if case.background is not None:
        return run.primers(text, run.text(encode_text(case.background)), case.k)
    if case.command == "best":
        smallest = [run.smallest(text, pattern) for pattern in patterns]
        return np.arange(len(patterns)), np.array(smallest, np.int64)
    if case.command == "edit":
        hits = [(i, *run.ends(text, pattern, case.k)) for i, pattern in enumerate(patterns)]
    else:
        hits = list(run.windows(text, patterns, case.k))
    none = np.zeros(0, np.int64)
    numbers = [np.full(len(position), number) for number, position, _ in hits]
    columns = numbers, [hit[1] for hit in hits], [hit[2] for hit in hits]
    return tuple(np.concatenate([none, *column]) for column in columns)


def _keys(case: Case, columns: Columns) -> Longs:
    if case.background is not None:
        start, length = columns
        return start * (len(case.letters) + 1) + length
    if case.command == "best":
        distances = np.array([len(pattern) for pattern in case.patterns], np.int64)
        np.minimum.at(distances, *columns)
        return distances
    number, position, distance = columns
    numbered = position.astype(np.int64) * len(case.patterns) + number
    return np.sort(numbered * (case.k + 1) + distance)


def measured(
    search: Callable[[Case], Answer], case: Case, seconds: float, smallest: int
) -> tuple[Case, Answer]:
    """Time a search in as much of a text as it does in so many seconds.

    smallest: letters of text that are searched in any case. Returns the Case with the part of its
    text that was searched, and the Answer; times are medians of REPEAT searches where one takes no
    longer than `seconds`.
    """
    search(case.head(max([case.k, *map(len, case.patterns)]) + 1))  # compiles
    whole = len(case.letters)
    size = min(smallest, whole)
    while True:
        part = case.head(size)
        answer = search(part)
        if answer.call > seconds / 2:  # perhaps it compiled what shorter texts do not need
            answer = search(part)
        growth = int(seconds / answer.call)
        if size == whole or growth < 2:
            break
        size = min(whole, size * min(growth, GROWTH))
    answers = [search(part) for _ in range(REPEAT)] if growth else [answer]
    kernel = statistics.median(answer.kernel for answer in answers)
    call = statistics.median(answer.call for answer in answers)
    return part, Answer(answer.keys, kernel, call)


@dataclass
class Row:
    """The figures of an algorithm on a device.

    threads: of the CPU, 0 for a GPU; size: letters of text searched, of `asked`; kernel, call:
    seconds; equal: whether its hits are the engine's; of_engine, of_sequential: its rate ÷ that of
    the engine on the same device, and of its paper's first algorithm on one CPU thread, None
    without such a row.
    """

    command: str
    algorithm: str
    paper: str
    device: str
    threads: int
    asked: int
    size: int
    patterns: int
    m: int
    k: int
    kernel: float
    call: float
    pairs: int
    cells: int
    hits: int
    equal: bool
    of_engine: float | None = None
    of_sequential: float | None = None

    @property
    def rate(self) -> float:
        """bp·pattern/s of the kernel: letters of text × patterns ÷ its time."""
        return self.pairs / self.kernel if self.kernel else 0.0

    @property
    def cups(self) -> float:
        """Cells of the matrix, letters of text × letters of pattern, ÷ time of the kernel."""
        return self.cells / self.kernel if self.kernel else 0.0

    def figures(self) -> dict[str, Any]:
        """The row as numbers and strings by name."""
        return asdict(self) | {"bp_pattern_s": self.rate, "cups": self.cups}


class Bench:
    """Runs the engine and the published algorithms on the devices that `device` stands for.

    device: `cpu`; `auto`, which adds a usable GPU; or `cuda`, which keeps only those of the CPU's
    algorithms that papers compare with. threads: of the engine on the CPU; seconds: a search's
    longest time; smallest: letters for the slowest algorithm. Raises DeviceError for a device that
    cannot be used.
    """

    def __init__(
        self, device: str, threads: int | None = None, *, seconds: float, smallest: int = SMALLEST
    ) -> None:
        self.seconds, self._threads, self._smallest = seconds, threads, smallest
        self._engines: dict[str, Any] = {}
        if not device.startswith("cuda"):
            self._engines["cpu"] = choose_engine("cpu", threads)
        if device != "cpu":
            try:
                self._engines["cuda"] = choose_engine(device.replace("auto", "cuda"), threads)
            except DeviceError:
                if device != "auto":
                    raise
        self._sequential = choose_engine("cpu", 1)
        self.devices = list(self._engines)

    def describe(self) -> list[str]:
        """A line on the hardware of each engine."""
        return [engine.description for engine in self._engines.values()]

    def rows(self, case: Case, wanted: set[tuple[str, str]] | None = None) -> Iterator[Row]:
        """Yield the Row of every algorithm for a Case, the engine's first.

        wanted: (algorithm, device) of the published ones to run, None for all of them.
        """
        rates: dict[str, float] = {}  # of the engine, by device
        first: dict[str, float] = {}  # of a paper's sequential algorithm, by paper
        answers: dict[int, Longs] = {}  # the engine's hits, by letters of text
        for device in self.devices:
            row = self._engine_row(case, device)
            rates[device] = row.rate
            row.of_engine = 1.0
            yield row
        for algorithm in PUBLISHED[case.command]:
            for device, engine in self._runs_on(algorithm, first):
                longest = max(map(len, case.patterns), default=0)
                if algorithm.limit_below(longest, device):
                    continue
                if wanted is not None and (algorithm.name, device) not in wanted:
                    continue
                try:
                    row = self._published_row(case, algorithm, engine, answers)
                except InputError:
                    continue  # its layout does not hold them
                if device == "cpu":
                    first.setdefault(algorithm.paper, row.rate)
                row.of_engine = _ratio(row.rate, rates.get(device))
                row.of_sequential = _ratio(row.rate, first.get(algorithm.paper))
                yield row

    def _runs_on(self, algorithm: Algorithm, first: dict[str, float]) -> Iterator[tuple[str, Any]]:
        """Yield (device, engine) for an algorithm; a paper's first one runs on one CPU thread."""
        for device in algorithm.devices:
            if device == "cpu" and algorithm.paper not in first:
                yield device, self._sequential
            elif device in self._engines:
                yield device, self._engines[device]

    def _engine_row(self, case: Case, device: str) -> Row:
        engine = self._engines[device]

        def search(part: Case) -> Answer:
            return by_engine(part, engine.device, self._threads)

        return _row(case, *self._measured(search, case), engine, ENGINE, "", True)

    def _published_row(
        self, case: Case, algorithm: Algorithm, engine: Any, answers: dict[int, Longs]
    ) -> Row:
        head = case.head(TABLE // max(len(case.patterns), 1))
        part, answer = self._measured(lambda part: by_published(part, engine, algorithm), head)
        size = len(part.letters)
        if size not in answers:
            answers[size] = by_engine(part, next(iter(self._engines.values())).device).keys
        equal = np.array_equal(answer.keys, answers[size])
        return _row(case, part, answer, engine, algorithm.name, algorithm.paper, equal)

    def _measured(self, search: Callable[[Case], Answer], case: Case) -> tuple[Case, Answer]:
        smallest = self._smallest if case.background is None else 2 * case.k
        return measured(search, case, self.seconds, smallest)


def _row(
    case: Case, part: Case, answer: Answer, engine: Any, name: str, paper: str, equal: bool
) -> Row:
    """The Row of an algorithm on a Case, the part of it that was searched, and the Answer."""
    return Row(
        case.command,
        name,
        paper,
        device=engine.name,
        threads=engine.threads if engine.name == "cpu" else 0,
        asked=len(case.letters),
        size=len(part.letters),
        patterns=len(case.patterns),
        m=max(map(len, case.patterns), default=0),
        k=case.k,
        kernel=answer.kernel,
        call=answer.call,
        pairs=part.pairs,
        cells=part.cells,
        hits=len(answer.keys),
        equal=equal,
    )


def _ratio(rate: float, other: float | None) -> float | None:
    return rate / other if other else None
