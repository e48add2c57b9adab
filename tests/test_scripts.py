"""The benchmarks on tiny texts, and what they stand on: panels, Sassy's hits, verdicts, fits."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from support.commands import here

from kmatch.sequences.patterns import load_patterns

SCRIPTS = Path(__file__).parents[1] / "scripts"
sys.path += [str(SCRIPTS), str(SCRIPTS / "bench")]  # a script that is run finds its own folder

from bench import (  # noqa: E402
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
    start,
    tools,
    whole,
)
from harness import compare, processes, records, workloads  # noqa: E402
from harness.anchors import Anchors  # noqa: E402
from harness.sassy import Sassy  # noqa: E402


def text_of(letters):
    return workloads.Text("text", np.frombuffer(letters.encode(), np.uint8))


def reverse(sequence):
    return sequence.translate(str.maketrans("ACGT", "TGCA"))[::-1]


def test_a_text_of_a_file_begins_behind_its_leading_n_in_upper_case(tmp_path):
    path = tmp_path / "genome.fa"
    path.write_text(">one\nAAAA\n>two\nNNNNac\ngtNNacgt\n")
    assert workloads.file_text(path, 7, "two").letters.tobytes() == b"ACGTNNA"
    assert workloads.file_text(path).letters.tobytes() == b"AAAA"
    with pytest.raises(SystemExit, match="no record 'three'"):
        workloads.file_text(path, record="three")


def test_an_at_rich_text_has_the_letters_of_its_sample():
    text = workloads.at_rich_text(200_000).letters
    assert 0.81 < np.isin(text, np.frombuffer(b"AT", np.uint8)).mean() < 0.85
    sample = text_of("ACACACACGT" * 50)
    assert workloads.at_rich_text(100, sample).letters.tobytes() == b"ACACACACGT" * 10
    chain = workloads.at_rich_text(100_000, sample)
    assert chain.name == "Markov chain of text"
    assert chain.letters.tobytes().count(b"AC") / 100_000 == pytest.approx(0.4, abs=0.02)
    assert (chain.letters == workloads.at_rich_text(100_000, sample).letters).all()


def test_panels_are_different_windows_of_both_strands_without_n():
    letters = workloads.random_text(20_000).letters.copy()
    letters[::50] = ord("N")
    forward = letters.tobytes().decode()
    text = workloads.Text("text", letters)
    for cut, pam in [(workloads.cut_panel, ""), (workloads.guide_panel, "GG")]:
        panel = cut(text, 100)
        assert len(set(panel)) == 100
        ahead = [p for p in panel if p in forward]
        behind = [p for p in panel if reverse(p) in forward]
        assert len(ahead) + len(behind) >= 100 and min(len(ahead), len(behind)) > 20
        assert not any("N" in p for p in panel)
        for p in panel if pam else ():
            both = (forward, reverse(forward.replace("N", "n")))
            assert any(s[s.find(p) + 21 : s.find(p) + 23] == pam for s in both if p in s)


def test_repeat_guides_hold_a_word_of_a_repeat():
    unit = workloads.random_text(300, seed=3).letters.tobytes().decode()
    other = workloads.random_text(60_000, seed=4).letters.tobytes().decode()
    text = text_of("".join(unit + other[i : i + 600] for i in range(0, 60_000, 600)))
    panel = workloads.repeat_guide_panel(text, 20)
    strands = (unit, reverse(unit))  # a word may end a letter or two beyond the repeat
    assert len(panel) == 20
    for pattern in panel:
        words = {pattern[i : i + 9] for i in range(12)}
        assert any(word in strand for word in words for strand in strands)
    assert (
        len([p for p in panel if p in unit]) > 3
        and len([p for p in panel if reverse(p) in unit]) > 3
    )


def test_a_text_without_enough_windows_says_so():
    with pytest.raises(workloads.TooFew, match="only 0 of 5 windows of 20 letters"):
        workloads.cut_panel(text_of("ACGTN" * 30), 5)


class Options:
    threads, repeat, seconds = 1, 1, 60.0


@pytest.mark.parametrize("command, k, pam", [("edit", 3, None), ("hamming", 4, None),
                                             ("multi", 4, "NGG"), ("multi", 3, None)])  # fmt: skip
def test_hits_are_held_against_sassy(command, k, pam):
    pytest.importorskip("sassy", reason="sassy-rs is not installed")
    letters = workloads.at_rich_text(30_000).letters.copy()
    letters[20_000:20_003] = ord("N")
    text = workloads.Text("text", letters)
    cut = workloads.guide_panel if pam else workloads.cut_panel
    search = compare.Search(command, cut(text, 20), k, pam)
    row = compare.compare(text, "cut", search, Options)
    assert row["equal"] == "yes" and row["checked_hits"] > 20
    assert {"letters", "kmatch_s", "sassy_s", "ratio", "rate", "hits"} <= set(row)


@pytest.mark.parametrize("command", ["edit", "hamming"])
def test_a_hit_that_is_missing_or_wrong_is_seen(command):
    pytest.importorskip("sassy", reason="sassy-rs is not installed")
    text = workloads.at_rich_text(30_000)
    search = compare.Search(command, workloads.cut_panel(text, 20), 3)
    genome = grid.genome_of(text.letters)
    hits = search.run(genome, threads=1, device="cpu")
    anchors = Anchors.of_hits(hits)
    peer = Sassy.load(search, 1)
    peer.choose(text.letters, 60)
    peer.seconds(text.letters)

    def verdict(anchors):
        return peer.check(text.letters, anchors)["equal"]

    assert verdict(anchors) == "yes"
    assert verdict(anchors.only(slice(1, None))) == "NO"
    assert verdict(anchors._replace(minus=1 - anchors.minus)) == "NO"
    wrong = anchors.distance.copy()
    wrong[-1] += 1
    assert verdict(anchors._replace(distance=wrong)) == "NO"


def judged(chosen, other, setup=0.1, equal=True):
    runs = {"chosen": chosen, "scanning": other}
    return grid.judged(
        {name: grid.Run(5, seconds + setup, seconds) for name, seconds in runs.items()}, equal
    )


def test_a_slow_choice_is_said_and_noise_is_not():
    assert judged(0.5, 0.3) == {"ratio": pytest.approx(5 / 3), "basis": "text", "verdict": "SLOW"}
    assert judged(0.5, 0.3, equal=False)["verdict"] == "HITS, SLOW"
    assert judged(0.35, 0.3)["verdict"] == ""
    assert judged(0.001, -0.0001, setup=0.001)["verdict"] == ""


def test_whole_calls_are_compared_where_the_text_takes_little():
    assert judged(0.2, -0.1, setup=10) == {
        "ratio": pytest.approx(10.2 / 9.9),
        "basis": "call",
        "verdict": "",
    }
    assert judged(-0.1, 5, setup=10)["verdict"] == ""
    assert judged(5, -0.1, setup=10)["verdict"] == "SLOW"


def test_a_fit_finds_the_constants_and_none_below_zero():
    rng = np.random.default_rng(5)
    factors = rng.uniform(1, 100, (30, 3))
    cells = [calibrate.Cell(list(f), f @ [2.0, 0.0, 0.5]) for f in factors]
    assert calibrate.fit(cells) == pytest.approx([2, 0, 0.5], abs=1e-9)
    assert calibrate.error(cells, np.array([2, 0, 0.5])) == pytest.approx(0, abs=1e-9)
    assert calibrate.error(cells, np.array([4, 0, 1.0])) == pytest.approx(100)
    cells = [calibrate.Cell(list(f), f @ [2.0, -0.001, 0.5]) for f in factors]
    assert (calibrate.fit(cells) >= 0).all()


def test_factors_are_those_of_the_model_in_the_code():
    filters = calibrate.edit_filter
    shares, codes = np.full(4, 0.25), np.arange(20, dtype=np.uint8) % 4
    query = (codes, 2, shares, 1_000)
    scan, pieces, survivors, _ = filters.estimate(*query)
    for name, expected in [("edit", scan), ("pieces", pieces + survivors)]:
        values = [getattr(filters, constant) for constant in calibrate.MODELS[name].constants]
        factors = calibrate.estimated(name, [query])
        assert np.dot(factors, values) == pytest.approx(calibrate.STRANDS * expected)
    assert filters.CELL < 0.01  # as it was


def test_results_are_kept_with_their_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["/somewhere/bench.py", "--length", "5"])
    shown = records.Table((("name", "name", "<6s"), ("seconds", "seconds", ">9.2f")))
    shown.add({"name": "a", "seconds": 1.5})
    shown.add({"name": "b"})
    assert capsys.readouterr().out.splitlines() == [
        "name      seconds",
        "a            1.50",
        "b               –",
    ]
    records.write_results(tmp_path / "r.json", shown.rows, threads=2)
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["command"] == "bench.py --length 5" and record["threads"] == 2
    assert record["rows"] == shown.rows


def test_factors_of_sites_and_seeds_are_those_of_the_models_in_the_code():
    """What the factors say pays is what the engine says pays."""
    seeds, sites = calibrate.seeds, calibrate.sites
    values = [getattr(seeds, name) for name in calibrate.MODELS["seeds"].constants]
    for count in (10, 300, 1_000, 3_000, 10_000, 100_000):
        for length, k in calibrate.MISMATCHES:
            panel = workloads.random_panel(min(count, 500), length)
            codes = calibrate.some_codes(load_patterns(panel))
            found = np.dot(calibrate.seed_factors(codes, k, count), values)
            assert seeds.pays(codes, k, count) == (found < seeds.PAIR * count)
    values = [getattr(sites, name) for name in calibrate.MODELS["sites"].constants]
    share = calibrate.Pam(calibrate.PAM, "3p").share
    ways = [sites.pays(queries, calibrate.STRANDS, share) for queries in range(0, 2_000, 20)]
    for queries, pays in zip(range(0, 2_000, 20), ways, strict=True):
        first, all_compared = (
            np.dot(calibrate.site_factors(queries, filtering), values)
            for filtering in (True, False)
        )
        assert pays == (first < all_compared)
    assert any(ways) and not all(ways)


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
        words = (f"{module.__name__}.py", *words, "--json", path)
        self._patch.setattr(sys, "argv", [*map(str, words)])
        try:
            module.main()
        except SystemExit as end:
            assert not end.code or failing, end.code
        return json.loads(path.read_text())


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


def test_stages_of_edit(runs):
    runs.small(edit_stages, SETTINGS=[(12, 6)], FEW=10)
    (row,) = runs.main(edit_stages, "--length", 3_000, "--patterns", 2, "--repeat", 1)["rows"]
    assert row["ends"] > row["hits"] > 10 and row["traceback, ns an end"] > 0


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


def test_sizes(runs):
    words = ("--share", 1e-5, "--folder", runs.folder)
    rows = [
        row
        for name in ("records", "long_record", "hits")
        for row in runs.main(scale, *words, "--only", name)["rows"]
    ]
    assert [row["equal"] for row in rows] == ["yes"] * 4
    assert [row["hits"] for row in rows][1:3] == [3, 3] and rows[3]["hits"] > 500


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
    assert [row["search"] for row in rows] == ["multi 12,1", "multi 12,1 NGG", "edit 12,1"]
    assert all(row["hits"] >= 5 and "HITS" not in row["verdict"] for row in rows)


def test_calibration(runs):
    few = {"MISMATCHES": [(12, 1), (20, 3)], "DIFFERENCES": [(12, 1), (20, 2)]}
    runs.small(calibrate, **few, SCANNED=(5,), LOOKED_UP=(5, 20), BESIDE=(3, 6))
    record = runs.main(calibrate, *SHORT)
    told = {(row["model"], row["constant"]): row for row in record["rows"]}
    for name, model in calibrate.MODELS.items():
        assert len(record["cells"][name]["random"]) >= 2
        for constant in model.constants:
            row = told[name, constant]
            assert row["code"] == getattr(model.module, constant) and row["all"] >= 0
        assert np.isfinite(told[name, "error"]["all"])
