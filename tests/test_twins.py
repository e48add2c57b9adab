"""Twin modules of the CPU and of CUDA: the same names, and shared arguments in the same order."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "kmatch"
ENGINE, PUBLISHED = PACKAGE / "engine", PACKAGE / "published"

# Modules without a twin, and why.
CPU_ONLY = {
    "edit/filter.py": "a filter by exact pieces; a GPU scans",
    "edit/pieces.py": "a filter by exact pieces; a GPU scans",
    "edit/verify.py": "a filter by exact pieces; a GPU scans",
    "bits/numbers.py": "vectors of numbers, which only look-up beside a PAM has",
    "edit/beside.py": "AnchorScan, a capability of the CPU alone",
    "edit/diagonals.py": "AnchorScan, a capability of the CPU alone",
    "edit/lookup.py": "AnchorScan, a capability of the CPU alone",
    "edit/seeds.py": "AnchorScan, a capability of the CPU alone",
    "forks.py": "processes forked while kernels run on threads",
    "bits/vectors.py": "vectors of a CPU; a thread of a GPU has words",
    "edit/anchors.py": "AnchorScan, a capability of the CPU alone",
    "edit/tile.py": "on a GPU the kernel in scan.py is a tile",
    "hamming/seeds.py": "SeedLookup, a capability of the CPU alone",
    "hamming/panel.py": "sums of triplets",
    "hamming/triplets.py": "sums that many queries share, for which a GPU has too little memory",
    "primer/slots.py": "memory of strips, of which a GPU keeps all",
}
CUDA_ONLY = {
    "bits/words.py": "words of a thread; a CPU has vectors",
    "edit/stretches.py": "how work is divided among blocks of threads",
    "edit/strips.py": "patterns whose column does not fit the registers",
    "gpu/device.py": "the GPU",
    "gpu/driver.py": "the GPU",
    "gpu/queue.py": "the GPU",
    "gpu/scans.py": "the GPU",
    "hamming/queries.py": "which letters are in shared memory",
    "primer/target_parts.py": "a target shared out to several GPUs",
    "several.py": "several GPUs as one engine",
    "primer/pieces.py": "units of work of a launch",
    "text/lanes.py": "long lanes of a packed genome become short ones",
    "text/staging.py": "copies to the GPU",
    "text/tiles.py": "copies to shared memory",
}
# Twin modules that share no public name, and why.
UNLIKE = {
    "bits/buffer.py": "a CPU thread takes blocks of the buffer, a warp reserves a part at once",
    "primer/tile.py": "a CPU calls a function a tile, a GPU one kernel for all",
}


def modules(folder):
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if path.name != "__init__.py"
    }


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


def differences(cpu, cuda):
    """What is not alike in the public parts of twin modules."""
    shared = cpu.keys() & cuda.keys()
    for name in sorted(shared):
        both = set(cpu[name]) & set(cuda[name])
        orders = [[word for word in side[name] if word in both] for side in (cpu, cuda)]
        if orders[0] != orders[1]:
            yield f"{name}: {orders[0]} on the CPU, {orders[1]} on CUDA"
        if min(len(cpu[name]), len(cuda[name])) and not both:
            yield f"{name}: no argument of the same name"


def test_every_module_has_a_twin():
    cpu, cuda = modules(ENGINE / "cpu"), modules(ENGINE / "cuda")
    assert cpu - cuda == CPU_ONLY.keys()
    assert cuda - cpu == CUDA_ONLY.keys()
    assert modules(PUBLISHED / "cpu") == modules(PUBLISHED / "cuda")


@pytest.mark.parametrize(
    ("folder", "module"),
    [
        (folder, module)
        for folder in (ENGINE, PUBLISHED)
        for module in sorted(modules(folder / "cpu") & modules(folder / "cuda"))
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_twins_are_alike(folder, module):
    cpu, cuda = (public(folder / side / module) for side in ("cpu", "cuda"))
    assert list(differences(cpu, cuda)) == []
    if folder == ENGINE and module != "engine.py":
        assert bool(cpu.keys() & cuda.keys()) != (module in UNLIKE)


def test_differences_would_be_found():
    alike = {"scan": ["text", "query", "buffer"]}
    assert not list(differences(alike, {"scan": ["text", "buffer", "stream"], "upload": []}))
    assert list(differences(alike, {"scan": ["buffer", "text"]}))
    assert list(differences(alike, {"scan": ["planes"]}))
