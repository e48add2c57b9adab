"""All algorithms of a command on the same data, as rows of figures."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kmatch.arrays import Longs
from kmatch.bench.answers import Answer, by_engine, by_published, measured
from kmatch.bench.data import Case
from kmatch.engine.devices import choose_engine
from kmatch.errors import DeviceError, InputError
from kmatch.published.registry import ENGINE, PUBLISHED, Algorithm

SMALLEST = 1 << 14  # letters for the slowest algorithm
Keys = dict[int, Longs]  # of the engine's hits, by letters of text

TABLE = 1 << 30  # cells of a published algorithm's table, at most


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
        answers: Keys = {}
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
                    row = self._published_row(case, algorithm, device, engine, answers)
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
        part, answer = self._measured(
            lambda part: by_engine(part, engine.device, self._threads), case
        )
        figures = _figures(case, part, answer) | _hardware(device, engine)
        return Row(algorithm=ENGINE, paper="", equal=True, **figures)

    def _published_row(
        self,
        case: Case,
        algorithm: Algorithm,
        device: str,
        engine: Any,
        answers: dict[int, Longs],
    ) -> Row:
        head = case.head(TABLE // max(len(case.patterns), 1))
        part, answer = self._measured(lambda part: by_published(part, engine, algorithm), head)
        size = len(part.letters)
        if size not in answers:
            answers[size] = by_engine(part, next(iter(self._engines.values())).device).keys
        equal = np.array_equal(answer.keys, answers[size])
        figures = _figures(case, part, answer) | _hardware(device, engine)
        return Row(algorithm=algorithm.name, paper=algorithm.paper, equal=equal, **figures)

    def _measured(self, search: Callable[[Case], Answer], case: Case) -> tuple[Case, Answer]:
        smallest = self._smallest if case.background is None else 2 * case.k
        return measured(search, case, self.seconds, smallest)


def _figures(case: Case, part: Case, answer: Answer) -> dict[str, Any]:
    """The columns of a Row on a Case, the part of it that was searched, and the Answer."""
    return {
        "command": case.command,
        "asked": len(case.letters),
        "size": len(part.letters),
        "patterns": len(case.patterns),
        "m": max(map(len, case.patterns), default=0),
        "k": case.k,
        "kernel": answer.kernel,
        "call": answer.call,
        "pairs": part.pairs,
        "cells": part.cells,
        "hits": len(answer.keys),
    }


def _hardware(device: str, engine: Any) -> dict[str, Any]:
    return {"device": device, "threads": engine.threads if device == "cpu" else 0}


def _ratio(rate: float, other: float | None) -> float | None:
    return rate / other if other else None
