"""What a command says on standard error, as loud as asked for."""

import sys
import warnings
from contextlib import contextmanager

from kmatch import interrupts
from kmatch.cli.messages import one_line
from kmatch.errors import KmatchWarning

HOUR = 3600  # seconds


class Talk:
    """Says what happens; what it is asked to say may come from anyone's files.

    Work begins and goes on through it, so that it is also where an interrupt that was swallowed
    comes back.
    """

    def __init__(self, quiet, verbose):
        self.quiet = quiet
        self.verbose = verbose and not quiet
        self._stop = lambda: None
        self._topics = set()
        if quiet:
            warnings.simplefilter("ignore", KmatchWarning)

    def warn(self, message):
        if not self.quiet:
            _say(f"warning: {message}")

    def warn_once(self, topic, message):
        """Warn, unless of the same topic before."""
        if topic not in self._topics:
            self._topics.add(topic)
            self.warn(message)

    def detail(self, message):
        if self.verbose:
            _say(message)

    def device(self, engine):
        """Say what the engine that was chosen runs on."""
        interrupts.check()
        self.detail(f"device: {engine.description}")
        self._foresee(engine.expected or 0)

    def _foresee(self, seconds):
        """Say before a search that it will take long, where someone looks on and it will."""
        if seconds > HOUR and not self.quiet and (self.verbose or sys.stderr.isatty()):
            hours = seconds / HOUR
            _say(f"this search will take about {hours:,.0f} h; Ctrl-C ends it and leaves no file")

    @contextmanager
    def progress(self, label):
        """Give a function (consumed, size) that draws progress on a terminal, else nothing."""
        interrupts.check()
        if self.quiet or not sys.stderr.isatty():
            yield None
            return
        from kmatch.cli.progress import progress_bar

        with progress_bar(one_line(label)) as (advance, self._stop):
            yield advance

    def make_way(self):
        """Take progress away before rows go to the terminal it is drawn on."""
        if sys.stdout is not None and sys.stdout.isatty():
            self._stop()

    @contextmanager
    def compiling_all(self):
        """Give a function (functions, done, tasks) that draws it on a terminal, else nothing."""
        if self.quiet or not sys.stderr.isatty():
            yield None
            return
        from kmatch.cli.progress import compiling_bar

        with compiling_bar() as advance:
            yield advance

    @contextmanager
    def compiling(self):
        """Say on a terminal, once, when kernels have to be compiled while the block runs."""
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from kmatch.jit import telling_of_compiling

        told = []

        def tell(name):
            if not told:
                _say("compiling kernels, once a machine; this takes up to half a minute")
            told.append(name)

        with telling_of_compiling(tell):
            yield


@contextmanager
def telling_warnings():
    """Tell kmatch's own warnings as other messages while the block runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", KmatchWarning)
        plain = warnings.showwarning

        def show(message, category, *where, **more):
            if issubclass(category, KmatchWarning):
                _say(f"warning: {message}")
            else:
                plain(message, category, *where, **more)

        warnings.showwarning = show
        yield


def _say(message):
    print(f"kmatch: {one_line(message)}", file=sys.stderr)
