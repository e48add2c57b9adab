"""What measurements share: texts, panels, comparisons, fits and records."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from bench import (
    calibrate,
    grid,
)
from harness import compare, fitting, models, records, workloads
from harness.anchors import Anchors
from harness.sassy import Sassy

from kmatch.engine import costs
from kmatch.engine.costs import CPU, CUDA
from kmatch.engine.cpu.edit.filter import Extent, Shares


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
    cells = [fitting.Cell(list(f), f @ [2.0, 0.0, 0.5]) for f in factors]
    assert fitting.fit(cells) == pytest.approx([2, 0, 0.5], abs=1e-9)
    assert fitting.error(cells, np.array([2, 0, 0.5])) == pytest.approx(0, abs=1e-9)
    assert fitting.error(cells, np.array([4, 0, 1.0])) == pytest.approx(100)
    cells = [fitting.Cell(list(f), f @ [2.0, -0.001, 0.5]) for f in factors]
    assert (fitting.fit(cells) >= 0).all()


def test_factors_are_those_of_the_model_in_the_code():
    codes, shares = np.arange(20) % 4, Shares(np.full(4, 0.25), np.full((4, 4), 0.25))
    query = (codes, 2, False, shares, Extent(64_000, 1_000, 1_064, 2))
    scan, pieces, survivors, _ = models.edit_filter.estimate(*query, (CPU.recurrence, CPU.pieces))
    for name, expected in [("recurrence", scan), ("pieces", pieces + survivors)]:
        values = [getattr(getattr(CPU, name), unit) for unit in models.MODELS[name].units]
        factors = models.estimated(name, [query], CPU.recurrence.deeper)
        assert np.dot(factors, values) == pytest.approx(expected)


NOT_FITTED = {
    "scan": {"stop"},
    "seeds": {"entry"},
    "recurrence": {"deeper"},
    "pieces": {"stage"},
}


def test_every_constant_of_a_way_is_measured():
    for name, model in models.MODELS.items():
        left = NOT_FITTED.get(name, set())
        assert {*model.units} == {*getattr(CPU, name)._fields} - left


def test_constants_are_written_to_the_code_alone_where_they_stand():
    source = Path(costs.__file__).read_text()
    rows = [
        {"model": name, "constant": unit, "all": 123.456}
        for name, model in models.MODELS.items()
        for unit in model.units
    ]
    changed = calibrate.rewritten(source, [*rows, {"model": "seeds", "constant": "error"}])
    found = {}
    exec(compile(changed, "costs.py", "exec"), found)
    for name, model in models.MODELS.items():
        assert {getattr(getattr(found["CPU"], name), unit) for unit in model.units} == {123.0}
    assert found["CUDA"] == CUDA and found["CPU"].pack == CPU.pack
    assert calibrate.rewritten(source, []) == source


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
