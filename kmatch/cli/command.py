"""The commands together, what they have in common, and what their help shows."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from importlib import import_module
from typing import Any

import click

from kmatch import __version__
from kmatch.cli.messages import one_line, showing_warnings

SEARCHES = ("hamming", "multi", "edit", "best", "pcr", "primer")
# The commands by what they are for, in the order in which `kmatch --help` lists them.
COMMANDS = {
    "Searches": SEARCHES,
    "Files": ("pack", "plot"),
    "Studies": ("bench", "model", "info"),
    "Shell": ("completion",),
}
MODULES = {
    "kmatch.cli.searches": ("hamming", "multi", "edit", "best"),
    "kmatch.cli.primers": ("pcr", "primer"),
    "kmatch.cli.tools": ("pack", "plot", "bench", "model", "info", "completion"),
}
_PATTERNS = (
    "hamming counts mismatches; multi does so for a panel of one length, beside a PAM too; edit "
    "counts insertions and deletions as well; best finds the closest and takes no k."
)
# How the searches differ, for the help of each.
DIFFERENCES = {
    **dict.fromkeys(("hamming", "multi", "edit", "best"), _PATTERNS),
    "pcr": "pcr joins sites to products: those that hamming finds, or with --edit those of edit.",
    "primer": "primer looks for what a background lacks; hamming, edit and pcr find where known "
    "primers bind.",
}

_GENOME = (
    "FASTA, FASTQ, 2bit or GenBank, compressed or not, a genome packed by kmatch pack, @LIST for "
    "the genomes that the file LIST names, one a line, or - for standard input."
)
_READ = "FASTA, FASTQ, 2bit or GenBank, compressed or not, or - for standard input."
# What the arguments of commands are.
ARGUMENTS = {
    "genome": _GENOME,
    "patterns": (
        "FASTA; text with one pattern a line, SEQUENCE, or NAME, a tab and SEQUENCE; BED with the "
        "sequence in column 7; by --column a table with a header line; or - for standard input."
    ),
    "primers": (
        "A pair a line, NAME, a tab, FORWARD, a tab and REVERSE; or FASTA, or BED with the "
        "sequence in column 7, where the names of a pair end in _F and _R, /1 and /2 or _LEFT "
        "and _RIGHT, with _alt1 and the like behind it for alternates, all of which are joined."
    ),
    "target": f"What primers are to bind: {_READ}",
    "background": "What they are not to bind, in the same formats.",
    "pack genome": _READ,
    "table": "TSV or BED of kmatch, compressed or not, or - for standard input.",
    "commands": "hamming, multi, edit, best, primer, or all, which is the default.",
    "shell": "bash, zsh or fish.",
}

# What the options of a command are grouped by. An option that is not listed is in the first group.
_WHERE = ("--regions", "--strand", "--circular", "--both-strands", "--background-strand")
_OUTPUT = (
    *("--output", "--format", "--limit", "--summary", "--summary-only", "--sequence"),
    *("primer --regions", "--json", "bench --plot"),
)
_RUNNING = (
    *("--algorithm", "--device", "--threads", "--scheduler", "--seconds"),
    *("--quiet", "--verbose", "--debug", "--help", "--version"),
)
_FIRST = {
    "bench": "What to measure",
    "model": "What to simulate",
    "info": "What to show",
    "plot": "What to draw",
}


def write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    """Write examples under their heading."""
    if not examples:
        return
    with formatter.section("Example" if len(examples) == 1 else "Examples"):
        for example in examples:
            formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


def write_difference(formatter: click.HelpFormatter, command: str) -> None:
    """Write how a search differs from the others."""
    if text := DIFFERENCES.get(command):
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)


def write_arguments(
    context: click.Context, formatter: click.HelpFormatter, arguments: Iterable[click.Parameter]
) -> None:
    """Write what each argument is."""
    rows = [
        (str(argument.name).upper(), text)
        for argument in arguments
        if (text := _argument(context, str(argument.name)))
    ]
    if rows:
        with formatter.section(
            "Reads" if context.info_name in (*SEARCHES, *COMMANDS["Files"]) else "Takes"
        ):
            formatter.write_dl(rows)


def _argument(context: click.Context, name: str) -> str | None:
    return ARGUMENTS.get(f"{context.info_name} {name}", ARGUMENTS.get(name))


def write_options(
    context: click.Context, formatter: click.HelpFormatter, options: Iterable[click.Parameter]
) -> None:
    """Write the options in their groups, each with its default."""
    command = str(context.info_name)
    groups: dict[str, list[tuple[str, str]]] = {
        title: [] for title in (_FIRST.get(command, "What to find"), "Where", "Output", "Running")
    }
    for option in options:
        if record := option.get_help_record(context):
            groups[group_of(command, option)].append(_plain(record))
    for title, rows in groups.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def group_of(command: str, option: click.Parameter) -> str:
    """The title of the group in which a command's help shows an option."""
    name = option.opts[-1]
    for key in (f"{command} {name}", name):
        for title, names in (("Where", _WHERE), ("Output", _OUTPUT), ("Running", _RUNNING)):
            if key in names:
                return title
    return _FIRST.get(command, "What to find")


def _plain(record: tuple[str, str]) -> tuple[str, str]:
    """A row of help without the least value of a count, or parentheses around a default."""
    option, text = record
    text = re.sub(r"; x>=[01]\]$|(?<=\[)x>=[01]; ", lambda it: "]" if it[0][0] == ";" else "", text)
    return option, re.sub(r"\[default: \((.*)\)(?=[;\]])", r"[default: \1", text)


def write_commands(formatter: click.HelpFormatter, group: click.Group) -> None:
    """Write the commands of a group by what they are for."""
    limit = formatter.width - 6 - max(map(len, group.commands))
    for title, names in COMMANDS.items():
        with formatter.section(title):
            formatter.write_dl(
                [(name, group.commands[name].get_short_help_str(limit)) for name in names]
            )


HELP = ["-h", "--help"]
FILES = ("FILE", "FIGURE", "BED")  # metavars of options that take a path
COMPLETE = "_KMATCH_COMPLETE"  # what shells set to ask for completions


class Command(click.Command):
    """A command that refuses an option given twice where one of the values would be lost.

    Its help begins with examples. Arguments without a type of their own are paths.
    """

    def __init__(self, *given: Any, examples: Sequence[str] = (), **more: Any) -> None:
        super().__init__(*given, **more)
        self.context_settings.setdefault("show_default", True)
        # Click keeps the help option of the first context, which may have no group above it.
        self.context_settings.setdefault("help_option_names", HELP)
        self.examples = examples
        for parameter in self.params:
            if parameter.type is click.STRING and _is_path(parameter):
                parameter.type = click.Path(readable=False)  # which shells complete

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            self._check_once(ctx, given)
        return rest

    def _check_once(self, context: click.Context, arguments: list[str]) -> None:
        *_, order = self.make_parser(context).parse_args(arguments)
        for option, times in Counter(order).items():
            if times > 1 and holds_one_value(option):
                raise click.UsageError(
                    f"{option.opts[-1]} is given {times} times, and holds one value", context
                )

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(formatter, self.examples)
        super().format_help_text(ctx, formatter)
        write_difference(formatter, str(self.name))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        parameters = self.get_params(ctx)
        arguments = [each for each in parameters if isinstance(each, click.Argument)]
        write_arguments(ctx, formatter, arguments)
        write_options(ctx, formatter, [each for each in parameters if each not in arguments])


class Commands(Mapping[str, click.Command]):
    """Commands by name, each imported when it is asked for; names: by the module that has them."""

    def __init__(self, names: Mapping[str, Sequence[str]]) -> None:
        self._names = names

    def __getitem__(self, name: str) -> click.Command:
        for module, names in self._names.items():
            if name in names:
                made: click.Command = getattr(import_module(module), name)
                return made
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for names in self._names.values() for name in names)

    def __len__(self) -> int:
        return sum(map(len, self._names.values()))


class Group(click.Group):
    """The commands together, which help lists by what they are for."""

    examples = (
        "kmatch hamming genome.fa.gz -p TATCACCGATTGACCTGAAT -k 3",
        "kmatch edit --help",
    )

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(formatter, self.examples)
        super().format_help_text(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_commands(formatter, self)


def _is_path(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Argument) or parameter.metavar in FILES


def holds_one_value(parameter: click.Parameter) -> bool:
    """Whether a parameter is an option that takes a value, or a pair, and cannot be repeated."""
    if not isinstance(parameter, click.Option):
        return False
    return not (parameter.multiple or parameter.is_flag or parameter.count)


def command(
    short_help: str, examples: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Command]:
    """Make a Command of a function that carries decorators for its options.

    examples: command lines, with which its help begins.

    The function takes the values by name. A parameter annotated with a NamedTuple takes a group of
    them: the values of the options that the tuple's fields name. Other fields keep their defaults.
    """

    def make(function: Callable[..., None]) -> Command:
        made = click.command(cls=Command, short_help=short_help, examples=examples)
        return made(_grouped(function))

    return make


def _grouped(function: Callable[..., None]) -> Callable[..., None]:
    """The function, called with one value an option."""
    groups = {
        name: kind for name, kind in function.__annotations__.items() if hasattr(kind, "_fields")
    }

    @wraps(function)
    def call(**values: Any) -> None:
        for name, kind in groups.items():
            given = [field for field in kind._fields if field in values]
            values[name] = kind(**{field: values.pop(field) for field in given})
        function(**values)

    return call


_NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", ())  # whose message is the help


@click.group(
    cls=Group,
    commands=Commands(MODULES),
    context_settings={"help_option_names": HELP},
)
@click.version_option(__version__, "-V", "--version", message="kmatch %(version)s")
def kmatch() -> None:
    """Find every approximate occurrence of DNA patterns in genomes."""


def _with_advice(error: click.UsageError, arguments: list[str]) -> str:
    """What was wrong with the arguments, and what to type instead where that is known."""
    from kmatch.cli.advice import advice

    found = advice(error, arguments)
    if not found:
        return error.format_message()
    if hasattr(error, "possibilities"):  # that begin alike, and mean something else
        error.possibilities = None
    return f"{error.format_message().rstrip('.')}; {found}"


def run_command(arguments: list[str]) -> int:
    """Run the command that the arguments name; returns its exit status, 2 for wrong usage."""
    if asked := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(kmatch, {}, "kmatch", COMPLETE, asked)
    try:
        with showing_warnings(), kmatch.make_context("kmatch", arguments) as context:
            kmatch.invoke(context)
        return 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        if isinstance(error, _NO_ARGUMENTS):
            error.show()
        else:
            click.UsageError(one_line(_with_advice(error, arguments)), error.ctx).show()
        return error.exit_code
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
