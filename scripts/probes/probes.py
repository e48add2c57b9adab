"""Which host lines of kmatch run, at little cost: every statement of host code notes its line.

Coverage's tracer slows the tests by 40 to 50 % before Python 3.12, which is too much for continuous
integration. Here an import hook puts a probe before each statement as a module is loaded. Kernels
have none, since Numba compiles them; nor have blocks that only type checkers read.
"""

import ast
import atexit
import json
import marshal
import sys
import uuid
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from zlib import crc32

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "kmatch"
COMPILED = {"kernel", "kernel_by_number", "parallel_kernel", "inlined", "njit", "jit"}
COMPILED |= {"intrinsic", "overload"}
NAME = "__ran__"  # in each module: a byte for each line, set where it ran

ran = {}


def host_lines(tree, probed=False):
    """The lines of a module's host statements; probed: put a probe before each."""
    lines = set()
    compiled = {name for node in ast.walk(tree) for name in _compiled_by_call(node)}
    _visit(tree, compiled, lines, probed)
    return lines


def _visit(node, compiled, lines, probed):
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        block = getattr(node, field, None)
        if not isinstance(block, list):
            continue
        found = []
        for each in block:
            if isinstance(each, ast.stmt) and not _is_idle(each):
                lines.add(each.lineno)
                if probed:
                    found.append(_probe(each))
            found.append(each)
            if not _is_left_out(each, compiled):
                _visit(each, compiled, lines, probed)
        if probed:
            setattr(node, field, found)


def _is_idle(node):
    """Whether a statement does nothing, or has to be the first one of its block."""
    constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return constant or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _is_left_out(node, compiled):
    if isinstance(node, ast.FunctionDef):
        return node.name in compiled or bool(COMPILED & set(map(_name, node.decorator_list)))
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _compiled_by_call(node):
    """Names of functions that a call makes kernels, as in cuda.jit(device=True)(function)."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Call)
        and _name(node.func) in COMPILED
    ):
        yield from (each.id for each in node.args if isinstance(each, ast.Name))


def _name(decorator):
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    return call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "")


def _probe(node):
    probe = ast.parse(f"{NAME}[{node.lineno}] = 1").body[0]
    for part in ast.walk(probe):
        if hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return probe


class Loader(SourceFileLoader):
    """Loads a module with probes, which the first process keeps for all others."""

    folder = None

    def get_code(self, fullname):
        source = self.get_data(self.path)
        kept = self.folder / f"{fullname}.{crc32(source):08x}.code"
        if kept.exists():
            return marshal.loads(kept.read_bytes())
        tree = ast.parse(source, self.path)
        host_lines(tree, probed=True)
        code = compile(tree, self.path, "exec", dont_inherit=True)
        part = kept.with_name(uuid.uuid4().hex)
        part.write_bytes(marshal.dumps(code))
        part.rename(kept)
        return code

    def exec_module(self, module):
        count = self.get_data(self.path).count(b"\n") + 2
        module.__dict__[NAME] = ran[self.path] = bytearray(count)
        super().exec_module(module)


class Finder:
    """Finds the modules of this kmatch, and leaves all others to Python."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        # `python -m kmatch` runs a module without loading it.
        if name.partition(".")[0] != "kmatch" or name.endswith(".__main__"):
            return None
        spec = PathFinder.find_spec(name, path)
        loader = spec.loader if spec else None
        ours = (
            isinstance(loader, SourceFileLoader) and PACKAGE in Path(loader.path).resolve().parents
        )
        if ours:
            spec.loader = Loader(loader.name, loader.path)
        return spec


def install(folder):
    """Put probes into kmatch; the lines that ran go to a file in the folder as the process ends."""
    Loader.folder = Path(folder)
    sys.meta_path.insert(0, Finder)
    atexit.register(_save, Path(folder, f"{uuid.uuid4().hex}.json"))


def _save(path):
    lines = {
        Path(name).resolve().relative_to(ROOT).as_posix(): [i for i, hit in enumerate(hits) if hit]
        for name, hits in ran.items()
    }
    if lines:
        path.write_text(json.dumps(lines))
