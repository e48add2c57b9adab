"""A Genome: opened at once, read when asked, shared by threads."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.api import GENOME, RECORDS, TEXT, call
from support.commands import fasta, fastq, random_letters

import kmatch


def test_a_missing_file_is_told_at_once(tmp_path):
    with pytest.raises(kmatch.InputError, match=r"none\.fa: cannot be read: No such file"):
        kmatch.Genome(tmp_path / "none.fa")
    with pytest.raises(kmatch.InputError, match="cannot be read: Is a directory"):
        kmatch.Genome(tmp_path)
    with pytest.raises(kmatch.InputError, match="download it first"):
        kmatch.Genome("https://genomes/one.fa")
    with pytest.raises(kmatch.InputError, match="null"):
        kmatch.Genome("genome\0.fa")


@pytest.mark.parametrize("path", [None, 0, b"genome.fa", ["genome.fa"]])
def test_what_is_no_path(path):
    with pytest.raises(kmatch.InputError, match=r"a genome is .*; give a path or a Genome; "):
        kmatch.Genome(path)


def test_a_pipe_is_not_opened_before_it_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    kmatch.Genome(tmp_path / "pipe")


@pytest.mark.parametrize("source", ["memory", "kept", "read anew", "packed"])
def test_what_is_in_it(tmp_path, source):
    path = tmp_path / "genome.fa"
    path.write_bytes(fasta(RECORDS))
    if source == "packed":
        kmatch.pack(path, tmp_path / "genome.kmatch", threads=1)
        path = tmp_path / "genome.kmatch"
    genome = GENOME if source == "memory" else kmatch.Genome(path, keep=source != "read anew")
    if source != "memory":
        assert repr(genome) == f"<Genome '{path}', not read yet>"
    assert len(genome) == 3 and genome.names == ["one", "two", "three"]
    assert genome.lengths.tolist() == [1_000, 0, 2_000] and genome.lengths.dtype == np.int64
    label = "records in memory" if source == "memory" else path
    assert repr(genome) == (f"<Genome '{label}': 3 records (one, two, three), 3,000 letters>")
    assert len(call(kmatch.hamming, genome, [TEXT[5:25]], 0)) == 1


def test_many_records():
    genome = kmatch.Genome.from_records([(f"r{i}", "ACGT") for i in range(9)])
    shown = "<Genome 'records in memory': 9 records (r0, r1, r2, r3, …), 36 letters>"
    assert repr(genome) == shown
    none = kmatch.Genome.from_records([])
    assert repr(none) == "<Genome 'records in memory': 0 records, 0 letters>"
    assert none and not len(none) and not len(call(kmatch.hamming, none, ["ACGT"], 0))


def test_long_records_come_in_parts(tmp_path):
    path = tmp_path / "long.fa"
    path.write_bytes(fasta([("long", random_letters(3_000_000)), ("short", "ACGT")]))
    genome = kmatch.Genome(path)
    assert genome.names == ["long", "short"] and genome.lengths.tolist() == [3_000_000, 4]


def test_a_packed_genome_knows_lengths_after_a_search_too(tmp_path):
    kmatch.pack(GENOME, tmp_path / "genome.kmatch", threads=1)
    genome = kmatch.Genome(tmp_path / "genome.kmatch")
    assert len(call(kmatch.hamming, genome, [TEXT[5:25]], 0)) == 1
    assert genome.lengths.tolist() == [1_000, 0, 2_000] and genome.sizes()[0] == genome.names


def test_other_processes_take_it(tmp_path):
    path = tmp_path / "genome.kmatch"
    kmatch.pack(GENOME, path, threads=1)
    expected = call(kmatch.hamming, GENOME, [TEXT[5:25]], 1)
    opened = kmatch.Genome(path)
    assert opened.names == GENOME.names
    for genome in (GENOME, opened):
        again = pickle.loads(pickle.dumps(genome))
        assert list(call(kmatch.hamming, again, [TEXT[5:25]], 1)) == list(expected)


def test_threads_read_it_once(tmp_path, monkeypatch):
    path = tmp_path / "genome.fa"
    path.write_bytes(fasta(RECORDS))
    genome, read = kmatch.Genome(path), []

    def counted(*arguments, read_parts=kmatch.genome.read_parts):
        read.append(arguments)
        return read_parts(*arguments)

    monkeypatch.setattr("kmatch.genome.read_parts", counted)
    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(lambda _: genome.names, range(8)))
    assert names == 8 * [GENOME.names] and len(read) == 1


def test_names_are_str():
    with pytest.raises(kmatch.InputError, match="the name of record 1 is 5"):
        kmatch.Genome.from_records([(5, "ACGT")])


def test_a_genome_guesses_the_letters_of_reads(tmp_path):
    (tmp_path / "reads.fq").write_bytes(fastq(RECORDS))
    assert 3_000 < kmatch.Genome(tmp_path / "reads.fq").expected_letters < 3_100
