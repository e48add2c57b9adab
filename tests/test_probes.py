"""Probes note the host lines that run, in every process, and leave kernels as they are."""

import ast
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = '''"""A module."""
from __future__ import annotations

if TYPE_CHECKING:
    import nothing

@kernel
def compiled(x):
    return x

def plain(x):
    """A docstring."""
    if x:
        return 1
    raise ValueError

made = cuda.jit(device=True)(plain)
'''


@pytest.fixture
def probes():
    spec = spec_from_file_location("probes", ROOT / "scripts" / "probes" / "probes.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_lines_of_host_statements(probes):
    assert probes.host_lines(ast.parse(SOURCE)) == {4, 8, 11, 17}
    assert probes.host_lines(ast.parse(SOURCE.replace("made", "# "))) == {4, 8, 11, 13, 14, 15}


def test_probes_change_nothing_else(probes):
    tree = ast.parse(SOURCE.replace("made = cuda.jit(device=True)(plain)", "ends = plain(1)"))
    assert probes.host_lines(tree, probed=True) == {4, 8, 11, 13, 14, 15, 17}
    names = {"TYPE_CHECKING": False, "kernel": lambda function: function}
    names[probes.NAME] = ran = bytearray(20)
    exec(compile(tree, "source", "exec"), names)
    assert names["ends"] == 1 and names["__doc__"] == "A module."
    assert names["plain"].__doc__ == "A docstring."
    assert names["compiled"].__code__.co_names == ()
    assert [i for i, hit in enumerate(ran) if hit] == [4, 8, 11, 13, 14, 17]


def test_processes_leave_what_ran(tmp_path):
    path = os.pathsep.join([str(ROOT / "scripts" / "probes"), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": path, "KMATCH_PROBES": str(tmp_path)}
    for threads in ("None", "1", "2"):
        code = f"from kmatch.errors import check_threads; check_threads({threads})"
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert len(list(tmp_path.glob("*.json"))) == 3
    command = [sys.executable, ROOT / "scripts" / "coverage", "--gathered", tmp_path]
    shown = subprocess.run(command, capture_output=True, text=True)
    assert shown.returncode == 1  # far below 95 %
    lines = (ROOT / "kmatch" / "errors.py").read_text().splitlines()
    begins = lines.index(next(line for line in lines if line.startswith("def check_threads")))
    raises = next(i for i in range(begins, len(lines)) if "raise" in lines[i]) + 1
    (missed,) = (line for line in shown.stdout.splitlines() if "kmatch/errors.py" in line)
    assert f" {raises}" in missed and f" {raises - 1}," not in missed
