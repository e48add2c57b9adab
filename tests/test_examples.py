"""The examples run and find what they say they do."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.commands import KMATCH

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.sh"))


@pytest.fixture
def example(tmp_path_factory, tmp_path):
    """A function that runs a script with a folder for its files; returns its lines."""
    programs = tmp_path_factory.mktemp("bin")
    for name, words in (("kmatch", KMATCH), ("python3", KMATCH[:1])):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {" ".join(words)} "$@"\n')
        program.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }

    def run(name):
        done = subprocess.run(
            [EXAMPLES / name, tmp_path], env=environment, capture_output=True, timeout=300
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().splitlines()

    return run


def rows_of(path):
    header, *rows = [line.split("\t") for line in path.read_text().splitlines()]
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_off_targets(example, tmp_path):
    lines = example("crispr_off_targets.sh")
    assert lines[0] == "pattern\td0\td1\td2\td3\td4\td5\ttotal"
    assert [line.split("\t")[:2] for line in lines[1:3]] == [["ND1", "1"], ["ND2", "1"]]
    rows = rows_of(tmp_path / "off_targets.tsv")
    assert sum(int(line.split("\t")[-1]) for line in lines[1:3]) == len(rows) > 4
    assert any("I" in row["cigar"] or "D" in row["cigar"] for row in rows)
    assert all(row["match"][-2:] in ("GG", "AG") for row in rows)
    assert sum(", distance " in line for line in lines) == 4


def test_primers_against_a_relative(example, tmp_path):
    lines = example("primer_against_relative.sh")
    rows = rows_of(tmp_path / "primers.tsv")
    assert lines[0] == f"{len(rows)} primers; the first ones:" and len(rows) > 100
    assert int(lines[-1].split("\t")[4]) >= 3  # differences where it comes closest


def test_products(example, tmp_path):
    lines = example("in_silico_pcr.sh")
    assert [line.split("\t")[1:] for line in lines[1:3]] == [
        ["7130", "7630", "control", "500", "+"],
        ["37227", "37940", "cI", "713", "-"],
    ]
    rows = rows_of(tmp_path / "products.tsv")
    assert len(rows) == 2 and all(len(row["product"]) == int(row["length"]) for row in rows)
    assert lines[-1] == "3 products of any two primers"


def test_reads(example):
    with_adapter, *first = example("reads.sh")
    found, total = (int(word) for word in with_adapter.split() if word.isdigit())
    assert total == 300 and 90 <= found <= 100  # a third has one, of which few have four errors
    assert [int(line.split("\t")[0].removeprefix("read_")) % 3 for line in first] == [0, 0, 0]


def test_primer3(example):
    pytest.importorskip("primer3", reason="no primer3-py: pip install 'kmatch[examples]'")
    lines = example("design_primers.py")
    pairs = [line.split() for line in lines[2:]]
    assert len(pairs) == 3
    for _, forward, reverse, size in pairs:
        assert min(len(forward), len(reverse)) >= 24 and 150 <= int(size) <= 600


def test_every_script_is_tested():
    source = Path(__file__).read_text()
    assert len(SCRIPTS) >= 4 and all(f'"{script.name}"' in source for script in SCRIPTS)
    described = (EXAMPLES / "README.md").read_text()
    shown = [path.name for path in EXAMPLES.iterdir() if path.suffix in (".sh", ".py", ".ipynb")]
    assert [name for name in shown if f"`{name}`" not in described] == []


NOTEBOOK = EXAMPLES / "kmatch.ipynb"


def test_the_notebook(tmp_path):
    for module in ("nbclient", "ipykernel", "matplotlib"):
        if find_spec(module) is None:
            pytest.skip(f"no {module}: pip install 'kmatch[examples]'")
    command = [sys.executable, ROOT / "scripts" / "notebook", NOTEBOOK, tmp_path / "done.ipynb"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    shown, found = (outputs(path) for path in (NOTEBOOK, tmp_path / "done.ipynb"))
    assert len(shown) == 8 and sum("image/png" in cell for cell in shown) == 2
    assert [texts(cell) for cell in found] == [texts(cell) for cell in shown]
    assert [sorted(cell) for cell in found] == [sorted(cell) for cell in shown]


def outputs(path):
    """What each code cell shows, by kind."""
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    assert all(len(cell["outputs"]) == 1 for cell in cells)
    return [cell["outputs"][0]["data"] for cell in cells]


def texts(data):
    return {kind: "".join(value) for kind, value in data.items() if kind != "image/png"}
