"""The errors kmatch raises on purpose; each message says what is wrong and what to do."""


class KmatchError(Exception):
    """An input, an output or the machine failed; the command line ends with status 1."""


class InputError(KmatchError):
    """A file, a record or a pattern cannot be used."""


class DeviceError(KmatchError):
    """The device asked for cannot be used."""


class OutputError(KmatchError):
    """The results cannot be written."""


class ClosedPipe(OutputError):
    """Who read the results wants no more; the command line ends quietly."""


class KmatchWarning(UserWarning):
    """Something is amiss that the results do not suffer from."""
