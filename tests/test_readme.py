"""The README is short, and in the order in which a newcomer asks."""

import os
import re
import subprocess
import tomllib

import pytest
from support.documents import README, TOOLS

import kmatch
from kmatch.cli.main import run

TEXT = README.read_text()
ORDER = [
    "Install",
    "Which command do I want?",
    "Recipes",
    "What a hit is",
    "Files and columns",
    "Limits",
    "Speed",
    "How to cite",
]


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 200
    assert len(TEXT) <= 14_000  # nor are its lines long in place of many


def test_sections_are_in_order():
    assert re.findall(r"^## (.*)$", TEXT, re.M) == ORDER


def test_hits_are_seen_in_the_first_lines():
    assert TEXT.split("## Install")[0].count("|||") >= 2


def test_the_version_is_everywhere_the_packages(capfd):
    version, root = kmatch.__version__, README.parent
    assert f"version {version}" in TEXT
    assert re.findall(r"^## \[(\d.*?)\]", (root / "CHANGELOG.md").read_text(), re.M)[0] == version
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text()
    assert tomllib.loads((root / "pyproject.toml").read_text())["project"]["dynamic"] == ["version"]
    assert run(["--version"]) == run(["info", "--short"]) == 0
    assert capfd.readouterr().out.split()[1::2][:1] == [version]


FAKE = """#!/bin/sh
echo "$0 $*" >>"$LOG"
case "$*" in *pytest*) exit 5 ;; esac
"""


@pytest.mark.parametrize("name, status", [("demo", 0), ("test", 5)])
def test_the_two_commands_say_where_kmatch_is(name, status, tmp_path):
    """In an environment whose programs only note how they are called; tests `fail` there."""
    (tmp_path / "bin").mkdir()
    for program in ("python", "kmatch", *TOOLS):  # so that none is installed
        (tmp_path / "bin" / program).write_text(FAKE)
        (tmp_path / "bin" / program).chmod(0o755)
    folders = {"KMATCH_VENV": tmp_path, "KMATCH_TEST_VENV": tmp_path, "LOG": tmp_path / "log"}
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    environment = {"PATH": path, **{key: str(path) for key, path in folders.items()}}
    done = subprocess.run(
        [README.parent / "scripts" / name], env=environment, capture_output=True, text=True
    )
    assert done.returncode == status, done.stderr
    assert f"kmatch is {tmp_path}/bin/kmatch; " in done.stdout
    assert f"source {tmp_path}/bin/activate" in done.stdout
    called = (tmp_path / "log").read_text()
    assert "-m pip install --quiet ." in called or "--editable .[test]" in called
    assert "pytest" in called if name == "test" else "kmatch hamming examples/data" in called
