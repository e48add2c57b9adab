"""Progress on a terminal."""

from contextlib import contextmanager

from kmatch.cli.messages import shorten

LABEL = 32  # characters: the bar needs the rest of a line


@contextmanager
def progress_bar(label):
    """Draw a bar on standard error while the block runs.

    Gives two functions: (consumed, size) moves the bar, () takes it away before the block ends.
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(shorten(label, LABEL), total=None)

        def advance(consumed, size):
            progress.update(task, completed=consumed, total=size)

        yield advance, progress.stop


@contextmanager
def compiling_bar():
    """Draw one of kernels compiled; gives a function (functions, done, tasks)."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("compiling: {task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("0 functions", total=None)

        def advance(functions, done, tasks):
            told = f"{functions} functions"
            progress.update(task, description=told, completed=done, total=tasks)

        yield advance
