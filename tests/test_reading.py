"""The same sequences and patterns give the same bytes, however they are written down."""

import gzip
import io
import re
import threading
import time
from contextlib import ExitStack
from functools import partial
from itertools import islice, pairwise
from tempfile import TemporaryFile
from unittest import mock

import numpy as np
import pytest
from Bio.Seq import Seq
from Bio.SeqIO.FastaIO import SimpleFastaParser
from Bio.SeqRecord import SeqRecord
from hypothesis import given
from hypothesis import strategies as st
from support.commands import (
    blocked,
    compressed,
    failed,
    fasta,
    fastq,
    genbank,
    here,
    random_letters,
    twobit,
)

import kmatch
from kmatch.engine.workers import Workers
from kmatch.errors import InputError
from kmatch.search.regions import read_regions
from kmatch.sequences.annotation import read_features
from kmatch.sequences.fasta import read_fasta, read_fastq
from kmatch.sequences.files import Source
from kmatch.sequences.others import read_parts
from kmatch.sequences.patterns import load_patterns, read_patterns
from kmatch.sequences.records import stretches_apart, whole_records, whole_stretches

LETTERS = random_letters(3_000)
WITH_N = LETTERS[:700] + "N" * 40 + LETTERS[740:]
RECORDS = [("chr1", WITH_N), ("empty", ""), ("chr2", random_letters(500, 2)), ("tiny", "ACG")]
FILLED = [record for record in RECORDS if record[1]]
PLAIN = fasta(RECORDS)
READS = fastq(RECORDS)
PANEL = ["ACGTTG", "NRYAC", "TTGACCA"]
KINDS = ["gz", "bgzf", "bz2", "xz", "zst"]


def searched(path, *arguments, stdin=b""):
    """The TSV of a search, which has to end well and say nothing."""
    arguments = arguments or [word for sequence in PANEL for word in ("-p", sequence)]
    result = here("hamming", path, *arguments, "-k", 1, "--format", "tsv", stdin=stdin)
    assert (result.status, result.err) == (0, b"")
    return result.out


def file_with(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    table = searched(file_with(tmp_path_factory.mktemp("plain"), "plain.fa", PLAIN))
    assert table.count(b"\nchr1\t") > 20 and table.count(b"\nchr2\t") > 4
    return table


def edited(old, new):
    return PLAIN.replace(old, new)


class Trickle(io.RawIOBase):
    """A pipe whose writer is slow: every read gives one byte."""

    def __init__(self, data):
        self._left = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self._left.read(1)
        buffer[: len(data)] = data
        return len(data)


WRITTEN = {
    "FASTA": PLAIN,
    "CRLF": edited(b"\n", b"\r\n"),
    "lone CR": edited(b"\n", b"\r"),
    "lower case": fasta([(name, letters.lower()) for name, letters in RECORDS]),
    "U for T": fasta([(name, letters.replace("T", "U")) for name, letters in RECORDS]),
    "no final newline": PLAIN.rstrip(b"\n"),
    "blank lines": b"\n\n" + edited(b"\n", b"\n\n") + b"\n \n",
    "many blank lines": b"\n" * 100_000 + PLAIN,
    "spaces and tabs": edited(b"ACG", b"A C\tG").replace(b"\n", b"  \n"),
    "a line a record": fasta(RECORDS, width=10_000),
    "a letter a line": fasta(RECORDS, width=1),
    "descriptions": edited(b"chr1\n", b"chr1 first, >the large one\n"),
    "tab after the name": edited(b"chr2\n", b"chr2\tsecond\n"),
    "space before the name": edited(b">chr", b"> chr"),
    "other letters for N": edited(b"N", b"R").replace(b"RR", b"X*"),
    "comments above": b"; made by hand\n#\n  \n;>no\r" + PLAIN,
    "comments above in gzip": gzip.compress(b"#" * 70_000 + b"\r\n" + PLAIN),
    "byte order mark": b"\xef\xbb\xbf" + PLAIN,
    "2bit": twobit(FILLED),
    "2bit in lower case": twobit([(name, text.lower()) for name, text in FILLED]),
    "2bit in gzip": gzip.compress(twobit(FILLED)),
    "GenBank": genbank(RECORDS),
    "GenBank in gzip": gzip.compress(genbank(RECORDS)),
    "two gzip members": gzip.compress(PLAIN[:999]) + gzip.compress(PLAIN[999:]),
    "an empty gzip member": gzip.compress(b"") + gzip.compress(PLAIN),
    "gzip without compression": gzip.compress(PLAIN, 0),
    "gzip behind BGZF": compressed("bgzf", PLAIN[:999]) + gzip.compress(PLAIN[999:]),
    "BGZF behind blank lines": compressed("bgzf", b"\n" * 100_000 + PLAIN),
    **{kind: compressed(kind, PLAIN) for kind in KINDS},
    "FASTQ": READS,
    "FASTQ in CRLF": fastq(RECORDS, "\r\n"),
    "FASTQ with lone CR": fastq(RECORDS, "\r"),
    "FASTQ without a final newline": READS[:-1],
    "FASTQ with other letters for N": READS.replace(b"NN", b".-"),
    "FASTQ with blank lines": READS.replace(b"\n@", b"\n\n@") + b"\n\n",
    "qualities like headers": fastq(RECORDS, quality="@"),
    "names after '+'": READS.replace(b"\n+\n", b"\n+read 1\n"),
    "descriptions of reads": fastq([(f" {name}\tBX:Z:A 1:N ", text) for name, text in RECORDS]),
    "FASTQ in gz": compressed("gz", READS),
    "FASTQ in zst": compressed("zst", READS),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_ways_to_write_a_genome(tmp_path, expected, name):
    for suffix in (".fa", ".gz", ".zst", ".2bit", ""):
        assert searched(file_with(tmp_path, f"genome{suffix}", WRITTEN[name])) == expected
    assert searched("-", stdin=WRITTEN[name]) == expected


@pytest.mark.parametrize("name", ["FASTA", "blank lines", "gz", "zst", "FASTQ"])
def test_a_slow_pipe(expected, name):
    assert searched("-", stdin=Trickle(WRITTEN[name])) == expected


GAPPED = [("a", "ACGTTGCATT"), ("b", "ACGTTG--CA..TTACGT-"), ("c", "-----"), ("d", "AC.GT")]
WAYS_TO_HOLD_GAPS = {"FASTA": fasta, "blocks": fasta, "GenBank": genbank, "memory": None}


@pytest.mark.parametrize("way", WAYS_TO_HOLD_GAPS)
def test_gaps(tmp_path, monkeypatch, way):
    """
    b        ACGTTG--CA..TTACGT-
    drop     ACGTTGCATTACGT
    unknown  ACGTTG--CA..TTACGT-
    """
    if way == "blocks":
        monkeypatch.setattr("kmatch.sequences.fasta.BLOCK", 5)

    def letters_of(gaps):
        if way == "memory":
            genome = kmatch.Genome.from_records(GAPPED, gaps=gaps)
        else:
            path = file_with(tmp_path, "gapped", WAYS_TO_HOLD_GAPS[way](GAPPED))
            genome = kmatch.Genome(path, gaps=gaps)
        return [bytes(np.asarray(record.letters)).decode().upper() for record in genome.records()]

    with pytest.raises(InputError, match=r"record 2, 'b', has '-' at position 7: it looks like an "
                       r"alignment, in which '\.' may also stand for the letter above it; --gaps "
                       r"drop leaves gaps out, and --gaps unknown"):  # fmt: skip
        letters_of(None)
    assert letters_of("unknown") == [text for _, text in GAPPED]
    dropped = [text.replace("-", "").replace(".", "") for _, text in GAPPED]
    assert letters_of("drop") == dropped
    with pytest.raises(InputError, match="unknown gaps 'leave'; use drop or unknown"):
        letters_of("leave")


COMMANDS_OF_GENOMES = {
    "hamming": "hamming G -p ACGTTGCATT -k 0",
    "multi": "multi G -p ACGTTGCATT -k 0",
    "edit": "edit G -p ACGTTGCATT -k 0",
    "best": "best G -p ACGTTGCATT",
    "a list": "best @L -p ACGTTGCATT",
    "pcr": "pcr G -p ACGTTG AATGCA -k 0 --product 1-100",
    "primer": "primer G O -k 2",
    "background": "primer O G -k 2",
    "guides": "guides O G -k 0 --length 4 --pam TG",
    "guides of it": "guides G O -k 0 --length 4 --pam TG",
    "assay": "assay P G -k 0 --product 1-100",
    "pack": "pack G -o P.kmatch",
}


@pytest.mark.parametrize("name", COMMANDS_OF_GENOMES)
def test_gaps_are_asked_for(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    file_with(tmp_path, "G", fasta([("a", "ACGTTG--CATT")]))
    file_with(tmp_path, "O", fasta([("o", "GGACGTTGGG")]))
    file_with(tmp_path, "P", b"x\tACGTTGCA\tAATGCAAC\n")
    file_with(tmp_path, "L", b"G\n")
    command = COMMANDS_OF_GENOMES[name].split()
    failed(here(*command), "G: record 1, 'a', has '-' at position 7", "--gaps drop")
    result = here(*command, "--gaps", "drop")
    assert result.status == 0
    if command[0] in ("hamming", "multi", "edit", "best"):
        assert result.out.startswith((b"a\t0\t10\t", b"G\ta\t0\t10\t")) or name == "a list"
    assert here(*command, "--gaps", "unknown").status == 0


def test_gaps_in_reads(tmp_path):
    """Which are written as they stand."""
    file_with(tmp_path, "reads.fa", fasta([("a", "ACGT"), ("b", "ACG.T")]))
    result = here("filter", tmp_path / "reads.fa", "-p", "ACGT", "-k", 0)
    failed(result, "record 2, 'b', has '.' at position 4", "take gaps out first")
    file_with(tmp_path, "reads.fq", fastq([("a", "ACGT"), ("b", "ACG.T")]))
    result = here("filter", tmp_path / "reads.fq", "-p", "ACGT", "-k", 0, "--invert")
    assert result.out.startswith(b"@b\nACG.T\n")


def test_comments_alone(tmp_path):
    failed(
        here("best", file_with(tmp_path, "g", b"# a\n; b"), "-p", "ACGT"), "g: the file is empty"
    )
    many = file_with(tmp_path, "g", b"#" * 300_000)
    failed(here("best", many, "-p", "ACGT"), "more than 262,144 characters of comments")


def test_records_of_biopython():
    genome = kmatch.Genome.from_records([SeqRecord(Seq("ACGT"), id="a"), ("b", Seq("AC"))])
    assert [genome.letters(name) for name in genome.names] == ["ACGT", "AC"]


LOCUS = """LOCUS       {locus:<23} {size} bp    DNA     {topology} SYN 01-JAN-2026
{more}FEATURES             Location/Qualifiers
     gene            1..4
                     /gene="x"
ORIGIN
        1 {letters}
//
"""


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ("ACCESSION   .\nVERSION     .\n", "pFA6a-kanMX6"),
        ("ACCESSION   pFA6\nVERSION     .\n", "pFA6"),
        ("ACCESSION   .\n", "pFA6a-kanMX6"),
        ("VERSION     .\n", "pFA6a-kanMX6"),
        ("", "pFA6a-kanMX6"),
        ("ACCESSION   AB1\nVERSION     AB1.2\n", "AB1.2"),
    ],
)
def test_names_and_circles_of_genbank(tmp_path, more, name):
    """The pattern runs over the origin:   GATTAC … TTCA|GATTAC."""
    record = {"size": 40, "letters": "gattac" + 30 * "c" + "ttca", "more": more}
    data = LOCUS.format(locus="pFA6a-kanMX6", topology="circular", **record)
    data += LOCUS.format(locus="L", topology="linear  ", **record | {"more": "ACCESSION   L\n"})
    path = file_with(tmp_path, "g.gb", data.encode())
    result = here("hamming", path, "-p", "TTCAGATT", "-k", 0)
    assert (result.out, result.err.count(b"\n")) == (b"", 1)
    note = f"kmatch: warning: {path}: circular by the file, and searched as linear: '{name}'; "
    assert result.err.decode().startswith(note)
    result = here("hamming", path, "-p", "TTCAGATT", "-k", 0, "--circular", name, "--format", "csv")
    assert result.out.split(b"\n")[1].startswith(f"{name},36,44,".encode()) and not result.err
    assert [each.record for each in read_features(path).genes] == [name, "L"]
    with pytest.warns(UserWarning, match=f"as linear: '{name}'; ") as told:
        genomes = [kmatch.Genome(path), kmatch.Genome(path)]
        kmatch.edit(genomes, "TTCAGATT", 1, device="cpu")
    assert len(told) == 1


@pytest.mark.parametrize(
    ("written", "is_circle"),
    [
        ("pAN801star__LacI-mCherry-Kan-long 40 bp ds-DNA     circular     27-MAR-2015", True),
        ("pBR322        40 bp ds-DNA     circular     26-MAY-2020", True),
        ("pX 40 bp DNA circular", True),
        ("pX                        40 bp    DNA     CIRCULAR SYN 01-JAN-2020", True),
        ("circular                  40 bp    DNA     linear   SYN 01-JAN-2020", False),
        ("pX 40 bp DNA linear", False),
    ],
)
def test_circles_of_genbank_as_programs_write_it(tmp_path, written, is_circle):
    """In LOCUS of another layout than the standard's Biopython sees no topology."""
    record = {"size": 40, "letters": "gattac" + 30 * "c" + "ttca", "more": "", "locus": "X"}
    text = LOCUS.format(topology="linear", **record)
    path = file_with(
        tmp_path, "g.gb", f"LOCUS       {written}\n{text.partition(chr(10))[2]}".encode()
    )
    result = here("hamming", path, "-p", "TTCAGATT", "-k", 0)
    assert (b"circular by the file" in result.err) == is_circle
    assert here("hamming", path, "-p", "TTCAGATT", "-k", 0, "--circular").out.count(b"\n") == 2


def test_a_locus_that_cannot_be_read(tmp_path):
    record = {"size": 40, "letters": 40 * "c", "more": "", "topology": "linear"}
    path = file_with(tmp_path, "g.gb", LOCUS.format(locus="pGEX 4T-1", **record).encode())
    failed(here("hamming", path, "-p", "ACGT", "-k", 0), "pGEX 4T-1", "a name without blanks")


# Blocks and parts


def records_of(data, block, read=read_fasta):
    """The records that a reader finds in blocks of so many bytes, as (name, letters): of a pipe, in
    turn, of a file, and of one in BGZF, by threads."""
    few = {"fasta.BLOCK": block, "fasta.LOOK": block // 3 + 1, "files._SMALL": 1, "bgzf.BLOCKS": 2}
    with ExitStack() as stack:
        for name, number in few.items():
            stack.enter_context(mock.patch(f"kmatch.sequences.{name}", number))
        found = joined_up(read(Source("data", io.BytesIO(data), None)))
        for held in (data, blocked(data, block)):
            file = stack.enter_context(TemporaryFile(buffering=0))
            file.write(held)
            file.seek(0)
            source = Source("data", file, len(held), Workers(2).ahead)
            assert joined_up(read(source)) == found
            assert (source.consumed or 0) == len(held)
    return found


def joined_up(parts):
    """The records of Stretches, as (name, letters)."""
    parts = list(parts)
    # A record that goes on has letters already: only then is there a gap before it in a chunk.
    assert all(last.lengths[-1] for last, part in pairwise(parts) if part.goes_on)
    whole = list(whole_stretches(parts))
    assert not any(part.goes_on for part in whole)
    found = [(name, bytes(letters).decode()) for name, letters in whole_records(parts)]
    assert [(name, bytes(letters).decode()) for name, letters in whole_records(whole)] == found
    apart = list(stretches_apart(parts))
    assert [(part.names[0], bytes(part.letters).decode()) for part in apart] == found
    assert all(part.lengths.tolist() == [len(part.letters)] for part in apart)
    return found


def plain_records(text):
    """The same by Biopython, which takes '>' for a header at the start of a line alone."""
    lines = [line for line in re.split("\r\n|\r|\n", text) if line]
    pairs = SimpleFastaParser(io.StringIO("".join(f"{line}\n" for line in lines)))
    return [
        ((title.split(None, 1) or [""])[0], "".join(letters.split())) for title, letters in pairs
    ]


lines = st.text("ACGTNacgu*> \t", max_size=12) | st.sampled_from([">a", ">b c>d", "> e", ">", ""])


@given(
    st.lists(st.tuples(lines, st.sampled_from(["\n", "\r\n", "\r", "\n\n"])), max_size=12),
    st.text("ACGT> ", max_size=4),
    st.integers(1, 17),
)
def test_blocks_of_any_size(body, last_line, block):
    text = ">first\n" + "".join(line + end for line, end in body) + last_line
    expected = plain_records(text)
    for number, (_, letters) in enumerate(expected, 1):
        if ">" in letters:
            place = f"record {number}, .* has '>' at position {letters.index('>') + 1}: a header"
            with pytest.raises(InputError, match=place):
                records_of(text.encode(), block)
            return
    assert records_of(text.encode(), block) == expected


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


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", ["plain", *KINDS])
def test_the_first_error_of_a_file_is_told(tmp_path, kind, threads):
    """Not one that is met before it, since later blocks are read and taken apart ahead."""
    letters = random_letters(1_200_000)
    records = [("a", letters), ("b", "ACGTLACGT"), ("c", letters)]
    data = fasta(records) + b">d\nAC\0GT\n"
    data = data if kind == "plain" else compressed(kind, data)[:-9]  # which is cut
    path = file_with(tmp_path, "genome", data)
    with mock.patch("kmatch.sequences.fasta.BLOCK", 1 << 16):
        parts = read_parts(path, ahead=Workers(threads).ahead)
        assert next(parts).names[0] == "a"
        with pytest.raises(InputError, match="record 2, 'b', has 'L' at position 5"):
            list(parts)


@pytest.mark.parametrize("threads", [1, 2])
def test_calls_are_made_ahead_and_told_in_order(threads):
    """An error comes behind the results of the calls before it; later calls are few."""
    made = []

    def calls(last):
        for number in range(last):
            yield lambda number=number: made.append(number) or 60 // (5 - number)
        raise LookupError

    for last, error in ((99, ZeroDivisionError), (5, LookupError)):
        results = Workers(threads).ahead(calls(last))
        assert list(islice(results, 5)) == [12, 15, 20, 30, 60]
        with pytest.raises(error):
            next(results)
    assert len(made) < 30


def test_results_are_told_while_the_next_call_is_hard_to_come_by():
    """Of a search, hits are written before the next chunk is searched."""
    told, told_when_asked = [], []
    ends = [threading.Event() for _ in range(4)]

    def call(number):
        ends[number].set()
        return number

    def calls():
        for number, end in enumerate(ends):
            yield partial(call, number)
            end.wait(60)
            time.sleep(0.1)  # in which the thread hands the result over
            told_when_asked.append(len(told))

    for result in Workers(2).ahead(calls()):
        told.append(result)
    assert told == [0, 1, 2, 3]
    assert told_when_asked[-1] >= 2


def test_an_error_behind_the_first_chunks_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("kmatch.sequences.fasta.BLOCK", 1 << 18)
    data = fasta([("a", random_letters(3_000_000))]) + b">b\nAC\0GT\n"
    path = file_with(tmp_path, "genome.fa", data)
    result = here("hamming", path, "-p", "ACGTACGTACGTACGTACGT", "-k", 1, "-o", tmp_path / "hits")
    assert result.status == 1 and not (tmp_path / "hits").exists()
    assert result.err.decode() == f"kmatch: error: {path}: a binary file, not FASTA\n"


# Patterns, primers and regions


@pytest.mark.parametrize("kind", KINDS)
def test_patterns_that_are_compressed(tmp_path, kind):
    panel = read_patterns(file_with(tmp_path, "panel", compressed(kind, b"p0\tACGT\np1\tNRY\n")))
    assert (panel.names, panel.sequences) == (["p0", "p1"], ["ACGT", "NRY"])


def test_a_panel_is_a_sequence():
    panel = load_patterns({"a": "ACGT", "b": "NR", "c": "TTT"})
    assert (panel.names, panel.sequences) == (["a", "b", "c"], ["ACGT", "NR", "TTT"])
    assert len(panel) == 3 and panel.begins.tolist() == [0, 4, 6, 9]
    assert bytes(panel.masks[:4]) == b"\1\2\4\10"


def test_a_region_of_a_record_named_like_a_comment(tmp_path):
    rows = b"#chrom\tstart\tend\n# a note\n#1\t2\t30\n#\n"
    path = file_with(tmp_path, "regions.bed", rows)
    assert [region[:3] for region in read_regions(path)] == [("#1", 2, 30)]
