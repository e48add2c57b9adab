"""What may have been given for something else: files for sequences, sequences for files."""

import os
import re
from collections.abc import Iterable

import click

_SEQUENCE = re.compile(r"[ACGTURYSWKMBDHVN]{4,}", re.IGNORECASE)
_REGION = re.compile(r"(.+):([\d,]{1,13})(?:-|\.\.)([\d,]{1,13})")


def check_sequences(sequences: Iterable[str], argument: str) -> None:
    """Raise UsageError for a sequence that is a path, several of them, or a number.

    argument: the one that takes a file, as `PATTERNS`.
    """
    for text in sequences:
        if _SEQUENCE.fullmatch(text):
            continue
        if "/" in text or ("." in text and os.path.exists(text)):
            raise click.UsageError(f"-p {text} is a path; give the file as {argument}, without -p")
        if all(_SEQUENCE.fullmatch(part) for part in re.split("[,;]", text)):
            raise click.UsageError(f"-p {text} is more than one pattern; repeat -p for each")
        if text.isdecimal():
            raise click.UsageError(f"-p {text} is no sequence; threads are -t N, differences -k N")


def check_path(path: str | None, argument: str) -> None:
    """Raise UsageError for a sequence where a file is meant; argument: where it stands."""
    if path and _SEQUENCE.fullmatch(path) and not os.path.exists(path):
        raise click.UsageError(
            f"{argument} is a file, and there is none named {path}; sequences are given with -p"
        )


def check_regions(path: str | None) -> None:
    """Raise UsageError for a region where a file of them is meant."""
    if path and (found := _REGION.fullmatch(path)) and not os.path.exists(path):
        begin, end = (int(number.replace(",", "") or 0) for number in found.group(2, 3))
        raise click.UsageError(
            f"--regions is a BED file, and there is none named {path}; write one with the line "
            f"{found[1]}, a tab, {max(begin - 1, 0)}, a tab and {end}"
        )
