"""Twins of the CPU and of CUDA: functions of one name share arguments, in the same order."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "kmatch"
ENGINE, PUBLISHED = PACKAGE / "engine", PACKAGE / "published"

# Names that mean other things on either side, each with a reason.
UNLIKE = {
    "settle": "of a strip of rows on a CPU, of bounds between pieces of a background on a GPU",
}


def modules(folder):
    return sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py")


def public(path):
    """The public functions of a module with their arguments, and its classes with their fields."""
    found = {}
    for node in statements(ast.parse(path.read_bytes()).body):
        if isinstance(node, ast.FunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            found[node.name] = [argument.arg for argument in arguments]
        elif isinstance(node, ast.ClassDef):
            fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
            found[node.name] = [field.target.id for field in fields]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            # Functions that another one makes.
            found |= {target.id: [] for target in node.targets if isinstance(target, ast.Name)}
    return {
        name: arguments
        for name, arguments in found.items()
        if not name.startswith("_") and not name.isupper()
    }


def statements(body):
    """Statements of a module, those under conditions too."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from statements([*node.body, *node.orelse])


def together(folder):
    """The public parts of all modules of a folder: for each name what stands under it."""
    found = {}
    for path in modules(folder):
        for name, arguments in public(path).items():
            found.setdefault(name, []).append(arguments)
    return found


def alike(cpu, cuda):
    """Whether two functions have shared arguments, if any at all, and these in the same order."""
    both = set(cpu) & set(cuda)
    orders = [[word for word in side if word in both] for side in (cpu, cuda)]
    return orders[0] == orders[1] and bool(both or not cpu or not cuda)


@pytest.mark.parametrize("folder", [ENGINE, PUBLISHED], ids=lambda folder: folder.name)
def test_twins_are_alike(folder):
    """A name of both sides is that of functions, or of types, that are alike on each."""
    cpu, cuda = together(folder / "cpu"), together(folder / "cuda")
    shared = cpu.keys() & cuda.keys()
    unlike = {
        name for name in shared if not any(alike(a, b) for a in cpu[name] for b in cuda[name])
    }
    assert unlike <= (set(UNLIKE) if folder == ENGINE else set())
    assert len(shared) > 8


def test_published_algorithms_have_twins():
    cpu, cuda = (modules(PUBLISHED / side) for side in ("cpu", "cuda"))
    assert [path.name for path in cpu] == [path.name for path in cuda]


def test_differences_would_be_found():
    scan = ["text", "query", "buffer"]
    assert alike(scan, ["text", "buffer", "stream"])
    assert not alike(scan, ["buffer", "text"]) and not alike(scan, ["planes"])
