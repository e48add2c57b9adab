"""Random searches in every way that kmatch offers against the oracles, and random damage to inputs.

scripts/fuzz goes on for longer, and with other cases every time.
"""

import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import naive
import naive_circles
import pytest
from fuzzing import oracles, strategies
from fuzzing.assays import Assays
from fuzzing.damage import Damaged
from fuzzing.searches import Search, Wrong
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


def fewer(kind, monkeypatch):
    """An oracle lacks the last hit of a kind of search, or those over an origin, or the genomes'
    order."""
    problem, shape = kind.split(", ")
    name = {"primer": "primers"}.get(problem, problem.split()[0])
    if shape == "list":
        right = oracles.listed
        monkeypatch.setattr(oracles, "listed", lambda search, paths: right(search, paths[::-1]))
        return
    module = {"linear": naive, "circular": naive_circles}[shape]
    right = getattr(module, name)

    def wrong(records, *given, **options):
        found = right(records, *given, **options)
        if shape == "linear":
            return found[:-1]
        return [hit for hit in found if hit[2] <= len(records[hit[0]][1])]

    monkeypatch.setattr(module, name, wrong)


PROBLEMS = ("hamming", "multi beside a PAM", "edit", "best", "pcr")
ASKED = [f"{problem}, {shape}" for problem in PROBLEMS for shape in ("linear", "circular")]
ASKED += ["hamming among unknown letters, linear", "pcr among unknown letters, circular"]


@pytest.mark.parametrize("kind", [*ASKED, "primer, linear", "hamming, list"])
def test_a_difference_is_seen(kind, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        fewer(kind, patch)
        case = failing(kind, tmp_path)
    case.check(tmp_path)
    arguments, stdin = case.command(tmp_path)
    assert here(*arguments, stdin=stdin).status == 0


@pytest.mark.parametrize("gaps", ["drop", "unknown", None])
def test_gaps_read_otherwise_are_seen(gaps, tmp_path, monkeypatch):
    """
    text       TT ACGTA--CGTCC GATTA CCGATTGCAA TT
    dropped       ACGTACGTCC--→      ←TTGCAATCGG       a product, with unknown letters none
    """
    genomes = {"g": [("r", "TTACGTA--CGTCCGATTACCGATTGCAATT")]}
    given = {"a": (["ACGTACGTCC"], ["TTGCAATCGG"], [])}
    options = {"product": (5, 110), "edit": False, "exact_3p": 0}
    case = Assays(genomes, given, 0, options, gaps=gaps)
    case.check(tmp_path)
    other = "unknown" if gaps == "drop" else "drop"
    with monkeypatch.context() as patch, pytest.raises(Wrong):
        patch.setattr(Assays, "is_refused", False)
        patch.setattr(Assays, "read", replace(case, gaps=other).read)
        case.check(tmp_path)


def test_records_that_are_left_out_are_seen(tmp_path):
    """r1 has a hit as r0 and r2 have."""
    records = ["TTACGTACGGTT"] * 3
    case = Search(
        "hamming", records, ["ACGTACGG"], 0, {"records": "r[0-1],r2", "skip_records": "r1"}
    )
    case.check(tmp_path)
    found, wanted = (oracles.table(each) for each in (case, replace(case, options={})))
    assert [row.split(b"\t")[0] for row in found.splitlines()[1:]] == [b"r0", b"r2"]
    assert wanted.count(b"\n") == found.count(b"\n") + 1


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
