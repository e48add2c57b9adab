"""The commands together: their common parts, and their help."""

import inspect
import os
import re
import shlex
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from kmatch import __version__
from kmatch.cli.messages import one_line, showing_warnings
from kmatch.errors import InputError

COMPLETE = "_KMATCH_COMPLETE"  # what shells set to ask for completions
TYPED = "kmatch.command_line"  # among what contexts of commands share
# The commands by what they are for, as `kmatch --help` lists them, and the modules that have them.
COMMANDS = {
    "Searches": {
        **dict.fromkeys(("hamming", "multi", "edit", "best"), "searches"),
        **dict.fromkeys(("pcr", "primer", "guides", "assay"), "primers"),
        **dict.fromkeys(("filter", "demux"), "reads"),
    },
    "Files": dict.fromkeys(("pack", "plot"), "tools"),
    "Studies": dict.fromkeys(("bench", "model", "info"), "tools"),
    "Shell": {"completion": "tools"},
}
# groups of options
FIND = "What to find"
WHERE = "Where"
OUTPUT = "Output"
RUNNING = "Running"
# metavars of options that take a path
READ = ("BED", "VCF")
WRITTEN = ("FILE", "FIGURE")
PATH = click.Path(readable=False)  # which shells complete
_NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", ())  # whose message is the help
Fields = TypeVar("Fields", bound=tuple[Any, ...])  # a NamedTuple


class Option(click.Option):
    """An option, and the group of help in which it is shown.

    names: parted by blanks; kind: a type, bool for a flag, the metavar of a text or a path, or
    choices, the first being the default; shown: the default in words, where it is none of the
    values; reads: whether it is the path of an input; beside: the options of which one has to be
    given, as it has no effect without.
    """

    def __init__(self, names: str, kind: Any, shown: str | None, text: str, **more: Any) -> None:
        self.group = more.pop("group", FIND)
        self.beside: Sequence[str] = more.pop("beside", ())
        self.reads = more.pop("reads", kind in READ)
        self.writes = kind in WRITTEN and not self.reads
        if kind is bool:
            more["is_flag"] = True
        elif isinstance(kind, str):
            more |= {"metavar": kind} | ({"type": PATH} if self.reads or self.writes else {})
        elif isinstance(kind, tuple):
            more["type"] = click.Choice(kind)
            more.setdefault("default", None if shown else kind[0])
        else:
            more = {"type": kind, "metavar": kind.metavar} | more
        super().__init__(names.split(), show_default=shown, help=text, **more)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        if value == "":  # as of a variable of the shell that is not set
            raise click.BadParameter(
                "it is empty; give a value, or leave the option out", ctx, self
            )
        try:
            return super().process_value(ctx, value)
        except InputError as error:
            raise click.BadParameter(str(error), ctx, self) from error

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Its row of help, without parentheses round a default; None for one that is hidden."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        names, text = record
        return names, re.sub(r"\[default: \((.*)\)(?=[;\]])", r"[default: \1", text)


def grouped(group: str, *options: Option) -> tuple[Option, ...]:
    """Return options, which help shows in a group."""
    for option in options:
        option.group = group
    return options


class Argument(click.Argument):
    """An argument, by default a path, and its words in the help; takes_list: whether @LIST, a file
    that names files, may stand for it."""

    def __init__(self, name: str, text: str, takes_list: bool = False, **more: Any) -> None:
        self.takes_list = takes_list
        super().__init__([name], **{"type": PATH} | more)
        self.text, self.reads, self.writes = text, isinstance(self.type, click.Path), False


class Given(SimpleNamespace):
    """The values of a command's options and arguments, by name.

    inputs: (option or argument, path) of everything that is read; outputs: paths by the options
    that take them, `-` for standard output; command: its name; command_line: as typed. Some
    commands do not have the others.
    """

    inputs: Sequence[tuple[str, str]]
    outputs: Mapping[str, str]
    command: str
    command_line: str
    annotate: Sequence[str] = ()
    columns: str | None = None
    form: str | None = None
    html: str | None = None
    nuclease: str | None = None
    pam: Sequence[str] | None = None
    scheduler: str | None = None
    score: Sequence[str] = ()
    vcf: Sequence[str] = ()

    def made(self, kind: type[Fields]) -> Fields:
        """Return a NamedTuple of the values that its fields name; other fields keep their
        defaults."""
        return kind(**self.values(getattr(kind, "_fields", ())))

    def values(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the values of some names, by name, as far as the command has them."""
        return {name: getattr(self, name) for name in names if hasattr(self, name)}


_SETTINGS = {"show_default": True, "help_option_names": ["-h", "--help"]}


class _Exemplified(click.Command):
    """A command with help that begins with examples."""

    examples: Sequence[str] = ()

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Example" if len(self.examples) == 1 else "Examples"):
            for example in self.examples:
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")
        super().format_help_text(ctx, formatter)


class Command(_Exemplified):
    """A command, made of a function that takes a Given.

    It refuses an option given twice where one of the values would be lost. examples: command lines,
    with which its help begins; differs: how it differs from others, with which its help ends;
    finds: the title of its first group of options.
    """

    def __init__(
        self,
        function: Callable[[Given], None],
        parameters: Sequence[click.Parameter],
        *,
        examples: Sequence[str],
        differs: str = "",
        finds: str = FIND,
        **more: Any,
    ) -> None:
        text = f"{inspect.cleandoc(function.__doc__ or '')}\n\n{differs}".strip()
        more |= {"params": list(parameters), "callback": self._run, "help": text}
        super().__init__(function.__name__, **more)
        self.examples = examples
        self._finds = finds
        self._function = function

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        ctx.meta[TYPED] = shlex.join(["kmatch", str(self.name), *given])
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            *_, order = self.make_parser(ctx).parse_args(given)
            for option, times in Counter(order).items():
                takes_one = isinstance(option, Option) and not (option.multiple or option.is_flag)
                if times > 1 and takes_one:
                    raise click.UsageError(
                        f"{option.opts[-1]} is given {times} times, and holds one value", ctx
                    )
        return rest

    def _run(self, **values: Any) -> None:
        inputs = []
        outputs = {}
        for each in self.params:
            path = values.get(str(each.name))
            if getattr(each, "reads", False):
                name = each.opts[-1] if isinstance(each, Option) else str(each.name).upper()
                paths = [path] if isinstance(path, str) else path or ()
                inputs += [(name, one.removeprefix("@")) for one in paths]
            elif getattr(each, "writes", False) and (path or each.name == "output"):
                outputs["-o" if each.name == "output" else each.opts[-1]] = path or "-"
        self._check_beside(values)
        self._check_lists(values)
        check_files(inputs, outputs)
        given = Given(inputs=inputs, outputs=outputs, **values)
        given.command = str(self.name)
        given.command_line = click.get_current_context().meta[TYPED]
        self._function(given)

    def _check_beside(self, values: Mapping[str, Any]) -> None:
        """Raise UsageError for an option that was typed, and has no effect without another."""
        context = click.get_current_context()
        given = {each.opts[-1] for each in self.params if values.get(str(each.name))}
        for each in self.params:
            beside = getattr(each, "beside", ())
            is_typed = context.get_parameter_source(str(each.name)) is ParameterSource.COMMANDLINE
            if is_typed and beside and given.isdisjoint(beside):
                raise click.UsageError(
                    f"{each.opts[-1]} has no effect without {beside[0]}; give {beside[0]} too"
                )

    def _check_lists(self, values: Mapping[str, Any]) -> None:
        """Raise UsageError for a list of files in place of an argument that is one file."""
        for each in self.params:
            path = values.get(str(each.name))
            if not isinstance(each, Argument) or each.takes_list or not isinstance(path, str):
                continue
            if path.startswith("@") and not os.path.exists(path):
                raise click.UsageError(
                    f"{str(each.name).upper()} is one file, and not a list of files as {path} is "
                    "elsewhere; join the files: cat FILES… > FILE, or pipe them to - in its place"
                )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        arguments = [each for each in self.params if isinstance(each, Argument)]
        reads = any(isinstance(each.type, click.Path) for each in arguments)
        groups: dict[str, list[tuple[str, str]]] = {
            ("Reads" if reads else "Takes"): [
                (str(each.name).upper(), each.text) for each in arguments
            ],
            **{title: [] for title in (self._finds, WHERE, OUTPUT, RUNNING)},
        }
        for each in self.get_params(ctx):
            if isinstance(each, click.Option) and (record := each.get_help_record(ctx)):
                group = getattr(each, "group", RUNNING)  # which --help is in
                groups[self._finds if group == FIND else group].append(record)
        for title, rows in groups.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def command(
    short_help: str, *parameters: click.Parameter, **more: Any
) -> Callable[[Callable[[Given], None]], Command]:
    """Make a Command of a function; more: other arguments of Command."""
    return lambda function: Command(function, parameters, short_help=short_help, **more)


def check_files(inputs: Iterable[tuple[str, str]], outputs: Mapping[str, str]) -> None:
    """Raise UsageError where two inputs are standard input, an output is an input, or two outputs
    are one file, by any name; inputs, outputs: as in Given.

    A device can be named any number of times.
    """
    piped = dict.fromkeys(name for name, path in inputs if path == "-")
    if len(piped) > 1:
        raise click.UsageError(f"only one of {' and '.join(piped)} can be standard input")
    read = {_file(path, "stdin"): path for _, path in inputs}
    written: dict[object, str] = {}
    for option, path in outputs.items():
        file = _file(path, "stdout")
        if file in read:
            raise click.UsageError(
                f"{option} {path} is the same file as {read[file]}, which is read; name another"
            )
        if file in written:
            raise click.UsageError(f"{written[file]} and {option} cannot be the same file")
        written[file] = option


def _file(path: str, stream: str) -> object:
    """Return an identity of a standard stream, a regular file, or a file that does not exist yet,
    by whatever name; for other devices and pipes, an object that equals nothing."""
    with suppress(OSError, ValueError, AttributeError):
        found = os.fstat(getattr(sys, stream).fileno()) if path == "-" else os.stat(path)
        if stat.S_ISREG(found.st_mode):
            return found.st_dev, found.st_ino
        if path != "-":
            return object()
    return stream if path == "-" else os.path.realpath(path)


class _Commands(Mapping[str, click.Command]):
    """Commands by name, each imported when it is asked for."""

    _modules: Mapping[str, str] = {
        name: module for names in COMMANDS.values() for name, module in names.items()
    }

    def __getitem__(self, name: str) -> click.Command:
        made: click.Command = getattr(import_module(f"kmatch.cli.{self._modules[name]}"), name)
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


class _Group(_Exemplified, click.Group):
    """The commands together, which help lists by their purpose."""

    examples = (
        "kmatch hamming genome.fa.gz -p TATCACCGATTGACCTGAAT -k 3",
        "kmatch edit --help",
    )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        limit = formatter.width - 6 - max(map(len, self.commands))
        for title, names in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(limit)) for name in names]
                )


@click.group(cls=_Group, commands=_Commands(), context_settings=_SETTINGS)
@click.version_option(__version__, "-V", "--version", message="kmatch %(version)s")
def kmatch() -> None:
    """Find every approximate occurrence of DNA patterns in genomes."""


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
            from kmatch.cli.advice import advised

            click.UsageError(one_line(advised(error, arguments)), error.ctx).show()
        return error.exit_code
