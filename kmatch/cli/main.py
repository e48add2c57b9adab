"""The `kmatch` command and what its errors look like."""

import os
import sys
import warnings
from contextlib import contextmanager

import click

from kmatch import __version__
from kmatch.cli.bench import bench
from kmatch.cli.best import best
from kmatch.cli.edit import edit
from kmatch.cli.hamming import hamming
from kmatch.cli.info import info
from kmatch.cli.model import model
from kmatch.cli.multi import multi
from kmatch.cli.pack import pack
from kmatch.cli.primer import primer
from kmatch.errors import KmatchError, KmatchWarning


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="kmatch %(version)s")
def kmatch():
    """Find every approximate occurrence of DNA patterns in genomes."""


for command in (hamming, multi, edit, best, primer, pack, bench, model, info):
    kmatch.add_command(command)


def main(arguments=None):
    """Run the command line and exit: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments):
    """Run the command line; returns the exit status."""
    try:
        with _warnings_told(), kmatch.make_context("kmatch", list(arguments)) as context:
            kmatch.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
        return 0
    except click.exceptions.Exit as end:
        return _fail_on_full_output() or end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.exceptions.Abort):
        return _fail("interrupted", 130)
    except BrokenPipeError:
        _forget_standard_output()
        return 0
    except (KmatchError, MemoryError, OSError) as error:
        if "--debug" in arguments:
            raise
        return _fail(_told(error), 1)


@contextmanager
def _warnings_told():
    """Tell kmatch's own warnings as the command line does while the block runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", KmatchWarning)
        plain = warnings.showwarning

        def show(message, category, *where, **more):
            if issubclass(category, KmatchWarning):
                print(f"kmatch: warning: {message}", file=sys.stderr)
            else:
                plain(message, category, *where, **more)

        warnings.showwarning = show
        yield


def _told(error):
    if isinstance(error, MemoryError):
        return "out of memory; search fewer patterns at a time, or a genome of shorter records"
    if isinstance(error, OSError):
        _forget_standard_output()
        return f"standard output: cannot be written: {error.strerror}"
    return str(error)


def _fail_on_full_output():
    try:
        sys.stdout.flush()
    except OSError as error:
        return _fail(_told(error), 1)


def _fail(message, status):
    one_line = " ".join(message.split())
    print(f"kmatch: error: {one_line}", file=sys.stderr)
    return status


def _forget_standard_output():
    # Python flushes standard output once more at its end, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
