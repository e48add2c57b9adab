"""Handles that say what failed: an error of theirs names the output, whatever else goes wrong."""

from contextlib import contextmanager

from kmatch.errors import ClosedPipe, OutputError


@contextmanager
def writing(label, advice=""):
    """Turn an OSError of the block into an OutputError that names the output.

    advice: what to do about it, behind the reason. ClosedPipe where nobody reads any more.
    """
    try:
        yield
    except OSError as error:
        raise output_error(label, error, advice) from error


def output_error(label, error, advice=""):
    """The OutputError for an OSError of an output."""
    reason = f"{label}: cannot be written: {error.strerror or error}"
    if isinstance(error, BrokenPipeError):
        return ClosedPipe(reason)
    return OutputError(reason + advice)


class NamedHandle:
    """A binary handle for writing, whose failures are OutputErrors that name it."""

    def __init__(self, handle, label):
        self._handle, self._label = handle, label

    def write(self, data):
        try:
            return self._handle.write(data)
        except OSError as error:
            raise output_error(self._label, error) from error

    def flush(self):
        with writing(self._label):
            self._handle.flush()

    def close(self):
        with writing(self._label):
            self._handle.close()
