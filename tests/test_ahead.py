"""Reading in a thread, and records that come in parts."""

import io
import tempfile
import threading
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from Bio.SeqIO.FastaIO import SimpleFastaParser
from hypothesis import given
from hypothesis import strategies as st
from support.commands import fasta, here, marked, random_letters

import kmatch
from kmatch.search.hooked import hooked
from kmatch.sequences.readers import ahead
from kmatch.sequences.readers.ahead import read_ahead
from kmatch.sequences.readers.genomes import fasta as fasta_reader
from kmatch.sequences.readers.genomes.fasta import line_blocks
from kmatch.sequences.readers.genomes.parts import read_parts
from kmatch.sequences.records import Record, whole_records

RECORDS = [
    ("long", random_letters(700)),
    ("empty", ""),
    ("short", "ACGTTG"),
    ("longer", random_letters(1_500, 2)),
    ("tiny", "A"),
    ("none", ""),
]


@pytest.mark.parametrize("block", [1, 7, 64, 1_000])
def test_parts_are_the_records(tmp_path, monkeypatch, block):
    monkeypatch.setattr(fasta_reader, "BLOCK", block)
    path = tmp_path / "genome.fa"
    path.write_bytes(fasta(RECORDS))
    parts = [part for part, _, _ in read_parts(path)]
    most = max(block, 16)  # a block has room for a header
    assert sum(part.goes_on for part in parts) >= 2_000 // most - 3
    assert all(len(part.letters) <= most for part in parts)
    found = [(name, bytes(letters).decode()) for name, letters, _ in whole_records(parts)]
    assert found == RECORDS


@pytest.mark.parametrize("chunk", [40, 333, 5_000])
@pytest.mark.parametrize("block", [7, 64])
def test_searches_do_not_see_parts(tmp_path, monkeypatch, block, chunk):
    monkeypatch.setattr(fasta_reader, "BLOCK", block)
    path = tmp_path / "genome.fa"
    path.write_bytes(fasta(RECORDS))
    searches = [
        ("hamming", ["ACGTT", "NGGAC"], [1], {}),
        ("edit", ["ACGTTGA"], [2], {"report": "ends"}),
        ("edit", ["ACGTTGA"], [2], {"report": "loci"}),
        ("best", ["ACGTTGACCAGA"], [], {}),
    ]
    for command, patterns, k, options in searches:
        tables = []
        for genome in (kmatch.Genome(path, keep=False), kmatch.Genome.from_records(RECORDS)):
            table = io.StringIO()
            found = hooked(command, genome, patterns, *k, chunk_length=chunk, **options)
            found.to_tsv(table)
            tables.append(table.getvalue())
        assert tables[0] == tables[1] and tables[0].count("\n") > 1


@given(
    st.lists(st.text("ACGT", max_size=40), max_size=8),
    st.sampled_from([1, 7, 64, 1 << 20]),
    st.integers(0, 30),
)
def test_whole_parts_hold_the_same_records(texts, block, short):
    records = [(f"r{number}", text) for number, text in enumerate(texts)] or [("r", "")]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(fasta_reader, "BLOCK", block)
        patch.setattr(fasta_reader, "SHORT", short)
        path = Path(folder) / "genome.fa"
        path.write_bytes(fasta(records, 9))
        genome = kmatch.Genome(path, keep=False)
        whole = list(genome.whole_parts())
        assert not any(part.goes_on for part in whole)
        assert list(_records_of(whole)) == records
        assert [
            (name, letters.tobytes().decode()) for name, letters, _ in genome.records()
        ] == records


def _records_of(stretches):
    for names, lengths, letters, _ in stretches:
        ends = lengths.cumsum()
        assert len(names) == len(lengths) and len(letters) == ends[-1]
        for name, length, end in zip(names, lengths, ends, strict=True):
            yield name, letters[end - length : end].tobytes().decode()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("width", [1, 60, 1_023, 1_024, 1_025, 5_000])
def test_lines_of_any_width(width, newline):
    letters = random_letters(20_000)
    letters = letters[:9_000] + " nN\t-" + letters[9_000:] + "A" * (width // 2)
    data = fasta([("a", letters), ("b x", letters[:70]), ("c", letters.lower())], width, newline)
    for block in (4_099, 1 << 20):
        stretches = chain.from_iterable(line_blocks(io.BytesIO(data), "data", block))
        found = list(SimpleFastaParser(stretches))
        plain = SimpleFastaParser(io.StringIO(data.decode().replace(newline, "\n")))
        expected = [(marked(title), sequence.replace("\t", "")) for title, sequence in plain]
        assert found == expected


def parts_of(sizes, told, error=None):
    try:
        for number, size in enumerate(sizes):
            told.append(number)
            yield Record(str(number), np.zeros(size, np.uint8)), None, None
        if error:
            raise error
    finally:
        told.append("closed")


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "kmatch reader"]


def test_parts_come_in_order(monkeypatch):
    monkeypatch.setattr(ahead, "BATCH", 10)
    sizes = [3, 0, 25, 9, 1, 0] * 50
    found = [part.name for part, _, _ in read_ahead(parts_of(sizes, []))]
    assert found == [str(number) for number in range(len(sizes))]
    assert readers() == []


def test_what_the_reader_raises_comes_after_what_it_read():
    parts = read_ahead(parts_of([5, 5], [], ValueError("damaged")))
    assert [next(parts)[0].name for _ in range(2)] == ["0", "1"]
    with pytest.raises(ValueError, match="damaged"):
        next(parts)
    assert readers() == []


def test_no_more_is_read_ahead_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(ahead, "BATCH", 10)
    monkeypatch.setattr(ahead, "CAPACITY", 40)
    told = []
    parts = read_ahead(parts_of([10] * 1_000, told))
    next(parts)
    for thread in readers():
        thread.join(0.1)
    assert 5 <= len(told) <= 6  # one is taken, four fill the room, one is more than that
    parts.close()
    assert told[-1] == "closed" and readers() == []


def test_an_error_behind_the_first_chunks_is_reported(tmp_path):
    path = tmp_path / "genome.fa"
    path.write_bytes(fasta([("a", random_letters(3_000_000))]) + b">b\nAC\0GT\n")
    result = here("hamming", path, "-p", "ACGTACGTACGTACGTACGT", "-k", 1, "-o", tmp_path / "hits")
    assert result.status == 1 and not (tmp_path / "hits").exists()
    assert result.err.decode() == f"kmatch: error: {path}: a binary file, not FASTA\n"
