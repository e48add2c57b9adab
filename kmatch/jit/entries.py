"""Kernels as host code calls them: by name, so that nothing of Numba is imported before a call."""

from functools import cached_property
from importlib import import_module
from typing import Any


class Entry:
    """A kernel that is called as the function it is made of, on the first call of which its module
    is imported."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    @cached_property
    def _kernel(self) -> Any:
        return getattr(import_module(self.module), self.name)

    def __call__(self, *arguments: Any) -> Any:
        return self._kernel(*arguments)


def entry(module: str, name: str) -> Entry:
    """The kernel of a name in a module."""
    return Entry(module, name)
