"""The errors that kmatch raises on purpose; each message says what is wrong and what to do."""

import re
import warnings
from collections.abc import Callable, Sequence

LONGEST_SHOWN = 60  # characters of a name in a message
OnWarning = Callable[[str], object]  # is called with the text of a warning
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


class KmatchError(Exception):
    """An input, an output or the machine failed; the command line ends with status 1."""


class InputError(KmatchError):
    """A file, a record or a pattern cannot be used."""


class DeviceError(KmatchError):
    """The requested device cannot be used."""


class ClusterError(KmatchError):
    """A Dask cluster cannot be used, or failed; may_pass: whether trying again can help."""

    may_pass: bool = False


class OutputError(KmatchError):
    """The results cannot be written."""


class ClosedPipe(OutputError):
    """The reader of the results has gone; the command line ends quietly."""


class KmatchWarning(UserWarning):
    """Something is wrong that does not change the results."""


def shown(name: str, longest: int = LONGEST_SHOWN) -> str:
    """A name or a note as messages show it: shortened, and without control characters."""
    name = CONTROL.sub("_", name)
    return name if len(name) <= longest else f"{name[:longest]}…"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names as messages list them: the first few, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(f"'{shown(name)}'" for name in names[:most]) + more


def warn(message: str) -> None:
    """Warn by Python's means: what `on_warning` does by default."""
    warnings.warn(message, stacklevel=3)
