"""FASTQ as a genome: its reads are records, and what is wrong with one names it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import compressed, failed, fasta, fastq, here, random_letters
from test_reading import records_of

import kmatch
from kmatch.sequences.fasta import read_fastq

LETTERS = random_letters(4_000)
READS = [(f"read{i}/1", LETTERS[37 * i : 37 * i + length]) for i, length in enumerate([150] * 60)]
READS += [("long", LETTERS), ("empty", ""), ("one", "A"), ("N", "ACGNNNACGT"), ("last", "acgu")]
SEARCH = ["-p", LETTERS[100:124], "-p", "acgt", "-k", 1, "--format", "tsv"]


WRITTEN = {
    "plain": fastq(READS),
    "CRLF": fastq(READS, "\r\n"),
    "lone CR": fastq(READS, "\r"),
    "no final newline": fastq(READS)[:-1],
    "blank lines between": fastq(READS).replace(b"\n@", b"\n\n@") + b"\n\n",
    "qualities that look like headers": fastq(READS, quality="@"),
    "names after '+'": fastq(READS).replace(b"\n+\n", b"\n+read 1\n"),
    "descriptions": fastq([(f"{name} 1:N:0 ", letters) for name, letters in READS]),
    "tabs": fastq([(f" {name}\tBX:Z:A", letters) for name, letters in READS]),
    "gz": compressed("gz", fastq(READS)),
    "zst": compressed("zst", fastq(READS)),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_reads_are_records(tmp_path, name):
    expected = here("edit", "-", *SEARCH, stdin=fasta(READS))
    assert expected.out.count(b"\n") > 60
    (tmp_path / "reads").write_bytes(WRITTEN[name])
    assert here("edit", tmp_path / "reads", *SEARCH) == expected
    assert here("edit", "-", *SEARCH, stdin=WRITTEN[name]) == expected


@given(
    st.lists(
        st.tuples(
            st.text("ab@+é", min_size=1, max_size=70), st.text("ACGTNacgtuRY-", max_size=150)
        ),
        max_size=8,
    ),
    st.integers(1, 300),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from("I@+!"),
)
def test_blocks_cut_reads_anywhere(reads, block, newline, quality):
    assert records_of(fastq(reads, newline, quality), block, read_fastq) == reads


BAD = {
    "no '+'": (b"@a\nACGT\n+\nIIII\n@b x\nACGT\nACGT\n+\nIIIIIIII\n", "read 2, 'b'", "'+'", "four"),
    "few qualities": (b"@a\nACGT\n+\nIII\n@b\nA\n+\nI\n", "read 1, 'a'", "4 letters", "3 qual"),
    "many qualities": (b"@a\nACGT\n+\nIIIII\n", "read 1, 'a'", "4 letters and 5 qualities"),
    "no qualities": (b"@a\nACGT\n+\n\n@b\nA\n+\nI\n", "read 1, 'a'", "4 letters and 0 qualities"),
    "no letters": (b"@a\n\n+\nIII\n", "read 1, 'a'", "0 letters and 3 qualities"),
    "cut in a header": (b"@a\nA\n+\nI\n@b", "read 2, 'b'", "cut"),
    "cut in letters": (b"@a\nA\n+\nI\n@b\nACG", "read 2, 'b'", "cut"),
    "cut before qualities": (b"@a\nA\n+\nI\n@b\nACG\n+", "read 2, 'b'", "cut"),
    "cut in qualities": (b"@a\nA\n+\nI\n@b\nACG\n+\nII", "read 2, 'b'", "cut"),
    "no '@'": (b"@a\nA\n+\nI\nb\nACG\n+\nIII\n", "read 2", "does not begin with '@'"),
    "protein": (b"@a\nACGTL\n+\nIIIII\n", "record 1, 'a'", "'L' at position 5", "protein"),
    "no name": (b"@a\nA\n+\nI\n@ \nA\n+\nI\n", "record 2 has no name", "'@'"),
    "binary": (b"@a\nAC\0T\n+\nIIII\n", "binary"),
    "damaged gzip": (compressed("gz", fastq(READS))[:-20], "truncated"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_damaged_read_is_named(tmp_path, name):
    data, *words = BAD[name]
    (tmp_path / "reads.fq").write_bytes(data)
    failed(here("hamming", tmp_path / "reads.fq", "-p", "ACG", "-k", 1), "reads.fq", *words)


def test_reads_as_target_and_background(tmp_path):
    for name, data in (("reads.fa", fasta(READS[:9])), ("reads.fq", fastq(READS[:9]))):
        (tmp_path / name).write_bytes(data)
    background = tmp_path / "background.fa"
    background.write_bytes(fasta([("b", random_letters(500, 5))]))
    expected = here("primer", tmp_path / "reads.fa", background, "-k", 3)
    assert expected.out.count(b"\n") > 100
    assert here("primer", tmp_path / "reads.fq", background, "-k", 3) == expected
    expected = here("primer", background, tmp_path / "reads.fa", "-k", 3)
    assert here("primer", background, tmp_path / "reads.fq", "-k", 3) == expected


def test_reads_can_be_packed(tmp_path):
    (tmp_path / "reads.fq").write_bytes(fastq(READS))
    kmatch.pack(tmp_path / "reads.fq", tmp_path / "reads.kmatch")
    genome = kmatch.Genome(tmp_path / "reads.kmatch")
    assert genome.names == [name for name, _ in READS]
    assert genome.lengths.tolist() == [len(letters) for _, letters in READS]


def test_a_genome_guesses_the_letters_of_reads(tmp_path):
    (tmp_path / "reads.fq").write_bytes(fastq(READS))
    expected = sum(len(letters) for _, letters in READS)
    assert expected < kmatch.Genome(tmp_path / "reads.fq").expected_letters < 1.2 * expected
