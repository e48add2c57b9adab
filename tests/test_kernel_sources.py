"""The digest of kernel sources omits none: all that kernels reach is in files that it reads."""

import ast
import pkgutil
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest
from numba.core.dispatcher import Dispatcher
from support.package_copy import copy_package

from kmatch.jit.entries import Entry
from kmatch.jit.folders import PACKAGE, digest, kernel_sources

READ = set(kernel_sources())


class WithoutTypeChecking(ast.NodeTransformer):
    """Removes the blocks that only type checkers read."""

    def visit_If(self, node):
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return node.orelse
        return self.generic_visit(node)


def imported(path):
    """The files of kmatch that one imports, anywhere in it."""
    tree = ast.parse((PACKAGE / path).read_bytes())
    for node in ast.walk(WithoutTypeChecking().visit(tree)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relative to itself"
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if name.split(".")[0] == "kmatch":
                file = PACKAGE.joinpath(*name.split(".")[1:])
                for found in (file.with_suffix(".py"), file / "__init__.py"):
                    if found.exists():
                        yield found.relative_to(PACKAGE).as_posix()


def test_what_kernel_sources_import_is_read_too():
    """So are constants in them. A kernel beside other code belongs in a file of its own."""
    for path in READ:
        assert set(imported(path)) <= READ, path


def reached(function, seen):
    """All functions that one can call by the names in it, itself among them."""
    function = function.kernel if isinstance(function, Entry) else function
    function = getattr(function, "py_func", function)
    if not isinstance(function, FunctionType) or function in seen:
        return
    seen.add(function)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    names = [function.__globals__.get(name) for name in function.__code__.co_names]
    for value in [*cells, *names]:
        reached(value, seen)


def test_every_kernel_and_what_it_calls_is_read():
    seen = set()
    for found in pkgutil.walk_packages([str(PACKAGE)], "kmatch."):
        if not found.name.endswith("__main__"):
            for value in vars(import_module(found.name)).values():
                if isinstance(value, Dispatcher | Entry):
                    reached(value, seen)
    files = {Path(function.__code__.co_filename) for function in seen}
    ours = {file.relative_to(PACKAGE).as_posix() for file in files if PACKAGE in file.parents}
    assert len(ours) > 20 and ours <= READ
    assert "errors.py" in READ and "cli/main.py" not in READ  # which may change as it likes


@pytest.mark.parametrize("path", ["engine/helper.py", "errors.py", "search/kernels.py"])
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
