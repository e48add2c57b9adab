"""The measurements on tiny texts, each run whole."""

import json
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from bench import cpu, library, papers, scale, whole
from harness import workloads

import kmatch
from kmatch.published.registry import CITED, PUBLISHED

SASSY = find_spec("sassy") is not None


def letters_of(count, seed=1):
    return workloads.random_text(count, seed).letters.tobytes().decode()


class Runs:
    """Runs main() of a script in this process."""

    def __init__(self, monkeypatch, folder):
        self._patch, self.folder = monkeypatch, folder
        self.genome = self.write("genome.fa", f">r\n{letters_of(4_000)}\n")
        text = workloads.Text("text", np.frombuffer(letters_of(4_000).encode(), np.uint8))
        guides = workloads.guide_panel(text, 3)
        self.guides = self.write("guides.txt", "\n".join(guides) + "\n")

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content)
        return path

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


PROGRAM = """#!/bin/sh
[ "$4" = v1 ] && exit 1
[ "$3 $5 $7" = "3 1 both" ] || exit 2
hits=$(cat {hits})
printf '{{"program": "Sassy", "version": "%s", "build": "native", "simd": "none", "seconds": 1,
"cpu_seconds": 1, "hits": 9, "forward": %d}}' $4 $hits
"""


def test_searches_in_memory(runs, monkeypatch):
    cases = [("cut", 4, 20, 3), ("before NGG", 4, 20, 3, "NGG"), ("repeats", 3, 20, 3)]
    monkeypatch.setattr(
        cpu, "CASES", [(command, *case) for command in ("edit", "multi") for case in cases]
    )
    text = workloads.file_text(runs.genome)
    panels = [workloads.cut_panel(text, 4), workloads.file_panel(runs.guides)]
    count = [len(kmatch.edit(runs.genome, panel, 3, strand="+")) for panel in panels]
    hits, program = runs.folder / "hits", runs.write("sassy.sh", "")
    program.write_text(PROGRAM.format(hits=hits))
    program.chmod(0o755)
    words = ("--genome", runs.genome, "--repeats", runs.guides, "--repeat", 1, "--sassy", program)
    for number, panel in enumerate(("cut", "repeats")):
        hits.write_text(str(count[number]))
        (row,) = (row for row in runs.main(cpu, *words, "--only", panel) if row.get("program"))
        assert row["search"] == "edit 20,3" and row["panel"].endswith(panel)
        assert row["equal"] == "yes" and row["program_equal"] and row["cigars_s"] > 0
        assert row["program"] == "Sassy v2 native none" and row["hits"] >= count[number] > 0
        assert row.get("package_equal", not SASSY)
    hits.write_text(str(count[1] + 1))
    with pytest.raises(AssertionError):  # by the exit status: another number of hits
        runs.main(cpu, *words, "--only", "repeats")
    rows = runs.main(cpu, "--length", 3_000, "--repeat", 1, "--threads", 1, 2, "--only", "NGG")
    assert [row["threads"] for row in rows] == [1, 2, 1, 2] and "equal" not in rows[0]


def test_whole_processes(runs):
    words = ("--repeat", 0, "--threads", 1, "--repeats", runs.guides, runs.genome)
    rows = [
        row
        for word in ("16 cut", "repeats", "pairs")
        for row in runs.main(whole, *words, "--only", word)
    ]
    ours = [row for row in rows if row["tool"].startswith("kmatch")]
    assert [row["tool"].split()[1] for row in ours] == ["edit", "hamming", "multi", "pcr"]
    assert all(row["hits"] > 2 and row["cpu"] > 0 and row["seconds"] > 0 for row in rows)
    theirs = {row["tool"] for row in rows if row.get("equal") == "yes"}
    assert len(theirs) == len(rows) - len(ours)
    assert "Sassy" in theirs or not SASSY


LIBRARY = """#!/bin/sh
# TASK FASTA PATTERNS K TABLE, by kmatch itself
case $1 in
    pam)
        options="--pam NGG --report ends"
        sed 's/NGG$//' $3 >{guides}
        set -- $1 $2 {guides} $4 $5
        ;;
    forward) options="--strand +" ;;
    reads) options= ;;
esac
{python} -m kmatch edit $2 $3 -k $4 $options --format tsv | tail -n +{first} >$5
"""


def test_beside_a_library(runs, monkeypatch):
    monkeypatch.setattr(library, "GUIDES", 3)
    monkeypatch.setattr(library, "BARCODES", 4)
    program = runs.write("library.sh", "")
    program.chmod(0o755)
    words = ("--repeat", 0, "--reads", 12, "--only")
    parts = {"python": sys.executable, "guides": runs.folder / "without_pam"}
    program.write_text(LIBRARY.format(first=2, **parts))
    for task, count in (("beside NGG", 3), ("forward", 1), ("reads", 3)):
        rows = runs.main(library, *words, task, program, runs.genome)
        assert [row["k"] for row in rows[::2]] == [3, 4, 5][:count]
        assert [row.get("equal") for row in rows] == count * [None, "yes"]
        assert all(row["hits"] for row in rows)
    program.write_text(LIBRARY.format(first=3, **parts))
    with pytest.raises(AssertionError):  # by the exit status: a row less
        runs.main(library, *words, "forward", program, runs.genome)


def test_sizes(runs):
    words = ("--share", 1e-5, "--folder", runs.folder)
    rows = [
        row
        for name in ("records", "long_record", "hits")
        for row in runs.main(scale, *words, "--only", name)
    ]
    assert [row["equal"] for row in rows] == ["yes"] * 4
    assert [row["hits"] for row in rows][1:3] == [3, 3] and rows[3]["hits"] > 500


def test_papers(runs, monkeypatch):
    assert list(papers.PAPERS) == list(CITED)
    for paper, (command, points) in papers.PAPERS.items():
        assert paper in {algorithm.module for algorithm in PUBLISHED[command]}
        assert all(k < m < size for size, m, _, k in points if command != "primer")
    points = [(1_000, 9, 3, 4), (2_000, 8, 2, 3)]
    monkeypatch.setitem(papers.PAPERS, "pmasm2017", ("multi", points))
    rows = runs.main(papers, "pmasm2017", "--device", "cpu")
    sizes = [(row["asked"], row["m"], row["patterns"], row["k"]) for row in rows]
    assert list(dict.fromkeys(sizes)) == points and all(row["equal"] for row in rows)
    assert {row["paper"] for row in rows} == {"", "Ho et al. 2017a"}
