"""What all commands have in common: an option that holds one value is given once."""

from collections import Counter
from functools import partial

import click


class Command(click.Command):
    """A command to which an option given twice, of which one would be lost, is wrong usage."""

    def parse_args(self, ctx, args):
        given = list(args)
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            self._check_once(ctx, given)
        return rest

    def _check_once(self, context, arguments):
        *_, order = self.make_parser(context).parse_args(arguments)
        for option, times in Counter(order).items():
            if times > 1 and holds_one_value(option):
                raise click.UsageError(
                    f"{option.opts[-1]} is given {times} times, and holds one value", context
                )


def holds_one_value(parameter):
    """Whether a parameter is an option that takes a value, or a pair, and cannot be repeated."""
    if not isinstance(parameter, click.Option):
        return False
    return not (parameter.multiple or parameter.is_flag or parameter.count)


command = partial(click.command, cls=Command)
