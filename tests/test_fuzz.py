"""The fuzzer runs cases of every kind, and a failure is found, made small and shown."""

import re
import subprocess
import sys
from pathlib import Path
from time import sleep

import naive
import naive_circles
import pytest
from fuzzing import drawing, oracles, properties, running, shrinking
from fuzzing.damage import Damaged, limited
from fuzzing.searches import Search, Wrong

ROOT = Path(__file__).parents[1]


def counts(said):
    """Cases by kind, out of what the fuzzer prints at its end."""
    return {kind: int(count) for count, kind in re.findall(r"^ *(\d+) (.+)$", said, re.M)}


def test_every_kind_runs_and_none_fails(capsys, monkeypatch):
    monkeypatch.setattr(drawing, "ROUNDS", 3)
    cases = len(drawing.HEAVY) + drawing.ROUNDS * len(drawing.LIGHT)
    status = running.main(["--cases", str(cases), "--seed", "5"])
    said = capsys.readouterr().out
    assert status == 0, said
    assert {kind: n for kind, n in counts(said).items() if kind in drawing.KINDS} == {
        kind: drawing.ROUNDS if kind in drawing.LIGHT else 1 for kind in drawing.KINDS
    }


@pytest.mark.parametrize("kind", drawing.KINDS)
def test_a_seed_gives_the_same_cases(kind):
    cases = [drawing.draw(kind, 3, number, "cpu") for number in range(8)]
    assert cases == [drawing.draw(kind, 3, number, "cpu") for number in range(8)]
    assert len(set(map(repr, cases))) > 6
    spaces = {"Search": Search, "Damaged": Damaged}
    assert [eval(repr(case), spaces) for case in cases] == cases


@pytest.mark.parametrize("oracle", ["hamming", "multi", "edit", "best", "primers"])
def test_a_wrong_oracle_fails(oracle, capsys, monkeypatch):
    monkeypatch.setattr(shrinking, "SECONDS", 20)
    right = getattr(naive, oracle)
    monkeypatch.setattr(naive, oracle, lambda *given, **options: right(*given, **options)[:-1])
    only = {"primers": "primer, tiny", "multi": "multi beside a PAM, tiny"}.get(
        oracle, f"{oracle}, tiny"
    )
    assert running.main(["--failures", "1", "--seed", "2", "--only", only]) == 1
    said = capsys.readouterr().out
    assert f"python -m kmatch {'primer' if oracle == 'primers' else oracle} " in said
    snippet = re.search(r"<<'END'\n(.*?)\nEND", said, re.S)[1]
    case = re.search(r"^case = (.*)$", snippet, re.M)[1]
    assert sum(map(len, eval(case, {"Search": Search}).records)) < 60
    with pytest.raises(Wrong, match="made up"):
        exec(snippet, {})
    monkeypatch.undo()
    exec(snippet, {})


@pytest.mark.parametrize("oracle", ["hamming", "multi", "edit", "best", "pcr"])
def test_hits_over_an_origin_are_missed(oracle, capsys, monkeypatch):
    monkeypatch.setattr(shrinking, "SECONDS", 0)
    right = getattr(naive_circles, oracle)

    def linear(records, *given, **options):
        found = right(records, *given, **options)
        return [hit for hit in found if hit[2] <= len(records[hit[0]][1])]

    monkeypatch.setattr(naive_circles, oracle, linear)
    only = "multi beside a PAM, circular" if oracle == "multi" else f"{oracle}, circular"
    status = running.main(["--failures", "1", "--seed", "2", "--only", only, "--seconds", "60"])
    assert status == 1 and "made up" in capsys.readouterr().out


def test_the_genomes_of_a_list_are_told_apart(capsys, monkeypatch):
    monkeypatch.setattr(shrinking, "SECONDS", 0)
    right = oracles.listed
    monkeypatch.setattr(oracles, "listed", lambda search, paths: right(search, paths[::-1]))
    only = ["--failures", "1", "--seed", "2", "--only", "hamming, list", "--seconds", "60"]
    assert running.main(only) == 1 and "made up" in capsys.readouterr().out


def test_a_command_that_is_shown_can_be_run(capsys, monkeypatch):
    right = naive.hamming
    monkeypatch.setattr(naive, "hamming", lambda *given, **options: right(*given, **options)[1:])
    monkeypatch.setattr(shrinking, "SECONDS", 1)
    running.main(["--failures", "1", "--seed", "0", "--only", "hamming, command"])
    line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("python -m"))
    command = line.replace("python", sys.executable, 1)
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_traceback_fails_and_its_input_is_made_small(tmp_path, monkeypatch):
    def here(*arguments, stdin):
        if b"X" in stdin:
            raise IndexError("of a reader")
        raise MemoryError

    monkeypatch.setattr("fuzzing.damage.here", here)
    case = Damaged(b">a\nACGTACGTXACGT\n")
    assert "IndexError: of a reader" in running.failure(case, tmp_path)

    def fails(case):
        return "IndexError" in running.failure(case, tmp_path)

    assert shrinking.shrink(case, fails).data == b"X"


def test_stacks_are_shown_of_a_case_that_takes_long(tmp_path, monkeypatch):
    class Slow:
        def check(self, folder):
            for _ in range(100):
                with limited():
                    sleep(0.25)
                    if "in check" in stacks.read_text():
                        return

    stacks = tmp_path / "stacks"
    with stacks.open("w") as handle:
        monkeypatch.setattr(running, "STDERR", handle)
        monkeypatch.setattr(running, "SLOW", 0.1)
        assert running.failure(Slow(), tmp_path) is None
    assert "in check" in stacks.read_text()


def test_the_script_ends_when_its_time_is_over():
    script = (sys.executable, ROOT / "scripts" / "fuzz", "--seconds", "0.01", "--seed", "1")
    done = subprocess.run(script, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith("cases, 0 failed")


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
    monkeypatch.setattr(properties, "TESTS", tmp_path)
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    drawn = []
    for seed, only in (("7", "numbers"), ("8", "numbers"), ("8", "")):
        file = tmp_path / f"drawn{len(drawn)}"
        (tmp_path / "test_it.py").write_text(PROPERTIES.format(file=str(file)))
        status = running.main(["--properties", "--seed", seed, "--seconds", "0", "--only", only])
        assert status == (only == "")
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
    assert len(drawn[0]) >= 90 and drawn[0] == drawn[1]
