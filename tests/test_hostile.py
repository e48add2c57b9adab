"""Files that are cut, forged, endless or of another kind end with a line that says so, quickly."""

import gzip
import io

import pytest
from support.commands import compressed, fasta, genbank, here, process, random_letters, twobit

import kmatch
from kmatch.sequences import patterns as pattern_files
from kmatch.sequences.fasta import LONGEST_HEADER
from kmatch.sequences.others import read_parts

SEARCH = ("-p", "ACGTTGCAACGT", "-k", 1)
RECORDS = [(f"r{i}", random_letters(size, i)) for i, size in enumerate((40, 1, 33, 64, 21))]
MASKED = [(name, text[:5].lower() + "N" + text[6:]) for name, text in RECORDS]
TWOBIT = twobit(MASKED)
INDEX = 16 + 5 * 7  # bytes before the first record


def failed(result, *words):
    message = result.err.decode()
    assert result.status == 1 and result.out == b"", message
    assert message.startswith("kmatch: error: ") and message.count("\n") == 1
    assert len(message) < 400
    for word in words:
        assert word in message, message


def refused(tmp_path, data, *words):
    (tmp_path / "input").write_bytes(data)
    failed(here("hamming", tmp_path / "input", *SEARCH), "input: ", *words)


def names_in(path):
    return [name for part, _, _ in read_parts(path) for name in part.names]


def test_a_2bit_file_cut_anywhere(tmp_path):
    path = tmp_path / "input"
    path.write_bytes(TWOBIT)
    assert names_in(path) == [name for name, _ in RECORDS]
    for kind in ("plain", "gz"):
        for length in range(5, len(TWOBIT), 1 if kind == "plain" else 9):
            cut = TWOBIT[:length]
            path.write_bytes(cut if kind == "plain" else compressed(kind, cut))
            with pytest.raises(kmatch.InputError, match="cut or damaged"):
                names_in(path)
    path.write_bytes(TWOBIT[:200])
    failed(here("hamming", path, *SEARCH), "the 2bit file is cut", "record", "copy or download")


def changed(at, *numbers):
    data = b"".join(number.to_bytes(4, "little") for number in numbers)
    return TWOBIT[:at] + data + TWOBIT[at + len(data) :]


@pytest.mark.parametrize("what", ["records", "letters", "blocks", "masks", "offset", "beyond"])
def test_a_2bit_file_is_not_believed(tmp_path, what):
    data, word = {
        "records": (changed(8, 1_854_059_471), "1,854,059,471 records"),
        "letters": (changed(INDEX, 4_000_000_000), "'r0'"),
        "blocks": (changed(INDEX + 4, 1_854_059_471), "1,854,059,471 blocks"),
        "masks": (changed(INDEX + 16, 1_854_059_471), "1,854,059,471 blocks"),
        "offset": (changed(16 + 3, 17), "index"),
        "beyond": (changed(INDEX + 8, 39, 2), "beyond its 40 letters"),
    }[what]
    refused(tmp_path, data, "2bit", word)


def test_other_2bit_files(tmp_path):
    refused(tmp_path, changed(4, 1), "version 1", "twoBitToFa")
    refused(tmp_path, twobit([("a", "ACGT"), ("", "ACGT")]), "record 2 of the 2bit file")


def test_a_genbank_file_cut_anywhere(tmp_path):
    data, path = genbank(MASKED[:3]), tmp_path / "input"
    whole = [at for at in range(len(data) + 1) if data[:at].rstrip().endswith(b"\n//")]
    assert len(whole) == 6  # with and without the last line break
    for length in range(6, len(data) + 1):
        path.write_bytes(data[:length])
        if length in whole:
            assert names_in(path)
        else:
            with pytest.raises(kmatch.InputError, match=r"cut|damaged"):
                names_in(path)


@pytest.mark.parametrize("line", [b"LOCUS       \x1b]0;owned\x07", b"LOCUS       " + b"x" * 99_999])
def test_what_is_said_of_a_damaged_genbank_file(tmp_path, line):
    path = tmp_path / "input"
    path.write_bytes(line + genbank(RECORDS)[20:200])
    result = here("hamming", path, *SEARCH)
    failed(result, "input: ", "genbank", "copy or download it again")
    assert b"\x1b" not in result.err


class Endless(io.RawIOBase):
    """A pipe that gives some bytes, then others again and again; `given` counts them."""

    def __init__(self, first, block):
        self._next, self._block, self.given = first, block * (4096 // len(block)), 0

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self._next[: len(buffer)]
        self._next = self._next[len(data) :] or self._block
        buffer[: len(data)] = data
        self.given += len(data)
        return len(data)


@pytest.mark.parametrize("first", [b"", b"ACGT\nfwd\t", b">fwd\n", b"# "], ids=repr)
def test_an_endless_line_of_patterns(tmp_path, first):
    genome = tmp_path / "genome.fa"
    genome.write_bytes(b">r\nACGT\n")
    pipe = Endless(first, b"A")
    failed(here("hamming", genome, "-", "-k", 0, stdin=pipe), "standard input: line", "16,777,216")
    assert pipe.given < 1 << 25


@pytest.mark.parametrize("line", [b"ACGT\n", b">a\nACGT\n", b"# \n"], ids=repr)
def test_endless_patterns(tmp_path, monkeypatch, line):
    monkeypatch.setattr(pattern_files, "MOST_PATTERNS", 1_000)
    monkeypatch.setattr(pattern_files, "MOST_CHARACTERS", 1 << 16)
    genome = tmp_path / "genome.fa"
    genome.write_bytes(b">r\nACGT\n")
    pipe = Endless(b"", line)
    failed(here("hamming", genome, "-", "-k", 0, stdin=pipe), "standard input: more than", "part")
    assert pipe.given < 1 << 20


def test_endless_blank_lines():
    for arguments in (("genome.fa", "-", "-k", 0), ("-", "-p", "ACGT", "-k", 0)):
        pipe = Endless(b"", b"\n ")
        failed(here("hamming", *arguments, stdin=pipe), "standard input: begins with", "blanks")
        assert pipe.given < 1 << 25


def test_an_endless_pattern_of_many_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(pattern_files, "LONGEST", 1_000)
    (tmp_path / "patterns").write_bytes(b">a\nACG\n>b\n" + b"ACGT\n" * 251)
    failed(here("hamming", "-", tmp_path / "patterns", "-k", 0), "pattern 'b'", "1,000 letters")


def test_zeros_as_patterns(tmp_path):
    (tmp_path / "genome.fa").write_bytes(b">r\nACGT\n")
    zeros = tmp_path / "zeros"
    zeros.write_bytes(compressed("gz", bytes(1 << 20)) * 1_000)
    for path in (zeros, "/dev/zero"):
        failed(process("hamming", tmp_path / "genome.fa", path, "-k", 0), "binary")


def test_an_endless_header():
    pipe = Endless(b">a\nACGT\n>b\nAC\n>", b"name ")
    failed(here("hamming", "-", *SEARCH, stdin=pipe), "the header of record 3", "1,048,576")
    assert pipe.given < 1 << 23


def test_a_long_header_may_be_within_the_limit(tmp_path):
    path = tmp_path / "input"
    words = b"word " * ((LONGEST_HEADER >> 1) // 5)
    path.write_bytes(b">a " + words + b"\nACGT\n>b\nAC")
    assert names_in(path) == ["a", "b"]


OTHERS = {
    "zip": (b"PK\x03\x04" + bytes(60), "zip", "unpack"),
    "tar": (b"genome.fa".ljust(257, b"\0") + b"ustar\x0000" + bytes(900), "tar", "unpack"),
    "SAM": (b"@HD\tVN:1.6\n", "SAM", "samtools fasta"),
    "BAM": (gzip.compress(b"BAM\x01" + bytes(40)), "BAM", "samtools fasta"),
    "workbook": (
        b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml",
        "a workbook",
        "save it as TSV",
    ),
    "web page": (b"\n<!DOCTYPE html>\n<html>", "web page", "download"),
    "GFF": (b"##gff-version 3\n", "GFF", "FASTA"),
    "VCF": (b"##fileformat=VCFv4.2\n", "VCF", "FASTA"),
}


def test_patterns_as_fastq(tmp_path):
    path = tmp_path / "panel.fq"
    path.write_bytes(b"@read/1 x\nACGT\n+\n!!!!\n")
    result = here("hamming", "-", path, "-k", 0, stdin=b">r\nACGT\n")
    failed(result, "looks like FASTQ", "seqkit fq2fa")


@pytest.mark.parametrize("name", OTHERS)
def test_files_of_another_kind(tmp_path, name):
    data, *words = OTHERS[name]
    refused(tmp_path, data, *words)
    failed(here("hamming", "-", tmp_path / "input", "-k", 0, stdin=b">r\nACGT\n"), *words)


def test_an_address():
    for arguments in (("https://example.org/genome.fa", "-p", "ACGT"), ("-", "ftp://x.org/p.txt")):
        failed(here("hamming", *arguments, "-k", 0, stdin=b">r\nACGT\n"), "download it first")


@pytest.mark.parametrize("kind", ["gz", "bgzf"])
def test_garbage_behind_compressed_data(tmp_path, kind):
    data = compressed(kind, fasta([("chr1", random_letters(9_000))])) + b"$i is what follows here"
    refused(tmp_path, data, "what follows the compressed data is not gzip")
