"""-k as a share of each pattern's letters: a k a pattern, rounded down."""

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import failed, fasta, here, misused, random_letters
from support.mismatches import rows
from support.shares import PROBLEMS, within

import kmatch

RECORDS = [("a", random_letters(900)), ("b", random_letters(300, 3))]
TEXT = RECORDS[0][1]
PATTERNS = [TEXT[5:14], TEXT[100:110], TEXT[300:325], "ACGTA", TEXT[100:110], TEXT[640:659]]


@given(
    st.lists(st.text("ACGT", min_size=8, max_size=40), min_size=1, max_size=3),
    st.lists(st.text("ACGTN", min_size=2, max_size=9), min_size=1, max_size=4),
    st.sampled_from([20, 34, 50]),
    st.sampled_from(PROBLEMS),
)
def test_any_panel_and_chunks(texts, patterns, percent, problem):
    records = [(str(number), text) for number, text in enumerate(texts)]
    find, oracle = problem
    hits = find(records, patterns, f"{percent}%", chunk_length=13, capacity=3)
    assert rows(hits) == within(oracle, records, patterns, percent)


@pytest.mark.parametrize("command", ["hamming", "edit", "multi"])
def test_commands(command):
    words = ["-", "-p", TEXT[:20], "--format", "tsv", "-k"]
    by_share = here(command, *words, "10%", stdin=fasta(RECORDS))
    assert by_share.status == 0 and by_share.out.count(b"\n") > 1
    plain = here(command, *words, 2, stdin=fasta(RECORDS)).out.decode().splitlines()
    expected = [f"{line}\t{2 if number else 'k'}" for number, line in enumerate(plain)]
    assert by_share.out.decode().splitlines() == expected
    words[words.index("tsv")] = "bed"
    by_share = here(command, *words, "10%", stdin=fasta(RECORDS))
    assert here(command, *words, 2, stdin=fasta(RECORDS)) == by_share


def test_the_column_k(tmp_path):
    genome = kmatch.Genome.from_records(RECORDS)
    hits = kmatch.edit([genome, genome], PATTERNS, "20%", device="cpu")[::-1]
    assert hits.k.tolist() == [len(PATTERNS[number]) // 5 for number in hits.pattern_number]
    assert len(set(hits.k.tolist())) > 2 and hits[3:].k.tolist() == hits.k[3:].tolist()
    hits.to_tsv(tmp_path / "hits.tsv")
    header, *lines = (tmp_path / "hits.tsv").read_text().splitlines()
    cells = [line.split("\t") for line in lines]
    assert (header.split("\t")[0], header.split("\t")[-1]) == ("genome", "k")
    assert [int(cell[-1]) for cell in cells] == [len(cell[4]) // 5 for cell in cells]
    assert not hasattr(kmatch.edit(genome, PATTERNS, 0, device="cpu"), "k")


def test_a_summary_has_the_distances_of_the_share():
    words = ["-", "-p", TEXT[:20], "-p", TEXT[30:50], "--summary-only", "-k"]
    by_share = here("multi", *words, "14.9%", stdin=fasta(RECORDS))
    assert by_share.out.startswith(b"pattern\td0\td1\td2\ttotal\n")
    assert here("multi", *words, 2, stdin=fasta(RECORDS)) == by_share


def test_a_published_algorithm_takes_shares():
    genome = kmatch.Genome.from_records(RECORDS)
    for percent in (0, 12.5, 20):
        hits = kmatch.hamming(genome, PATTERNS, f"{percent}%", algorithm="sequential", device="cpu")
        expected = within(naive.hamming, RECORDS, PATTERNS, percent)
        assert rows(hits) == expected and len({hit[3] for hit in expected}) > 3


@pytest.mark.parametrize("k", ["100%", "x%", "%", "-5%", "1e1%", "10 %", "2"])
def test_shares_that_are_none(k):
    if k != "2":
        misused(here("edit", "-", "-p", "ACGT", "-k", k, stdin=b">r\nACGT\n"), "%")
    with pytest.raises(kmatch.InputError, match="%" if k != "2" else "whole number"):
        kmatch.edit(kmatch.Genome.from_records(RECORDS), "ACGT", k)


def test_k_as_large_as_a_pattern_is_an_error_still():
    failed(here("hamming", "-", "-p", "ACGT", "-k", 4, stdin=b">r\nACGT\n"), "must be smaller")
