"""The errors that kmatch raises on purpose; each message says what is wrong and what to do."""


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
