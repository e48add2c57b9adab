"""What all commands have in common: help, groups of options, an option's one value given once."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from importlib import import_module
from typing import Any

import click

from kmatch.cli.help import (
    write_arguments,
    write_commands,
    write_difference,
    write_examples,
    write_options,
)

HELP = ["-h", "--help"]
FILES = ("FILE", "FIGURE", "BED")  # metavars of options that take a path


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
    """Commands by name, each imported when it is asked for.

    package: has a module of each command's name, which holds the command by that name.
    """

    def __init__(self, package: str, names: Sequence[str]) -> None:
        self._package, self._names = package, names

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._names:
            raise KeyError(name)
        made: click.Command = getattr(import_module(f"{self._package}.{name}"), name)
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


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
