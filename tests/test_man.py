"""The manual pages: made from the help, as it is now, and good to read."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kmatch.cli.command import kmatch as group

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "man").glob("*.1"))


def man(*arguments):
    command = [sys.executable, ROOT / "scripts" / "man", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_pages_are_fresh():
    done = man("--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_old_pages_are_found(tmp_path):
    script = tmp_path / "scripts" / "man"
    script.parent.mkdir()
    shutil.copy(ROOT / "scripts" / "man", script)
    for arguments, status in (((), 0), (("--check",), 0)):
        assert subprocess.run([sys.executable, script, *arguments]).returncode == status
    (tmp_path / "man" / "kmatch-edit.1").write_text("old\n")
    (tmp_path / "man" / "kmatch-gone.1").write_text("old\n")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "kmatch-edit.1, kmatch-gone.1; run scripts/man" in done.stderr


def test_every_command_has_a_page():
    names = {"kmatch.1", *(f"kmatch-{name}.1" for name in group.commands)}
    assert {path.name for path in PAGES} == names
    files = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["data-files"]
    assert files == {"share/man/man1": ["man/*.1"]}


@pytest.mark.skipif(not shutil.which("mandoc"), reason="mandoc is not installed")
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_pages_are_what_mandoc_wants(path):
    command = ["mandoc", "-T", "lint", "-W", "warning", path]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    assert [line for line in said.splitlines() if "missing date" not in line] == []


@pytest.mark.skipif(not shutil.which("man"), reason="man is not installed")
def test_a_page_reads_as_the_help_does():
    command = ["man", "-l", ROOT / "man" / "kmatch-pcr.1"]
    options = {"capture_output": True, "text": True, "timeout": 60}
    environment = {"MANWIDTH": "80", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=environment, **options)
    if not done.stdout:
        pytest.skip("man shows no pages here")
    headings = [line for line in done.stdout.splitlines() if line and not line.startswith(" ")]
    wanted = ["NAME", "SYNOPSIS", "EXAMPLES", "DESCRIPTION", "READS", "WHAT TO FIND", "WHERE"]
    assert headings[1:-1] == [*wanted, "OUTPUT", "RUNNING", "SEE ALSO"]
    assert "       --product MIN-MAX\n              Letters of a product" in done.stdout
