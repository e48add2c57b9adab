"""`kmatch bench`: the engine and the published algorithms on the same data, their hits compared."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from kmatch.apps.primer import PrimerOptions, PrimerSearch
from kmatch.arrays import Bytes, Longs
from kmatch.engine.devices import choose_engine
from kmatch.errors import DeviceError, InputError
from kmatch.genome import Genome, as_genomes
from kmatch.published.registry import PUBLISHED, Algorithm
from kmatch.published.search import Published
from kmatch.search.algorithms import ENGINE
from kmatch.search.begin import begin_here
from kmatch.search.query import Query, Run
from kmatch.sequences.alphabet import encode, encode_text
from kmatch.sequences.patterns import load_patterns

SEED = 1
NEAR = 1 << 14  # patterns come from the first letters, so that a shorter text holds them too
REPEAT = 3
GROWTH = 32  # of a text from one trial to the next, at most
SMALLEST = 1 << 14  # letters for the slowest algorithm
SIZES = {"cpu": 1 << 23, "cuda": 1 << 27}  # letters of text
TARGET = 2_000  # letters of a target of primers
# Letters of a pattern, patterns, k; of primers letters of background, 0, K.
SETTINGS = {
    "hamming": (20, 1, 3),
    "multi": (20, 8, 3),
    "edit": (20, 1, 3),
    "best": (20, 1, 6),
    "primer": (20_000, 0, 20),
}
DEFINITIONS = (
    "kernel: time of the kernels alone, the text on the device. call: median time from the text in "
    "host memory to the hits there, with copies and packing, and on a GPU some milliseconds a "
    "chunk of the text, since its kernels are timed.",
    "bp·pattern/s: letters of text × patterns ÷ kernel time; for primers the letters of the "
    "background take the place of patterns. × engine: that over bitplane's on the same device.",
    "Forward strand. * An algorithm gets no more of the text than it searches in {seconds:g} s.",
)
COLUMNS = (
    "algorithm",
    "device",
    "text",
    "kernel",
    "call",
    "bp·pattern/s",
    "× engine",
    "hits",
    "same hits",
)

# The figures of an algorithm on a device, by name. threads: of the CPU, 0 for a GPU; size: letters
# of text searched, of `asked`; kernel, call: seconds; bp_pattern_s: by the kernel, 0 where there is
# no clock; equal: whether its hits are the engine's; of_engine: its rate ÷ that of the engine on
# the same device, None without a clock.
Row = dict[str, Any]


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
        """Return the same search in the first letters of the text."""
        return self._replace(letters=self.letters[:size])

    @property
    def longest(self) -> int:
        """Letters of the longest pattern."""
        return max(map(len, self.patterns), default=0)


def make_case(command: str, text: Bytes, m: int, patterns: int, k: int) -> Case:
    """Return a Case of sizes as in SETTINGS."""
    if command == "primer":
        return Case(command, text, [], k, random_letters(m, SEED + 1))
    return Case(command, text, cut_patterns(text, m, patterns, k), k)


def random_letters(count: int, seed: int = SEED) -> Bytes:
    """Independent letters A, C, G and T, each as often as the others."""
    codes = np.random.default_rng(seed).integers(0, 4, count, np.uint8)
    return np.frombuffer(b"ACGT", np.uint8)[codes]


def read_letters(path: str | None, count: int) -> Bytes:
    """Return the first letters of a genome file, with an N after each record, or random ones."""
    if path is None:
        return random_letters(count)
    parts: list[Bytes] = []
    for record in Genome(path, keep=False, gaps="unknown").records():
        parts += [np.asarray(record.letters), np.frombuffer(b"N", np.uint8)]
        if sum(map(len, parts)) >= count:
            break
    return np.concatenate(parts)[:count]


def cut_patterns(letters: Bytes, length: int, count: int, changes: int) -> list[str]:
    """Patterns cut from the beginning of a text, with `changes` letters of each drawn anew.

    Raises InputError where there are no windows of A, C, G and T alone.
    """
    random = np.random.default_rng(SEED)
    known = encode_text(letters[:NEAR]) != 0
    pieces = np.lib.stride_tricks.sliding_window_view(known, min(length, len(known))).all(axis=1)
    starts = np.flatnonzero(pieces & (len(known) >= length))
    if not len(starts):
        raise InputError(f"no {length} letters in a row are A, C, G or T; give another genome")
    patterns = []
    for number, at in enumerate(random.choice(starts, count)):
        pattern = letters[at : at + length].copy()
        changed = random.choice(length, min(changes, length), replace=False)
        pattern[changed] = random_letters(len(changed), SEED + number + 1)
        patterns.append(pattern.tobytes().decode("ascii").upper())
    return patterns


class Answer(NamedTuple):
    """The hits of a search, and its seconds.

    hits: int64[3, h], equal for equal hits: patterns, positions and distances; zeros, starts and
    lengths of primers; or int64[2, P], patterns and their smallest distances. kernel: of the
    kernels alone; call: of the whole call.
    """

    hits: Longs
    kernel: float
    call: float


def by_engine(case: Case, device: str, threads: int | None = None) -> Answer:
    """Return the engine's Answer: `call` packs the text, too."""
    genome = Genome.from_records([("text", case.letters)])
    run = Run(device, threads, aligned=False)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        began = time.perf_counter()
        search: Any
        if case.background is not None:
            background = Genome.from_records([("background", case.background)])
            options = PrimerOptions(background_strand="+")
            search = PrimerSearch(genome, background, case.k, options, run)
        else:
            report = "ends" if case.command == "edit" else None
            query = Query(case.command, load_patterns(case.patterns), case.k, "+", report=report)
            search = begin_here(query, as_genomes(genome), run)
        with search.engine.timing_kernels() as kernel_seconds:
            found = list(search)
            call = time.perf_counter() - began
            kernel = kernel_seconds()
    parts: list[tuple[Any, ...]]
    if case.background is not None:
        parts = [(0, primers.start, primers.end - primers.start) for primers in found]
    elif case.command == "edit":
        parts = [(hits.pattern, hits.end - 1, hits.distance) for hits in found]
    else:
        parts = [(hits.pattern, hits.start, hits.distance) for hits in found]
    return Answer(_in_order(case, parts), kernel, call)


def by_published(case: Case, engine: Any, algorithm: Algorithm) -> Answer:
    """Return the Answer of a published algorithm: `call` goes from masks to hits, both on the
    host."""
    published = Published(engine, algorithm)
    masks = encode_text(case.letters)
    patterns = [encode(pattern) for pattern in case.patterns]
    with engine.timing_kernels() as kernel_seconds:
        began = time.perf_counter()
        parts = _published_parts(case, published, published.text(masks), patterns)
        call = time.perf_counter() - began
        kernel = kernel_seconds()
    return Answer(_in_order(case, parts), kernel, call)


def _published_parts(
    case: Case, published: Published, text: Any, patterns: list[Bytes]
) -> list[tuple[Any, ...]]:
    """Return the hits of a published algorithm, as `_in_order` takes them."""
    if case.background is not None:
        background = published.text(encode_text(case.background))
        return [(0, *published.hits(text, background, case.k))]
    if case.command == "best":
        tables = [published.table(text, pattern, len(pattern)) for pattern in patterns]
        return [(number, 0, [table.min()]) for number, table in enumerate(tables)]
    return list(published.windows(text, patterns, case.k))


def _in_order(case: Case, parts: Iterable[tuple[Any, ...]]) -> Longs:
    """Hits as an Answer has them; parts: their columns, or one number for a column's, by part."""
    rows = [np.stack(np.broadcast_arrays(*part)) for part in parts]
    columns = np.hstack([np.zeros((3, 0), np.int64), *rows])
    if case.command != "best":
        return columns[:, np.lexsort(columns)]
    distances = np.array(list(map(len, case.patterns)))  # where a pattern matches nowhere
    np.minimum.at(distances, columns[0], columns[2])
    return np.array([np.arange(len(distances)), distances])


def measured(search: Callable[[Case], Answer], case: Case, seconds: float) -> tuple[Case, Answer]:
    """Time a search in as much of a text as it does in so many seconds.

    Returns the Case with the part of its text that was searched, and the Answer: of REPEAT searches
    the one that took the median, where one takes no longer than `seconds`.
    """
    search(case.head(max(case.k, case.longest) + 1))  # compiles
    whole = len(case.letters)
    size = min(SMALLEST if case.background is None else 2 * case.k, whole)
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
    return part, sorted(answers, key=lambda answer: answer.call)[len(answers) // 2]


def cells(row: Row) -> list[str]:
    """Return the cells of a Row in the table of COLUMNS."""
    return [
        row["algorithm"],
        row["device"],
        f"{row['size']:,}{'*' * (row['size'] < row['asked'])}",
        shown(row["kernel"], "s"),
        shown(row["call"], "s"),
        shown(row["bp_pattern_s"]),
        "" if row["of_engine"] is None else f"{row['of_engine']:.3g}",
        f"{row['hits']:,}",
        "yes" if row["equal"] else "NO",
    ]


def shown(number: float, unit: str = "") -> str:
    """Return a number in three digits with a prefix, such as `12.3 G`; times from μs to s."""
    prefixes = ["", *"kMGTP"]
    size = 1.0
    if unit:
        prefixes = ["μ", "m", ""]
        size = 1e-6
    while abs(number) >= (1000 if unit else 999.5) * size and len(prefixes) > 1:
        del prefixes[0]
        size *= 1000
    return f"{number / size:.3g} {prefixes[0]}{unit}".strip()


class Bench:
    """Runs the engine and the published algorithms on the devices that `device` stands for.

    device: `cpu`; `cuda`; or `auto`, the CPU and a GPU that can be used. threads: of the engine on
    the CPU; seconds: a search's longest time; devices: a line on the hardware of each engine.
    Raises DeviceError for a device that cannot be used.
    """

    def __init__(self, device: str, threads: int | None, seconds: float) -> None:
        self._seconds = seconds
        self._threads = threads
        self._engines: dict[str, Any] = {}
        if not device.startswith("cuda"):
            self._engines["cpu"] = choose_engine("cpu", threads)
        if device != "cpu":
            try:
                self._engines["cuda"] = choose_engine(device.replace("auto", "cuda"), threads)
            except DeviceError:
                if device != "auto":
                    raise
        self.devices = [engine.description for engine in self._engines.values()]

    def of_commands(
        self, commands: Iterable[str], genome: str | None, size: int | None
    ) -> Iterator[list[Row]]:
        """Yield the Rows of commands at the sizes of SETTINGS.

        genome: a path, None for random letters; size: letters of text, None for a suitable one.
        """
        text = read_letters(genome, size or max(SIZES[device] for device in self._engines))
        for command in commands:
            letters = text[:TARGET] if command == "primer" else text
            yield list(self.rows(make_case(command, letters, *SETTINGS[command])))

    def rows(self, case: Case, module: str | None = None) -> Iterator[Row]:
        """Yield the Row of every algorithm for a Case, the engine's first.

        module: the only one whose algorithms run.
        """
        runs: list[tuple[Any, Algorithm | None]] = [(each, None) for each in self._engines.values()]
        for algorithm in PUBLISHED[case.command]:
            for device in algorithm.devices if module in (None, algorithm.module) else ():
                if device in self._engines and not algorithm.limit_below(case.longest, device):
                    runs.append((self._engines[device], algorithm))
        rates: dict[str, float] = {}  # of the engine, by device
        count = len(case.patterns)
        others = count if case.background is None else len(case.background)
        for engine, published in runs:
            own = partial(by_engine, device=engine.device, threads=self._threads)
            search = partial(by_published, engine=engine, algorithm=published) if published else own
            try:
                part, answer = measured(search, case, self._seconds)
            except InputError:
                if published is None:
                    raise
                continue  # its layout does not hold them
            expected = by_engine(part, runs[0][0].device).hits if published else answer.hits
            rate = len(part.letters) * others / (answer.kernel or np.inf)
            of_engine = rates.setdefault(engine.name, rate)
            yield {
                "command": case.command,
                "algorithm": published.name if published else ENGINE,
                "paper": published.paper if published else "",
                "device": engine.name,
                "threads": engine.threads if engine.name == "cpu" else 0,
                "asked": len(case.letters),
                "size": len(part.letters),
                "patterns": count,
                "m": case.longest,
                "k": case.k,
                "kernel": answer.kernel,
                "call": answer.call,
                "hits": answer.hits.shape[1],
                "equal": np.array_equal(answer.hits, expected),
                "bp_pattern_s": rate,
                "of_engine": rate / of_engine if of_engine else None,
            }
