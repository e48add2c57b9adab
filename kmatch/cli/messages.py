"""Messages and progress on standard error, as loud as asked for."""

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kmatch.errors import KmatchWarning

WORD = 200  # characters of one word of a message, such as a name or a path
MESSAGE = 1000  # characters of a message
# characters of a line for a bar's label at most, and for the bar at least
LABEL = 32
REST = 48
ESTIMATED = 600.0  # seconds of a search by whose speed the rest is estimated
_CUT = " … "
_LONG_WORD = re.compile(rf"\S{{{WORD + 1},}}")

Advance = Callable[[int | None, int | None], None]  # (consumed, size), in bytes or tasks


def one_line(message: str) -> str:
    """Return a message as one line that is safe to print: names in it may come from anyone's files.

    Characters that cannot be printed, such as an escape sequence for the terminal, are escaped as
    Python does; a text that is too long loses its middle.
    """
    cut = _LONG_WORD.sub(lambda word: shorten(word[0], WORD), " ".join(message.split()))
    return shorten("".join(map(_printable, shorten(cut, MESSAGE))), MESSAGE)


def shorten(text: str, longest: int) -> str:
    """Return a text of at most `longest` characters; a longer one loses its middle."""
    if len(text) <= longest:
        return text
    end = (longest - len(_CUT)) // 3
    return text[: longest - len(_CUT) - end] + _CUT + text[-end:]


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


class Messages:
    """The messages of a command; the names in them may come from anyone's files."""

    def __init__(self, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose and not quiet
        self._remove_bar: Callable[[], None] = lambda: None
        if quiet:
            warnings.simplefilter("ignore", KmatchWarning)

    def detail(self, message: str) -> None:
        """Print a detail, with --verbose only."""
        if self.verbose:
            _say(message)

    def conclude(self, message: str) -> None:
        """Print a summary on a terminal, or where --verbose asks for it."""
        if self.verbose or self._is_watched():
            _say(message)

    def answer(self, message: str) -> None:
        """Print a message, but not with --quiet."""
        if not self.quiet:
            _say(message)

    @contextmanager
    def progress(self, label: str, in_tasks: bool = False) -> Iterator[Advance | None]:
        """Give a function (consumed, size) that moves a bar on a terminal; elsewhere None.

        label: a path, whose base name the bar shows; in_tasks: whether these are tasks,
        and not bytes.
        """
        if not self._is_watched():
            yield None
            return
        from rich import progress as rich
        from rich.console import Console

        words = rich.TextColumn("{task.description}", markup=False)
        done = rich.MofNCompleteColumn() if in_tasks else rich.DownloadColumn()
        left = rich.TimeRemainingColumn()
        columns = (words, rich.BarColumn(), done, rich.TimeElapsedColumn(), left)
        console = Console(stderr=True)
        bar = rich.Progress(
            *columns, console=console, transient=True, speed_estimate_period=ESTIMATED
        )
        with bar as progress:
            longest = max(8, min(LABEL, console.width - REST))
            name = one_line(label)
            task = progress.add_task(shorten(os.path.basename(name) or name, longest), total=None)
            self._remove_bar = progress.stop
            yield lambda consumed, size: progress.update(task, completed=consumed, total=size)

    def make_way(self) -> None:
        """Remove the bar before rows go to the terminal on which it is drawn."""
        self._remove_bar()

    @contextmanager
    def announcing_compiling(self) -> Iterator[None]:
        """Say, once, that kernels have to be compiled while the block runs; and, with --verbose,
        why some are compiled by every process."""
        from kmatch.jit.entries import listeners

        reasons: list[str] = []  # of each kernel

        def announce(name: str, reason: str) -> None:
            if not reasons:
                self.answer("compiling kernels, once a machine; this takes up to a minute")
            reasons.append(reason and f"{name}: {reason}")

        listeners.append(announce)
        try:
            yield
        finally:
            listeners.remove(announce)
        if any(reasons):
            self.detail(f"kernels are compiled by each process: {next(filter(None, reasons))}")

    def _is_watched(self) -> bool:
        """Return whether messages go to a terminal."""
        return not self.quiet and sys.stderr.isatty()


@contextmanager
def showing_warnings() -> Iterator[None]:
    """Print kmatch's own warnings as other messages are, each once, while the block runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", KmatchWarning)
        plain = warnings.showwarning
        said: set[str] = set()

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, KmatchWarning):
                if str(message) not in said:
                    said.add(str(message))
                    _say(f"warning: {message}")
            else:
                plain(message, category, *where, **more)

        warnings.showwarning = show
        yield


def _say(message: str) -> None:
    print(f"kmatch: {one_line(message)}", file=sys.stderr)
