"""Panels as users have them: BED with sequences, and a column of CSV or TSV."""

import pytest
from support.commands import failed, here, misused

from kmatch.sequences.patterns import read_patterns

PAIRS = [("one", "ACGT"), ("two", "TTGACN"), ("three", "acgu")]
ROWS = [f"chr1\t{i}\t{i + 4}\t{name}\t1\t+\t{letters}\n" for i, (name, letters) in enumerate(PAIRS)]
BED = {
    "plain": "".join(ROWS),
    "comments": "track name=x\n#chrom\tstart\n\n" + "\n# a\n".join(ROWS),
    "CRLF": "".join(ROWS).replace("\n", "\r\n"),
    "more columns": "".join(ROWS).replace("\n", "\tpool\t5\n"),
    "no final newline": "".join(ROWS)[:-1],
}
TABLES = {
    "CSV": "name,Tm,seq\n" + "".join(f"{name},60,{letters}\n" for name, letters in PAIRS),
    "TSV": "seq\tgc\tid\n" + "".join(f"{letters}\t.5\t{name}\n" for name, letters in PAIRS),
    "semicolons": "\n;\nID;seq\n" + "".join(f"{name};{letters}\n" for name, letters in PAIRS),
    "first column": "guide,seq\n" + "".join(f"{name},{letters}\n" for name, letters in PAIRS),
    "quotes": 'name,"seq",note\n' + "".join(f'"{n}","{s}","a, b"\n' for n, s in PAIRS),
    "comments": "# by me\n#name\tseq\n" + "".join(f"{n}\t {s} \n\n" for n, s in PAIRS),
    "another case": "Name,SEQ\r\n" + "".join(f"{n},{s}\r\n" for n, s in PAIRS),
    "byte order mark": "\ufeffname,seq\n" + "".join(f"{n},{s}\n" for n, s in PAIRS),
}


def pairs(folder, text, column=None):
    (folder / "panel").write_text(text, encoding="utf-8", newline="")
    panel = read_patterns(folder / "panel", column=column)
    return list(zip(panel.names, panel.sequences, strict=True))


@pytest.mark.parametrize("name", BED)
def test_bed_with_sequences(tmp_path, name):
    assert pairs(tmp_path, BED[name]) == PAIRS


@pytest.mark.parametrize("name", TABLES)
def test_a_column_of_a_table(tmp_path, name):
    assert pairs(tmp_path, TABLES[name], "seq") == PAIRS


def test_sequences_in_the_first_column_name_themselves(tmp_path):
    assert pairs(tmp_path, "seq,gc\nACGT,1\nTT,0\n", "seq") == [("ACGT", "ACGT"), ("TT", "TT")]


def test_two_columns_of_text_are_names_and_sequences(tmp_path):
    assert pairs(tmp_path, "a\tACGT\nb\tTT\n") == [("a", "ACGT"), ("b", "TT")]


def test_primer_schemes(real):
    panel = read_patterns(real("tables/artic_ncov_V4.1.primer.bed"))
    assert len(panel) == 209 and panel.names[0] == "SARS-CoV-2_1_LEFT"
    assert panel.sequences[2] == "CTTCTACTAAGCCACAAGTGCCA"


def test_a_command_takes_a_column(tmp_path):
    (tmp_path / "panel.csv").write_text(TABLES["CSV"])
    search = ("hamming", "-", tmp_path / "panel.csv", "--column", "seq", "-k", 0)
    result = here(*search, "--strand", "+", stdin=b">r\nACGT\n")
    assert result.out == b"r\t0\t4\tone\t1000\t+\t0\nr\t0\t4\tthree\t1000\t+\t0\n"


WRONG = {
    "no such column": (TABLES["CSV"], "guide", "no column 'guide'", "'name', 'Tm', 'seq'"),
    "short row": ("name,seq\na,ACGT\nb\n", "seq", "line 3", "1 of the header's columns"),
    "empty cell": ("name,seq\na,ACGT\nb,\n", "seq", "line 3", "'b' is empty"),
    "odd letter": ("name,seq\na,ACGT\nb,AC!\n", "seq", "line 3", "'b'", "'!'"),
    "FASTA": (">a\nACGT\n", "seq", "FASTA has no columns"),
    "nothing": ("\n", "seq", "no header line"),
    "header alone": ("name,seq\n", "seq", "no patterns"),
    "BED with a short line": (BED["plain"] + "chr1\t1\t5\n", None, "line 4", "column 7"),
    "BED without sequences": ("chr1\t1\t5\tname\n", None, "line 1 has 4 columns", "--column"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tables_are_explained(tmp_path, name):
    text, column, *words = WRONG[name]
    (tmp_path / "panel").write_text(text)
    option = ("--column", column) if column else ()
    result = here("hamming", "-", tmp_path / "panel", *option, "-k", 0, stdin=b">r\nACGT\n")
    failed(result, "panel: ", *words)


def test_a_column_is_one_of_a_file():
    result = here("hamming", "-", "-p", "ACGT", "--column", "seq", "-k", 0, stdin=b">r\nACGT\n")
    misused(result, "--column")
