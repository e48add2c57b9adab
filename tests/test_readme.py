"""What the README shows is what happens."""

import re
from pathlib import Path

import pytest

from kmatch.cli.main import run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
RUNS = re.findall(r"```console\n\$ kmatch (.*?)\n(.*?)```", README, re.S)


@pytest.mark.parametrize("command, output", RUNS, ids=[command for command, _ in RUNS])
def test_runs(command, output, monkeypatch, capfdbinary):
    monkeypatch.chdir(ROOT)
    assert run(command.split()) == 0
    assert capfdbinary.readouterr().out.decode() == output


def test_python(monkeypatch, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(.*?)```", README, re.S).group(1)
    exec(code, names := {})
    assert names["hits"].record.tolist() == ["gi|9626243|ref|NC_001416.1|"] * len(names["hits"])
    assert len(names["hits"]) > 0


def test_options_exist(capfd):
    """Every option the README names is one of the command line's."""
    commands = (
        "hamming",
        "multi",
        "edit",
        "best",
        "pcr",
        "primer",
        "pack",
        "bench",
        "model",
        "info",
    )
    for command in commands:
        assert run([command, "--help"]) == 0
    known = capfd.readouterr().out
    named = set(re.findall(r"(?<![\w-])(--?[a-z0-9][a-z0-9-]*)\b", README.replace("```", "")))
    missing = [option for option in named if option not in known and option != "-m"]
    assert missing == []
