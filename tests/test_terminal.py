"""What a terminal shows: a bar that is gone before the first row, and a summary."""

import os

import pytest
from support.commands import fasta, on_terminal, process, random_letters


@pytest.fixture
def genome(tmp_path):
    path = tmp_path / f"{'genome' * 20}.fa"
    path.write_bytes(fasta([("chr1", random_letters(200_000))]))
    return path


def shown(*words, cwd):
    """What a command shows on a terminal that its output and its messages share."""
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    return on_terminal(*words, environment=environment, cwd=cwd)


SEARCHES = {
    "hamming": ("-p", "ACGTAC", "-k", 2),
    "edit": ("-p", "ACGTACG", "-k", 1),
    "multi": ("-p", "ACGTAC", "-k", 2, "--format", "tsv"),
}


@pytest.mark.parametrize("command", SEARCHES)
def test_the_bar_is_gone_before_the_first_row(tmp_path, genome, command):
    text = shown(command, genome.name, *SEARCHES[command], cwd=tmp_path)
    bar, row = text.rindex("0:00:0"), text.index("chr1\t")
    assert bar < row
    assert text.count("chr1\t") > 300
    rows, last = text[row:].split("kmatch: ")
    assert last.endswith(" s on cpu\n") and last.count("\n") == 1
    assert rows == process(command, genome, *SEARCHES[command]).out.decode()[-len(rows) :]


def test_a_bar_is_drawn_for_a_file_too(tmp_path, genome):
    text = shown("hamming", genome.name, *SEARCHES["hamming"], "-o", "hits.bed", cwd=tmp_path)
    assert "0:00:0" in text and "chr1\t" not in text
    assert shown("hamming", genome.name, *SEARCHES["hamming"], "-q", "-o", "h", cwd=tmp_path) == ""


def test_the_last_line_says_what_was_done(tmp_path):
    records = [("one", random_letters(70_000)), ("two", ""), ("three", "ACGTTTGG")]
    (tmp_path / "g.fa").write_bytes(fasta(records))
    words = ("hamming", "g.fa", "-p", "CCAAACGT", "-p", "ACGTNNGR", "-p", "A" * 40, "-k", 0)
    text = shown(*words, "-t", 1, "--device", "cpu", "-o", "hits.bed", cwd=tmp_path)
    hits = (tmp_path / "hits.bed").read_text().splitlines()
    last = text.splitlines()[-1].removeprefix("\x1b[1A\x1b[2K")  # which take the bar away
    assert last.startswith(
        f"kmatch: {len(hits):,} hits of 2 of 3 patterns; 3 records, 70,008 bp in"
    )
    assert last.endswith(" s on cpu")
    quiet = shown(*words, "-q", "-o", "hits.bed", cwd=tmp_path)
    assert quiet == ""
