"""Signals end kmatch at once, whenever they come, and leave no unfinished file behind."""

import _thread
import os
import shutil
import signal
from contextlib import suppress
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

unfinished: set[str] = set()  # paths of files and folders that are removed unless they become whole
_ending = _thread.allocate_lock()
_CLEAR = b"\r\x1b[2K\x1b[?25h"  # takes a progress bar away, and shows the cursor that it hides


def install() -> None:
    """Let each of SIGNALS end the process; one that its parent ignores, as nohup does, does not.

    Python calls no handler before the kernel ends in which the main thread is, so a thread waits
    for signals too.
    """
    handled = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, _end)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def wait() -> None:
        while (number := os.read(reader, 1)[0]) not in handled:
            pass
        _end(number)

    with suppress(RuntimeError):  # where no thread can be started, signals wait for the kernel
        _thread.start_new_thread(wait, ())


def _end(number: int, frame: FrameType | None = None) -> None:
    """Remove unfinished files, name the signal and end the process, whatever it is doing."""
    if not _ending.acquire(False):  # the other thread, or the code that was interrupted, does so
        return
    by = "" if number == signal.SIGINT else f" by {signal.Signals(number).name}"
    with suppress(OSError):
        os.write(
            2, (_CLEAR if os.isatty(2) else b"") + f"kmatch: error: interrupted{by}\n".encode()
        )
    for path in list(unfinished):
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            os.unlink(path)
    os._exit(128 + number)
