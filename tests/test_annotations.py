"""Host code is typed, also in the modules that mypy excepts because they have kernels."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "kmatch"
# What makes kernels, and what Numba calls while it compiles.
COMPILED = {"kernel", "kernel_by_number", "kept_kernel", "parallel_kernel"}
COMPILED |= {"inlined", "njit", "jit", "intrinsic", "overload"}
# Modules that are all for kernels: Numba types their functions.
FOR_KERNELS = (
    "engine/cpu/hamming.py",
    "engine/cpu/vectors.py",
    "engine/cuda/recurrence.py",
    "engine/cuda/text.py",
    "engine/cuda/words.py",
)


def untyped(tree):
    """Names of the functions without types that are neither compiled nor inside of one that is."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef):
            yield from untyped(node)
        elif not COMPILED & {name_of(decorator) for decorator in node.decorator_list}:
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            arguments = [each for each in arguments if each.arg not in ("self", "cls")]
            if node.returns is None or not all(each.annotation for each in arguments):
                yield node.name
            yield from untyped(node)


def name_of(decorator):
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    return call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "")


def test_host_functions_are_typed():
    found = {
        path.relative_to(PACKAGE).as_posix(): list(untyped(ast.parse(path.read_bytes())))
        for path in PACKAGE.rglob("*.py")
    }
    assert {path for path, names in found.items() if names} == set(FOR_KERNELS)


def test_one_without_types_would_be_found():
    source = "@kernel\ndef a(x): pass\ndef b(x) -> int:\n def c(): pass\ndef d(x: int) -> int: pass"
    assert list(untyped(ast.parse(source))) == ["b", "c"]
