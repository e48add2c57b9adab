"""Modules of kmatch import one another without circles, and no folder has too many of them."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "kmatch"
MOST_FILES = 22


def imports_of(package):
    """Module → the modules of the same package that it imports when it is imported itself."""
    files = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        files[".".join(part for part in parts if part != "__init__")] = path
    found = {}
    for module, path in files.items():
        names = imported(ast.parse(path.read_bytes()))
        found[module] = {max(files.keys() & candidates, default=module) for candidates in names}
        found[module].discard(module)
    return found


def imported(node):
    """Sets of a module and what may be one in it, without what functions or type checkers import.

    Of `from package import module` the module alone counts.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            yield from ({alias.name} for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from ({child.module, f"{child.module}.{alias.name}"} for alias in child.names)
        yield from imported(child)


def sorted_by_imports(package):
    """The modules of a package, each after those that it imports; CycleError names a circle."""
    return list(TopologicalSorter(imports_of(package)).static_order())


def test_there_is_no_circle_of_imports():
    modules = sorted_by_imports(PACKAGE)
    assert modules.index("kmatch.errors") < modules.index("kmatch.search.windows")
    assert modules.index("kmatch.search.windows") < modules.index("kmatch.api")


def test_folders_stay_small():
    counts = {path.parent: 0 for path in PACKAGE.rglob("*.py")}
    for path in PACKAGE.rglob("*.py"):
        counts[path.parent] += path.name != "__init__.py"
    crowded = {str(folder): count for folder, count in counts.items() if count > MOST_FILES}
    assert not crowded
