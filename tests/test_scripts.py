"""The measurements on tiny texts, each run whole."""

import json
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from bench import cpu, scale, whole
from harness import common, workloads
from support.commands import here

SASSY = find_spec("sassy") is not None


def letters_of(count, seed=1):
    return workloads.random_text(count, seed).letters.tobytes().decode()


class Runs:
    """Runs main() of a script in this process, and the kmatch processes that it starts too."""

    def __init__(self, monkeypatch, folder):
        self._patch, self.folder = monkeypatch, folder
        monkeypatch.setattr(common, "run", self._run)
        self.genome = self.write("genome.fa", f">r\n{letters_of(4_000)}\n")
        text = workloads.Text("text", np.frombuffer(letters_of(4_000).encode(), np.uint8))
        guides = workloads.guide_panel(text, 3)
        self.guides = self.write("guides.txt", "\n".join(guides) + "\n")

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content)
        return path

    def _run(self, command, **options):
        if command[1:3] == ["-m", "kmatch"]:
            assert here(*command[3:]).status == 0, command
        else:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def main(self, module, *words):
        """The rows that a script writes."""
        path = self.folder / "record.json"
        words = (f"{module.__name__}.py", *words, "--json", path)
        self._patch.setattr(sys, "argv", [*map(str, words)])
        try:
            module.main()
        except SystemExit as end:
            assert not end.code, end.code
        return json.loads(path.read_text())["rows"]


@pytest.fixture
def runs(monkeypatch, tmp_path):
    return Runs(monkeypatch, tmp_path)


@pytest.mark.parametrize("command", ["hamming", "edit", "multi"])
def test_searches_in_memory(runs, monkeypatch, command):
    beside = [("before NGG", 4, 20, 4, "NGG")] if command == "multi" else []
    monkeypatch.setattr(cpu, "CASES", {command: [("cut", 4, 20, 3), *beside]})
    rows = runs.main(cpu, command, "--repeat", 1, "--length", 3_000, "--only", "random")
    assert len(rows) == 1 + len(beside)
    for row in rows:
        assert row["letters"] == 3_000 and row["hits"] >= 4 and row["kmatch_s"] > 0
        assert row.get("equal") == ("yes" if SASSY else None)


def test_whole_processes(runs, monkeypatch):
    monkeypatch.setattr(whole, "COUNTS", (2,))
    words = ("--random", 3_000, "--repeat", 1, "--threads", 1, "--repeats", runs.guides)
    rows = runs.main(whole, *words, runs.genome)
    panels = [(row["text"], row["panel"]) for row in rows if row["tool"] == whole.EDIT]
    assert panels == [("random.fa", "2 cut"), ("genome.fa", "2 cut"), ("genome.fa", "3 repeats")]
    assert all(row["lines"] >= 2 and row["seconds"] > 0 for row in rows)


def test_hits_that_only_one_tool_has_are_seen(tmp_path):
    letters = "A" * 40 + letters_of(200) + "N" + letters_of(200, 2)
    genome = tmp_path / "genome.fa"
    genome.write_text(f">r\n{letters}\n")
    tables = {whole.EDIT: tmp_path / "edit", whole.SASSYS: tmp_path / "sassy"}
    patterns = ["C" * 20, "G" * 20]
    tables[whole.EDIT].write_text("r\t100\t120\t" + patterns[1] + "\t950\t-\t1\n")
    for row, missing in [("r 100 120 1 1 -", 0), ("r 100 121 1 1 -", 0), ("r 101 120 1 1 -", 2),
                         ("r 100 120 0 1 -", 2), ("r 100 120 1 2 -", 2)]:  # fmt: skip
        tables[whole.SASSYS].write_text(f"{row}\nr 235 255 0 3 +\n")  # this one holds the N
        assert len(whole.differing(genome, patterns, tables)) == missing


def test_sizes(runs):
    words = ("--share", 1e-5, "--folder", runs.folder)
    rows = [
        row
        for name in ("records", "long_record", "hits")
        for row in runs.main(scale, *words, "--only", name)
    ]
    assert [row["equal"] for row in rows] == ["yes"] * 4
    assert [row["hits"] for row in rows][1:3] == [3, 3] and rows[3]["hits"] > 500
