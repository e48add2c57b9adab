"""The commands together."""

import os

import click

from kmatch import __version__
from kmatch.cli.command import HELP, Commands, Group
from kmatch.cli.commands.completion import VARIABLE
from kmatch.cli.help import COMMANDS
from kmatch.cli.terminal.messages import showing_warnings
from kmatch.cli.terminal.printable import one_line

_NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", ())  # whose message is the help


@click.group(
    cls=Group,
    commands=Commands("kmatch.cli.commands", sum(COMMANDS.values(), ())),
    context_settings={"help_option_names": HELP},
)
@click.version_option(__version__, "-V", "--version", message="kmatch %(version)s")
def kmatch() -> None:
    """Find every approximate occurrence of DNA patterns in genomes."""


def _with_advice(error: click.UsageError, arguments: list[str]) -> str:
    """What was wrong with the arguments, and what to type instead where that is known."""
    from kmatch.cli.advice.near_misses import advice

    found = advice(error, arguments)
    if not found:
        return error.format_message()
    if hasattr(error, "possibilities"):  # that begin alike, and mean something else
        error.possibilities = None
    return f"{error.format_message().rstrip('.')}; {found}"


def run_command(arguments: list[str]) -> int:
    """Run the command that the arguments name; returns its exit status, 2 for wrong usage."""
    if asked := os.environ.get(VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(kmatch, {}, "kmatch", VARIABLE, asked)
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
