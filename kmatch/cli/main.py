"""The `kmatch` command and what its errors look like."""

import os
import sys

import click

from kmatch import __version__
from kmatch.cli.hamming import hamming
from kmatch.cli.info import info
from kmatch.errors import KmatchError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="kmatch %(version)s")
def kmatch():
    """Find every approximate occurrence of DNA patterns in genomes."""


for command in (hamming, info):
    kmatch.add_command(command)


def main(arguments=None):
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments):
    """Run the command line; returns the exit status."""
    try:
        return kmatch.main(arguments, prog_name="kmatch", standalone_mode=False) or 0
    except click.exceptions.Abort:
        return _fail("interrupted", 130)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        _forget_standard_output()
        return 0
    except KmatchError as error:
        if "--debug" in arguments:
            raise
        return _fail(str(error), 1)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except MemoryError:
        if "--debug" in arguments:
            raise
        return _fail("out of memory; search a smaller genome or fewer patterns at a time", 1)


def _fail(message, status):
    one_line = " ".join(str(message).split())
    print(f"kmatch: error: {one_line}", file=sys.stderr)
    return status


def _forget_standard_output():
    # Python flushes standard output once more at its end, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
