"""The measurements on tiny texts, each run whole."""

import json
import resource
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from bench import (
    assemblies,
    calibrate,
    edit,
    edit_stages,
    grid,
    guides,
    hamming,
    memory,
    multi,
    packed,
    primer,
    scale,
    short,
    start,
    threads,
    tools,
    whole,
)
from harness import models, processes, workloads
from support.commands import here

from kmatch.engine.costs import CPU


def text_of(letters):
    return workloads.Text("text", np.frombuffer(letters.encode(), np.uint8))


class Runs:
    """Runs main() of a script in this process, and the kmatch processes that it starts too."""

    def __init__(self, monkeypatch, folder):
        self._patch, self.folder = monkeypatch, folder
        monkeypatch.setattr(processes, "run", self._run)
        self.genome = self.write("genome.fa", f">r\n{letters_of(4_000)}\n")
        guides = workloads.guide_panel(text_of(letters_of(4_000)), 3)
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

    def small(self, module, **constants):
        for name, value in constants.items():
            self._patch.setattr(module, name, value)

    def main(self, module, *words, failing=False):
        """The rows that a script writes; it may tell that something is slow where `failing`."""
        path = self.folder / "record.json"
        self.words(module, *words, "--json", path, failing=failing)
        return json.loads(path.read_text())

    def words(self, module, *words, failing=False):
        """Run a script."""
        words = (f"{module.__name__}.py", *words)
        self._patch.setattr(sys, "argv", [*map(str, words)])
        try:
            module.main()
        except SystemExit as end:
            assert not end.code or failing, end.code


def letters_of(count, seed=1):
    return workloads.random_text(count, seed).letters.tobytes().decode()


@pytest.fixture
def runs(monkeypatch, tmp_path):
    return Runs(monkeypatch, tmp_path)


SASSY = find_spec("sassy") is not None
SHORT = ("--repeat", 1, "--length", 3_000, "--only", "random")


@pytest.mark.parametrize("module", [hamming, edit, multi])
def test_searches_in_memory(runs, module):
    beside = [("before NGG", 4, 20, 4, "NGG")] if module is multi else []
    runs.small(module, CASES=[("cut", 4, 20, 3), *beside])
    rows = runs.main(module, *SHORT)["rows"]
    assert len(rows) == 1 + len(beside)
    for row in rows:
        assert row["letters"] == 3_000 and row["hits"] >= 4 and row["kmatch_s"] > 0
        assert row.get("equal") == ("yes" if SASSY else None)


def test_processes_with_guides_and_the_times_of_kernels(runs):
    runs.small(guides, PANELS=[(5, 1)])
    words = ("--genome", runs.genome, "--guides", runs.guides)
    rows = runs.main(guides, *words, "--repeat", 1, "--kernel-times", "cpu")["rows"]
    assert [row["panel"] for row in rows] == ["guides", "cut", "random"]
    assert rows[0]["hits"] >= 3 and rows[1]["hits"] >= 5
    assert all(0 < row["kernel_ms"] < 10_000 for row in rows)


def test_whole_processes(runs):
    cases = [("real", "edit", "cut", 3, 2), ("real", "multi", "before NGG", 3, 1, "NGG")]
    runs.small(whole, CASES=cases)
    words = ("--genome", runs.genome, "--repeats", runs.guides, "--repeat", 1, "--length", 3_000)
    rows = runs.main(whole, *words)["rows"]
    assert [row["hits"] >= 3 for row in rows] == [True, True]
    assert {row.get("equal") for row in rows} == {"yes" if SASSY else None}
    # kmatch runs in this process here, Sassy always.
    assert all(row["kmatch_cpu_s"] == 0 and "cpu_ratio" not in row for row in rows)


def test_seconds_of_the_cpu_are_those_of_the_process_or_of_its_children():
    own = processes.CpuCounted(lambda: sum(range(3_000_000)), resource.RUSAGE_SELF)
    script = processes.python_command("sum(range(3_000_000))")
    children = processes.CpuCounted(partial(processes.run, script), resource.RUSAGE_CHILDREN)
    assert own() == sum(range(3_000_000)) and children() is None and children() is None
    assert own.cpu[0] > 0.01 and len(children.cpu) == 2 and min(children.cpu) > 0.01
    assert whole.cpu_figures([1, 3, 2], [4, 6, 8])["cpu_ratio"] == 4


def test_stages_of_edit(runs):
    runs.small(edit_stages, SETTINGS=[(12, 6)], FEW=10)
    (row,) = runs.main(edit_stages, "--length", 3_000, "--patterns", 2, "--repeat", 1)["rows"]
    assert row["ends"] > row["hits"] > 10
    times = ("traceback, ns an end", "bounds, ns an end", "traceback within bounds")
    assert all(row[name] > 0 for name in times)


def test_start_up_and_reading(runs):
    runs.small(start, WAYS={"one line": start.WAYS["one line"]}, IMPORTS="pass")
    rows = runs.main(start, "--length", 2_000, "--repeat", 1)["rows"]
    names = ["phiX174", "2,000 bp, one line", "2,000 bp, gzip"]
    assert [row["name"] for row in rows] == names
    assert all(row["ratio"] > 0 for row in rows)


def test_tools(runs):
    runs.small(tools, COUNTS=(2,))
    words = ("--random", 3_000, "--repeat", 1, "--threads", 1, "--repeats", runs.guides)
    rows = runs.main(tools, *words, runs.genome)["rows"]
    panels = [(row["text"], row["panel"]) for row in rows if row["tool"] == tools.EDIT]
    assert panels == [("random.fa", "2 cut"), ("genome.fa", "2 cut"), ("genome.fa", "3 repeats")]
    assert all(row["lines"] >= 2 and row["seconds"] > 0 for row in rows)


def test_hits_that_only_one_tool_has_are_seen(tmp_path):
    letters = "A" * 40 + letters_of(200) + "N" + letters_of(200, 2)
    genome = tmp_path / "genome.fa"
    genome.write_text(f">r\n{letters}\n")
    tables = {tools.EDIT: tmp_path / "edit", tools.SASSYS: tmp_path / "sassy"}
    patterns = ["C" * 20, "G" * 20]
    tables[tools.EDIT].write_text("r\t100\t120\t" + patterns[1] + "\t950\t-\t1\n")
    for row, missing in [("r 100 120 1 1 -", 0), ("r 100 121 1 1 -", 0), ("r 101 120 1 1 -", 2),
                         ("r 100 120 0 1 -", 2), ("r 100 120 1 2 -", 2)]:  # fmt: skip
        tables[tools.SASSYS].write_text(f"{row}\nr 235 255 0 3 +\n")  # this one holds the N
        assert len(tools.differing(genome, patterns, tables)) == missing


def test_memory(runs):
    words = ("hamming", runs.genome, "-p", "ACGTACGTAC", "-k", "1")
    # A process that is started counts what the one that starts it had, which is pytest here.
    assert memory.resident(words) > 20e6

    def pretended(words):
        assert here(*words).status == 0
        return 1

    runs.small(memory, resident=pretended, RECORDS=(1, 3), PANELS=((4, "2"),))
    words = ("--length", 600, "--dense-length", 500, "--repeats", runs.guides, runs.genome)
    rows = runs.main(memory, *words)["rows"]
    commands = [*memory.COMMANDS]
    dense = ["edit 4 cut", "edit guides out of repeats"]
    dense += [f"{command} {memory.DENSE}" for command in ("hamming", "multi")]
    assert [row["command"] for row in rows] == [*commands, *dense, *commands, *commands]
    runs.small(memory, resident=lambda words: 1e12)
    with pytest.raises(AssertionError):  # status 1
        runs.main(memory, *words)


def test_a_plan_for_many_assemblies(runs, capsys):
    tiny = {"SAMPLES": ((3, 500, 1), (2, 3_000, 2)), "CHECKED": 4, "CHECKED_LETTERS": 500}
    runs.small(assemblies, **tiny, FEW=1, MANY=3, HIT_LETTERS=500)
    # kmatch runs in this process here, which counts nothing of the CPU.
    rows = runs.main(assemblies, "--measure", "--folder", runs.folder, failing=True)["rows"]
    assert [row["stage"] for row in rows] == [*assemblies.STAGES, *assemblies.PACKED_STAGES,
                                              "search, a pattern"]  # fmt: skip
    assert all(row["genome_us"] >= 0 and row["letter_ns"] >= 0 for row in rows)
    inputs = assemblies.read_inputs(runs.folder / "record.json")
    assert 0.25 < inputs.gzipped < 0.6 and inputs.packed > 0.4 and 0 < inputs.hit < 1e-4
    capsys.readouterr()
    runs.words(assemblies, "--genomes", 100, "--patterns", 2)
    found = capsys.readouterr().out
    assert found.count("\n| ") + found.startswith("| ") == 7 + 1 + 6 and "H200" in found


def test_the_model_adds_what_it_multiplies():
    costs = {name: assemblies.Cost(2.0, 0.5) for name in assemblies.STAGES}
    packed = {name: assemblies.Cost(1.0, 0.25) for name in assemblies.PACKED_STAGES}
    pattern, sizes = assemblies.Cost(0.0, 3.0), (0.5, 0.25, 1.0, 1e-6)
    inputs = assemblies.Inputs(costs | packed, pattern, *sizes, gpu=40.0)
    size = assemblies.Size(10, 100, 2)
    assert sum(inputs.on_cpu(*size).values()) == 4 * (20 + 50) + 600
    assert sum(inputs.on_cpu(*size, packed=True).values()) == 10 + 25 + 600
    assert inputs.on_gpu(size) == 10
    rows = list(assemblies.node_rows(inputs, size, assemblies.Node(2, 1e-9)))
    assert [row[0] for row in rows[-2:]] == ["**with the H200**", "**without it**"]
    assert rows[-2][1].endswith("without the search") and rows[-2][2].endswith("1e-09 GB/s")
    assert assemblies.solved([(2, 10), (1, 100)], [24.0, 107.0]) == (7.0, 1.0)
    assert assemblies.solved([(2, 10), (1, 100)], [1.0, 50.0]) == (0.0, 0.5)


def test_the_cost_of_a_cluster(runs):
    pytest.importorskip("distributed")
    from bench import cluster

    asked = []

    @contextmanager
    def workers(count, gpus=False):
        yield cluster.Workers(f"tcp://{count}", [])

    def usage(command):
        words = command[3:]
        if "--scheduler" in words:
            at = words.index("--scheduler")
            asked.append(words[at + 1])
            del words[at : at + 2]
        assert here(*words).status == 0
        return processes.Usage(2.0, 1.0, 0.9, 100)

    runs.small(cluster, workers=workers, usage=usage, LETTERS=400)
    words = ("--genome", runs.genome, "--genomes", 3, "--patterns", 2, "--repeat", 1)
    rows = runs.main(cluster, *words, "--folder", runs.folder)["rows"]
    assert [row["input"].split(", ")[-1] for row in rows] == ["FASTA", "packed", "3 genomes"]
    assert asked == ["tcp://1", "tcp://2"] * 6  # a turn is not counted
    assert all(row["equal"] == "yes" and row["gain"] == row["overhead"] == 1 for row in rows)
    runs.small(cluster, workers=lambda count, gpus: nullcontext(cluster.Workers("", [])))
    (row,) = runs.main(cluster, "--calls", "--only", "3 genomes", *words)["rows"]
    assert row["equal"] == "yes" and row["alone_cpu_s"] > 0 < row["one_s"] and row["machine"] > 0
    runs.small(cluster, workers=workers, peak_of=lambda process: 1)
    rows = runs.main(cluster, "--memory", "--genomes", 20, "--folder", runs.folder)["rows"]
    assert [row["genomes"] for row in rows] == [2, 20] and rows[1]["hits"] > rows[0]["hits"] > 0


def test_sizes(runs):
    words = ("--share", 1e-5, "--folder", runs.folder)
    rows = [
        row
        for name in ("records", "long_record", "hits")
        for row in runs.main(scale, *words, "--only", name)["rows"]
    ]
    assert [row["equal"] for row in rows] == ["yes"] * 4
    assert [row["hits"] for row in rows][1:3] == [3, 3] and rows[3]["hits"] > 500


def test_short_records(runs):
    words = ("--records", 300, "--repeat", 1, "--only", "hamming")
    (row,) = runs.main(short, *words, failing=True)["rows"]
    assert row["seconds"] > row["without"] / 2 > 0 and row["parser"] < row["seconds"]


def test_threads(runs):
    words = ("--length", 5_000, "--threads", "1,2", "--rounds", 10, "--repeat", 1)
    one, two = runs.main(threads, *words)["rows"]
    assert [one[f"{name}_share"] for name in threads.SEARCHES] == [1, 1] and one["machine"] == 1
    assert two["threads"] == 2 and two["machine"] > 0
    for name in threads.SEARCHES:
        assert two[f"{name}_share"] == pytest.approx(two[name] / one[name] / 2)


def test_packed_genomes(runs):
    file = runs.folder / "genome.kmatch"
    assert here("pack", runs.genome, "-o", file).status == 0
    runs.small(packed, SEARCHES=[("edit", 20, 3, ("--strand", "+"))])
    words = ("--genome", file, "--device", "cpu", "--patterns", 3, "--repeat", 1)
    rows = runs.main(packed, *words)["rows"]
    assert [row["patterns"] for row in rows] == [3, 1]
    assert all(row["own_memory_mb"] >= 0 and " hit" in row["said"][-1] for row in rows)


def test_primers(runs):
    target, background = (workloads.random_text(size, size).letters for size in (200, 600))

    def tiny(folder):
        return target, background, 4, {"max_length": 30}

    runs.small(primer, CASES={"tiny": tiny})
    (row,) = runs.main(primer, "tiny", "--data", runs.folder, "--repeat", 1)["rows"]
    assert row["primers"] > 100 and row["cells"] > 0


def test_the_grid(runs):
    words = ("--m", 12, "--k", 1, "--patterns", 5, "--seconds", 1)
    rows = runs.main(grid, *SHORT, *words, failing=True)["rows"]
    assert [row["search"] for row in rows] == [
        "multi 12,1",
        "multi 12,1 NGG",
        "edit 12,1",
        "edit 12,1 NGG",
    ]
    assert all(row["hits"] >= 5 and "HITS" not in row["verdict"] for row in rows)


def test_cells_of_the_grid_side_by_side_and_later(runs):
    words = ("--m", 12, "--k", 1, "--seconds", 1, "--jobs", 2, "--searches", "multi")
    first = runs.main(grid, *SHORT, *words, "--patterns", 5, failing=True)["rows"]
    second = runs.main(grid, *SHORT, *words, "--patterns", "5,9", "--resume", failing=True)["rows"]
    assert second[: len(first)] == first
    assert sorted(row["cell"][2] for row in second) == [5, 9]


def test_calibration(runs):
    few = {"MISMATCHES": [(12, 1), (20, 3)], "DIFFERENCES": [(12, 1), (20, 2)]}
    few["ANCHORED"] = [(12, 1)]
    runs.small(models, **few, SCANNED=(5,), LOOKED_UP=(5, 20), BESIDE=(3, 6))
    record = runs.main(calibrate, *SHORT)
    told = {(row["model"], row["constant"]): row for row in record["rows"]}
    for name, model in models.MODELS.items():
        assert len(record["cells"][name]["random"]) >= 2
        for constant in model.units:
            row = told[name, constant]
            assert row["code"] == getattr(getattr(CPU, name), constant) and row["all"] >= 0
        assert np.isfinite(told[name, "error"]["all"])
