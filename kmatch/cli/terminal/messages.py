"""Messages on standard error: warnings, details and progress, as loud as asked for."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kmatch import interrupts
from kmatch.cli.terminal.printable import lines_that_fit, one_line
from kmatch.cli.terminal.progress import Advance, Compiled, compiling_bar, progress_bar
from kmatch.errors import KmatchWarning

if TYPE_CHECKING:
    from kmatch.engine.protocol import Engine

HOUR = 3600  # seconds
_NAME = "kmatch: "  # before each line
_USUAL = 80  # columns of a terminal that does not know its size


class Messages:
    """The messages of a command; the names in them may come from anyone's files.

    A command's work starts and continues through these methods, so they also raise again an
    interrupt that other code has swallowed.
    """

    def __init__(self, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose and not quiet
        self._remove_bar: Callable[[], None] = lambda: None
        self._topics: set[str] = set()
        if quiet:
            warnings.simplefilter("ignore", KmatchWarning)

    def warn(self, message: str) -> None:
        if not self.quiet:
            _say(f"warning: {message}")

    def warn_once(self, topic: str, message: str) -> None:
        """Warn, but only once of a topic."""
        if topic not in self._topics:
            self._topics.add(topic)
            self.warn(message)

    def detail(self, message: str) -> None:
        """Print a detail, with --verbose only."""
        if self.verbose:
            _say(message)

    def conclude(self, *parts: str) -> None:
        """Say on a terminal, or where --verbose asks for it, what was done.

        parts: as many of them in a line as fit the terminal.
        """
        if self.verbose or self._is_watched():
            for line in lines_that_fit(parts, _columns() - len(_NAME)):
                _say(line)

    def device(self, engine: "Engine") -> None:
        """Say what the chosen engine runs on."""
        interrupts.check()
        self.detail(f"device: {engine.description}")

    def expected(self, seconds: float) -> None:
        """Say whether a search will take long."""
        if seconds > HOUR and (self.verbose or self._is_watched()):
            hours = seconds / HOUR
            _say(f"this search will take about {hours:,.0f} h; Ctrl-C ends it and leaves no file")

    @contextmanager
    def progress(self, label: str, in_shards: bool = False) -> Iterator[Advance | None]:
        """Give a function (consumed, size) that moves a bar on a terminal; elsewhere None.

        in_shards: whether these are shards, and not bytes.
        """
        interrupts.check()
        if not self._is_watched():
            yield None
            return
        with progress_bar(one_line(label), in_shards) as (advance, self._remove_bar):
            yield advance

    def make_way(self) -> None:
        """Remove the bar before rows go to the terminal on which it is drawn."""
        if sys.stdout is not None and sys.stdout.isatty():
            self._remove_bar()

    @contextmanager
    def compiling_progress(self) -> Iterator[Compiled | None]:
        """As `progress`, for kernels compiled: gives a function (functions, done, tasks)."""
        if not self._is_watched():
            yield None
            return
        with compiling_bar() as advance:
            yield advance

    @contextmanager
    def announcing_compiling(self) -> Iterator[None]:
        """Say on a terminal, once, that kernels have to be compiled while the block runs."""
        if not self._is_watched():
            yield
            return
        from kmatch.jit import on_compile

        announced = False

        def announce(name: str) -> None:
            nonlocal announced
            if not announced:
                _say("compiling kernels, once a machine; this takes up to half a minute")
            announced = True

        with on_compile(announce):
            yield

    def _is_watched(self) -> bool:
        """Whether messages go to a terminal."""
        return not self.quiet and sys.stderr.isatty()


@contextmanager
def showing_warnings() -> Iterator[None]:
    """Print kmatch's own warnings as other messages are, while the block runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", KmatchWarning)
        plain = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, KmatchWarning):
                _say(f"warning: {message}")
            else:
                plain(message, category, *where, **more)

        warnings.showwarning = show
        yield


def _columns() -> int:
    """The columns of the terminal that standard error is; elsewhere more than any line has."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL
    except (OSError, ValueError):
        return sys.maxsize


def _say(message: str) -> None:
    print(f"{_NAME}{one_line(message)}", file=sys.stderr)
