"""Names of records and patterns: where they end, and what may not stand in them."""

import gzip
import io

import numpy as np
import pytest
from support.commands import fasta, genbank, here, twobit

import kmatch
from kmatch.packed.writer import write_packed
from kmatch.sequences import fasta as fasta_reader
from kmatch.sequences.others import read_parts
from kmatch.sequences.patterns import load_patterns, pattern_set
from kmatch.sequences.records import Record

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
        write_packed([Record("a\tb", np.frombuffer(b"ACGT", np.uint8))], handle)
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


def test_errors_show_no_long_names_and_no_control_characters(tmp_path):
    for name in (b"n" * 1_000_000, b"a\x1b]0;owned\x07"):
        (tmp_path / "panel").write_bytes(name + b"\tACXGT\n")
        result = here("hamming", "-", tmp_path / "panel", *SEARCH[2:], stdin=b">r\nACGT\n")
        assert result.status == 1 and len(result.err) < 400 and b"\x1b" not in result.err
        result = here("hamming", "-", *SEARCH, stdin=b">" + name[:9_999] + b"\nACGTL\n")
        assert result.status == 1 and len(result.err) < 400 and b"\x1b" not in result.err


WRONG = b"EFIJLOPQZefijlopqz0123456789"


@pytest.mark.parametrize("letter", [bytes([letter]) for letter in WRONG], ids=bytes.decode)
def test_letters_that_no_nucleotide_has(tmp_path, monkeypatch, letter):
    text = (b"ACGTN" * 500)[:2_345]
    records = [("first one", "ACGT"), ("second", (text + letter + b"ACGT").decode())]
    words = ("record 2, 'second', has", repr(letter.decode()), "position 2346,", "protein")
    path = tmp_path / "input"
    for block in (64, 2_400, 1 << 20):
        monkeypatch.setattr(fasta_reader, "BLOCK", block)
        for width in (60, 3_000):
            path.write_bytes(fasta(records, width))
            for data in (None, gzip.compress(path.read_bytes())):
                if data:
                    path.write_bytes(data)
                with pytest.raises(kmatch.InputError) as error:
                    list(read_parts(path))
                assert all(word in str(error.value) for word in words), str(error.value)
    with pytest.raises(kmatch.InputError) as error:
        kmatch.Genome.from_records(records)
    assert all(word in str(error.value) for word in words), str(error.value)
    path.write_bytes(genbank([("first", "ACGT"), records[1]]))
    with pytest.raises(kmatch.InputError) as error:
        list(read_parts(path))
    assert repr(letter.decode()).lower() in str(error.value).lower()
    assert all(word in str(error.value) for word in (words[0], *words[2:]))


def test_a_protein_file_is_an_error():
    result = here("hamming", "-", *SEARCH, stdin=b">sp|P69905\nMVLSPADKTNVKAAWGKVGAHAGEYG\n")
    assert result.status == 1 and result.out == b""
    assert b"record 1, 'sp|P69905', has 'L' at position 3" in result.err


def test_gaps_and_iupac_letters_are_text():
    text = "ACGT-ACGT.ACGT*ACGTRYSWKMBDHVNXU>ACGT"
    for genome in (text, text.lower()):
        names, err = records_found(f">r\n{genome}\n".encode())
        assert (names, err) == (["r"] * 5, "")
    with_python = kmatch.Genome.from_records([("r", text)])
    assert len(kmatch.hamming(with_python, ["ACGT"], 0, strand="+")) == 5


def test_a_panel_is_a_sequence():
    panel = load_patterns({"a": "ACGT", "b": "NR", "c": "TTT"})
    assert len(panel) == 3 and [p.name for p in panel] == ["a", "b", "c"]
    assert [p.sequence for p in panel[1:]] == ["NR", "TTT"]
    assert panel[-1].name == "c" and bytes(panel[-3].masks) == b"\1\2\4\10"
    assert [len(p) for p in panel] == [4, 2, 3] and len(panel[:0]) == 0
    with pytest.raises(IndexError):
        panel[3]
    again = pattern_set(list(panel))
    assert again.names == panel.names and bytes(again.masks) == bytes(panel.masks)
    assert again.begins.tolist() == [0, 4, 6, 9]


ERRORS = {
    "line": (b"#\nACGT\nfwd\tACGXT\n", "panel: line 3: pattern 'fwd': 'X' at position 4"),
    "blank": (b"g1 ACGT\n", "write a tab between"),
    "columns": (b"ACGT\tguide\n", "are its columns exchanged?"),
    "header": (b"name\tsequence\nfwd\tACGT\n", "a line that is no pattern starts with '#'"),
    "protein": (b"x\tACGT\ny\tMVLSPADK\n", "kmatch searches DNA and RNA"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_patterns_say_where_and_what_to_do(tmp_path, name):
    data, words = ERRORS[name]
    (tmp_path / "panel").write_bytes(data)
    result = here("hamming", "-", tmp_path / "panel", *SEARCH[2:], stdin=b">r\nACGT\n")
    assert result.status == 1 and words in result.err.decode()


def test_the_number_of_a_record_far_behind(tmp_path):
    told = []
    path = tmp_path / "input"
    path.write_bytes(b">r\nACGT\n" * 40_000 + b">a\x07b\nACGT\n" * 40_000)
    genome = kmatch.Genome(path, keep=False, on_warning=told.append)
    assert sum(record.name == "a_b" for record in genome.records()) == 40_000
    control, repeated = sorted(told)
    assert "two records or more are named 'r'" in repeated and "record 40001 " in control
