"""Options that commands share, their types, and the groups in which commands take them."""

import math
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

import click

from kmatch.arguments import MOST, PAM_SIDES, STRANDS, checked_share
from kmatch.errors import InputError
from kmatch.results.output import is_special

_DIGITS = re.compile(r"[+-]?\d+", re.ASCII)  # int() takes 1_0 too


class Count(click.IntRange):
    """An integer that counts letters, differences or threads."""

    name = "whole number"

    def get_metavar(self, *given: Any, **more: Any) -> str:
        return "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, str) and not _DIGITS.fullmatch(value):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        number: int = super().convert(value, param, ctx)
        if number > MOST:
            self.fail(f"{number} is more than kmatch counts to, {MOST}.", param, ctx)
        return number


class Distance(Count):
    """A count of differences, or a share of a pattern's length such as `10%`, as text."""

    name = "number of differences"

    def get_metavar(self, *given: Any, **more: Any) -> str:
        return "N|N%"

    def convert(  # type: ignore[override]
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        if not (isinstance(value, str) and value.endswith("%")):
            return super().convert(value, param, ctx)
        try:
            checked_share("k", value)
        except InputError as error:
            self.fail(f"{error}.", param, ctx)
        return value


class Number(click.types.FloatParamType):
    """A finite number."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(_not_finite(value), param, ctx)


class NumberRange(click.FloatRange):
    """A finite number within limits."""

    name = "number"

    def get_metavar(self, *given: Any, **more: Any) -> str:
        return "X"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(_not_finite(value), param, ctx)


def _not_finite(value: object) -> str:
    return f"{value!r} is not a finite number."


def sizes(context: click.Context, option: click.Parameter, value: str) -> tuple[int, int]:
    """The callback of an option that holds two counts, the least and the most: MIN-MAX."""
    found = re.fullmatch(r"(\d{1,10})-(\d{1,10})", value, re.ASCII)
    if not found:
        raise click.BadParameter(f"{value!r} is not MIN-MAX, as in 300-500.", context, option)
    least, most = map(int, found.groups())
    if most > MOST:
        raise click.BadParameter(f"{most} is more than kmatch counts to, {MOST}.", context, option)
    if least > most:
        raise click.BadParameter(
            f"the least, {least}, is more than the most, {most}.", context, option
        )
    return least, most


TABLES = ("bed", "tsv")
FORMATS = (*TABLES, "sam", "gff3", "view")
_SUFFIXES = {"": None, ".bed": "bed", ".tsv": "tsv", ".txt": None}
_OF_HITS = {".sam": "sam", ".gff3": "gff3", ".gff": "gff3"}


class Table(NamedTuple):
    """Where a table goes, None or `-` for standard output, and its format, None by the suffix.

    Of hits also: the most of a pattern, None for all; summary: where the table of how many there
    are goes; summary_only: whether it is written instead of the hits.
    """

    output: str | None
    form: str | None
    limit: int | None = None
    summary: str | None = None
    summary_only: bool = False

    @property
    def is_standard(self) -> bool:
        """Whether it goes to standard output."""
        return self.output in (None, "-")


def check_table(
    table: Table,
    inputs: Iterable[str | None],
    others: Mapping[str, str | None] | None = None,
    of_hits: bool = False,
) -> Table:
    """The table with its format.

    inputs, others: the paths that the command reads, and its further outputs by option; of_hits:
    whether the formats of hits are known too. Raises UsageError for a suffix that names no format,
    and for outputs as `check_outputs` does.
    """
    checked = table._replace(form=format_of(table, of_hits))
    check_outputs(inputs, {"-o": table.output or "-", **(others or {})})
    return checked


def check_summary(table: Table) -> None:
    """Raise UsageError for options that --summary-only leaves no use."""
    if not table.summary_only:
        return
    others = {"--summary": table.summary, "--format": table.form, "--limit": table.limit}
    for option, value in others.items():
        if value:
            raise click.UsageError(
                f"--summary-only writes one table, to standard output or -o; leave {option} out"
            )


def format_of(table: Table, of_hits: bool = False) -> str:
    """The format of a table: the one asked for, else by the file's suffix, else bed.

    Raises UsageError for a file whose suffix names no format.
    """
    output, form, *_ = table
    if output is None or output == "-" or is_special(output):
        return form or "bed"
    name = os.path.basename(output).lower().removesuffix(".gz")
    suffix = os.path.splitext(name)[1]
    suffixes = _SUFFIXES | (_OF_HITS if of_hits else {})
    if suffix not in suffixes:
        known = " and ".join(", ".join(filter(None, suffixes)).rsplit(", ", 1))
        raise click.UsageError(
            f"-o {output}: '{suffix}' names no format; {known} do, and these with .gz"
        )
    return form or suffixes[suffix] or "bed"


def check_outputs(inputs: Iterable[str | None], outputs: Mapping[str, str | None]) -> None:
    """Raise UsageError where an output is an input, or two outputs are one file, by any name.

    inputs: paths, `-` for standard input; outputs: paths by option, `-` for standard output; None
    for one that is not given. A device can be named any number of times.
    """
    read = {_file(path, "stdin"): path for path in inputs if path}
    written: dict[object, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        file = _file(path, "stdout")
        if file in read and file is not None:
            raise click.UsageError(
                f"{option} {path} is the same file as {read[file]}, which is read; name another"
            )
        if path == "-" and file is None:
            file = path
        if file in written and file is not None:
            raise click.UsageError(f"{written[file]} and {option} cannot be the same file")
        written[file] = option


def _file(path: str, stream: str) -> object:
    """What identifies a regular file, or one that does not exist yet, by whatever name.

    None for devices and pipes, and for a standard stream that is one.
    """
    with suppress(OSError, ValueError, AttributeError):
        found = os.fstat(getattr(sys, stream).fileno()) if path == "-" else os.stat(path)
        return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
    return None if path == "-" else os.path.realpath(path)


DEVICES = ("auto", "cpu", "cuda")  # that shells complete, of which some part words at colons

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]


class Inputs(NamedTuple):
    """What a search for patterns reads: a genome, patterns by file or by `-p`, and regions.

    column: of the file of patterns, where it is a table with a header line; circular: names of
    records, none for all, None where they are linear.
    """

    genome: str
    patterns: str | None
    sequences: tuple[str, ...]
    regions: str | None = None
    column: str | None = None
    circular: str | None = None


class Loudness(NamedTuple):
    """How much a command says on standard error."""

    quiet: bool
    verbose: bool


def search_options(function: Function) -> Function:
    """Add the options common to the searches for patterns."""
    table = (_OUTPUT, _format_option(FORMATS), *_HIT_OPTIONS)
    return _with((*table, _STRAND, circular_option, *_RUN_OPTIONS), function)


def common_options(function: Function) -> Function:
    """Add the options common to all searches."""
    return _with((_OUTPUT, _format_option(TABLES), *_RUN_OPTIONS), function)


def _with(options: Sequence[Decorator], function: Function) -> Function:
    for option in reversed(options):
        function = option(function)
    return function


def _check_device(context: click.Context, option: click.Parameter, device: str) -> str:
    from kmatch.engine.devices import DEVICE, KNOWN

    if not DEVICE.fullmatch(device):
        raise click.BadParameter(f"{device!r} is not {KNOWN}")
    return device


def _complete_device(context: click.Context, option: click.Parameter, begun: str) -> list[str]:
    return [device for device in DEVICES if device.startswith(begun)]


device_option = click.option(
    "--device",
    default="auto",
    metavar="auto|cpu|cuda|cuda:N,…|cuda:all",
    callback=_check_device,
    shell_complete=_complete_device,
    help="Where to search; auto is where it will be done first.",
)

_OUTPUT = click.option(
    "-o",
    "--output",
    metavar="FILE",
    show_default="standard output",
    help="Write to FILE, whole or not at all; .gz compresses.",
)


def _format_option(formats: Sequence[str]) -> Decorator:
    return click.option(
        "--format",
        "form",
        type=click.Choice(formats),
        show_default="what FILE's suffix says, otherwise bed",
        help="Output format.",
    )


_HIT_OPTIONS = (
    click.option(
        "--limit",
        type=Count(min=1),
        show_default="all",
        help="Write only the N closest hits of a pattern.",
    ),
    click.option(
        "--summary",
        metavar="FILE",
        show_default="none",
        help="Also write how many hits each pattern has by distance.",
    ),
    click.option(
        "--summary-only",
        is_flag=True,
        help="Write that table, to -o if given, in place of the hits.",
    ),
)
_STRAND = click.option(
    "--strand",
    type=click.Choice(STRANDS),
    default="both",
    help="+ finds the pattern as written, - its reverse complement.",
)


def _check_circular(context: click.Context, option: click.Parameter, names: str) -> str:
    if names and os.path.exists(names):
        raise click.BadParameter(
            f"{names} is a file; give names of records, or the files first and --circular last"
        )
    return names


circular_option = click.option(
    "--circular",
    is_flag=False,
    flag_value="",
    show_default="linear",
    metavar="[NAME,...]",
    callback=_check_circular,
    help="Records are circles, all or those named; hits run over their origin.",
)
threads_option = click.option(
    "-t",
    "--threads",
    type=Count(min=1),
    show_default="all cores",
    help="CPU threads, at most one a core.",
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No warnings, progress or summary.")
verbose_option = click.option(
    "-v", "--verbose", is_flag=True, help="Say what is done, on standard error."
)
# Commands do not take it: an error is shown by `kmatch.cli.main`, which looks for it itself.
debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show a traceback when something fails."
)
_SCHEDULER = click.option(
    "--scheduler",
    metavar="ADDRESS|FILE",
    show_default="none",
    help="Search on the Dask cluster of this scheduler, each of its workers on --device.",
)
_RUN_OPTIONS = (
    device_option,
    threads_option,
    _SCHEDULER,
    quiet_option,
    verbose_option,
    debug_option,
)


def algorithm_option(*commands: str) -> Decorator:
    """The option --algorithm with the names that commands have."""
    from kmatch.published.registry import ENGINE, names

    known = list(dict.fromkeys(chain(*map(names, commands))))
    return click.option(
        "--algorithm",
        type=click.Choice(known),
        metavar="NAME",
        default=ENGINE,
        help="Search by a published algorithm, which gives the same hits: "
        f"{', '.join(name for name in known if name != ENGINE)}.",
    )


def distance_option(text: str, shares: bool = False) -> Decorator:
    """The option -k of the searches for patterns; shares: whether it may be N%."""
    kind = Distance(min=0) if shares else Count(min=0)
    return click.option("-k", required=True, type=kind, help=text)


def exact_options(function: Function) -> Function:
    """Add --exact-5p and --exact-3p."""
    for end, which in (("3p", "last"), ("5p", "first")):
        text = f"The {which} N letters must match."
        option = click.option(f"--exact-{end}", type=Count(min=0), default=0, help=text)
        function = option(function)
    return function


def bound_options(function: Function) -> Function:
    """Add --max-mismatches, --max-insertions and --max-deletions."""
    kinds = {
        "deletions": "text letters that are skipped",
        "insertions": "pattern letters that are skipped",
        "mismatches": "mismatches",
    }
    for kind, what in kinds.items():
        text = f"At most N {what} among the k differences."
        option = click.option(f"--max-{kind}", type=Count(min=0), show_default="k", help=text)
        function = option(function)
    return function


def pam_options(function: Function) -> Function:
    """Add --pam and --pam-side."""
    side = click.option(
        "--pam-side",
        type=click.Choice(PAM_SIDES),
        default="3p",
        help="The PAM follows the pattern (3p: NGG) or comes before it (5p: TTTV).",
    )
    text = (
        "What must stand, without a difference, beside a pattern; NGG,NAG, or the option "
        "repeated, for one of several."
    )
    pam = click.option(
        "--pam",
        multiple=True,
        metavar="SEQ",
        callback=_given_pams,
        show_default="none",
        help=text,
    )
    return pam(side(function))


def _given_pams(
    context: click.Context, option: click.Parameter, pams: tuple[str, ...]
) -> tuple[str, ...] | None:
    return pams or None


def regions_option(what: str) -> Decorator:
    """The option --regions; what: the name of what lies inside."""
    text = f"Find only the {what} that lie inside a region of BED."
    return click.option("--regions", metavar="BED", show_default="everywhere", help=text)


def pattern_arguments(function: Function) -> Function:
    """Add PATTERNS, its stand-in `-p`, --column and --regions."""
    function = regions_option("hits")(function)
    function = click.option(
        "--column",
        metavar="NAME",
        show_default="no header line",
        help="PATTERNS is CSV or TSV with a header line: the column of the sequences.",
    )(function)
    function = click.option(
        "-p",
        "--pattern",
        "sequences",
        multiple=True,
        metavar="SEQ",
        show_default="PATTERNS",
        help="A pattern, in place of PATTERNS; can be repeated.",
    )(function)
    return click.argument("patterns", required=False)(function)
