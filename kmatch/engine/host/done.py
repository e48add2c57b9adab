"""What a method that begins with `start_` returns where it has done all of the work already."""

from typing import Generic, TypeVar

Result = TypeVar("Result")


class Done(Generic[Result]):
    """A result that is there, handed on as that of a Scan under way is."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def found(self) -> Result:
        """The result."""
        return self._result

    def stop(self) -> None:
        """Nothing is left to stop."""
