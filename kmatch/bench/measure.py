"""A case searched by the engine and by published algorithms: hits, times, and rows of figures."""

import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from kmatch.arrays import Bytes, Longs
from kmatch.engine.devices import choose_engine
from kmatch.errors import DeviceError, InputError
from kmatch.genome import Genome, as_genomes
from kmatch.published.registry import ENGINE, PUBLISHED, Algorithm
from kmatch.published.search import Published
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
        others = self.patterns if self.background is None else self.background
        return len(self.letters) * len(others)

    @property
    def cells(self) -> int:
        """Letters of text × letters of all patterns; 0 for primers, whose matrices end early."""
        return len(self.letters) * sum(map(len, self.patterns))


def random_letters(count: int, seed: int = SEED) -> Bytes:
    """Independent letters A, C, G and T, each as often as the others."""
    codes = np.random.default_rng(seed).integers(0, 4, count, np.uint8)
    return np.frombuffer(b"ACGT", np.uint8)[codes]


def read_letters(path: str, count: int) -> Bytes:
    """The first letters of a genome file, with an N after each record."""
    parts: list[Bytes] = []
    for record in Genome(path, keep=False).records():
        parts += [np.asarray(record.letters), np.frombuffer(b"N", np.uint8)]
        if sum(map(len, parts)) >= count:
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
    """What a search found, in how many seconds.

    hits: int64[c, h], equal for equal hits: starts and lengths; patterns and smallest distances; or
    patterns, positions and distances. kernel: of the kernels alone; call: of the whole call.
    """

    hits: Longs
    kernel: float
    call: float


def by_engine(case: Case, device: str, threads: int | None = None) -> Answer:
    """The engine's Answer: `call` packs the text, `kernel` finds it packed."""
    genome = Genome.from_records([("text", case.letters)])
    began = time.perf_counter()
    batches = _batches(_search(case, genome, device, threads))
    call = time.perf_counter() - began
    search = _search(case, genome, device, threads)
    kernels = search.engine.time_kernels()
    _batches(search)
    if case.background is not None:
        hits = _sorted([(batch.start, batch.end - batch.start) for batch in batches])
    elif case.command == "best":
        hits = _closest(case, [(batch.pattern, batch.distance) for batch in batches])
    elif case.command == "edit":
        hits = _sorted([(batch.pattern, batch.end - 1, batch.distance) for batch in batches])
    else:
        hits = _sorted([(batch.pattern, batch.start, batch.distance) for batch in batches])
    return Answer(hits, kernels.seconds, call)


def _search(case: Case, genome: Genome, device: str, threads: int | None) -> Any:
    """The search of a case, to be iterated."""
    run = Run(device, threads, aligned=False)
    if case.background is not None:
        background = Genome.from_records([("background", case.background)])
        options = PrimerOptions(background_strand="+")
        return PrimerSearch(genome, background, case.k, options, run)
    report = "ends" if case.command == "edit" else None
    query = Query(case.command, load_patterns(case.patterns), case.k, "+", report=report)
    return begin_search(query, as_genomes(genome), run)


def _batches(search: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return list(search)


def by_published(case: Case, engine: Any, algorithm: Algorithm) -> Answer:
    """The Answer of a published algorithm: `call` goes from masks to hits, both on the host."""
    published = Published(engine, algorithm)
    masks = encode_text(case.letters)
    patterns = [encode(pattern, pattern) for pattern in case.patterns]
    began = time.perf_counter()
    text = published.text(masks)
    parts: list[tuple[Any, ...]]
    if case.background is not None:
        background = published.text(encode_text(case.background))
        parts = [published.hits(text, background, case.k)]
    elif case.command == "best":
        parts = [(number, published.smallest(text, x)) for number, x in enumerate(patterns)]
    else:
        parts = list(published.windows(text, patterns, case.k))
    call = time.perf_counter() - began
    if case.command == "best":
        return Answer(_closest(case, parts), text.seconds, call)
    if case.background is None:
        parts = [(np.full(len(at), number), at, distance) for number, at, distance in parts]
    return Answer(_sorted(parts), text.seconds, call)


def _sorted(parts: list[tuple[Any, ...]]) -> Longs:
    """Columns of hits, part by part, as an Answer has them."""
    parts = [part for part in parts if len(part[0])]
    if not parts:
        return np.zeros((0, 0), np.int64)
    columns = np.hstack([np.array(part, np.int64) for part in parts])
    return columns[:, np.lexsort(columns)]


def _closest(case: Case, parts: list[tuple[Any, ...]]) -> Longs:
    """The smallest distance of each pattern, m where it matches nowhere."""
    distances = np.array(list(map(len, case.patterns)), np.int64)
    for patterns, distance in parts:
        np.minimum.at(distances, patterns, distance)
    return np.array([np.arange(len(distances)), distances])


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
    return part, Answer(answer.hits, kernel, call)


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
        hits: dict[int, Longs] = {}  # the engine's, by letters of text
        for device, engine in self._engines.items():
            row = self._row(case, engine, None, hits)
            rates[device], row.of_engine = row.rate, 1.0
            yield row
        longest = max(map(len, case.patterns), default=0)
        for algorithm in PUBLISHED[case.command]:
            for device, engine in self._runs_on(algorithm, first):
                if algorithm.limit_below(longest, device):
                    continue
                if wanted is not None and (algorithm.name, device) not in wanted:
                    continue
                try:
                    row = self._row(case, engine, algorithm, hits)
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

    def _row(
        self, case: Case, engine: Any, algorithm: Algorithm | None, hits: dict[int, Longs]
    ) -> Row:
        """The Row of a published algorithm, or of the engine; hits: the engine's so far."""
        if algorithm is None:
            head = case

            def search(part: Case) -> Answer:
                return by_engine(part, engine.device, self._threads)
        else:
            head = case.head(TABLE // max(len(case.patterns), 1))

            def search(part: Case) -> Answer:
                return by_published(part, engine, algorithm)

        smallest = self._smallest if case.background is None else 2 * case.k
        part, answer = measured(search, head, self.seconds, smallest)
        size = len(part.letters)
        if algorithm is not None and size not in hits:
            hits[size] = by_engine(part, next(iter(self._engines.values())).device).hits
        return Row(
            case.command,
            algorithm.name if algorithm else ENGINE,
            algorithm.paper if algorithm else "",
            device=engine.name,
            threads=engine.threads if engine.name == "cpu" else 0,
            asked=len(case.letters),
            size=size,
            patterns=len(case.patterns),
            m=max(map(len, case.patterns), default=0),
            k=case.k,
            kernel=answer.kernel,
            call=answer.call,
            pairs=part.pairs,
            cells=part.cells,
            hits=answer.hits.shape[1],
            equal=algorithm is None or np.array_equal(answer.hits, hits[size]),
        )


def _ratio(rate: float, other: float | None) -> float | None:
    return rate / other if other else None
