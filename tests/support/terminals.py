"""A terminal of a given size, in which a command runs, and what its screen shows."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

from support.commands import KMATCH

PATIENCE = 60  # seconds


class Terminal:
    """A command in a pseudo-terminal, all its streams being there.

    seen: the bytes so far; frames: the screens so far, one whenever the cursor was about to leave
    what it had drawn, each a tuple of lines.
    """

    def __init__(self, command, columns, rows=24, cwd=None, **environment):
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000)
        self._stream = pyte.ByteStream(self.screen)
        self.seen, self.frames = b"", []
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        left = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")
        kept = {name: value for name, value in os.environ.items() if name not in left}
        self._running = subprocess.Popen(
            list(map(str, command)),
            cwd=cwd,
            env=kept | {"TERM": "xterm-256color"} | environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._running.poll() is None:
            os.killpg(self._running.pid, signal.SIGKILL)
        self._running.wait()
        os.close(self._ours)

    @property
    def lines(self):
        """The lines above the screen and on it, without blanks at their ends."""
        above = ["".join(line[i].data for i in range(self.screen.columns)) for line in self._above]
        return [line.rstrip() for line in (*above, *self.screen.display)]

    @property
    def text(self):
        return "\n".join(self.lines).rstrip("\n")

    @property
    def _above(self):
        return self.screen.history.top

    def colours(self):
        """The colours and weights of letters on the screen."""
        cells = (cell for row in self.screen.buffer.values() for cell in row.values())
        return {(cell.fg, cell.bold) for cell in cells} - {("default", False)}

    def type(self, text):
        os.write(self._ours, text.encode())

    def read(self, seconds=0.1):
        """Take what is written within some seconds; whether the command is still there."""
        if not select.select([self._ours], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._ours, 1 << 16)
        except OSError:  # the other end is closed
            return False
        self.seen += data
        # A line is erased to be drawn anew: before that a frame is whole.
        for part in data.replace(b"\r\x1b[2K", b"\0\r\x1b[2K").split(b"\0"):
            self._stream.feed(part)
            frame = tuple(line.rstrip() for line in self.screen.display)
            if not self.frames or self.frames[-1] != frame:
                self.frames.append(frame)
        return bool(data)

    def wait_for(self, text, gone=False):
        """Read until the screen shows a text, or, where it is to be gone, no longer does."""
        deadline = time.monotonic() + PATIENCE
        while (text in self.text) == gone:
            there = self.read()
            assert time.monotonic() < deadline and there, f"{text!r}, {gone=}, in:\n{self.text}"

    def end(self):
        """Read to the command's end; returns its status."""
        deadline = time.monotonic() + PATIENCE
        while self.read():
            assert time.monotonic() < deadline, self.text
        return self._running.wait(PATIENCE)


def shown(*words, columns=80, cwd=None, status=0, **environment):
    """The Terminal in which `kmatch WORDS` has run to its end."""
    with Terminal([*KMATCH, *words], columns, cwd=cwd, **environment) as terminal:
        assert terminal.end() == status, terminal.text
    return terminal
