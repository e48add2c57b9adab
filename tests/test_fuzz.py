"""The fuzzer runs cases of every kind, and a failure is found, made small and shown."""

import re
import subprocess
import sys
from pathlib import Path

import naive
import naive_circles
import pytest
from fuzzing import oracles, running, strategies
from fuzzing.damage import Damaged
from fuzzing.searches import Search, Wrong

ROOT = Path(__file__).parents[1]
KINDS = list(strategies.kinds("cpu"))


def fuzz(*words):
    return running.main([*words, "--seed", "2"])


def test_every_kind_runs_and_none_fails(capsys, monkeypatch):
    monkeypatch.setattr(running, "EXAMPLES", 2)
    status = fuzz("--rounds", "1")
    said = capsys.readouterr().out
    assert status == 0, said
    assert re.findall(r"^ *\d+ (.+)$", said, re.M)[:-1] == KINDS


@pytest.mark.parametrize(
    "problem", ["hamming", "multi beside a PAM", "edit", "best", "primer", "pcr"]
)
def test_a_wrong_oracle_fails(problem, capsys, monkeypatch):
    name = {"primer": "primers"}.get(problem, problem.split()[0])
    right = getattr(naive, name)
    monkeypatch.setattr(naive, name, lambda *given, **options: right(*given, **options)[:-1])
    assert fuzz("--failures", "1", "--only", f"{problem}, linear") == 1
    said = capsys.readouterr().out
    assert f"python -m kmatch {problem.split()[0]} " in said
    snippet = re.search(r"<<'END'\n(.*?)\nEND", said, re.S)[1]
    case = re.search(r"^case = (.*)$", snippet, re.M)[1]
    assert sum(map(len, eval(case, {"Search": Search}).records)) < 60
    with pytest.raises(Wrong, match="made up"):
        exec(snippet, {})
    monkeypatch.undo()
    exec(snippet, {})
    line = next(line for line in said.splitlines() if line.startswith("python -m kmatch"))
    command = line.replace("python", sys.executable, 1)
    assert subprocess.run(command, shell=True, cwd=ROOT, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    "only", ["hamming", "multi beside a PAM", "edit", "best", "pcr", "hamming, list"]
)
def test_hits_over_an_origin_and_genomes_are_told_apart(only, capsys, monkeypatch):
    name = only.split()[0]
    right = oracles.listed if "list" in only else getattr(naive_circles, name)

    def linear(records, *given, **options):
        found = right(records, *given, **options)
        return [hit for hit in found if hit[2] <= len(records[hit[0]][1])]

    if "list" in only:
        monkeypatch.setattr(oracles, "listed", lambda search, paths: right(search, paths[::-1]))
    else:
        monkeypatch.setattr(naive_circles, name, linear)
        only += ", circular"
    assert fuzz("--failures", "1", "--only", only) == 1
    said = capsys.readouterr().out
    assert "not what the oracle says" in said and ("made up" in said or "list" in only)


def test_a_traceback_fails_and_its_input_is_made_small(capsys, monkeypatch):
    def here(*arguments, stdin):
        if b"G" in stdin:
            raise IndexError("of a reader")
        raise MemoryError

    monkeypatch.setattr("fuzzing.damage.here", here)
    assert fuzz("--failures", "1", "--only", "damaged FASTQ") == 1
    said = capsys.readouterr().out
    case = eval(re.findall(r"^case = (.*)$", said, re.M)[-1], {"Damaged": Damaged})
    assert "Error" in said and len(case.data) < 20


def test_the_script_ends_when_its_time_is_over():
    script = (sys.executable, ROOT / "scripts" / "fuzz", "--seconds", "0.01", "--seed", "1")
    done = subprocess.run(script, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith("0 failed")


PROPERTIES = """
from pathlib import Path
from hypothesis import given, strategies

@given(strategies.integers())
def test_of_numbers(number):
    with Path({file!r}).open("a") as drawn:
        drawn.write(f"{{number}} ")

@given(strategies.integers())
def test_that_fails(number):
    assert number is None

def test_that_is_no_property():
    assert False
"""


def test_properties_have_fresh_examples(tmp_path, monkeypatch):
    monkeypatch.setenv("HYPOTHESIS_STORAGE_DIRECTORY", str(tmp_path))
    monkeypatch.setattr(running, "TESTS", tmp_path)
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    drawn = []
    for seed, only in (("7", "numbers"), ("8", "numbers"), ("8", "")):
        file = tmp_path / f"drawn{len(drawn)}"
        (tmp_path / "test_it.py").write_text(PROPERTIES.format(file=str(file)))
        words = ["--properties", "--seed", seed, "--seconds", "0", "--only", only]
        assert running.main(words) == (only == "")
        drawn.append(file.read_text().split())
    assert len(drawn[0]) >= 150 and drawn[0] != drawn[1]


def test_fixed_examples_do_not_depend_on_what_is_imported(tmp_path):
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    drawn = []
    for _ in range(2):
        file = tmp_path / f"drawn{len(drawn)}"
        (tmp_path / "test_it.py").write_text(PROPERTIES.format(file=str(tmp_path / "drawn")))
        command = (sys.executable, "-m", "pytest", "-k", "numbers", "-p", "no:cacheprovider")
        subprocess.run((*command, tmp_path), cwd=tmp_path, check=True, capture_output=True)
        (tmp_path / "drawn").rename(file)
        drawn.append(file.read_text().split())
        (tmp_path / "constants.py").write_text(f"NUMBERS = {[*range(1000, 2000)]}")
        (tmp_path / "test_first.py").write_text("import constants")
    assert len(drawn[0]) >= 45 and drawn[0] == drawn[1]
