"""Options that commands share, and the groups in which commands take them."""

import os
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import click

from kmatch.arguments import PAM_SIDES, STRANDS
from kmatch.cli.advice.given import check_path, check_regions, check_sequences
from kmatch.cli.numbers import Count, Distance
from kmatch.cli.outputs import FORMATS, TABLES

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


def check_inputs(inputs: Inputs) -> None:
    """Raise UsageError for patterns by file and by `-p`, or neither, or two inputs named `-`."""
    check_sequences(inputs.sequences, "PATTERNS")
    check_path(inputs.genome, "GENOME")
    check_path(inputs.patterns, "PATTERNS")
    check_regions(inputs.regions)
    if bool(inputs.patterns) == bool(inputs.sequences):
        both = "; several genomes are one @LIST" if inputs.patterns else ""
        raise click.UsageError(f"give the patterns as a file or with -p, one of the two{both}")
    if inputs.sequences and inputs.column is not None:
        raise click.UsageError("--column is one of a file of patterns; leave it out beside -p")
    genome = inputs.genome.removeprefix("@")
    if (inputs.patterns, genome, inputs.regions).count("-") > 1:
        names = "GENOME, PATTERNS and --regions" if inputs.regions else "GENOME and PATTERNS"
        raise click.UsageError(f"only one of {names} can be standard input")
