"""All algorithms of a command on the same data, as rows of figures."""

from dataclasses import asdict, dataclass

import numpy as np

from kmatch.bench.timing import by_engine, by_published, measured
from kmatch.engine.devices import choose_engine
from kmatch.errors import DeviceError, InputError
from kmatch.published.registry import ENGINE, PUBLISHED

SMALLEST = 1 << 14  # letters that the slowest algorithm gets
TABLE = 1 << 30  # places of a table at the most


@dataclass
class Row:
    """What an algorithm took on a device.

    threads: the CPU's, 0 for a GPU; size: letters of text, of `asked`; kernel, call: seconds;
    equal: whether its hits are the engine's; of_engine, of_sequential: its rate over that of the
    engine on the same device, and of its paper's first algorithm on one CPU thread, None where
    there is none.
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
    def rate(self):
        """bp·pattern/s of the kernel: letters of text × patterns ÷ its time."""
        return self.pairs / self.kernel if self.kernel else 0.0

    @property
    def cups(self):
        """Cells of the matrix, letters of text × letters of pattern, ÷ time of the kernel."""
        return self.cells / self.kernel if self.kernel else 0.0

    def figures(self):
        """All of it as a dict of numbers and strings."""
        return asdict(self) | {"bp_pattern_s": self.rate, "cups": self.cups}


class Bench:
    """Runs algorithms of the registry on the devices that `device` stands for.

    device: `cpu`; `auto`, which adds a usable GPU; or `cuda`, which leaves of the CPU's algorithms
    only the sequential ones that papers compare with. threads: of the engine on the CPU; seconds:
    that a search should take at most; smallest: letters that the slowest gets. Raises DeviceError
    for a device that cannot be used.
    """

    def __init__(self, device, threads=None, *, seconds, smallest=SMALLEST):
        self.seconds, self._threads, self._smallest = seconds, threads, smallest
        self._engines = {}
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

    def describe(self):
        """What the engines run on, a line each."""
        return [engine.description for engine in self._engines.values()]

    def rows(self, case, wanted=None):
        """Yield the Row of every algorithm for a Case: the engine's, then the papers' in order.

        wanted: pairs of names and devices, where not all are.
        """
        rates, first, answers = {}, {}, {}
        for device in self.devices:
            row = self._engine_row(case, device)
            rates[device] = row.rate
            row.of_engine = 1.0
            yield row
        for algorithm in PUBLISHED[case.command]:
            for device, engine in self._places(algorithm, first):
                longest = max(map(len, case.patterns), default=0)
                if algorithm.limit_below(longest, device):
                    continue
                if wanted is not None and (algorithm.name, device) not in wanted:
                    continue
                try:
                    row = self._published_row(case, algorithm, device, engine, answers)
                except InputError:
                    continue  # beyond what its layout holds
                if device == "cpu":
                    first.setdefault(algorithm.paper, row.rate)
                row.of_engine = _ratio(row.rate, rates.get(device))
                row.of_sequential = _ratio(row.rate, first.get(algorithm.paper))
                yield row

    def _places(self, algorithm, first):
        """(device, engine) pairs that an algorithm runs on; a paper's first on one CPU thread."""
        for device in algorithm.devices:
            if device == "cpu" and algorithm.paper not in first:
                yield device, self._sequential
            elif device in self._engines:
                yield device, self._engines[device]

    def _engine_row(self, case, device):
        place = self._engines[device].place
        part, answer = self._measured(lambda part: by_engine(part, place, self._threads), case)
        engine = self._engines[device]
        return self._row(case, part, ENGINE, "", device, engine, answer, True)

    def _published_row(self, case, algorithm, device, engine, answers):
        head = case.head(TABLE // max(len(case.patterns), 1))
        part, answer = self._measured(lambda part: by_published(part, engine, algorithm), head)
        size = len(part.letters)
        if size not in answers:
            answers[size] = by_engine(part, next(iter(self._engines.values())).place).keys
        equal = np.array_equal(answer.keys, answers[size])
        paper = algorithm.paper
        return self._row(case, part, algorithm.name, paper, device, engine, answer, equal)

    def _measured(self, search, case):
        smallest = self._smallest if case.background is None else 2 * case.k
        return measured(search, case, self.seconds, smallest)

    def _row(self, case, part, name, paper, device, engine, answer, equal):
        return Row(
            command=case.command,
            algorithm=name,
            paper=paper,
            device=device,
            threads=engine.threads if device == "cpu" else 0,
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
            equal=bool(equal),
        )


def _ratio(rate, other):
    return rate / other if other else None
