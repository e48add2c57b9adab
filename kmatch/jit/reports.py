"""Reports to a caller that compiling begins, and of failures beside it."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kmatch.errors import KmatchWarning

Listener = Callable[[str], object]

_listeners: list[Listener] = []
_warned: set[str] = set()


@contextmanager
def on_compile(listener: Listener) -> Iterator[None]:
    """While the block runs, call listener(name) before each function that has to be compiled."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def report_compile(name: str) -> None:
    """Call all listeners with the name of a function that is about to be compiled."""
    for listener in _listeners:
        listener(name)


def warn_once(subject: str, message: str) -> None:
    """Warn of a subject once a process: what fails for one kernel fails for each."""
    if subject not in _warned:
        _warned.add(subject)
        warnings.warn(message, KmatchWarning, stacklevel=2)
