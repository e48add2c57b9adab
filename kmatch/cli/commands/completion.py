"""`kmatch completion`."""

import click

from kmatch.cli.command import command

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_KMATCH_COMPLETE"  # what shells set to ask for completions


@command(
    short_help="A script that lets a shell complete commands.",
    examples=(
        'eval "$(kmatch completion bash)"',
        "kmatch completion zsh >> ~/.zshrc",
        "kmatch completion fish > ~/.config/fish/completions/kmatch.fish",
    ),
)
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Write the script that makes a SHELL complete commands, options, their values and files.

    Give it to the shell once, as above, or let every shell do so by writing it to ~/.bashrc,
    ~/.zshrc behind compinit, or fish's folder of completions.
    """
    from click.shell_completion import get_completion_class

    root = click.get_current_context().find_root()
    complete = get_completion_class(shell)
    assert complete is not None, shell
    click.echo(complete(root.command, {}, "kmatch", VARIABLE).source())
