"""Inputs and arguments that are ambiguous, incomplete, or changed while they are read."""

import os
import pickle
import tempfile
from unittest import mock

import numpy as np
import pytest
from support.api import GENOME, RECORDS, call
from support.commands import here

import kmatch
from kmatch.errors import InputError
from kmatch.packed.writer import write_packed
from kmatch.sequences.fasta import read_index
from kmatch.sequences.others import read_parts, read_regions
from kmatch.sequences.primer_pairs import load_pairs

TWICE = [("one", "ACGT"), ("two", "ACGTA"), ("one", "ACG")]


def _write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize("far", [0, 30_000])
def test_a_name_of_two_records_gives_one_warning(tmp_path, far):
    fasta = "".join(f">{name}\n{'ACGT' * far}{letters}\n" for name, letters in TWICE)
    path = _write(tmp_path / "twice.fa", fasta)
    heard = []
    genome = kmatch.Genome(path, keep=False, on_warning=heard.append)
    for _ in range(2):
        assert sum(1 for _ in genome.records()) == 3
    assert heard == [f"{path}: two records or more are named 'one'; rows do not tell them apart"]


def test_a_long_record_in_parts_is_one_record(tmp_path):
    path = _write(tmp_path / "long.fa", ">one\n" + "ACGT" * 1_000_000 + "\n>two\nA\n")
    assert kmatch.Genome(path).names == ["one", "two"]  # a warning would be an error


def test_names_are_compared_in_memory_and_in_packed_genomes(tmp_path):
    with pytest.warns(UserWarning, match="named 'one'"):
        genome = kmatch.Genome.from_records(TWICE)
    with open(tmp_path / "twice.kmatch", "wb") as handle:
        write_packed(genome.records(), handle)
    with pytest.warns(UserWarning, match="named 'one'"):
        assert len(kmatch.Genome(tmp_path / "twice.kmatch")) == 3


@pytest.mark.parametrize("change", [lambda path: os.truncate(path, 3_000_000), os.utime])
def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path, change):
    path = _write(tmp_path / "changed.fa", ">one\n" + "ACGT" * 1_000_000 + "\n")
    os.utime(path, (1, 1))
    parts = read_parts(path)
    next(parts)
    change(path)
    with pytest.raises(InputError, match=r"changed\.fa: the file was changed while it was read"):
        list(parts)


def test_a_region_of_a_record_named_like_a_comment(tmp_path):
    rows = "#chrom\tstart\tend\n# a note\n#1\t2\t30\n#\n"
    path = _write(tmp_path / "regions.bed", rows)
    assert [region[:3] for region in read_regions(path)] == [("#1", 2, 30)]


@pytest.mark.parametrize(
    ("text", "line"), [(">a\nACGT\n>b\n\n>c\nAC\n", 3), ("# note\n\n>a\nAC\nGT\n>b\n", 6)]
)
def test_an_empty_pattern_of_fasta_is_named_with_its_line(tmp_path, text, line):
    path = _write(tmp_path / "patterns.fa", text)
    with pytest.raises(InputError, match=rf"line {line}: pattern 'b' is empty"):
        kmatch.hamming(kmatch.Genome.from_records([("x", "ACGT")]), path, k=0)


@pytest.mark.parametrize(
    "header", ["name\tforward\treverse", "Pair\tF\tR", "id\tFwd primer\tRev primer"]
)
def test_a_header_line_above_primer_pairs(tmp_path, header):
    path = _write(tmp_path / "primers.tsv", f"{header}\npair\tACGT\tGGTA\n")
    assert load_pairs(path).primers.names == ["pair_F", "pair_R"]


def test_another_header_line_is_not_advised_a_column(tmp_path):
    path = _write(tmp_path / "primers.tsv", "pair\tone\tother\npair\tACGT\tGGTA\n")
    with pytest.raises(InputError, match=r"line 1: .*starts with '#'$"):
        load_pairs(path)


def test_a_row_that_begins_like_a_comment_needs_no_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "g.fa", ">#1\nACGTACGT\n>b\nACGTACGT\n")
    _write(tmp_path / "r.bed", "#1\t0\t4\nb\t4\t8\n#b\t0\t4\n")
    done = here("hamming", "g.fa", "-p", "ACGT", "-k", 0, "--strand", "+", "--regions", "r.bed")
    rows = [line.split("\t")[:3] for line in done.out.decode().splitlines()]
    assert rows == [["#1", "0", "4"], ["b", "4", "8"]] and done.err == b""


def test_a_region_of_an_empty_record():
    genome = kmatch.Genome.from_records([("a", "ACGT"), ("e", "")])
    with pytest.raises(InputError, match="'e' of records in memory has 0 letters"):
        call(kmatch.hamming, genome, ["ACG"], 0, regions=[("e", 0, 3)])


INDEX = "a\t14\t3\t10\t11\nb\t5\t22\t5\t6\n"


@pytest.mark.parametrize(
    ("fasta", "index", "fits"),
    {
        "right": (">a\nACGTACGTAC\nACGT\n>b c\nACGTA\n", INDEX.replace("22", "24"), True),
        "no break at the end": (">a\nACGTACGTAC\nACGT\n>b\nACGTA", INDEX, True),
        "an empty record": (">e\n>a\nACGT\n>f\n", "a\t4\t6\t4\t5\n", True),
        "too long": (">a\nACGTACGTACGTAC\n", "a\t999\t3\t14\t15\n", False),
        "too short": (">a\nACGTACGTACGTAC\n", "a\t9\t3\t14\t15\n", False),
        "over a header": (">a\nACGT\n>bcd\nACGT\n", "a\t12\t3\t4\t5\n", False),
        "another name": (">a\nACGT\n", "b\t4\t3\t4\t5\n", False),
        "a record more": (">a\nACGT\n", "a\t4\t3\t4\t5\nb\t4\t3\t4\t5\n", False),
        "a record less": (">a\nACGT\n>b\nACGT\n", "a\t4\t3\t4\t5\n", False),
        "too few columns": (">a\nACGT\n", "a\t4\n", False),
    }.values(),
)
def test_an_index_is_used_where_it_fits(tmp_path, fasta, index, fits):
    path = _write(tmp_path / "g.fa", fasta)
    _write(tmp_path / "g.fa.fai", index)
    assert (read_index(path) is not None) == fits


def test_hits_and_products_are_pickled():
    hits = call(kmatch.edit, GENOME, ["ACGTAC", "TTGACA"], 1)
    primers = {"x": (RECORDS[0][1][100:118], "ACGTACGA")}
    products = call(kmatch.pcr, GENOME, primers, 3, product=(10, 900), pairs="any")
    assert len(hits) and len(products)
    again = pickle.loads(pickle.dumps(hits))
    assert list(again) == list(hits) and again[hits.distance == 1].cigar.tolist() == (
        hits[hits.distance == 1].cigar.tolist()
    )
    assert again.match.tolist() == hits.match.tolist()
    assert list(pickle.loads(pickle.dumps(products))) == list(products)


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda hits: hits[99999], IndexError, "no row 99999"),
        (lambda hits: hits.to_tsv(None), kmatch.OutputError, "give a path or an open handle"),
        (lambda hits: kmatch.Genome("ACGTACGTACGT"), InputError, "Genome.from_records"),
        (lambda hits: call(kmatch.best, np.zeros(4, np.uint8), ["AC"]), InputError, "from_records"),
        (lambda hits: call(kmatch.best, [None], ["AC"]), InputError, "from_records"),
        (lambda hits: call(kmatch.best, GENOME, ["AC"], circular=1), InputError, "circular is 1"),
        (lambda hits: kmatch.Genome.from_records("ACGT"), InputError, "give pairs"),
        (lambda hits: kmatch.Genome.from_records({"a": "ACGT"}), InputError, "give pairs"),
    ],
)
def test_wrong_arguments_have_plain_messages(ask, error, words):
    hits = call(kmatch.hamming, GENOME, ["ACGTAC"], 0)
    with pytest.raises(error, match=words):
        ask(hits)


def test_products_outside_of_regions_are_not_cut_out(monkeypatch):
    """Neither those of other records, nor those of other places of the same one."""
    from kmatch.search.products.texts import ProductTexts

    read, cut = ProductTexts.read, []

    def counted(self, record, *rest):
        cut.extend(record.tolist())
        return read(self, record, *rest)

    monkeypatch.setattr(ProductTexts, "read", counted)
    genome = kmatch.Genome.from_records([("a", "A" * 600), ("b", "A" * 600)])
    options = {"product": (50, 90), "sequence": True}
    primers = {"x": ("A" * 10, "T" * 10)}
    whole = call(kmatch.pcr, genome, primers, 0, **options)
    inside = (whole.record == "b") & (whole.start >= 100) & (whole.end <= 170)
    cut.clear()
    found = call(kmatch.pcr, genome, primers, 0, regions=[("b", 100, 170)], **options)
    assert list(found) == list(whole[inside]) and len(cut) == len(found) > 100


def test_very_many_products_have_a_warning():
    genome = kmatch.Genome.from_records([("a", "A" * 400)])
    with (
        mock.patch("kmatch.search.pcr.MANY", 100),
        pytest.warns(UserWarning, match="more than 100 products") as warned,
    ):
        call(kmatch.pcr, genome, {"x": ("A" * 10, "T" * 10)}, 0, product=(50, 90))
    assert len(warned) == 1


def test_where_nothing_can_be_written(tmp_path, monkeypatch):
    from kmatch.jit import folders
    from kmatch.rehearsal.compiling import compiling_beside
    from kmatch.sequences.files import seekable_copy

    def none(*arguments, **options):
        raise FileNotFoundError("No usable temporary directory found")

    for name in ("gettempdir", "mkdtemp", "TemporaryFile"):
        monkeypatch.setattr(tempfile, name, none)
    monkeypatch.setattr(folders.numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(folders, "_writable", lambda folder: False)
    assert folders._base.__wrapped__() == folders.BESIDE
    with compiling_beside("hamming") as begin:
        begin(None)
    path = _write(tmp_path / "letters", "ACGT")
    with open(path, "rb") as handle:
        assert seekable_copy(handle).read() == b"ACGT"
