"""kmatch bench: figures that hold together, hits compared, papers' tables in their shape."""

import importlib.util
import json

import naive
import pytest
from support.commands import fasta, here, loaded

import kmatch
from kmatch.bench import measure, report
from kmatch.bench.measure import Bench, Case, by_engine, cut_patterns
from kmatch.bench.measure import random_letters as letters_of
from kmatch.bench.papers import CPU, PAPERS, Figure, Point
from kmatch.bench.report import draw, figure_rows, figure_table
from kmatch.cli.tools import BENCHED as COMMANDS
from kmatch.cli.tools import PAPERS as NAMES
from kmatch.published.cpu import liu2012
from kmatch.published.registry import PUBLISHED


def case_of(command, size, length, count, k):
    letters = letters_of(size)
    return Case(command, letters, cut_patterns(letters, length, count, k), k)


CASE = case_of("hamming", 2_000, 12, 3, 3)


@pytest.fixture(scope="module")
def bench():
    return Bench("cpu", seconds=5.0)


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
    on_cpu = [algorithm.name for algorithm in PUBLISHED[command] if algorithm.cpu]
    assert [row.algorithm for row in rows] == ["bitplane", *on_cpu]
    for row in rows:
        assert row.equal and row.size == row.asked == 2_000
        assert row.hits == len(expected) > 0 and 0 < row.kernel <= row.call
        assert row.rate == pytest.approx(row.size * 3 / row.kernel)
        assert row.cups == pytest.approx(12 * row.rate)
        first = next(x for x in rows if x.paper == row.paper)
        assert row is not first or row.threads == 1 or not row.paper
        assert not row.paper or row.of_sequential == pytest.approx(row.rate / first.rate)
        assert row.of_engine == pytest.approx(row.rate / rows[0].rate)
    far = by_engine(case_of(command, 3_000, 16, 4, 2), "cpu").hits[-1]
    assert len(far) >= 4 and (far <= 2).all()


def test_primers(bench):
    case = Case("primer", letters_of(60), [], 5, letters_of(80, 2))
    assert (case.pairs, case.cells) == (4_800, 0)
    rows = list(bench.rows(case))
    assert rows[0].hits > 30 and rows[0].rate == pytest.approx(4_800 / rows[0].kernel)
    assert len(rows) == 5 and all(row.equal for row in rows)


def test_other_hits_are_flagged(bench, monkeypatch):
    monkeypatch.setattr(liu2012, "sequential", lambda text, pattern, k: text.table(1) * 0)
    equal = {row.algorithm: row.equal for row in bench.rows(CASE)}
    assert not equal.pop("sequential") and all(equal.values())
    point = Point(("12",), 1_000, 12, 1, 3)
    columns = (("sequential", "sequential", CPU),)
    figure = Figure("Fig. 9", "hamming", ("m",), "seconds", (point,), columns)
    table = figure_table(figure, list(figure_rows(figure, bench)), bench.devices)
    assert "DIFFERENT HITS" in next(iter(table.columns[1].cells))
    monkeypatch.setattr(report.Report, "commands", lambda self, _: setattr(self, "equal", False))
    assert here("bench", "hamming", "--device", "cpu").status == 1


def test_the_command_line(tmp_path):
    path, words = tmp_path / "rows.json", ("--device", "cpu", "--size")
    done = here("bench", "multi", "hamming", *words, 2_000, "--json", path)
    told = done.out.decode()
    assert done.status == 0 and b"cpu, " in done.err
    for word in ("kmatch multi: 8 patterns, m = 20, k = 3", "shift-add", "bp·pattern/s: letters"):
        assert word in told
    record = json.loads(path.read_text())
    assert {row["command"] for row in record["rows"]} == {"multi", "hamming"}
    assert all(row["equal"] and row["bp_pattern_s"] > 0 for row in record["rows"])
    assert here("bench", "-q", "hamming", *words, 1_000).err == b""
    told = here("bench", "best", *words, 40_000, "--seconds", 1e-6).out.decode()
    assert "16,384*" in told and "searches in 1e-06 s." in told
    status, modules = loaded("from kmatch.cli.main import run\nrun(['bench', '--help'])")
    assert status == 0 and not {"numpy", "rich"} & modules


def test_a_genome(tmp_path):
    genome = tmp_path / "genome.fa"
    text = "N" * 50 + letters_of(1_500).tobytes().decode().lower()
    genome.write_bytes(fasta([("one", text), ("two", text[60:700])]))
    letters = measure.read_letters(genome, 10_000)
    assert letters.tobytes().decode() == f"{text}N{text[60:700]}N"
    assert measure.read_letters(genome, 100).tobytes().decode() == text[:100]
    assert all(pattern.lower() in text for pattern in cut_patterns(letters, 30, 20, 0))
    done = here("bench", "hamming", "--genome", genome, "--size", 1_000, "--device", "cpu")
    assert done.status == 0 and " NO " not in done.out.decode()


def test_every_paper_is_offered():
    assert tuple(PAPERS) == NAMES
    for figure in [figure for _, *figures in PAPERS.values() for figure in figures]:
        assert figure.command in COMMANDS
        assert not figure.printed or len(figure.printed) == len(figure.points)
        assert all(len(line.split()) == len(figure.columns) for line in figure.printed)
        assert all(len(point.cells) == len(figure.heads) for point in figure.points)
        known = {x.name: x.devices for x in PUBLISHED[figure.command]}
        assert all(device in known[name] for _, name, device in figure.columns)


@pytest.mark.parametrize("metric", ["throughput", "seconds", "speedup"])
def test_a_paper(metric, monkeypatch, capsys):
    points = Point(("tiny",), 1_000, 9, 3, 4), Point(("small",), 2_000, 9, 3, 4)
    columns = ("naive CPU", "naive", CPU), ("shared-mem", "pmasm-shared", "cuda")
    printed = ("0.01 3.59", "0.02 3.58")
    figure = Figure("Table 9", "multi", ("text",), metric, points, columns, printed, sets=2)
    bench = Bench("cpu", seconds=2.0)
    results = list(figure_rows(figure, bench))
    named = [(*point.cells, number) for point, number, _ in results]
    assert named == [("tiny", 0), ("tiny", 1), ("small", 0), ("small", 1)]
    table = figure_table(figure, results, bench.devices)
    naive, shared, engine = (list(column.cells) for column in table.columns[1:])
    for cell, said in zip(naive, (0.01, 0.02), strict=True):
        assert cell.count("/") == 2 and cell.endswith(f"({said})")
    assert shared == ["– (3.59)", "– (3.58)"] and len(engine) == 2
    monkeypatch.setitem(report.PAPERS, "pmasm2017", ("A remark.", figure))
    one = report.Report(bench, None, None, 150)
    one.paper("pmasm2017")
    told = capsys.readouterr().out
    assert one.equal and f"Table 9 ({report.UNITS[metric]})" in told and "A remark." in told


def test_a_plot(bench, tmp_path):
    if importlib.util.find_spec("matplotlib") is None:
        done = here("bench", "hamming", "--device", "cpu", "--plot", tmp_path / "a.svg")
        assert done.status == 1 and b"pip install matplotlib" in done.err
        return
    rows = list(bench.rows(CASE))
    draw([rows, rows], tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_size > 1_000
    with pytest.raises(kmatch.OutputError, match="cannot be drawn"):
        draw([rows], tmp_path / "a.unknown")
