"""Published algorithms give the engine's hits, and refuse what they were not made for."""

import io

import pytest
from cases import edit_cases, geometries, hamming_cases, multi_cases
from commands import fasta, here, random_letters
from hypothesis import given, settings
from hypothesis import strategies as st
from published_cases import CASES, algorithms, case, check, label

import kmatch
from kmatch.published import run
from kmatch.published.registry import Algorithm, find, names

ON_CPU = algorithms("cpu")
MISMATCHES = [algorithm for command, algorithm in ON_CPU if command == "multi"]
DIFFERENCES = [algorithm for command, algorithm in ON_CPU if command == "edit"]
FEW = settings(max_examples=25)


@pytest.mark.parametrize("geometry", [{}, {"chunk_length": 13}], ids=["whole", "chunks"])
@pytest.mark.parametrize(("command", "algorithm"), ON_CPU, ids=label)
def test_cases(command, algorithm, geometry):
    for name in CASES[command]:
        records, patterns, k, options = case(command, name, algorithm, "cpu")
        if patterns and len(records) < 300:
            check(command, algorithm, records, patterns, k, options, device="cpu", **geometry)


@FEW
@pytest.mark.parametrize("algorithm", MISMATCHES, ids=label)
@given(hamming_cases(), multi_cases(), geometries)
def test_any_windows(algorithm, case, panel, geometry):
    check("hamming", algorithm, *case, device="cpu", **geometry)
    check("multi", algorithm, *panel, device="cpu", **geometry)


@FEW
@pytest.mark.skipif(not DIFFERENCES, reason="there is none yet")
@given(st.data(), edit_cases(), st.sampled_from([None, 13, 64, 150]))
def test_any_differences(data, case, length):
    algorithm = data.draw(st.sampled_from(DIFFERENCES))
    check("edit", algorithm, *case, device="cpu", chunk_length=length)


@pytest.mark.parametrize(("command", "algorithm"), ON_CPU, ids=label)
def test_tables_are_the_same(command, algorithm):
    text = random_letters(3_000)
    records = [("one", text[:1_700]), ("two", text[1_700:] + "NNN" + text[:40])]
    search, k = getattr(kmatch, command), () if command == "best" else (4,)
    tables = []
    for name in ("bitplane", algorithm.name):
        hits = search(
            kmatch.Genome.from_records(records),
            {"a": text[5:20], "b": text[900:915], "c": "ACGTNRYACGTTGCA"},
            *k,
            device="cpu",
            algorithm=name,
        )
        table = io.StringIO()
        hits.to_tsv(table)
        tables.append(table.getvalue())
    assert tables[0].count("\n") > 3 and tables[0] == tables[1]


def test_the_command_line(tmp_path):
    genome = tmp_path / "genome.fa"
    text = random_letters(500)
    genome.write_bytes(fasta([("r", text)]))
    command = ("hamming", genome, "-p", text[40:52], "-k", 5, "--device", "cpu")
    plain = here(*command)
    assert plain.status == 0 and plain.out.count(b"\n") > 3
    assert here(*command, "--algorithm", "sequential") == plain
    for search in ("hamming", "multi", "edit", "best"):
        told = here(search, "--help").out.decode()
        assert "".join("|".join(names(search)).split()) in "".join(told.split())
        assert here(search, genome, "-p", "ACGT", "--algorithm", "no").status == 2


def test_unknown_names():
    with pytest.raises(kmatch.InputError, match="'magic'; hamming has bitplane, sequential"):
        find("hamming", "magic")
    with pytest.raises(kmatch.InputError, match="magic"):
        kmatch.best(kmatch.Genome.from_records([]), ["ACGT"], algorithm="magic")


@pytest.fixture
def limited(monkeypatch):
    """Stand-ins: `short` holds 5 letters, `gpu` runs on CUDA alone."""
    fakes = {
        "short": Algorithm("short", "A et al. 2000", cpu="liu2012.sequential", longest=5),
        "gpu": Algorithm("gpu", "B et al. 2001", cuda="liu2012.thread"),
    }
    monkeypatch.setattr(run, "find", lambda command, name: fakes[name])


def test_patterns_beyond_a_layout(limited):
    genome, patterns = kmatch.Genome.from_records([("r", "ACGTACGT")]), {"p": "ACGTA"}
    assert len(kmatch.hamming(genome, patterns, 0, algorithm="short")) == 2
    with pytest.raises(kmatch.InputError, match="'q' has 6 letters, and algorithm 'short' holds 5"):
        kmatch.hamming(genome, patterns | {"q": "ACGTAC"}, 1, algorithm="short")


def test_devices_it_was_not_made_for(limited):
    genome = kmatch.Genome.from_records([("r", "ACGTACGT")])
    with pytest.raises(kmatch.DeviceError, match=r"'gpu' .* runs on cuda, and not on cpu"):
        kmatch.hamming(genome, ["ACGT"], 1, algorithm="gpu", device="cpu")
    with pytest.raises(kmatch.DeviceError, match="cuda"):
        kmatch.hamming(genome, ["ACGT"], 1, algorithm="short", device="cuda")
    assert len(kmatch.hamming(genome, ["ACGT"], 0, algorithm="short", device="auto")) == 4
