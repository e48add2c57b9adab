"""Progress bars on a terminal."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kmatch.cli.terminal.printable import shorten

LABEL, REST = 32, 44  # characters of a line for the label at most, and for the bar at least

Advance = Callable[[int | None, int | None], None]  # (consumed, size), in bytes
Compiled = Callable[[int, int, int], None]  # (functions, done, tasks)


@contextmanager
def progress_bar(
    label: str, in_shards: bool = False
) -> Iterator[tuple[Advance, Callable[[], None]]]:
    """Draw a bar on standard error while the block runs, labelled by the base name of a path.

    Gives two functions: (consumed, size) moves the bar, () removes it before the block ends.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    text = TextColumn("{task.description}", markup=False)
    done = (MofNCompleteColumn(), TextColumn("shards")) if in_shards else (DownloadColumn(),)
    columns = (text, BarColumn(), *done, TimeElapsedColumn())
    console = Console(stderr=True)
    longest = max(8, min(LABEL, console.width - REST))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(shorten(os.path.basename(label) or label, longest), total=None)

        def advance(consumed: int | None, size: int | None) -> None:
            progress.update(task, completed=consumed, total=size)

        yield advance, progress.stop


@contextmanager
def compiling_bar() -> Iterator[Compiled]:
    """Draw a bar of the kernels compiled; gives a function (functions, done, tasks)."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("compiling: {task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("0 functions", total=None)

        def advance(functions: int, done: int, tasks: int) -> None:
            description = f"{functions} functions"
            progress.update(task, description=description, completed=done, total=tasks)

        yield advance
