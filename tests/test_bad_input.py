"""Inputs that cannot be used end with one line that says why, and leave no file."""

import errno
import gzip
import io
import os
import re
from pathlib import Path

import pytest
from support.commands import (
    compressed,
    failed,
    fasta,
    fastq,
    genbank,
    here,
    process,
    random_letters,
    shell,
    twobit,
    unprivileged,
)

import kmatch
from kmatch.engine.workers import Workers
from kmatch.sequences.fasta import LONGEST_HEADER
from kmatch.sequences.others import read_parts

FASTA = fasta([("chr1 a test", random_letters(20_000)), ("chr2", random_letters(5_000, 2))])
SEARCH = ("-p", "ACGTTGCAACGT", "-k", 1)
HAS_GPU = any(Path("/dev", name).exists() for name in ("nvidiactl", "dxg"))
RECORDS = [(f"r{i}", random_letters(size, i)) for i, size in enumerate((40, 1, 33, 64, 21))]
MASKED = [(name, text[:5].lower() + "N" + text[6:]) for name, text in RECORDS]
TWOBIT = twobit(MASKED)
INDEX = 16 + 5 * 7  # bytes before the first record of TWOBIT


def cut(kind, data=FASTA):
    packed = compressed(kind, data)
    return packed[: len(packed) * 2 // 3]


def damaged(kind):
    data = bytearray(compressed(kind, FASTA))
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(byte ^ 0xA5 for byte in data[middle : middle + 64])
    return bytes(data)


def checksum():
    data = bytearray(compressed("gz", FASTA))
    data[-8] ^= 0xFF
    return bytes(data)


def changed(at, *numbers):
    """A 2bit file with other numbers."""
    data = b"".join(number.to_bytes(4, "little") for number in numbers)
    return TWOBIT[:at] + data + TWOBIT[at + len(data) :]


def no_sequence():
    return genbank([("chr1", "ACGT")]).split(b"ORIGIN")[0] + b"CONTIG      join(Y:1..4)\n//\n"


GENOMES = {
    "empty gz": (gzip.compress(b""), "empty"),
    "binary": (bytes(range(1, 256)) * 20,),
    "zeros for a name": (b">" + bytes(3 << 20), "a binary file, not FASTA"),
    "UTF-16": (FASTA.decode().encode("utf-16"), "UTF-16", "save it as UTF-8"),
    **{f"cut {kind}": (cut(kind), "truncated") for kind in ("gz", "bgzf", "bz2", "xz", "zst")},
    **{f"damaged {kind}": (damaged(kind),) for kind in ("gz", "bz2", "xz", "zst")},
    "cut gz header": (cut("gz")[:6], "truncated"),
    "gz checksum": (checksum(),),
    "behind gz": (compressed("gz", FASTA) + b"$i is here", "what follows the compressed data"),
    "behind bgzf": (compressed("bgzf", FASTA) + b"$i is here", "what follows the compressed data"),
    "cut 2bit": (TWOBIT[:200], "the 2bit file is cut", "record", "copy or download"),
    "records of 2bit": (changed(8, 1_854_059_471), "2bit", "1,854,059,471 records"),
    "letters of 2bit": (changed(INDEX, 4_000_000_000), "2bit", "'r0'"),
    "blocks of 2bit": (changed(INDEX + 4, 1_854_059_471), "2bit", "'r0'"),
    "masks of 2bit": (changed(INDEX + 16, 1_854_059_471), "2bit", "'r0'"),
    "offset of 2bit": (changed(16 + 3, 17), "2bit", "'r0'"),
    "beyond 2bit": (changed(INDEX + 8, 39, 2), "2bit", "'r0'"),
    "new 2bit": (changed(4, 1), "version 1", "twoBitToFa"),
    "nameless 2bit": (twobit([("a", "ACGT"), ("", "ACGT")]), "record 2 has no name"),
    "cut GenBank": (genbank(RECORDS)[:700], "genbank", "copy or download it again"),
    "GenBank without sequence": (no_sequence(), "chr1", "download the file with its sequence"),
    "escapes in GenBank": (b"LOCUS       \x1b]0;owned\x07" + genbank(RECORDS)[20:200], "genbank"),
    "long GenBank": (b"LOCUS       " + b"x" * 99_999 + genbank(RECORDS)[20:200], "genbank"),
    "cut reads": (cut("gz", fastq(RECORDS)), "truncated"),
}
OTHERS = {
    "zip": (b"PK\x03\x04" + bytes(60), "zip", "unpack"),
    "tar": (b"genome.fa".ljust(257, b"\0") + b"ustar\x0000" + bytes(900), "tar", "unpack"),
    "BAM": (gzip.compress(b"BAM\x01" + bytes(40)), "BAM", "samtools fasta"),
    "workbook": (b"PK\x03\x04" + bytes(26) + b"[Content_Types]", "a workbook", "save it as TSV"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, in which good.fa can be searched."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.fa").write_bytes(FASTA)
    return tmp_path


PATTERNS = {"binary": (bytes(range(256)), "binary"), "cut gz": (cut("gz"), "truncated")}
BAD = {f"input {name}": given for name, given in (GENOMES | OTHERS).items()}
BAD |= {f"panel {name}": given for name, given in (PATTERNS | OTHERS).items()}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_used(folder, name):
    """Those that are text are in golden/files.md."""
    (data, *words), file = BAD[name], name.split()[0]
    (folder / file).write_bytes(data)
    (folder / "old.bed").write_bytes(b"what was here before\n")
    given = ("input", *SEARCH) if file == "input" else ("good.fa", "panel", "-k", 1)
    result = here("hamming", *given, "-o", "old.bed")
    failed(result, f"{file}: ", *words)
    assert len(result.err) < 400 and b"\x1b" not in result.err
    assert (folder / "old.bed").read_bytes() == b"what was here before\n"
    assert sorted(os.listdir()) == sorted(("good.fa", file, "old.bed"))


def test_standard_input():
    failed(here("hamming", "-", *SEARCH), "standard input", "empty")
    failed(here("hamming", "-", *SEARCH, stdin=cut("gz")), "standard input", "truncated")
    (Path("zeros")).write_bytes(compressed("gz", bytes(1 << 20)) * 1_000)
    for path in ("zeros", "/dev/zero"):
        failed(process("hamming", "good.fa", path, "-k", 0), "binary")
    header = b">a " + b"word " * ((LONGEST_HEADER >> 1) // 5)  # which is not too long
    assert here("hamming", "-", "-p", "ACGT", "-k", 0, stdin=header + b"\nACGT\n").out[:2] == b"a\t"


def test_files_that_are_closed(folder):
    (folder / "closed.fa").write_bytes(FASTA)
    (folder / "closed.fa").chmod(0)
    for given in (("closed.fa", "good.fa"), ("good.fa", "closed.fa")):
        failed(unprivileged("hamming", *given, "-k", 1), "closed.fa", "ermission")


# Files cut anywhere


def names_in(path):
    return [name for part in read_parts(path) for name in part.names]


def test_a_2bit_file_cut_anywhere(folder):
    path = folder / "input"
    path.write_bytes(TWOBIT)
    assert names_in(path) == [name for name, _ in RECORDS]
    for kind in ("plain", "gz"):
        for length in range(5, len(TWOBIT), 1 if kind == "plain" else 9):
            part = TWOBIT[:length]
            path.write_bytes(part if kind == "plain" else compressed(kind, part))
            with pytest.raises(kmatch.InputError, match="cut or damaged"):
                names_in(path)


def test_a_genbank_file_cut_anywhere(folder):
    data, path = genbank(MASKED[:3]), folder / "input"
    whole = [at for at in range(len(data) + 1) if data[:at].rstrip().endswith(b"\n//")]
    assert len(whole) == 6  # with and without the last line break
    for length in range(6, len(data) + 1):
        path.write_bytes(data[:length])
        if length in whole:
            assert names_in(path)
        else:
            with pytest.raises(kmatch.InputError, match=r"cut|damaged"):
                names_in(path)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("change", [lambda path: os.truncate(path, 3_000_000), os.utime])
def test_a_file_that_changes_while_it_is_read(folder, change, threads, monkeypatch):
    monkeypatch.setattr("kmatch.sequences.fasta.BLOCK", 1 << 18)
    path = folder / "changed.fa"
    path.write_text(">one\n" + "ACGT" * 1_000_000 + "\n")
    os.utime(path, (1, 1))
    parts = read_parts(path, ahead=Workers(threads).ahead)
    next(parts)
    change(path)
    with pytest.raises(kmatch.InputError, match=r"changed\.fa: the file was changed while it was"):
        list(parts)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_disk_that_fails(folder, monkeypatch, threads):
    monkeypatch.setattr("kmatch.sequences.fasta.BLOCK", 1 << 18)
    path = folder / "genome.fa"
    path.write_bytes(fasta([("a", "ACGT" * 1_000_000)]))
    read = os.pread

    def fail(file, size, start):
        if start > 2_000_000:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read(file, size, start)

    monkeypatch.setattr("os.pread", fail)
    with pytest.raises(kmatch.InputError, match=r"genome\.fa: cannot be read: Input/output error"):
        list(read_parts(path, ahead=Workers(threads).ahead))


def test_letters_that_no_nucleotide_has(folder, monkeypatch):
    for number, letter in enumerate("EFIJLOPQZefijlopqz"):
        records = [("first one", "ACGT"), ("second", ("ACGTN" * 500)[:2_345] + letter + "ACGT")]
        said = f"record 2, 'second', has {letter!r} at position 2346, .*protein"
        monkeypatch.setattr("kmatch.sequences.fasta.BLOCK", (64, 2_400, 1 << 20)[number % 3])
        (folder / "input").write_bytes(fasta(records, (60, 3_000)[number % 2]))
        with pytest.raises(kmatch.InputError, match=said):
            names_in(folder / "input")
        with pytest.raises(kmatch.InputError, match=said):
            kmatch.Genome.from_records(records)
        (folder / "input").write_bytes(genbank([("first", "ACGT"), records[1]]))
        with pytest.raises(
            kmatch.InputError, match=said.replace(repr(letter), repr(letter.upper()))
        ):
            names_in(folder / "input")


@pytest.mark.parametrize("mark", [*'09~_?!,[/"#@', "\x1f", "\x7f"])
def test_marks_that_are_no_letters(folder, mark):
    """A letter that none is would move all positions behind it, and hide what lies around it."""
    (folder / "input").write_bytes(f">a\nACGT\nACG{mark}TACGT\n".encode())
    said = re.escape(f"record 1, 'a', has {mark!r} at position 8, which is no letter")
    with pytest.raises(kmatch.InputError, match=said):
        names_in(folder / "input")
    with pytest.raises(kmatch.InputError, match=said):
        kmatch.Genome.from_records([("a", f"ACGTACG{mark}TACGT")])


@pytest.mark.parametrize("blank", ["\xa0", "\u200b", "\u2013", "\xad", b"\xa0", b"\xca"])
def test_characters_of_text_programs(folder, blank):
    """Each byte would be a letter: a blank of two bytes moves what follows by two."""
    written = blank if isinstance(blank, bytes) else blank.encode()
    (folder / "input").write_bytes(b">a\nACGT" + written + b"ACGT*\n")
    said = "record 1, 'a', has a character that is no ASCII letter at position 5, which is no"
    with pytest.raises(kmatch.InputError, match=said):
        names_in(folder / "input")
    failed(here("filter", folder / "input", "-p", "ACGT", "-k", 0), said)


@pytest.mark.parametrize(
    "command",
    [
        "hamming input -p ACGT -k 0",
        "guides target.fa input -k 1",
        "primer target.fa input -k 2",
        "pcr input pairs.tsv -k 1",
        "assay pairs.tsv target.fa input -k 1",
        "pack input -o packed",
        "hamming packed -p ACGT -k 0",
    ],
)
def test_a_genome_without_letters(command, folder, monkeypatch):
    """The letters may stand in the headers, where a hit would be no hit."""
    monkeypatch.chdir(folder)
    (folder / "input").write_bytes(b">a ACGT\n>b ACGT\n")
    (folder / "target.fa").write_bytes(b">t\nTTGCATTAGACCATGATTACATCGAGGTT\n")
    (folder / "pairs.tsv").write_text("pair\tTTGCATTAGA\tAACCTCGATG\n")
    assert here("pack", "input", "-o", "packed").status == 0
    done = here(*command.split())
    assert done.status == 0
    assert b"no record has a letter; are they in the headers?" in done.err


def test_files_joined_without_a_line_end(folder, monkeypatch):
    """What stands behind the '>' would be letters of the record before."""
    (folder / "input").write_bytes(b">chr1\nACGTACGTAC" + b">chrX\nTTTTACGT\n")
    said = "record 1, 'chr1', has '>' at position 11: a header of FASTA begins a line"
    for block in (4, 16, 1 << 20):
        monkeypatch.setattr("kmatch.sequences.fasta.BLOCK", block)
        with pytest.raises(kmatch.InputError, match=said):
            names_in(folder / "input")
    failed(here("filter", folder / "input", "-p", "ACGT", "-k", 0), said)
    with pytest.raises(kmatch.InputError, match="'>' at position 3"):
        kmatch.Genome.from_records([("r", "AC>GT")])


# Inputs without an end


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


PANEL = ("hamming", "good.fa", "-", "-k", 0)
GENOME = ("hamming", "-", *SEARCH)
ENDLESS = {
    "line": (PANEL, b"ACGT\nfwd\t", b"A", "input: more than 65,536 characters of patterns; search"),
    "patterns": (PANEL, b"", b"ACGT\n", "input: more than 65,536 characters", "search a part"),
    "zeros": (GENOME, b"@a\n", bytes(8), "a binary file, not FASTQ"),
    "header": (GENOME, b">a\nACGT\n>b\nAC\n>", b"name ", "header of record 3", "4,194,304"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_an_input_without_an_end(monkeypatch, name):
    monkeypatch.setattr("kmatch.sequences.files.MOST", 1 << 16)
    command, first, block, *words = ENDLESS[name]
    pipe = Endless(first, block)
    failed(here(*command, stdin=pipe), *words)
    assert pipe.given < 1 << 25


def test_a_pattern_of_many_lines(folder, monkeypatch):
    monkeypatch.setattr("kmatch.sequences.patterns.LONGEST", 1_000)
    (folder / "patterns").write_bytes(b">a\nACG\n>b\n" + b"ACGT\n" * 251)
    failed(here("hamming", "-", "patterns", "-k", 0), "pattern 'b'", "1,000 letters")


# The machine


def test_closed_streams_and_unreadable_places():
    failed(shell('"$@" <&-', "hamming", "-", *SEARCH), "standard input")
    failed(shell('"$@" >&-', "hamming", "good.fa", *SEARCH), "standard output")


@pytest.mark.skipif(HAS_GPU, reason="there is a GPU, which --device cuda may use")
@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:0,1"])
def test_no_gpu(device):
    failed(here("hamming", "good.fa", *SEARCH, "--device", device), device, "GPU", "cpu")
