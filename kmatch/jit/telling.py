"""What a caller hears of compiling: that it begins, and what goes wrong beside it."""

import warnings
from contextlib import contextmanager

from kmatch.errors import KmatchWarning

_listeners = []
_warned = set()


@contextmanager
def telling_of_compiling(listener):
    """While the block runs, call listener(name) before each function that has to be compiled."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def tell_of_compiling(name):
    """Call all listeners with the name of a function that is about to be compiled."""
    for listener in _listeners:
        listener(name)


def warn_once(subject, message):
    """Warn of a subject, the first time in this process: what fails once fails for each kernel."""
    if subject not in _warned:
        _warned.add(subject)
        warnings.warn(message, KmatchWarning, stacklevel=2)
