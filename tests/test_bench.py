"""kmatch bench: figures that hold together, and hits compared."""

import json

import naive
import pytest
from support.commands import fasta, here

from kmatch import bench as timed
from kmatch.bench import SETTINGS, Bench, Case, by_engine, cut_patterns
from kmatch.bench import random_letters as letters_of
from kmatch.errors import InputError
from kmatch.published.cpu import liu2012
from kmatch.published.registry import PUBLISHED

CPU = ("--device", "cpu", "--size")


def case_of(command, size, length, count, k):
    letters = letters_of(size).copy()
    patterns = cut_patterns(letters, length, count, k)
    letters[-length:] = list(patterns[0].encode())  # so that there are hits up to the end
    return Case(command, letters, patterns, k)


CASE = case_of("hamming", 2_000, 12, 3, 3)


@pytest.fixture(scope="module")
def bench():
    return Bench("cpu", None, seconds=5.0)


@pytest.mark.parametrize("command", ["hamming", "multi", "edit", "best"])
def test_rows(bench, command):
    case = CASE._replace(command=command)
    records = [("text", case.letters.tobytes().decode())]
    expected = {
        "hamming": lambda: naive.hamming(records, case.patterns, 3, "+"),
        "multi": lambda: naive.hamming(records, case.patterns, 3, "+"),
        "edit": lambda: naive.edit(records, case.patterns, 3, "ends", "+"),
        "best": lambda: case.patterns,  # a smallest distance each
    }[command]()
    rows = list(bench.rows(case))
    on_cpu = [algorithm.name for algorithm in PUBLISHED[command] if "cpu" in algorithm.devices]
    assert [row["algorithm"] for row in rows] == ["bitplane", *on_cpu]
    for row in rows:
        assert row["equal"] and row["size"] == row["asked"] == 2_000
        assert row["hits"] == len(expected) > 0 and 0 < row["kernel"] <= row["call"]
        rate = row["bp_pattern_s"]
        assert rate == pytest.approx(2_000 * 3 / row["kernel"])
        assert row["of_engine"] == rate / rows[0]["bp_pattern_s"]
    far = by_engine(case_of(command, 3_000, 16, 4, 2), "cpu").hits[-1]
    assert len(far) >= 4 and (far <= 2).all()


def test_primers(bench):
    rows = list(bench.rows(Case("primer", letters_of(60), [], 5, letters_of(80, 2))))
    assert rows[0]["hits"] > 30
    assert rows[0]["bp_pattern_s"] == pytest.approx(4_800 / rows[0]["kernel"])
    assert len(rows) == 5 and all(row["equal"] for row in rows)


def test_other_hits_are_flagged(bench, monkeypatch):
    monkeypatch.setattr(liu2012, "sequential", lambda text, pattern, k, table: table.fill(0))
    equal = {row["algorithm"]: row["equal"] for row in bench.rows(CASE)}
    assert not equal.pop("sequential") and all(equal.values())
    done = here("bench", "hamming", *CPU, 1_000)
    assert done.status == 1 and b" NO\n" in done.out


def test_the_command_line(tmp_path):
    assert list(SETTINGS) == list(PUBLISHED)
    path = tmp_path / "rows.json"
    done = here("bench", "multi", "hamming", *CPU, 2_000, "--json", path)
    assert done.status == 0 and b"cpu, " in done.err
    for word in ("kmatch multi: 8 of 20 letters, k = 3", "shift-add", "bp·pattern/s: letters"):
        assert word in done.out.decode()
    record = json.loads(path.read_text())
    assert {row["command"] for row in record["rows"]} == {"multi", "hamming"}
    assert all(row["equal"] and row["bp_pattern_s"] > 0 for row in record["rows"])
    assert here("bench", "-q", "hamming", *CPU, 1_000).err == b""
    told = here("bench", "best", *CPU, 40_000, "--seconds", 1e-6).out.decode()
    assert " 16,384* " in told and "searches in 1e-06 s." in told


def test_a_genome(tmp_path):
    genome = tmp_path / "genome.fa"
    text = "N" * 50 + letters_of(1_500).tobytes().decode().lower()
    genome.write_bytes(fasta([("one", text), ("two", text[60:700])]))
    letters = timed.read_letters(genome, 10_000)
    assert letters.tobytes().decode() == f"{text}N{text[60:700]}N"
    assert timed.read_letters(genome, 100).tobytes().decode() == text[:100]
    assert all(pattern.lower() in text for pattern in cut_patterns(letters, 30, 20, 0))
    for length in (51, 1_501):  # none without N, and none at all
        with pytest.raises(InputError, match=f"no {length} letters in a row .* another genome"):
            cut_patterns(letters[: length + 49], length, 1, 0)
    done = here("bench", "hamming", "--genome", genome, *CPU, 1_000)
    assert done.status == 0 and " NO" not in done.out.decode()
