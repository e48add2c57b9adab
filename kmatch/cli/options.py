"""Options that searches share, and what they stand for."""

import sys
import warnings
from contextlib import contextmanager

import click

from kmatch.errors import KmatchWarning

FORMATS = ("bed", "tsv")


def search_options(command):
    """Add the options common to the searches for patterns."""
    return _with([*_TABLE_OPTIONS, _STRAND, *_RUN_OPTIONS], command)


def common_options(command):
    """Add the options common to all searches."""
    return _with([*_TABLE_OPTIONS, *_RUN_OPTIONS], command)


def _with(options, command):
    for option in reversed(options):
        command = option(command)
    return command


def _check_device(context, option, device):
    from kmatch.engine.devices import DEVICE

    if not DEVICE.fullmatch(device):
        raise click.BadParameter(f"{device!r} is not auto, cpu, cuda or cuda:N")
    return device


device_option = click.option(
    "--device",
    default="auto",
    show_default=True,
    metavar="auto|cpu|cuda|cuda:N",
    callback=_check_device,
    help="Where to search.",
)

_TABLE_OPTIONS = [
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write to FILE, whole or not at all (.gz compresses).",
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        help="Output format; by default from FILE's suffix, otherwise bed.",
    ),
]
_STRAND = click.option(
    "--strand",
    type=click.Choice(["both", "+", "-"]),
    default="both",
    show_default=True,
    help="+ finds the pattern as written, - its reverse complement.",
)
threads_option = click.option(
    "-t", "--threads", type=click.IntRange(min=1), help="CPU threads, at most one a core."
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No warnings, progress or summary.")
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Say what is done, on standard error."
)
debug_option = click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
_RUN_OPTIONS = [device_option, threads_option, quiet_option, verbose_option, debug_option]


def algorithm_option(command):
    """The option --algorithm with the names that a command has."""
    from kmatch.published.registry import ENGINE, names

    return click.option(
        "--algorithm",
        type=click.Choice(names(command)),
        default=ENGINE,
        show_default=True,
        help="Search by a published algorithm instead, which gives the same hits.",
    )


def pattern_arguments(command):
    """Add PATTERNS and its stand-in `-p`."""
    command = click.option(
        "-p",
        "--pattern",
        "sequences",
        multiple=True,
        metavar="SEQ",
        help="A pattern, in place of PATTERNS; can be repeated.",
    )(command)
    return click.argument("patterns", required=False)(command)


def check_inputs(genome, path, sequences):
    """Raise UsageError for patterns by file and by `-p`, or neither, or two inputs named `-`."""
    if bool(path) == bool(sequences):
        raise click.UsageError("give the patterns as a file or with -p, one of the two")
    if path == "-" and genome == "-":
        raise click.UsageError("only one of GENOME and PATTERNS can be standard input")


def format_of(form, output):
    """The output format: the one asked for, else by the file's suffix, else bed."""
    name = (output or "").lower().removesuffix(".gz")
    return form or ("tsv" if name.endswith(".tsv") else "bed")


class Talk:
    """What kmatch says on standard error, as loud as asked for."""

    def __init__(self, quiet, verbose):
        self.quiet = quiet
        self.verbose = verbose and not quiet
        if quiet:
            warnings.simplefilter("ignore", KmatchWarning)

    def warn(self, message):
        if not self.quiet:
            print(f"kmatch: warning: {message}", file=sys.stderr)

    def detail(self, message):
        if self.verbose:
            print(f"kmatch: {message}", file=sys.stderr)

    @contextmanager
    def progress(self, label):
        """Give a function (consumed, size) that draws progress on a terminal, else nothing."""
        if self.quiet or not sys.stderr.isatty():
            yield None
            return
        from kmatch.cli.progress import progress_bar

        with progress_bar(label) as advance:
            yield advance

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
                note = "compiling kernels, once a machine; this takes up to half a minute"
                print(f"kmatch: {note}", file=sys.stderr)
            told.append(name)

        with telling_of_compiling(tell):
            yield
