"""Where results go: to none of the inputs, not two of them to one place, in a known format."""

import os
import stat
import sys
from contextlib import suppress

import click

from kmatch.results.files.output import is_special

FORMATS = ("bed", "tsv")
_SUFFIXES = {"": None, ".bed": "bed", ".tsv": "tsv", ".txt": None}


def format_of(form, output):
    """The output format: the one asked for, else by the file's suffix, else bed.

    Raises UsageError for a file whose suffix names no format.
    """
    if output in (None, "-") or is_special(output):
        return form or "bed"
    name = os.path.basename(output).lower().removesuffix(".gz")
    suffix = os.path.splitext(name)[1]
    if suffix not in _SUFFIXES:
        known = " and ".join(", ".join(filter(None, _SUFFIXES)).rsplit(", ", 1))
        raise click.UsageError(
            f"-o {output}: '{suffix}' names no format; {known} do, and these with .gz"
        )
    return form or _SUFFIXES[suffix] or "bed"


def check_places(inputs, outputs):
    """Raise UsageError where an output is an input, or two outputs are one file, by any name.

    inputs: paths, `-` for standard input; outputs: a dict of options and paths, `-` for standard
    output; None among them is not given. Devices can take any number of outputs.
    """
    read = {_place(path, "stdin"): path for path in inputs if path not in (None, "")}
    written = {}
    for option, path in outputs.items():
        if path is None:
            continue
        place = _place(path, "stdout")
        if place in read and place is not None:
            raise click.UsageError(
                f"{option} {path} is the same file as {read[place]}, which is read; name another"
            )
        place = path if path == "-" and place is None else place
        if place in written and place is not None:
            first = written[place]
            raise click.UsageError(f"{first} and {option} cannot go to the same place")
        written[place] = option


def _place(path, stream):
    """What tells a regular file, or one that is not there yet, from others, whatever its names.

    None for devices and pipes, and for a standard stream that is one.
    """
    with suppress(OSError, ValueError, AttributeError):
        found = os.fstat(getattr(sys, stream).fileno()) if path == "-" else os.stat(path)
        return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
    return None if path == "-" else os.path.realpath(path)
