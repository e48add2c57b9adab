"""The digest of kernel sources omits none: all that kernels reach is in files that it reads."""

import ast
import pkgutil
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest
from numba.core.dispatcher import Dispatcher
from support.package_copy import copy_package

from kmatch.jit import folders
from kmatch.jit.folders import PACKAGE, digest, kernel_sources

READ = {path for path, _ in kernel_sources()}


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
                candidates = [file.with_suffix(".py"), file / "__init__.py"]
                yield from (
                    found.relative_to(PACKAGE).as_posix() for found in candidates if found.exists()
                )


def test_what_kernel_sources_import_is_read_too():
    """So are constants in them. A kernel beside other code belongs in a file of its own."""
    for path in sorted(READ):
        missing = set(imported(path)) - READ
        assert not missing, f"{path} imports {missing}, which the digest leaves out"


def modules():
    for found in pkgutil.walk_packages([str(PACKAGE)], "kmatch."):
        if not found.name.endswith("__main__"):
            yield import_module(found.name)


def reached(function, seen):
    """All functions that one can call by the names in it, itself among them."""
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
    for module in modules():
        for value in vars(module).values():
            if isinstance(value, Dispatcher):
                reached(value, seen)
    files = {Path(function.__code__.co_filename) for function in seen}
    ours = {file.relative_to(PACKAGE).as_posix() for file in files if PACKAGE in file.parents}
    assert len(ours) > 20
    assert ours <= READ


def test_files_that_make_no_kernel_do_not_count():
    """A change in the command line does not have all kernels compiled again."""
    assert not {"cli/main.py", "genome.py", "search/windows.py"} & READ
    assert {
        "search/kernels.py",
        "engine/cpu/distances.py",
        "jit/kernels.py",
        "errors.py",
    } <= READ


@pytest.fixture
def package(tmp_path):
    return copy_package(tmp_path)


@pytest.mark.parametrize("path", ["engine/helper.py", "errors.py", "engine/deep/file.py"])
def test_each_byte_of_a_source_counts(package, path):
    file = package / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("a = 1\n")
    known = {digest("1", package=package)}
    for text in ("a = 2\n", "a = 1\n\n"):
        file.write_text(text)
        known.add(digest("1", package=package))
    file.rename(file.with_name("renamed.py"))
    known.add(digest("1", package=package))
    assert len(known) == 4


def test_each_version_counts():
    known = [digest("1", "23"), digest("12", "3"), digest("1", "24"), digest("1", "23", "")]
    assert len(set(known)) == 4
    assert digest("1", "23") == known[0]


def test_what_numba_is_asked_for_counts(monkeypatch):
    known = {folders.folder_name()}
    assert known == {folders._folder_name()}
    for name in folders.SETTINGS:
        monkeypatch.setenv(f"NUMBA_{name}", "7")
        known.add(folders._folder_name())
    assert len(known) == 1 + len(folders.SETTINGS)
