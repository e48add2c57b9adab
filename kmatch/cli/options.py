"""Options that searches share, and what they stand for."""

from functools import wraps
from typing import NamedTuple

import click

from kmatch.arguments import STRANDS
from kmatch.cli.numbers import Count
from kmatch.cli.places import FORMATS, format_of
from kmatch.cli.talk import Talk


class Table(NamedTuple):
    """Where the table goes that a search writes: path, None or `-` for standard output; form:
    `bed` or `tsv`; asked: the form that was asked for, or None."""

    path: str | None
    form: str
    asked: str | None

    @property
    def to_terminal(self):
        """Whether it goes to standard output, which may be a terminal."""
        return self.path in (None, "-")


class Given(NamedTuple):
    """Patterns as a command is given them: path, of a file or None; sequences: of `-p`."""

    path: str | None
    sequences: list


def search_options(command):
    """Add the options common to the searches for patterns."""
    return _with([*_TABLE_OPTIONS, _STRAND, *_RUN_OPTIONS], _gathered(command))


def common_options(command):
    """Add the options common to all searches."""
    return _with([*_TABLE_OPTIONS, *_RUN_OPTIONS], _gathered(command))


def _gathered(command):
    """A command that is called with `table`, `talk` and, where there are any, `patterns`."""

    @wraps(command)
    def run(*, output, form, quiet, verbose, debug, **options):
        table = Table(output, format_of(form, output), form)
        if "sequences" in options:
            given = Given(options.pop("patterns"), list(options.pop("sequences")))
            options["patterns"] = given
        return command(table=table, talk=Talk(quiet, verbose), **options)

    return run


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
    type=click.Choice(STRANDS),
    default="both",
    show_default=True,
    help="+ finds the pattern as written, - its reverse complement.",
)
threads_option = click.option(
    "-t", "--threads", type=Count(min=1), help="CPU threads, at most one a core."
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


def distance_option(text):
    """The option -k of the searches for patterns."""
    return click.option("-k", required=True, type=Count(min=0), help=text)


def exact_options(command):
    """Add --exact-5p and --exact-3p."""
    for end, which in (("3p", "Last"), ("5p", "First")):
        text = f"{which} letters that must match."
        option = click.option(f"--exact-{end}", type=Count(min=0), default=0, help=text)
        command = option(command)
    return command


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


def check_inputs(genome, given):
    """Raise UsageError for patterns by file and by `-p`, or neither, or two inputs named `-`."""
    if bool(given.path) == bool(given.sequences):
        raise click.UsageError("give the patterns as a file or with -p, one of the two")
    if given.path == "-" and genome == "-":
        raise click.UsageError("only one of GENOME and PATTERNS can be standard input")
