"""Modules import each other along the flow, without circles, and no folder has too many of them."""

import ast
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "kmatch"
MOST_FILES = 22
# What a room never imports, besides api and cli.
ABOVE = {
    "search": set(),
    "results": {"search", "cluster"},
    "sequences": {"search", "cluster", "results", "engine", "genome", "packed"},
    "engine": {"search", "cluster", "results", "sequences", "genome", "packed"},
}


def imports(anywhere=False):
    """Module → the others that it imports when it is imported itself, or anywhere in it, as parts
    of their names."""
    files = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        files[tuple(part for part in parts if part != "__init__")] = path
    found = {}
    for module, path in files.items():
        names = {
            tuple(name.split(".")) for name in imported(ast.parse(path.read_bytes()), anywhere)
        }
        found[module] = {name if name in files else name[:-1] for name in names} & files.keys()
        found[module].discard(module)
    return found


def imported(node, anywhere):
    """The dotted names of what is imported, but by type checkers, and if not anywhere functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif not (
            (isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not anywhere)
            or (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING")
        ):
            yield from imported(child, anywhere)


def test_there_is_no_circle_and_no_arrow_upwards():
    found = imports()
    order = list(TopologicalSorter(found).static_order())  # CycleError names a circle
    rooms = ("errors", "search.windows", "api")
    places = [order.index(("kmatch", *room.split("."))) for room in rooms]
    assert places == sorted(places)
    for module, others in found.items():
        above = ABOVE.get("".join(module[1:2]))
        reached = {"".join(other[1:2]) for other in others}
        assert above is None or not reached & {*above, "api", "cli"}, module


def test_no_circle_hides_in_functions():
    rooms = ("results", "pictures", "packed", "sequences")
    found = {
        module: {other for other in others if other[1:2] and other[1] in rooms}
        for module, others in imports(anywhere=True).items()
        if module[1:2] and module[1] in rooms
    }
    tuple(TopologicalSorter(found).static_order())  # CycleError names a circle


def test_folders_stay_small():
    paths = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    counts = Counter(str(path.parent) for path in paths)
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}
