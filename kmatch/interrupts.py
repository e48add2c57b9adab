"""Signals end kmatch within a second, whenever they come, and leave no unfinished file behind."""

import _thread
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
GRACE = 0.5  # seconds in which a command may end by itself, which it cannot inside a long kernel

unfinished: set[str] = set()  # paths of files that are removed unless they become whole
_saying = _thread.allocate_lock()
_came: list[int] = []  # numbers of the signals so far
_handled: list[int] = []  # numbers of the signals that have our handler
_SHOW_CURSOR = b"\x1b[?25h"  # a progress bar hides the cursor


class Interrupted(KeyboardInterrupt):
    """A signal came. A plain KeyboardInterrupt will not do: once one has passed through `eval`,
    Python ends the process by SIGINT, whatever its exit status."""


def install() -> None:
    """Raise Interrupted at the first of SIGNALS and end at once at the second.

    A signal that the parent process has ignored, as nohup does, stays ignored.
    """
    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            _handled.append(number)
            signal.signal(number, _handle)
    sys.excepthook, sys.unraisablehook = _print, _print_unraisable
    _watch()


def release() -> None:
    """Remove unfinished files; from here on a signal ends the process as it ends any other."""
    remove_unfinished()
    for number in _handled:
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def held() -> Iterator[None]:
    """Call the handlers of signals that come inside the block at its end, whosever they are.

    For C code that calls Python: what a handler raises there is lost, and what Python was to
    answer too.
    """
    waiting: list[tuple[int, FrameType | None]] = []
    handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
    try:
        if threading.current_thread() is threading.main_thread():  # where handlers are called
            for name in SIGNALS:
                number = getattr(signal, name, None)
                handler = number and signal.getsignal(number)
                if number and callable(handler):
                    handlers[number] = handler
                    signal.signal(number, lambda *came: waiting.append(came))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in waiting:
            handlers[number](number, frame)


def end(status: int) -> None:
    """End the process after a signal, without waiting for its threads.

    A signal that came while a thread was being started leaves one that nobody tells to end, for
    which Python would wait for ever.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(status)


def came() -> str | None:
    """The name of the first signal that came, or None."""
    return signal.Signals(_came[0]).name if _came else None


def words() -> str:
    """What is said of the first signal that came."""
    return _words(_came[0] if _came else signal.SIGINT)


def _words(number: int) -> str:
    by = "" if number == signal.SIGINT else f" by {signal.Signals(number).name}"
    return f"interrupted{by}"


def is_said() -> bool:
    """Whether that was said already; from here on it counts as said."""
    return not _saying.acquire(False)


def status() -> int:
    """The exit status of a command that was interrupted."""
    return _status(_came[0] if _came else signal.SIGINT)


def _status(number: int) -> int:
    return 128 + number


def check() -> None:
    """Raise Interrupted if a signal came: an import or a callback may have swallowed it."""
    if _came:
        raise Interrupted


def remove_unfinished() -> None:
    """Remove the files that did not become whole."""
    for path in list(unfinished):
        with suppress(OSError):
            os.unlink(path)
        unfinished.discard(path)


def _handle(number: int, frame: FrameType | None) -> None:
    _came.append(number)
    if len(_came) > 1:
        _end_at_once(_came[0])
    raise Interrupted


def _watch() -> None:
    """Start a thread that ends the process at the second signal, or soon after the first: Python
    calls no handler before the kernel ends in which the main thread is."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def wait() -> None:
        signals: list[int] = []
        while len(signals) < 2:
            if signals and not select.select([reader], [], [], GRACE)[0]:
                break
            signals += [number for number in os.read(reader, 1) if number in _handled]
        _end_at_once(signals[0])

    # Without the thread signals wait for the kernel.
    with suppress(RuntimeError):
        _thread.start_new_thread(wait, ())


def _end_at_once(number: int) -> None:
    remove_unfinished()
    with suppress(OSError):
        if os.isatty(2):
            os.write(2, _SHOW_CURSOR)
        if not is_said():  # by the main thread, which may be ending by itself
            os.write(2, f"kmatch: error: {_words(number)}\n".encode())
    os._exit(_status(number))


# Python prints an Interrupted that C code or a finalizer has swallowed; `check` raises it again.


def _print(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    if not issubclass(kind, Interrupted):
        sys.__excepthook__(kind, error, traceback)


def _print_unraisable(unraisable: "sys.UnraisableHookArgs") -> None:
    if not issubclass(unraisable.exc_type, Interrupted):
        sys.__unraisablehook__(unraisable)
