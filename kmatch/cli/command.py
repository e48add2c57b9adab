"""What all commands have in common: groups of options, and an option's one value given once."""

from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

import click


class Command(click.Command):
    """A command that refuses an option given twice where one of the values would be lost."""

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


def holds_one_value(parameter: click.Parameter) -> bool:
    """Whether a parameter is an option that takes a value, or a pair, and cannot be repeated."""
    if not isinstance(parameter, click.Option):
        return False
    return not (parameter.multiple or parameter.is_flag or parameter.count)


def command(short_help: str) -> Callable[[Callable[..., None]], Command]:
    """Make a Command of a function that carries decorators for its options.

    The function takes the values by name. A parameter annotated with a NamedTuple takes a group of
    them: the values of the options that the tuple's fields name. Other fields keep their defaults.
    """

    def make(function: Callable[..., None]) -> Command:
        return click.command(cls=Command, short_help=short_help)(_grouped(function))

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
