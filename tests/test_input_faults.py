"""Inputs and arguments that are ambiguous, incomplete, or changed while they are read."""

import pickle
from unittest import mock

import numpy as np
import pytest
from support.api import GENOME, RECORDS, call
from support.commands import here

import kmatch
from kmatch.errors import InputError


def test_a_row_that_begins_like_a_comment_needs_no_record(tmp_path):
    (tmp_path / "r.bed").write_text("#1\t0\t4\nb\t4\t8\n#b\t0\t4\n")
    search = ("hamming", "-", "-p", "ACGT", "-k", 0, "--strand", "+", "--regions")
    done = here(*search, tmp_path / "r.bed", stdin=b">#1\nACGTACGT\n>b\nACGTACGT\n")
    rows = [line.split("\t")[:3] for line in done.out.decode().splitlines()]
    assert rows == [["#1", "0", "4"], ["b", "4", "8"]] and done.err == b""


def test_a_region_of_an_empty_record():
    genome = kmatch.Genome.from_records([("a", "ACGT"), ("e", "")])
    with pytest.raises(InputError, match="'e' of records in memory has 0 letters"):
        call(kmatch.hamming, genome, ["ACG"], 0, regions=[("e", 0, 3)])


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
        (lambda hits: call(kmatch.best, np.zeros(4, np.uint8), ["AC"]), InputError, "from_records"),
        (lambda hits: call(kmatch.best, [None], ["AC"]), InputError, "from_records"),
        (lambda hits: call(kmatch.best, GENOME, ["AC"], circular=1), InputError, "circular is 1"),
    ],
)
def test_wrong_arguments_have_plain_messages(ask, error, words):
    hits = call(kmatch.hamming, GENOME, ["ACGTAC"], 0)
    with pytest.raises(error, match=words):
        ask(hits)


def test_products_outside_of_regions_are_not_cut_out(monkeypatch):
    """Neither those of other records, nor those of other places of the same one."""
    from kmatch.search.alignments import GenomeTexts

    read, cut = GenomeTexts.read, []

    def counted(self, genome, record, *rest):
        cut.extend(record.tolist())
        return read(self, genome, record, *rest)

    monkeypatch.setattr(GenomeTexts, "read", counted)
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
