"""Signals that end kmatch, whenever they come, and leave nothing behind."""

import os
import signal
import sys
from contextlib import suppress

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")

unfinished = set()  # paths of files that are removed unless they become whole
_came = []  # numbers of the signals so far
_heard = []  # those for which there is a handler
_SHOW_CURSOR = b"\x1b[?25h"  # which a progress bar hides


class Interrupted(KeyboardInterrupt):
    """A signal came. A plain KeyboardInterrupt will not do: once one has passed through `eval`,
    Python ends the process by SIGINT, whatever its exit status."""


def install():
    """Raise Interrupted at the first of SIGNALS and end at once at the second.

    A signal that the parent process has ignored, as nohup does, stays ignored.
    """
    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            _heard.append(number)
            signal.signal(number, _hear)
    sys.excepthook, sys.unraisablehook = _print, _print_unraisable
    _watch()


def release():
    """Remove what is unfinished; from here on a signal ends the process as it does any other."""
    remove_unfinished()
    for number in _heard:
        signal.signal(number, signal.SIG_DFL)


def came():
    """The name of the signal that came first, or None."""
    return signal.Signals(_came[0]).name if _came else None


def status():
    """The exit status of a command that was interrupted."""
    return _status(_came[0] if _came else signal.SIGINT)


def _status(number):
    return 128 + number


def check():
    """Raise Interrupted if a signal came: an import or a callback may have swallowed it."""
    if _came:
        raise Interrupted


def remove_unfinished():
    """Remove the files that did not become whole."""
    for path in list(unfinished):
        with suppress(OSError):
            os.unlink(path)
        unfinished.discard(path)


def _hear(number, frame):
    _came.append(number)
    if len(_came) > 1:
        _end_at_once(_came[0])
    raise Interrupted


def _watch():
    """Let a thread wait for the second signal: the main one may be inside a kernel for long."""
    import _thread

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def wait():
        signals = []
        while len(signals) < 2:
            signals += [number for number in os.read(reader, 1) if number in _heard]
        _end_at_once(signals[0])

    # Without it the second signal waits for the kernel, as the first one does.
    with suppress(RuntimeError):
        _thread.start_new_thread(wait, ())


def _end_at_once(number):
    remove_unfinished()
    with suppress(OSError):
        if os.isatty(2):
            os.write(2, _SHOW_CURSOR)
        os.write(2, b"kmatch: error: interrupted\n")
    os._exit(_status(number))


# What is printed from C, or in a finalizer, was swallowed there: `check` raises it again.


def _print(kind, error, traceback):
    if not issubclass(kind, Interrupted):
        sys.__excepthook__(kind, error, traceback)


def _print_unraisable(unraisable):
    if not issubclass(unraisable.exc_type, Interrupted):
        sys.__unraisablehook__(unraisable)
