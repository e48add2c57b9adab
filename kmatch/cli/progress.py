"""Progress on a terminal."""

from contextlib import contextmanager


@contextmanager
def progress_bar(label):
    """Draw a bar on standard error while the block runs; gives a function (consumed, size)."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda consumed, size: progress.update(task, completed=consumed, total=size)


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
