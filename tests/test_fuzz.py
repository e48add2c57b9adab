"""Random searches in every way that kmatch offers against the oracles, and random damage to inputs.

scripts/fuzz goes on for longer, and with other cases every time.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import naive
import naive_circles
import pytest
from fuzzing import oracles, strategies
from fuzzing.damage import Damaged
from fuzzing.searches import Wrong
from hypothesis import HealthCheck, Phase, find, given, note, settings
from hypothesis import strategies as st
from support.commands import Result, here

ROOT = Path(__file__).parents[1]
KINDS = strategies.kinds(os.environ.get("KMATCH_FUZZ_DEVICE", "cpu"))
QUIET = settings(suppress_health_check=[*HealthCheck], report_multiple_bugs=False)


def command_line(case, folder):
    """What shows a case in a shell, less the constants that only tests set."""
    arguments, stdin = case.command(folder)
    (folder / "stdin").write_bytes(stdin)
    return f"{shlex.join(['kmatch', *map(str, arguments)])} < {folder / 'stdin'}"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.replace(",", "").replace(" ", "-"))
@QUIET
@given(data=st.data())
def test_every_answer_is_right(kind, data, tmp_path):
    case = data.draw(KINDS[kind])
    (tmp_path / "case.py").write_text(f"case = {case!r}\n")  # for when all this dies
    note(command_line(case, tmp_path))
    case.check(tmp_path)


def failing(kind, folder):
    """A case of a kind that fails."""

    def fails(case):
        try:
            case.check(folder)
        except Wrong as error:
            return "not what the oracle says" in str(error)
        return False

    return find(
        KINDS[kind], fails, settings=settings(QUIET, max_examples=500, phases=[Phase.generate])
    )


PROBLEMS = ("hamming", "multi beside a PAM", "edit", "best", "primer", "pcr")


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_hit_too_many_is_seen(problem, tmp_path, monkeypatch):
    name = {"primer": "primers"}.get(problem, problem.split()[0])
    right = getattr(naive, name)
    monkeypatch.setattr(naive, name, lambda *given, **options: right(*given, **options)[:-1])
    case = failing(f"{problem}, linear", tmp_path)
    monkeypatch.undo()
    case.check(tmp_path)
    arguments, stdin = case.command(tmp_path)
    assert here(*arguments, stdin=stdin).status == 0


@pytest.mark.parametrize("problem", [name for name in PROBLEMS if name != "primer"])
def test_hits_over_an_origin_are_told_apart(problem, tmp_path, monkeypatch):
    name = problem.split()[0]
    right = getattr(naive_circles, name)

    def linear(records, *given, **options):
        found = right(records, *given, **options)
        return [hit for hit in found if hit[2] <= len(records[hit[0]][1])]

    monkeypatch.setattr(naive_circles, name, linear)
    failing(f"{problem}, circular", tmp_path)


def test_genomes_are_told_apart(tmp_path, monkeypatch):
    right = oracles.listed
    monkeypatch.setattr(oracles, "listed", lambda search, paths: right(search, paths[::-1]))
    failing("hamming, list", tmp_path)


def test_a_traceback_is_seen(tmp_path, monkeypatch):
    Damaged(b">r\nACGT\n").check(tmp_path)
    said = b"Traceback (most recent call last):\nkmatch: error: x\n"
    for result in (Result(1, b"", said), Result(1, b"", b"x\n"), Result(-9, b"", b"")):
        monkeypatch.setattr("fuzzing.damage.here", lambda *words, result=result, **_: result)
        with pytest.raises(Wrong, match="exit status"):
            Damaged(b">r\nACGT\n").check(tmp_path)


def test_the_script_ends_when_its_time_is_over():
    words = ("--seconds", "0", "--seed", "1", "--only", "damaged FASTQ")
    script = (sys.executable, ROOT / "scripts" / "fuzz", *words)
    done = subprocess.run(script, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
