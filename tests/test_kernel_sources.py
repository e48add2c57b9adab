"""The digest of kernel sources omits none: all that kernels reach is in files that it reads."""

import pkgutil
from importlib import import_module
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher
from support.package_copy import copy_package
from test_imports import imports

from kmatch.jit.entries import Entry
from kmatch.jit.folders import PACKAGE, digest, kernel_sources

READ = set(kernel_sources())


def test_what_kernel_sources_import_is_read_too():
    """So are constants in them. A kernel beside other code belongs in a file of its own."""
    for module, others in imports().items():
        for file in map(file_of, others if file_of(module) in READ else ()):
            assert file in READ, module


def file_of(module):
    """The file of a module, by the parts of its name."""
    path = PACKAGE.joinpath(*module[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.relative_to(PACKAGE).as_posix()


def test_every_kernel_is_read():
    """And so is all that it calls, as what its module imports is."""
    for found in pkgutil.walk_packages([str(PACKAGE)], "kmatch."):
        if not found.name.endswith("__main__"):
            for value in vars(import_module(found.name)).values():
                if isinstance(value, Entry):
                    value = value.kernel
                if isinstance(value, Dispatcher):
                    file = Path(value.py_func.__code__.co_filename)
                    assert file.relative_to(PACKAGE).as_posix() in READ
    assert len(READ) > 20
    assert "errors.py" in READ and "cli/main.py" not in READ  # which may change as it likes


@pytest.mark.parametrize("path", ["engine/helper.py", "errors.py", "results/kernels.py"])
def test_each_byte_of_a_source_and_each_version_counts(path, tmp_path):
    package = copy_package(tmp_path)
    known = [("1", "23"), ("12", "3"), ("1", "24"), ("1", "23", "")]
    digests = {digest(*versions, package=package) for versions in known}
    for text in ("a = 1\n", "a = 2\n", "a = 1\n\n"):
        (package / path).write_text(text)
        digests.add(digest("1", "23", package=package))
    (package / "engine" / "helper.py").rename(package / "engine" / "renamed.py")
    digests.add(digest("1", "23", package=package))
    assert len(digests) == 8
