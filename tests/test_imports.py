"""Modules import each other along the flow, without circles, and no folder has too many of them.

Imports inside functions count too; what only type checkers import does not.
"""

import ast
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "kmatch"
MOST_FILES = 22
TOP = {"api", "cli", "bench", "ahead", "cluster", "published"}
# What a room never imports.
ABOVE = {
    "sequences": TOP | {"apps", "variants", "search", "results", "engine", "genome", "packed"},
    "engine": TOP | {"apps", "variants", "search", "results", "sequences", "genome", "packed"},
    "packed": TOP | {"apps", "variants", "search", "genome"},
    "results": TOP | {"apps", "variants", "search"},
    "search": TOP | {"apps", "variants"},
    "variants": TOP | {"apps"},
    "apps": TOP - {"cluster"},  # which is imported where a search is to run on one
    "published": TOP - {"published"} | {"apps", "variants", "results"},
}


def imports():
    """Return module → the others that it imports, as parts of their names, in functions too."""
    files = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        files[tuple(part for part in parts if part != "__init__")] = path
    found = {}
    for module, path in files.items():
        tree = ast.parse(path.read_bytes())
        names = {tuple(name.split(".")) for name in imported(tree)}
        found[module] = {name if name in files else name[:-1] for name in names} & files.keys()
        found[module].discard(module)
    return found


def imported(node):
    """Yield the dotted names of what is imported, but for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from imported(child)


def test_there_is_no_circle():
    found = imports()
    order = list(TopologicalSorter(found).static_order())  # CycleError names a circle
    assert len(order) == len(found) > 100


@pytest.mark.parametrize("room", ABOVE)
def test_no_room_imports_what_stands_above_it(room):
    for module, others in imports().items():
        if module[1:2] == (room,):
            reached = {"".join(other[1:2]) for other in others}
            assert reached & ABOVE[room] == set(), module


def test_folders_stay_small():
    paths = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    counts = Counter(str(path.parent) for path in paths)
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}
