"""A Genome: opened at once, read when asked, shared by threads; and the names of its records."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
from support.commands import fasta, fastq, genbank, here, random_letters, twobit
from support.searches import GENOME, RECORDS, TEXT, call

import kmatch
from kmatch.packed.writer import write_packed
from kmatch.sequences.patterns import load_patterns


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
    expected = list(call(kmatch.hamming, GENOME, [TEXT[5:25]], 1))
    assert list(call(kmatch.hamming, genome, [TEXT[5:25]], 1)) == expected and expected
    assert len(genome) == 3 and genome.names == ["one", "two", "three"] == list(genome.sizes[0])
    assert genome.lengths.tolist() == [1_000, 0, 2_000] and genome.lengths.dtype == np.int64
    label = "records in memory" if source == "memory" else path
    assert repr(genome) == (f"<Genome '{label}': 3 records (one, two, three), 3,000 letters>")
    again = pickle.loads(pickle.dumps(genome))  # as other processes take it
    assert list(call(kmatch.hamming, again, [TEXT[5:25]], 1)) == expected


def test_letters_are_counted_and_guessed(tmp_path, monkeypatch):
    monkeypatch.setattr("kmatch.sequences.fasta.BLOCK", 1 << 18)
    (tmp_path / "long.fa").write_bytes(fasta([("a", random_letters(3_000_000)), ("b", "ACGT")]))
    genome = kmatch.Genome(tmp_path / "long.fa")
    assert genome.names == ["a", "b"] and genome.lengths.tolist() == [3_000_000, 4]
    (tmp_path / "reads.fq").write_bytes(fastq(RECORDS))
    assert 3_000 < kmatch.Genome(tmp_path / "reads.fq").expected_letters < 3_100


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


# Names

SEARCH = ("-p", "ACGT", "-k", 0, "--strand", "+")


def records_found(data, *arguments):
    result = here("hamming", "-", *SEARCH, *arguments, stdin=data)
    assert result.status == 0
    return [line.split(b"\t")[0].decode() for line in result.out.splitlines()], result.err.decode()


def test_names_end_at_ascii_blanks_only(tmp_path):
    ends = ("", " note", "\tnote", "\vnote", "\fnote", " ")
    for blank, end in product("\u00a0\u2003\u3000\u2028", ends):
        title = f"a{blank}b{blank}{end}"
        names, err = records_found(f">{title}\nACGT\n>{blank}\nACGT\n".encode())
        assert (names, err) == ([f"a{blank}b{blank}", blank], "")
        (tmp_path / "panel.fa").write_text(f">{title}\nACGT\n")
        assert load_patterns(tmp_path / "panel.fa").names == [f"a{blank}b{blank}"]
    for name in ("Zürich", "voilà", "染色体", "a|b:1-2;x=y#"):
        assert records_found(f">{name} note\nACGT\n".encode()) == ([name], "")


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
    assert names == expected and err.count("\n") == 1 and "'_'" in err
    number = 1 + next(i for i, name in enumerate(expected) if "_" in name)
    warned = f"standard input: the name of record {number} holds control characters"
    assert err.startswith(f"kmatch: warning: {warned}")
    assert records_found(data, "-q") == (expected, "")
    for command in (("edit", "-p", "ACGT", "-k", 0), ("best", "-p", "ACGT"), ("multi", *SEARCH)):
        result = here(command[0], "-", *command[1:], stdin=data)
        assert result.status == 0 and result.err.count(b"warning") == 1
    packed = tmp_path / "packed"
    assert here("pack", "-", "-o", packed, stdin=data).err.count(b"warning") == 1
    assert here("hamming", packed, *SEARCH).err == b""


def test_control_characters_in_python():
    with pytest.warns(UserWarning) as told:
        genome = kmatch.Genome.from_records([("a b", "ACGT"), ("a\tb", "ACGT"), ("\n", "ACGT")])
        hits = kmatch.hamming(genome, {"p\tq": "ACGT", "r\r": "ACGT"}, 0, strand="+")
    assert ["record 2" in str(told[0].message), "pattern 1" in str(told[1].message)] == 2 * [True]
    names = ((record, pattern) for record in ("a b", "a_b", "_") for pattern in ("p_q", "r_"))
    assert len(told) == 2 and [(row.record, row.pattern) for row in hits] == list(names)


@pytest.mark.parametrize("far", [0, 30_000])
def test_records_far_apart_have_one_warning_of_a_kind(tmp_path, far):
    path, between = tmp_path / "input", "ACGT" * far
    path.write_text(
        f">one\n{between}ACGT\n" + ">r\nACGT\n" * far + ">a\ab\nACGT\n>one\nAC\n" * (far + 1)
    )
    genome = kmatch.Genome(path, keep=False)
    with pytest.warns(UserWarning) as told:
        for _ in range(2):
            assert sum(record.name == "a_b" for record in genome.records()) == far + 1
    control, repeated = sorted({str(each.message) for each in told})
    assert f"the name of record {far + 2} holds control characters" in control
    repeats = "r" if far else "one"
    said = f"two records or more are named '{repeats}'; rows do not tell them apart"
    assert repeated == f"{path}: {said}"


def test_names_are_compared_in_memory_and_in_packed_genomes(tmp_path):
    with pytest.warns(UserWarning, match="named 'one'"):
        genome = kmatch.Genome.from_records([("one", "ACGT"), ("two", "ACGTA"), ("one", "ACG")])
    with open(tmp_path / "twice.kmatch", "wb") as handle:
        write_packed(genome.parts(), handle)
    with pytest.warns(UserWarning, match="named 'one'"):
        assert len(kmatch.Genome(tmp_path / "twice.kmatch")) == 3
