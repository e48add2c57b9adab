"""Names of records and patterns: where they end, and what may not stand in them."""

import io

import numpy as np
import pytest
from support.commands import genbank, here, twobit

import kmatch
from kmatch.packed.writer import write_packed
from kmatch.sequences.patterns import load_patterns
from kmatch.sequences.records import stretch_of

SEARCH = ("-p", "ACGT", "-k", 0, "--strand", "+")


def records_found(data, *arguments):
    result = here("hamming", "-", *SEARCH, *arguments, stdin=data)
    assert result.status == 0
    return [line.split(b"\t")[0].decode() for line in result.out.splitlines()], result.err.decode()


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u3000", "\u2028"], ids=ascii)
def test_names_end_at_ascii_blanks_only(tmp_path, blank):
    for end in ("", " note", "\tnote", "\vnote", "\fnote", " "):
        title = f"a{blank}b{blank}{end}"
        names, err = records_found(f">{title}\nACGT\n>{blank}\nACGT\n".encode())
        assert (names, err) == ([f"a{blank}b{blank}", blank], "")
        (tmp_path / "panel.fa").write_text(f">{title}\nACGT\n")
        assert load_patterns(tmp_path / "panel.fa").names == [f"a{blank}b{blank}"]


CONTROLS = {
    "FASTA": (b">fine\nACGT\n>a\x1b]0;b\x07\nACGT\n>c\x7f\nACGT\n", ["fine", "a_]0;b_", "c_"]),
    "C1": (">fine\nACGT\n>a\x85\x9b\nACGT\n>c\x1c\nACGT\n".encode(), ["fine", "a__", "c_"]),
    "2bit": (twobit([("fine", "ACGT"), ("a\tb", "ACGT"), ("\n", "ACGT")]), ["fine", "a_b", "_"]),
    "GenBank": (genbank([("fine", "ACGT")]).replace(b"fine", b"f\x07ne"), ["f_ne"]),
}


@pytest.mark.parametrize("name", CONTROLS)
def test_control_characters_of_records(tmp_path, name):
    data, expected = CONTROLS[name]
    names, err = records_found(data)
    assert names == expected
    assert err.startswith("kmatch: warning: standard input: the name of record ")
    assert err.count("\n") == 1 and "'_'" in err
    assert f"record {1 + next(i for i, name in enumerate(expected) if '_' in name)} " in err
    assert records_found(data, "-q") == (expected, "")
    for command in (("edit", "-p", "ACGT", "-k", 0), ("best", "-p", "ACGT"), ("multi", *SEARCH)):
        result = here(command[0], "-", *command[1:], stdin=data)
        assert result.status == 0 and result.err.count(b"warning") == 1
    packed = tmp_path / "packed"
    assert here("pack", "-", "-o", packed, stdin=data).err.count(b"warning") == 1
    assert here("hamming", packed, *SEARCH).err == b""
    with pytest.warns(UserWarning, match="record"):
        (tmp_path / "input").write_bytes(data)
        hits = kmatch.hamming(tmp_path / "input", ["ACGT"], 0, strand="+")
    assert hits.record.tolist() == expected


def test_control_characters_of_a_packed_genome(tmp_path):
    packed = tmp_path / "packed"
    with open(packed, "wb") as handle:
        write_packed([stretch_of("a\tb", np.frombuffer(b"ACGT", np.uint8))], handle)
    result = here("hamming", packed, *SEARCH)
    assert result.out.startswith(b"a_b\t0\t4\t") and result.err.count(b"record 1 ") == 1
    piped = here("hamming", "-", *SEARCH, stdin=packed.read_bytes())
    assert piped.out == result.out and piped.err.count(b"record 1 ") == 1


def test_control_characters_from_python():
    with pytest.warns(UserWarning, match="record 2") as told:
        genome = kmatch.Genome.from_records([("a b", "ACGT"), ("a\tb", "ACGT"), ("\n", "ACGT")])
    assert len(told) == 1
    with pytest.warns(UserWarning, match="pattern 1") as told:
        hits = kmatch.hamming(genome, {"p\tq": "ACGT", "r\r": "ACGT"}, 0, strand="+")
    assert len(told) == 1
    table = io.StringIO()
    hits.to_bed(table)
    rows = [line.split("\t")[:4] for line in table.getvalue().splitlines()]
    assert [row[0] for row in rows] == ["a b", "a b", "a_b", "a_b", "_", "_"]
    assert [row[3] for row in rows] == ["p_q", "r_"] * 3


def test_control_characters_of_patterns(tmp_path):
    (tmp_path / "panel").write_bytes(b"a\x1b[31m\tACGT\nb\tACGT\n")
    result = here("hamming", "-", tmp_path / "panel", *SEARCH[2:], stdin=b">r\nACGT\n")
    assert [line.split(b"\t")[3] for line in result.out.splitlines()] == [b"a_[31m", b"b"]
    assert result.err.startswith(b"kmatch: warning: ") and result.err.count(b"\n") == 1
    assert b"panel: line 1: the name of pattern 1" in result.err and b"\x1b" not in result.err


def test_the_number_of_a_record_far_behind(tmp_path):
    path = tmp_path / "input"
    path.write_bytes(b">r\nACGT\n" * 40_000 + b">a\x07b\nACGT\n" * 40_000)
    genome = kmatch.Genome(path, keep=False)
    with pytest.warns(UserWarning) as told:
        assert sum(record.name == "a_b" for record in genome.records()) == 40_000
    control, repeated = sorted(str(each.message) for each in told)
    assert "two records or more are named 'r'" in repeated and "record 40001 " in control


@pytest.mark.parametrize("name", ["Zürich", "à_la_carte", "voilà", "染色体", "a|b:1-2;x=y#"])
def test_other_names_stay_as_they_are(name):
    assert records_found(f">{name} note\nACGT\n".encode()) == ([name], "")


TWICE = [("one", "ACGT"), ("two", "ACGTA"), ("one", "ACG")]


@pytest.mark.parametrize("far", [0, 30_000])
def test_a_name_of_two_records_gives_one_warning(tmp_path, far):
    text = "".join(f">{name}\n{'ACGT' * far}{letters}\n" for name, letters in TWICE)
    path = tmp_path / "twice.fa"
    path.write_text(text)
    genome = kmatch.Genome(path, keep=False)
    with pytest.warns(UserWarning) as told:
        for _ in range(2):
            assert sum(1 for _ in genome.records()) == 3
    said = [str(each.message) for each in told]
    assert said == [f"{path}: two records or more are named 'one'; rows do not tell them apart"]


def test_names_are_compared_in_memory_and_in_packed_genomes(tmp_path):
    with pytest.warns(UserWarning, match="named 'one'"):
        genome = kmatch.Genome.from_records(TWICE)
    with open(tmp_path / "twice.kmatch", "wb") as handle:
        write_packed(genome.parts(), handle)
    with pytest.warns(UserWarning, match="named 'one'"):
        assert len(kmatch.Genome(tmp_path / "twice.kmatch")) == 3
